"""Simulate what was measured of placement handles by the study of WARP, and store what comes out.

python tools/fdp_study.py

The study (MoatLab/WARP-FAST26-AE) measured an emulator and a drive, each with placement handles and
without. What is stored in experiments/drives/fdp.json is written to docs/drives/fdp.md by
tools/drive_pages.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from drive_promises import STORED

import copyback
from copyback.process.checkout import commit
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NAME = "fdp"

#: Pages of a reclaim unit of the twin, whose pages stand for many of the drive.
PAGES = 256

#: Host bytes at the end of a run in which write amplification is counted.
LAST = 0.3

#: Rows of the time series, in which these bytes are found.
ROWS = 400

#: Errors up to which a cell of the emulator, and one of the drive, is right.
WITHIN = {"emulator": 0.1, "drive": 0.15}

#: Headings of the page.
TITLES = {
    "emulator": "The emulator's cells, simulated",
    "drive": "The drive's cells, simulated",
}


@dataclass(frozen=True)
class Drive:
    """Reclaim units of a drive, and when they are collected."""

    unit_gib: float
    #: Units that the drive has, those that are open for handles without a writer left out.
    units: int
    #: Units that the host sees.
    shown: float
    gc: Mapping[str, Any]

    def pages(self, gib: float, unit_pages: int) -> int:
        """Return the pages of the twin that stand for so many GiB."""
        return round(gib / self.unit_gib * unit_pages)


@dataclass(frozen=True)
class Stream:
    """Writes of one job: where, how, how much, and with which handle."""

    gib: float
    offset: float
    extent: float
    handle: int
    sequential: bool = False
    address: str | Mapping[str, Any] = "uniform"


@dataclass(frozen=True)
class Load:
    """A load of the emulator: addresses of the job that overwrites, and bytes of each job."""

    name: str
    address: str | Mapping[str, Any]
    #: Without handles and with them: GiB of the sequential, the overwriting and the random job.
    gib: tuple[tuple[int, int, int], tuple[int, int, int]]
    #: Write amplification without handles and with them.
    measured: tuple[float, float]


#: Size of the emulated drive, its reclaim unit in GiB, and the share that is written in order.
EMULATED, UNIT, IN_ORDER = 448, 0.125, 0.9

#: Blocks of 4 KiB in that share, as fio numbers the ranks of its Zipf generator.
RANKS = int(EMULATED * IN_ORDER * 2**30) // 4096

#: Loads of the emulator: job files of `FIO-scripts/3stream`, bytes and write amplification of the
#: logs of `archive/result-FIO/cylon448-II/3syn`.
LOADS = (
    Load("uniform", "uniform", ((1727, 672, 634), (1828, 683, 685)), (4.36, 4.06)),
    Load(
        "Zipf 1.2",
        {"type": "zipf", "theta": 1.2, "ranks": RANKS},
        ((1919, 647, 676), (2409, 789, 810)),
        (4.15, 1.15),
    ),
    Load(
        "Zipf 2.2",
        {"type": "zipf", "theta": 2.2, "ranks": RANKS},
        ((2014, 639, 681), (2188, 677, 718)),
        (3.86, 1.08),
    ),
    Load(
        "zoned",
        {"type": "zoned", "pages": [0.2, 0.2, 0.6], "requests": [0.8, 0.1, 0.1]},
        ((1831, 685, 671), (2159, 776, 772)),
        (4.22, 2.23),
    ),
)

#: Units of the emulated drive under each reading, and the LUNs by which they are moved; else pages
#: are moved as they were written.
READINGS = {
    "as launched": (4086, 8),
    "as launched, moved page by page": (4086, None),
    "10% spare": (3942, 8),
}

#: Units that the emulator keeps open for eight handles, of which these are written.
OPENED, WRITTEN = 8, {False: 2, True: 4}

#: The drive: size in MiB, its reclaim unit in MiB, its units, and those free when it collects.
SIZE_MIB, UNIT_MIB, UNITS, FREE = 7_325_650, 8_496, 1_024, 12

#: Share of what the cache writes that goes to small objects.
SMALL = 0.88

#: Write amplification of the drive and TiB that were written, without handles and with them, by
#: the share of the cache for small objects.
CACHES = {
    0.04: ((3.53, 216.4), (1.02, 68.4)),
    0.2: ((2.52, 29.7), (1.17, 29.7)),
    0.4: ((2.87, 41.2), (1.60, 39.2)),
}

#: Capacities that are written to a cache that is full before.
CAPACITIES = 24


def main() -> None:
    """Simulate and store."""
    stored = {
        "commit": commit(),
        "emulator": list(emulator()),
        "drive": list(cachelib()),
    }
    text = json.dumps(stored, indent=1)
    (STORED / f"{NAME}.json").write_text(text + "\n", "utf-8")


def emulator() -> Iterator[dict[str, Any]]:
    """Yield the cells of the emulator."""
    for reading, (units_of_drive, luns) in READINGS.items():
        for load in LOADS:
            for with_handles in (False, True):
                yield {
                    "reading": reading,
                    "load": load.name,
                    "handles": with_handles,
                    "measured": load.measured[with_handles],
                    **emulated(load, (units_of_drive, luns), PAGES, with_handles=with_handles),
                }


def emulated(
    load: Load, reading: tuple[int, int | None], unit_pages: int, *, with_handles: bool
) -> dict[str, Any]:
    """Simulate a load on the emulated drive, under a reading of its units and of their moves."""
    raw, luns = reading
    order = "as_written" if luns is None else {"type": "by_lun", "luns": luns}
    drive = Drive(
        unit_gib=UNIT,
        units=raw - OPENED + WRITTEN[with_handles],
        shown=EMULATED / UNIT,
        # Collected are units of which at most 5% is valid while at most 10% of all are free, and
        # any while at most 1% are: it counts both down to whole units.
        gc={
            "soft_threshold": {"blocks": raw // 10 + 1},
            "hard_threshold": {"blocks": raw // 100 + 1},
            "least_invalid": 0.95,
            "move_order": order,
        },
    )
    in_order, overwrites, at_random = load.gib[with_handles]
    rest = 1.0 - IN_ORDER
    fill = [
        Stream(EMULATED * IN_ORDER, 0.0, IN_ORDER, 0, sequential=True),
        Stream(EMULATED * rest, IN_ORDER, rest, 1),
    ]
    jobs = [
        Stream(in_order, 0.0, IN_ORDER, 0, sequential=True),
        Stream(overwrites, 0.0, IN_ORDER, 2, address=load.address),
        Stream(at_random, IN_ORDER, rest, 1),
    ]
    return simulated(drive, fill, jobs, 3 if with_handles else 1, unit_pages)


def cachelib() -> Iterator[dict[str, Any]]:
    """Yield the cells of the drive."""
    for full in (False, True):
        for share, cells in CACHES.items():
            for with_handles, (measured, tib) in zip((False, True), cells, strict=True):
                yield {
                    "reading": "cache full before" if full else "as long as measured",
                    "load": f"{share:.0%} for small objects",
                    "handles": with_handles,
                    "measured": measured,
                    **cached(share, tib, PAGES, full=full, with_handles=with_handles),
                }


def cached(
    share: float, tib: float, unit_pages: int, *, full: bool, with_handles: bool
) -> dict[str, Any]:
    """Simulate a cache that has so large a share for small objects."""
    drive = Drive(
        unit_gib=UNIT_MIB / 1024,
        units=UNITS,
        shown=SIZE_MIB / UNIT_MIB,
        gc={"soft_threshold": {"blocks": FREE}, "hard_threshold": {"blocks": 2}},
    )
    size = SIZE_MIB / 1024
    written = CAPACITIES * size if full else tib * 1024
    large = 1.0 - share
    fill = [
        Stream(size * large, 0.0, large, 1, sequential=True),
        Stream(size * share, large, share, 0, sequential=True),
    ]
    jobs = [
        Stream(written * (1.0 - SMALL), 0.0, large, 1, sequential=True),
        Stream(written * SMALL, large, share, 0),
    ]
    return simulated(drive, fill if full else [], jobs, 2 if with_handles else 1, unit_pages)


def simulated(
    drive: Drive, fill: Sequence[Stream], jobs: Sequence[Stream], handles: int, unit_pages: int
) -> dict[str, Any]:
    """Return write amplification of the end of a run of jobs side by side."""
    phases = [group for group in (fill, jobs) if group]
    flows: list[dict[str, Any]] = []
    for group in phases:
        before = list(range(len(flows)))
        flows += [_flow(one, group, before, drive, unit_pages) for one in group]
    pages = sum(drive.pages(one.gib, unit_pages) for group in phases for one in group)
    config = {
        "ssd": {
            "geometry": {
                "channels": 1,
                "chips_per_channel": 1,
                "dies_per_chip": 1,
                "planes_per_die": 1,
                "blocks_per_plane": drive.units,
                "pages_per_block": unit_pages,
                "page_size": "4KiB",
                "spare_size": "0B",
            },
            # The host writes a page a microsecond, which no operation of the flash holds up.
            "timing": {"read": "1ns", "program": "1ns", "erase": "1ns", "transfer_rate": "none"},
            "ftl": {
                "over_provisioning": 1.0 - drive.shown / drive.units,
                "placement": {"type": "by_hint", "handles": handles},
            },
            "gc": {"victim": "greedy", "zero_cost": True, **drive.gc},
        },
        "metrics": {"interval": f"{pages // ROWS}us"},
        "precondition": {"fill": 0.0, "overwrites": 0.0},
        "workload": {"type": "flows", "flows": flows},
    }
    result = copyback.run(config)
    return {"simulated": _late(result), "config_digest": result.summary["config_digest"]}


def _flow(
    stream: Stream, group: Sequence[Stream], before: Sequence[int], drive: Drive, unit_pages: int
) -> dict[str, Any]:
    """Return the flow of a stream: pages at random times, as many as end with those of its group.

    Even gaps would write each unit in the same pattern.
    """
    pages = drive.pages(stream.gib, unit_pages)
    total = sum(drive.pages(one.gib, unit_pages) for one in group)
    return {
        "type": "synthetic",
        "requests": pages,
        "request_size": "4KiB",
        "read_share": 0.0,
        "sequential_share": float(stream.sequential),
        "address": stream.address,
        "offset": stream.offset,
        "footprint": stream.extent,
        "inter_arrival": {"type": "exponential", "mean": f"{round(1000 * total / pages)}ns"},
        "starts_after": list(before),
        "handles": {"type": "in_turn", "handles": [stream.handle]},
    }


def _late(result: copyback.Result) -> float:
    """Return write amplification over the last host bytes."""
    series = result.series
    host, moved = (np.asarray(series[name]) for name in ("host_programs", "gc_programs"))
    late = np.cumsum(host) > (1.0 - LAST) * host.sum()
    return float(1.0 + moved[late].sum() / host[late].sum())


def page(stored: Mapping[str, Any]) -> str:
    """Return what is generated of docs/drives/fdp.md."""
    pieces = [f"Simulated at commit {stored['commit']}. What is too far off is bold."]
    for kind, title in TITLES.items():
        rows = stored[kind]
        pieces.append(f"## {title}")
        pieces.append("\n".join(_answer(rows, WITHIN[kind])))
        pieces.append("\n".join(_table(rows, WITHIN[kind])))
    return "\n\n".join(pieces) + "\n"


def is_right(row: Mapping[str, Any], within: float) -> bool:
    """Whether a cell is near what was measured."""
    return bool(abs(row["simulated"] / row["measured"] - 1.0) <= within)


def in_order(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Return the loads of cells in the order of a number."""
    return [row["load"] for row in sorted(rows, key=itemgetter(name))]


