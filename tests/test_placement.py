"""Placements beside the simulator of the authors of SepBIT (tests/placement/README.md)."""

from __future__ import annotations

import csv
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import copyback

if TYPE_CHECKING:
    from numpy.typing import NDArray

REFERENCE = Path(__file__).parent / "placement" / "reference.csv"
#: What of it a page of the papers shows.
SHOWN = Path(__file__).parents[1] / "docs/reproduction/outside/sepbit-2022.csv"
PAGES = 65_536
DRAWS = 655_360
PAGES_PER_BLOCK = 512
#: Share of what is written that may be invalid.
MOST_INVALID = 0.15
#: How far write amplification may lie from theirs.
TOLERANCE = 0.03

#: Skew and seed of each trace.
TRACES = {
    "zipf-0.6": (0.6, 2),
    "zipf-0.8": (0.8, 3),
    "zipf-1.0": (1.0, 1),
    "zipf-1.2": (1.2, 4),
    "uniform": (0.0, 5),
}

#: Each trace; for `make test-long` alone those that differ from the first in their skew only: what
#: tells one placement from another is most of all at stake in the middle.
EACH_TRACE = [
    pytest.param(name, marks=() if name == "zipf-1.0" else pytest.mark.long) for name in TRACES
]

#: Theirs: ours, by their names and numbers of classes.
PLACEMENTS: dict[tuple[str, str], Any] = {
    ("one_class", "1"): "one_class",
    ("host_gc", "2"): "host_and_gc_apart",
    ("sepbit", "6"): "sepbit",
    ("dac", "6"): "dac",
    ("fadac", "6"): "fadac",
    ("eti", "6"): "eti",
    # Each page is a request here, the fill included, and a chunk that expires comes back.
    ("autostream_mq", "6"): {
        "type": "auto_stream_multi_queue",
        "counted": "pages",
        "expiry": "none",
    },
    ("autostream_sfr", "6"): {"type": "auto_stream_sfr", "counted": "pages"},
    ("warcip", "6"): "warcip",
    ("sfs", "6"): "sfs",
    ("multilog", "6"): "multi_log",
    ("fk", "6"): {"type": "oracle", "classes": 6, "width": 1, "growth": 1},
}
VICTIMS: dict[str, Any] = {
    "greedy": "greedy",
    "cost_benefit": {"type": "cost_benefit", "age": "since_sealed", "weight": "sqrt"},
}


def written(skew: float, seed: int) -> NDArray[np.int64]:
    """All pages in order, then those that a Zipf law draws."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, PAGES + 1, dtype=np.float64) ** skew
    cumulated = np.cumsum(share / share.sum())
    shuffled = rng.permutation(PAGES)
    ranks = np.searchsorted(cumulated, rng.random(DRAWS))
    return np.concatenate([np.arange(PAGES), shuffled[np.minimum(ranks, PAGES - 1)]])


def write_trace(pages: NDArray[np.int64], path: Path) -> None:
    """Write a trace as SSDsim has it: a page each microsecond."""
    columns = {"time": np.arange(1, len(pages) + 1) * 1000, "device": 0, "sector": pages * 8}
    table = pl.DataFrame(columns).with_columns(sectors=8, is_read=0)
    table.write_csv(path, separator=" ", include_header=False)


class Traces(dict[str, Path]):
    """Traces as SSDsim has them (time, device, first sector, sectors, 0 for a write), as needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> Path:
        self[name] = self._folder / f"{name}.trace"
        write_trace(written(*TRACES[name]), self[name])
        return self[name]


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    return Traces(tmp_path_factory.mktemp("placement"))


#: Where write amplification jumps by 5% as the trigger moves by a third of a percent.
SENSITIVE = {("zipf-1.2", "autostream_mq", "cost_benefit"): (0.1495, 0.15, 0.1505)}


