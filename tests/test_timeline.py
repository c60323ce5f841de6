"""The timeline: what viewers read, and exactly what happened."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from conftest import RunCli, tiny_config
from copyback import InputError
from copyback._core import Simulation
from copyback.inputs.configuration import load

if TYPE_CHECKING:
    from pathlib import Path

Event = dict[str, Any]

WHOLE = ":"

#: Planes of the drives below, three of them at most.
PLANES = 3 * 4


def of_phase(events: list[Event], phase: str) -> list[Event]:
    return [event for event in events if event["ph"] == phase]


def row_names(events: list[Event]) -> dict[tuple[int, int], str]:
    return {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in of_phase(events, "M")
        if event["name"] == "thread_name"
    }


def check_format(events: list[Event]) -> None:
    """Check what the description of the format asks of each phase, and what viewers ask beside."""
    rows = defaultdict(list)
    spans = defaultdict(list)
    for event in events:
        assert re.fullmatch(r"[a-z_0-9 ():]+", event["name"]), event
        assert event["ph"] in "XbeCM", event
        assert all(isinstance(event[key], int) for key in ("pid", "tid")), event
        assert isinstance(event["ts"], int | float), event
        assert event["ts"] >= 0, event
        assert isinstance(event["args"], dict), event
        match event["ph"]:
            case "X":
                assert event["dur"] >= 0, event
                rows[event["pid"], event["tid"]].append(event)
            case "b" | "e":
                spans[event["cat"], event["id"]].append(event)
            case "C":
                assert all(isinstance(value, int) for value in event["args"].values()), event
            case "M":
                assert event["name"] in {"process_name", "thread_name"}, event
                assert isinstance(event["args"]["name"], str), event
    for span in spans.values():
        begin, end = span
        assert [begin["ph"], end["ph"]] == ["b", "e"], span
        assert begin["name"] == end["name"], span
        assert begin["ts"] <= end["ts"], span
    for row in rows.values():
        # Nothing of a die's array, of a channel or of a die's collections overlaps.
        row.sort(key=lambda event: event["ts"])
        for before, after in itertools.pairwise(row):
            assert before["ts"] + before["dur"] <= after["ts"] + 1e-6, (before, after)
    named = {(event["pid"], event["tid"]) for event in of_phase(events, "M")}
    assert {(event["pid"], event["tid"]) for event in events} == named


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "two planes at once": {
        "ssd__gc__width": "blind",
    },
    "yielding over the channel": {
        "ssd__gc__preemption": "semi_preemptive",
        "ssd__gc__copyback": False,
        "ssd__timing__register": "double",
    },
    "suspended": {
        "ssd__commands__suspend": {"type": "program_erase", "suspend": "10us", "resume": "5us"}
    },
    "mapping in flash": {
        "ssd__ftl__mapping": {"type": "demand_paged", "cache": "4KiB"},
    },
    "buffered": {"ssd__buffer__capacity": "64KiB"},
    "array": {"array__layout": "raid5", "array__devices": 3},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_whole_run_holds_all_that_the_summary_counts(variant: str) -> None:
    result = copyback.run(tiny_config(), timeline=WHOLE, audit=True, **VARIANTS[variant])
    events = result.timeline
    assert events is not None
    check_format(events)
    summary = result.summary
    slices = of_phase(events, "X")

    collecting = sum(event["dur"] for event in slices if event["cat"] == "collecting")
    assert collecting == pytest.approx(summary.gc.busy_us, abs=1e-3)

    names = row_names(events)
    begun: Counter[str] = Counter()
    for event in slices:
        is_array = re.fullmatch(r"die \d+", names[event["pid"], event["tid"]])
        if is_array and not event["args"].get("resumed"):
            begun[event["args"]["command"]] += len(event["args"]["blocks"])
    flash = summary.flash
    # Planes in step read and program with a command each what the summary calls copybacks.
    unfinished = {
        "erases": flash.erases - begun["erase"],
        "programs": flash.programs + flash.copybacks - begun["program"] - begun["copyback"],
    }
    if not flash.copybacks:
        unfinished["reads"] = flash.reads - begun["read"]
    # Only what a die had taken and not begun when the run ended is missing.
    assert all(0 <= count <= PLANES for count in unfinished.values()), unfinished

    requests = [event for event in of_phase(events, "b") if event["cat"] == "request"]
    assert len(requests) == summary.requests["count"]
    assert {event["args"]["request"] for event in requests} == set(range(len(requests)))


def test_a_window_holds_what_overlaps_it_and_nothing_else(cli: RunCli, tiny_toml: Path) -> None:
    out = tiny_toml.parent / "out"
    arguments = ("run", tiny_toml, "--quiet", "--out", out, "--timeline")
    cli(*arguments, "100ms:120ms")
    window = copyback.Result.load(out).timeline
    cli(*arguments, WHOLE)
    whole = copyback.Result.load(out).timeline
    assert window is not None
    assert whole is not None
    check_format(window)

    begin, end = 100_000.0, 120_000.0
    seen = {key(event) for event in of_phase(window, "X")}
    overlapping = {
        key(event)
        for event in of_phase(whole, "X")
        if event["ts"] < end and event["ts"] + event["dur"] >= begin
    }
    assert seen == overlapping
    assert len(seen) > 20
    assert all(begin <= event["ts"] < end for event in of_phase(window, "C"))
    assert len(of_phase(window, "C")) > 20


def key(event: Event) -> tuple[Any, ...]:
    return event["pid"], event["tid"], event["ts"], event["dur"], event["name"]


def test_the_same_run_writes_the_same_bytes(tmp_path: Path) -> None:
    packed = []
    for name in ("a", "b"):
        result = copyback.run(tiny_config(), timeline="50ms:80ms")
        result.save(tmp_path / name)
        packed.append((tmp_path / name / "timeline.json.gz").read_bytes())
    assert packed[0] == packed[1]
    assert json.loads(gzip.decompress(packed[0]))["displayTimeUnit"] == "ns"


def test_a_timeline_changes_no_number() -> None:
    plain = copyback.run(tiny_config()).summary.to_dict()
    drawn = copyback.run(tiny_config(), timeline=WHOLE).summary.to_dict()
    for summary in (plain, drawn):
        del summary["simulator"], summary["config_digest"]
    assert plain == drawn


def test_what_waits_to_be_taken_is_bounded() -> None:
    config = load(
        tiny_config(), settings=[("metrics.timeline", "{}"), ("workload.requests", "9000")]
    )
    simulation = Simulation(config)
    pieces = []
    while not simulation.advance(1 << 40):
        pieces.append(len(simulation.take_timeline()))
    assert len(pieces) > 5
    assert max(pieces) < (1 << 20) + 10_000


@pytest.mark.parametrize(
    ("window", "complaint"),
    [
        ("1s", "--timeline 1s: FROM:TO is needed, such as 1.5s:1.6s or :20ms"),
        ("2s:1s", 'metrics.timeline.to: found 1s; allowed: later than from = "2s"'),
        ("soon:1s", "metrics.timeline.from"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(window: str, complaint: str) -> None:
    with pytest.raises(InputError, match=re.escape(complaint)):
        copyback.run(tiny_config(), timeline=window)


def test_a_timeline_needs_a_directory(cli: RunCli, tiny_toml: Path) -> None:
    done = cli("run", tiny_toml, "--timeline", ":1ms", status=2)
    assert "--timeline writes a file: say where with --out DIR" in done.stderr