def falls(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, float, float]]:
    """Return reading and load of each pair of cells, and its falls: measured and simulated."""
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return [
        (
            without["reading"],
            without["load"],
            having["measured"] / without["measured"],
            having["simulated"] / without["simulated"],
        )
        for without, having in pairs
    ]


def _answer(rows: Sequence[Mapping[str, Any]], within: float) -> Iterator[str]:
    """Yield a sentence for each reading, on cells and on what handles gain."""
    for reading in dict.fromkeys(row["reading"] for row in rows):
        cells = [row for row in rows if row["reading"] == reading]
        right = sum(is_right(row, within) for row in cells)
        pairs = falls(cells)
        helped = sum(simulated < 1.0 for *_, simulated in pairs)
        kept = [
            way
            for way, of in (("without", cells[::2]), ("with", cells[1::2]))
            if in_order(of, "measured") == in_order(of, "simulated")
        ]
        yield (
            f"- **{reading[0].upper()}{reading[1:]}**: {right} of {len(cells)} cells are within "
            f"{units.share(within)}. Handles help under {helped} of {len(pairs)} loads, as "
            f"measured under all. Loads are in the measured order {' and '.join(kept) or 'neither'}"
            f"{' handles' if kept else ' without nor with handles'}."
        )


def _table(rows: Sequence[Mapping[str, Any]], within: float) -> list[str]:
    """Return measured cells beside those of each reading."""
    readings = list(dict.fromkeys(row["reading"] for row in rows))
    heads = [f"{reading}, {way}" for reading in readings for way in ("without", "with handles")]
    lines = [
        f"| load | measured, without | with handles | {' | '.join(heads)} |",
        "| --- |" + " ---: |" * (2 + len(heads)),
    ]
    for load in dict.fromkeys(row["load"] for row in rows):
        of = [row for row in rows if row["load"] == load]
        measured = [f"{row['measured']:.2f}" for row in of[:2]]
        lines.append(f"| {load} | {' | '.join([*measured, *(_cell(row, within) for row in of)])} |")
    return lines


def _cell(row: Mapping[str, Any], within: float) -> str:
    """Return what is simulated, and by how much it is off."""
    off = 100 * (row["simulated"] / row["measured"] - 1.0)
    text = f"{row['simulated']:.2f} ({off:+.0f}%)"
    return text if is_right(row, within) else f"**{text}**"


if __name__ == "__main__":
    main()