def drive(
    placement: Any, victim: Any, trace: Path, most_invalid: float = MOST_INVALID
) -> dict[str, Any]:
    """One plane with blocks to spare: the share of invalid pages alone calls for collections."""
    blocks = int(PAGES / (1 - MOST_INVALID) / PAGES_PER_BLOCK) + 24
    geometry = ["channels", "chips_per_channel", "dies_per_chip", "planes_per_die"]
    return {
        "seed": 1,
        "ssd": {
            "geometry": dict.fromkeys(geometry, 1)
            | {
                "blocks_per_plane": blocks,
                "pages_per_block": PAGES_PER_BLOCK,
                "page_size": "4KiB",
            },
            "ftl": {
                "over_provisioning": 1 - PAGES / (blocks * PAGES_PER_BLOCK),
                "placement": placement,
            },
            "gc": {
                "victim": victim,
                "soft_threshold": {"blocks": 2},
                "invalid_threshold": most_invalid,
            },
        },
        "host": {"queue_depth": 1},
        "workload": {"type": "trace", "path": str(trace), "format": "ssdsim"},
        "precondition": {"fill": 0.0, "overwrites": 0.0},
    }


def reference() -> dict[tuple[str, int, str], float]:
    """Median write amplification of each trace, placement and victim that both have."""
    runs: dict[tuple[str, int, str], list[float]] = {}
    names = {theirs: place for place, theirs in enumerate(PLACEMENTS)}
    with REFERENCE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            place = names.get((row["placement"], row["classes"]))
            is_ours = row["trace"] in TRACES and row["victim"] in VICTIMS
            if place is not None and is_ours and row["clock"] == "trace":
                key = (row["trace"], place, row["victim"])
                runs.setdefault(key, []).append(float(row["wa"]))
    return {key: float(np.median(values)) for key, values in runs.items()}


#: A column of the page of sepbit-2022: the trace.
SHOWN_TRACES = {
    "uniform": "uniform",
    "Zipf 0.6": "zipf-0.6",
    "Zipf 0.8": "zipf-0.8",
    "Zipf 1.0": "zipf-1.0",
    "Zipf 1.2": "zipf-1.2",
    "web server": "webserver",
    "MySQL server": "mysql",
}

#: A row of it: theirs.
SHOWN_SCHEMES = {
    "one class": ("one_class", "1"),
    "host and GC apart": ("host_gc", "2"),
    "DAC": ("dac", "6"),
    "SFS": ("sfs", "6"),
    "MultiLog": ("multilog", "6"),
    "ETI": ("eti", "6"),
    "FADaC": ("fadac", "6"),
    "WARCIP": ("warcip", "6"),
    "AutoStream, multi-queue": ("autostream_mq", "6"),
    "AutoStream, SFR": ("autostream_sfr", "6"),
    "SepBIT": ("sepbit", "6"),
    "oracle, FK": ("fk", "6"),
}


def test_the_page_of_sepbit_shows_the_reference() -> None:
    runs: dict[tuple[str, str, str], list[float]] = {}
    with REFERENCE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["clock"], row["victim"]) == ("trace", "cost_benefit"):
                key = (row["placement"], row["classes"], row["trace"])
                runs.setdefault(key, []).append(float(row["wa"]))
    with SHOWN.open(encoding="utf-8") as file:
        shown = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert {row["scheme"] for row in shown} == set(SHOWN_SCHEMES)
    for row in shown:
        for column, trace in SHOWN_TRACES.items():
            theirs = runs[*SHOWN_SCHEMES[row["scheme"]], trace]
            assert row[column] == f"{np.median(theirs):.3f}", (row["scheme"], column)


def amplification(
    placement: Any, victim: Any, trace: Path, most_invalid: float = MOST_INVALID
) -> float:
    return amplification_of(json.dumps(drive(placement, victim, trace, most_invalid)))


@cache
def amplification_of(config: str) -> float:
    """Write amplification of a drive, which several tests may ask for."""
    found = copyback.run(json.loads(config)).write_amplification
    assert found is not None
    return found


