"""Run the second model with time on every geometry and feature, and store what it says.

    python tools/validation_rows.py            # writes python/copyback/validation/rows.json
    python tools/validation_rows.py --only TEXT...

Rows of other simulators in that file are kept as they are. Some minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import msgspec
from time_model.device import Device, Yields
from time_model.host import Request, Setup, simulate

from copyback_papers.validation.load import Load
from copyback_papers.validation.ours import responses_of
from copyback_papers.validation.stored import STORED, TIME_MODEL, Numbers, Row, rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Times of a drive with a bus of 333 MT/s; a page of 4 KiB crosses it in 12,288 ns.
COMMAND, PAGE_TRANSFER, OVERHEAD = 290, 12_288, 1_000
RATE = "333333334B/s"
#: Channels, chips, dies, planes and blocks of a plane.
GEOMETRIES = (
    (1, 1, 1, 2, 64),
    (2, 2, 1, 1, 64),
    (2, 2, 1, 2, 48),
    (1, 2, 2, 2, 48),
    (2, 1, 1, 4, 48),
    (4, 2, 1, 2, 40),
    (2, 4, 1, 2, 40),
)
#: Drives of an array, and pages of a stripe unit.
ARRAY_DRIVES, UNIT = 4, 4
#: The two are expected to be the same; a share that a single late page operation would exceed.
SAME = 1e-6
#: But for one page of some ten thousand, where a move is cut in two.
HELD = 1e-4
HELD_CAUSE = (
    "A page that is in the register as the run ends has been read for the time model; Copyback "
    "counts a move by copyback once it is programmed."
)


@dataclasses.dataclass(frozen=True)
class Case:
    """A feature on a geometry."""

    feature: str
    setup: Setup
    load: Load
    within: float = SAME
    cause: str = ""

    def geometry(self) -> str:
        """Name the geometry."""
        device = self.setup.device
        shape = f"{device.channels}x{device.chips}x{device.dies}x{device.planes}"
        return shape if self.setup.drives == 1 else f"{self.setup.drives} drives of {shape}"


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="*", default=[""])
    only = parser.parse_args().only
    wanted = [case for case in cases() if any(text in name_of(case) for text in only)]
    found: dict[str, Row] = {}
    with ProcessPoolExecutor(2) as pool:
        for row in pool.map(run, wanted):
            found[row.name] = row
            print(row.name, file=sys.stderr, flush=True)
    kept = [row for row in (rows() if STORED.exists() else []) if row.name not in found]
    if only == [""]:
        kept = [row for row in kept if row.peer != TIME_MODEL]
    write([*found.values(), *kept])


def name_of(case: Case) -> str:
    """Name a row."""
    return f"{case.feature}, {case.geometry()}"


def store(found: dict[str, Row], path: Path) -> None:
    """Store rows in the place of those of the same names."""
    kept = [row for row in rows(path) if row.name not in found]
    write([*found.values(), *kept], path)


def forget_others(peer: str, found: dict[str, Row], path: Path) -> None:
    """Drop the rows of a peer that were not found this time."""
    write([row for row in rows(path) if not row.peer.startswith(peer) or row.name in found], path)


def write(every: list[Row], path: Path = STORED) -> None:
    """Store rows, those of one peer together."""
    ordered = sorted(every, key=lambda row: (row.peer, row.feature, row.geometry, row.name))
    path.write_bytes(msgspec.json.format(msgspec.json.encode(ordered), indent=1) + b"\n")


def run(case: Case) -> Row:
    """Run a case."""
    return Row(
        name=name_of(case),
        feature=case.feature,
        geometry=case.geometry(),
        peer=TIME_MODEL,
        config=config_of(case.setup),
        load=case.load,
        iodepth=case.setup.iodepth,
        theirs=numbers(case.setup, case.load),
        within=case.within,
        cause=case.cause,
        provenance=f"tools/time_model as of the commit of this file, seed {case.load.seed}",
    )


def numbers(setup: Setup, load: Load) -> Numbers:
    """Run the model."""
    outcome = simulate(setup, (Request(*request) for request in load.draw()))
    return Numbers(
        reads=responses_of(outcome.reads),
        writes=responses_of(outcome.writes),
        page_reads=outcome.counts["page_reads"],
        page_programs=outcome.counts["page_programs"],
        erases=outcome.counts["erases"],
    )


def cases() -> Iterator[Case]:
    """Name every case."""
    for channels, chips, dies, planes, blocks in GEOMETRIES:
        base = Device(
            channels=channels,
            chips=chips,
            dies=dies,
            planes=planes,
            blocks=blocks,
            command=COMMAND,
            page_transfer=PAGE_TRANSFER,
            overhead=OVERHEAD,
        )
        yield from of_drive(base)
        yield from of_array(base)


def of_drive(base: Device) -> Iterator[Case]:
    """Return the features of one drive."""
    plain = load_of(base, 1, 1)
    if base.planes > 1:
        wide = dataclasses.replace(base, order="PCWD")
        load = load_of(wide, base.planes, 1)
        yield Case("several planes", Setup(wide, ramp=load.begins_ns()), load)
    for feature, device in (
        ("no preemption", base),
        ("copyback", dataclasses.replace(base, copyback=True)),
        (
            "semi-preemptive",
            dataclasses.replace(base, yields=Yields.BETWEEN_OPERATIONS, poll=600),
        ),
        (
            "semi-preemptive, copyback",
            dataclasses.replace(base, yields=Yields.BETWEEN_OPERATIONS, poll=600, copyback=True),
        ),
        ("partial, 2 steps", dataclasses.replace(base, yields=Yields.AFTER_STEPS, steps=2)),
        (
            "suspend",
            dataclasses.replace(
                base, suspends=True, suspend_time=20_000, resume_time=10_000, most_suspends=4
            ),
        ),
        (
            "suspend, semi-preemptive",
            dataclasses.replace(
                base,
                suspends=True,
                suspend_time=20_000,
                resume_time=10_000,
                most_suspends=4,
                yields=Yields.BETWEEN_OPERATIONS,
                poll=600,
            ),
        ),
    ):
        setup = Setup(device, ramp=plain.begins_ns())
        if device.copyback and device.yields is Yields.BETWEEN_OPERATIONS:
            yield Case(feature, setup, plain, HELD, HELD_CAUSE)
        else:
            yield Case(feature, setup, plain)
    for depth in (1, 16):
        load = Load(
            seed=9 + depth,
            pages=base.logical_pages(),
            requests=2 * base.logical_pages() + 10_000,
            gap_ns=0,
            reads=0.5,
        )
        yield Case(f"closed loop of {depth}", Setup(base, iodepth=depth), load)
    cached = dataclasses.replace(base, cache_pages=64, cache_latency=1_000)
    yield Case("cache", Setup(cached, ramp=plain.begins_ns()), plain)
    full = dataclasses.replace(plain, gap_ns=plain.gap_ns // 3, requests=5_000)
    yield Case("cache, saturated", Setup(cached, ramp=full.begins_ns()), full)


def of_array(base: Device) -> Iterator[Case]:
    """Return an array with and without parity."""
    base = dataclasses.replace(base, blocks=32)
    striped = load_of(base, 1, ARRAY_DRIVES)
    yield Case("RAID-0", Setup(base, ARRAY_DRIVES, unit=UNIT, ramp=striped.begins_ns()), striped)
    load = load_of(base, 1, ARRAY_DRIVES, parity=True)
    yield Case("RAID-5", Setup(base, ARRAY_DRIVES, True, UNIT, ramp=load.begins_ns()), load)


def load_of(device: Device, pages: int, drives: int, *, parity: bool = False) -> Load:
    """Return a load that keeps the dies busy for about half of the time."""
    data = drives - 1 if parity else drives
    dies = device.all_dies() * data
    whole = device.logical_pages() if drives == 1 else device.logical_pages() // UNIT * UNIT
    return Load(
        seed=7,
        pages=whole * data // pages * pages,
        requests=20_000,
        gap_ns=1_800_000 * pages * (3 if parity else 1) // dies,
        reads=0.5,
        request_pages=pages,
        overwrites=whole * data,
        overwrite_gap_ns=4_000_000 * (2 if parity else 1) // dies,
    )


def config_of(setup: Setup) -> dict[str, Any]:
    """Return our configuration of what the model simulates."""
    device = setup.device
    gc: dict[str, Any] = {
        "soft_threshold": {"blocks": device.soft},
        "hard_threshold": {"blocks": device.hard},
        "copyback": device.copyback,
    }
    if device.yields is Yields.BETWEEN_OPERATIONS:
        gc["preemption"] = {"type": "semi_preemptive", "poll": f"{device.poll}ns"}
    elif device.yields is Yields.AFTER_STEPS:
        gc["preemption"] = {"type": "partial", "steps": device.steps}
    ssd: dict[str, Any] = {
        "geometry": {
            "channels": device.channels,
            "chips_per_channel": device.chips,
            "dies_per_chip": device.dies,
            "planes_per_die": device.planes,
            "blocks_per_plane": device.blocks,
            "pages_per_block": device.pages,
            "page_size": "4KiB",
        },
        "timing": {
            "read": f"{device.read}ns",
            "program": f"{device.program}ns",
            "erase": f"{device.erase}ns",
            "command": f"{device.command}ns",
            "transfer_rate": RATE,
        },
        "ftl": {"allocation": device.order, "over_provisioning": device.spare},
        "gc": gc,
    }
    if device.suspends:
        ssd["commands"] = {
            "suspend": {
                "type": "program_erase",
                "suspend": f"{device.suspend_time}ns",
                "resume": f"{device.resume_time}ns",
                "most": device.most_suspends,
            }
        }
    if device.cache_pages:
        ssd["buffer"] = {
            "capacity": f"{4 * device.cache_pages}KiB",
            "latency": f"{device.cache_latency}ns",
            "high_watermark": device.high,
            "low_watermark": device.low,
            "eviction": "fifo",
        }
    config: dict[str, Any] = {
        "ssd": ssd,
        "host": {"queue_depth": setup.queue, "command_overhead": f"{device.overhead}ns"},
        "precondition": {"fill": 1.0, "overwrites": 0.0},
    }
    if setup.drives > 1:
        config["array"] = {
            "layout": "raid5" if setup.parity else "raid0",
            "devices": setup.drives,
            "stripe": f"{4 * setup.unit}KiB",
            "queue_depth": 65_536,
        }
    return config


if __name__ == "__main__":
    main()