@pytest.mark.parametrize("trace", EACH_TRACE)
def test_write_amplification_is_that_of_the_authors_of_sepbit(trace: str, traces: Traces) -> None:
    placements = list(PLACEMENTS.items())
    expected = {key: value for key, value in reference().items() if key[0] == trace}
    assert len(expected) == len(PLACEMENTS) * len(VICTIMS), "each has a reference"
    apart = {}
    for (_, place, victim), theirs in expected.items():
        (name, _), placement = placements[place]
        ours = [
            amplification(placement, VICTIMS[victim], traces[trace], most_invalid)
            for most_invalid in SENSITIVE.get((trace, name, victim), (MOST_INVALID,))
        ]
        if all(abs(found / theirs - 1) > TOLERANCE for found in ours):
            apart[name, victim] = (ours, theirs)
    assert not apart


def test_the_page_of_midas_shows_the_reference() -> None:
    with REFERENCE.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["placement"] == "midas"]
    theirs = {row["trace"]: row["wa"] for row in rows if row["victim"] == "cost_benefit"}
    path = SHOWN.with_name("midas-2024.csv")
    with path.open(encoding="utf-8") as file:
        shown = {
            row["addresses"]: row["MiDAS"]
            for row in csv.DictReader(line for line in file if line[0] != "#")
        }
    assert shown == {
        column: f"{float(theirs[f'midas-{trace}']):.3f}"
        for column, trace in SHOWN_TRACES.items()
        if f"midas-{trace}" in theirs
    }


@pytest.mark.parametrize("placement", ["warcip", "sfs"])
def test_time_is_as_good_a_clock_where_a_page_comes_each_microsecond(
    placement: str, traces: Traces
) -> None:
    by_time = {"type": placement, "clock": "time"}
    victim, trace = VICTIMS["cost_benefit"], traces["zipf-1.0"]
    found = amplification(by_time, victim, trace)
    assert found == pytest.approx(amplification(placement, victim, trace), rel=0.01)


#: Blocks and spare of the log that replays a looped trace of a server, and for how long.
SERVERS: dict[str, tuple[str, int, float, str]] = {
    "webserver": ("linux-webserver-2.load.gz", 1145, 0.167515, "10803s"),
    "mysql": ("linux-mysql.load.gz", 351, 0.206714, "17999s"),
}


@pytest.mark.skipif("COPYBACK_TRACES" not in os.environ, reason="COPYBACK_TRACES is not set")
@pytest.mark.parametrize("clock", ["writes", "time"])
@pytest.mark.parametrize("placement", ["warcip", "sfs"])
@pytest.mark.parametrize("trace", SERVERS)
def test_each_clock_is_that_of_the_authors_of_sepbit(
    trace: str, placement: str, clock: str
) -> None:
    file, blocks, spare, duration = SERVERS[trace]
    path = Path(os.environ["COPYBACK_TRACES"]) / file
    config = drive({"type": placement, "clock": clock}, VICTIMS["cost_benefit"], path)
    config["ssd"]["geometry"]["blocks_per_plane"] = blocks
    config["ssd"]["ftl"]["over_provisioning"] = spare
    config["ssd"]["gc"]["zero_cost"] = True
    config["workload"] = {
        "type": "trace",
        "path": str(path),
        "beyond_device": {"type": "compact", "extent": "4KiB"},
        "duration": duration,
    }
    # Theirs counts pages: a request of a part of a page is a whole one.
    found = copyback.run(config).summary.page_write_amplification
    theirs = {"writes": "writes", "time": "trace"}[clock]
    with REFERENCE.open(encoding="utf-8") as told:
        rows = [row for row in csv.DictReader(told) if row["trace"] == trace]
    of = [r for r in rows if (r["placement"], r["clock"]) == (placement, theirs)]
    expected = np.median([float(row["wa"]) for row in of if row["victim"] == "cost_benefit"])
    # Its long requests are collected page by page here: one class is as far above theirs.
    is_far = (trace, placement, clock) == ("webserver", "sfs", "time")
    assert found == pytest.approx(expected, rel=0.05 if is_far else TOLERANCE)


def test_the_victims_of_sfs_are_those_of_the_authors_of_sepbit(traces: Traces) -> None:
    with REFERENCE.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["victim"] == "cost_hotness"]
    (row,) = (row for row in rows if row["trace"] == "zipf-1.0")
    trace = traces[row["trace"]]
    victim = {"type": "cost_hotness", "least_invalid": 0.15}
    assert abs(amplification("sfs", victim, trace) / float(row["wa"]) - 1) < TOLERANCE
    greedy = amplification("sfs", "greedy", trace)
    assert amplification("sfs", "cost_hotness", trace) > greedy, "of cold blocks it moves too much"


def test_the_victims_of_multilog_find_sizes_for_its_logs(traces: Traces) -> None:
    own = {"type": "multi_log", "victims": "own"}
    for skewed in ("zipf-0.8", "zipf-1.0"):
        greedy = amplification("multi_log", "greedy", traces[skewed])
        assert amplification(own, "greedy", traces[skewed]) < 0.97 * greedy
    uniform = traces["uniform"]
    assert amplification(own, "greedy", uniform) > 1.05 * amplification(
        "multi_log", "greedy", uniform
    )


# One victim in CI: under uniform traffic both choose among blocks that are alike.
@pytest.mark.parametrize("victim", [pytest.param("greedy", marks=pytest.mark.long), "cost_benefit"])
def test_nothing_gains_under_uniform_traffic_but_who_knows_the_future(
    victim: str, traces: Traces
) -> None:
    base = amplification("one_class", VICTIMS[victim], traces["uniform"])
    for placement in PLACEMENTS.values():
        if "oracle" not in str(placement):
            found = amplification(placement, VICTIMS[victim], traces["uniform"])
            assert abs(found / base - 1) < 0.01, placement


@pytest.mark.parametrize("trace", EACH_TRACE)
def test_no_placement_beats_the_oracle(trace: str, traces: Traces) -> None:
    victim = VICTIMS["cost_benefit"]
    bound = amplification("oracle", victim, traces[trace])
    for placement in PLACEMENTS.values():
        assert bound < amplification(placement, victim, traces[trace]), placement


def test_the_summary_tells_what_became_of_the_blocks_of_each_class(traces: Traces) -> None:
    summary = copyback.run(drive("sepbit", "greedy", traces["zipf-1.0"])).summary
    told = summary.placement
    assert told is not None
    collected = [one for one in told.classes if one.valid_share is not None]
    moved = sum(one.victims * (one.valid_share or 0) * PAGES_PER_BLOCK for one in collected)
    assert moved == pytest.approx(summary.gc.pages_moved)
    assert sum(one.victims for one in told.classes) == summary.gc.collections
    lives = [one.block_life_pages or 0 for one in told.classes[:2]]
    assert lives[0] < lives[1], "what is short-lived dies first"
    assert (told.state_bytes, told.diverted_pages) == (8 * PAGES, 0)


#: The smallest drive of the simulator of MiDAS' authors: 1 GiB of segments of 2 MiB, 1 GB for the
#: host.
MIDAS_BLOCKS = 512
MIDAS_PAGES = 1000**3 // 4096
#: Times that the host writes all of it, after the fill.
MIDAS_DRAWS = 45


def midas_trace(skew: float, seed: int, path: Path) -> None:
    """All pages in order, then those that a Zipf law draws, as SSDsim has them."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, MIDAS_PAGES + 1, dtype=np.float64) ** skew
    cumulated = np.cumsum(share / share.sum())
    shuffled = rng.permutation(MIDAS_PAGES)
    ranks = np.searchsorted(cumulated, rng.random(MIDAS_DRAWS * MIDAS_PAGES))
    drawn = shuffled[np.minimum(ranks, MIDAS_PAGES - 1)]
    write_trace(np.concatenate([np.arange(MIDAS_PAGES), drawn]), path)


# The others (each half a minute): tests/placement/README.md says what they give.
@pytest.mark.parametrize(("trace", "victim"), [("zipf-1.2", "cost_benefit")])
def test_midas_writes_what_its_authors_simulator_writes(
    trace: str, victim: str, tmp_path: Path
) -> None:
    with REFERENCE.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["placement"] == "midas"]
    theirs = [row for row in rows if (row["trace"], row["victim"]) == (f"midas-{trace}", victim)]
    path = tmp_path / "trace"
    midas_trace(*TRACES[trace], path)
    config = drive("midas", VICTIMS[victim], path)
    config["ssd"]["geometry"]["blocks_per_plane"] = MIDAS_BLOCKS
    spare = 1 - MIDAS_PAGES / (MIDAS_BLOCKS * PAGES_PER_BLOCK)
    config["ssd"]["ftl"]["over_provisioning"] = spare
    config["ssd"]["gc"] = {"victim": VICTIMS[victim], "soft_threshold": {"blocks": 4}}
    result = copyback.run(config)
    assert result.summary.placement is not None
    found = result.write_amplification
    assert found is not None
    assert abs(found / float(np.median([float(row["wa"]) for row in theirs])) - 1) <= TOLERANCE


def test_a_clock_that_stood_still_while_the_drive_was_prepared_is_told(
    traces: Traces,
) -> None:
    def notes(clock: str, overwrites: float) -> list[str]:
        config = drive({"type": "warcip", "clock": clock}, "greedy", traces["uniform"])
        config["precondition"] = {"fill": 1.0, "overwrites": overwrites}
        config["workload"] = {"type": "synthetic", "requests": 10, "read_share": 0.0}
        return [note for note in copyback.run(config).summary.notes if "clock" in note]

    assert [len(notes(*one)) for one in (("writes", 0.1), ("time", 0.0), ("time", 0.1))] == [
        0,
        0,
        1,
    ]


#: Blocks of the smaller of two drives with thin spare: a twentieth of them is kept free.
FEW_BLOCKS = 256


def on_thin_spare(placement: Any, blocks: int = FEW_BLOCKS, more: int = 0) -> float:
    """Return write amplification under uniform writes; `more` blocks hold no more data."""
    pages_per_block = 64
    logical = round(0.85 * blocks * pages_per_block)
    config = drive(placement, VICTIMS["cost_benefit"], Path("no trace"))
    config["ssd"]["geometry"] |= {
        "blocks_per_plane": blocks + more,
        "pages_per_block": pages_per_block,
    }
    spare = 1 - logical / ((blocks + more) * pages_per_block)
    config["ssd"]["ftl"]["over_provisioning"] = spare
    config["ssd"]["gc"] = {
        "victim": VICTIMS["cost_benefit"],
        "soft_threshold": {"blocks": blocks // 20},
        "zero_cost": True,
    }
    config["workload"] = {
        "type": "synthetic",
        "requests": 20 * logical,
        "request_size": "4KiB",
        "read_share": 0.0,
        "sequential_share": 0.0,
    }
    config["precondition"] = {"fill": 1.0, "overwrites": 2.0}
    found = copyback.run(config).write_amplification
    assert found is not None
    return found


@pytest.mark.parametrize("placement", ["sepbit", {"type": "dac", "classes": 6}])
def test_what_is_lost_on_thin_spare_is_half_a_block_for_each_class(placement: Any) -> None:
    base, twice = on_thin_spare("one_class"), on_thin_spare("one_class", 2 * FEW_BLOCKS)
    loss = on_thin_spare(placement) / base - 1
    assert 0.07 < loss < 0.11
    of_twice = on_thin_spare(placement, 2 * FEW_BLOCKS) / twice - 1
    assert of_twice == pytest.approx(loss / 2, rel=0.25), "half as much on twice the blocks"
    # Five open blocks more than one class has: two and a half blocks.
    assert on_thin_spare(placement, more=3) < base < on_thin_spare(placement, more=2)
    assert on_thin_spare(placement, more=5) < 0.95 * base, "open blocks are not empty"


def test_twice_the_classes_lose_more_than_twice_on_thin_spare() -> None:
    base = on_thin_spare("one_class")
    found = [on_thin_spare({"type": "dac", "classes": n}) / base - 1 for n in (2, 4, 6, 12)]
    assert found == sorted(found)
    assert found[3] > 2 * found[2]
