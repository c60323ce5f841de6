"""The slowest requests: what their dies did meanwhile, and what they waited for, in words."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from conftest import tiny_config
from copyback.report import render, slowest

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]


def kept(config: Json, most: int, **settings: Any) -> list[Json]:
    requests = copyback.run(config, metrics__slowest=most, audit=True, **settings).slowest
    assert requests is not None
    return requests


def test_the_slowest_are_kept_in_order() -> None:
    result = copyback.run(
        tiny_config(), requests=True, metrics__slowest=20, ssd__gc__zero_cost=True
    )
    assert result.requests is not None
    assert result.slowest is not None
    longest = sorted(result.requests["response_ns"].to_list(), reverse=True)[:20]
    assert [request["response_us"] * 1e3 for request in result.slowest] == longest


def test_two_are_kept_of_those_that_waited_longest_for_the_same_collection() -> None:
    result = copyback.run(tiny_config(), requests=True, metrics__slowest=40)
    assert result.requests is not None
    assert result.slowest is not None
    about = [waited_longest_for(request) for request in result.slowest]
    counts = Counter(collection for collection in about if collection is not None)
    assert max(counts.values()) == 2
    responses = [request["response_us"] for request in result.slowest]
    assert responses == sorted(responses, reverse=True)
    # Who is left out is slower than one that is kept only if two told of its collection.
    longest = sorted(result.requests["response_ns"].to_list(), reverse=True)
    assert responses[0] * 1e3 == longest[0]
    assert responses[-1] * 1e3 < longest[39]


def waited_longest_for(request: Json) -> int | None:
    """Return the collection that the waits of a request met for longest, its own and others'."""
    times: Counter[int] = Counter()
    for wait in slowest._all_waits(request["waits"]):
        for met in wait["collections"]:
            times[met["collection"]] += met["time_us"]
    return max(times, key=times.__getitem__, default=None)


VARIANTS: dict[str, Json] = {
    "plain": {},
    "one at a time": {"ssd__commands__multi_plane": False},
    "yielding": {"ssd__gc__preemption": "semi_preemptive"},
    "array": {"array__layout": "raid0", "array__devices": 3, "array__stripe": "4KiB"},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_collections_shown_are_what_the_waits_are_booked_to(variant: str) -> None:
    """A request of one page waits once, for one die, and all of that is accounted for."""
    requests = kept(tiny_config(), 100, **VARIANTS[variant])
    assert len(requests) == 100
    behind_collections = 0
    for request in requests:
        parts = request["breakdown_us"]
        assert math.fsum(parts.values()) == pytest.approx(request["response_us"], abs=1e-6)
        [wait] = request["waits"]
        assert wait["begin_us"] >= request["arrival_us"]
        assert wait["end_us"] <= request["arrival_us"] + request["response_us"]
        for part in ("gc_same_plane", "gc_other_plane", "late"):
            assert wait["breakdown_us"].get(part) == parts.get(part)
        collecting = parts.get("gc_same_plane", 0.0) + parts.get("gc_other_plane", 0.0)
        met = slowest.collections_met(wait)
        assert math.fsum(time for time, _ in met) == pytest.approx(collecting, abs=1e-6)
        behind_collections += collecting > 0
    assert behind_collections > 50


@pytest.mark.parametrize("layout", ["jbod", "raid5"])
def test_of_several_pages_the_waits_told_are_those_that_decided(layout: str) -> None:
    """The last page of each phase decides; what collections took of its waits is in the parts."""
    config = tiny_config()
    config["workload"] |= {"request_size": "16KiB", "requests": 300}
    devices = {"jbod": 1, "raid5": 3}[layout]
    requests = kept(config, 100, array__layout=layout, array__devices=devices)
    assert max(len(request["waits"]) for request in requests) > 3
    agreeing = 0
    for request in requests:
        waits = slowest.deciding(request["waits"])
        agreeing += all(
            math.fsum(wait["breakdown_us"].get(part, 0.0) for wait in waits)
            == pytest.approx(request["breakdown_us"].get(part, 0.0), abs=1e-6)
            for part in ("gc_same_plane", "gc_other_plane", "late")
        )
    # Where operations take longer on one channel, the last to get its die is not the last to end.
    assert agreeing >= 0.9 * len(requests) > 30


@pytest.mark.parametrize("variant", VARIANTS)
def test_its_own_operations_are_its_service(variant: str) -> None:
    """On the die that a one-page request used, its own array time and transfers are its service."""
    for request in kept(tiny_config(), 30, **VARIANTS[variant]):
        own = [
            span["end_us"] - span["begin_us"]
            for die in request["dies"]
            for span in die["operations"]
            if request["request"] in span["requests"]
        ]
        assert math.fsum(own) == pytest.approx(request["breakdown_us"]["service"], abs=1e-6)


#: One die of one plane, with eight blocks of four pages, half of them for the host. A command takes
#: 1 us, a page over the channel 10 us, a read 20 us, a program 200 us, an erase 1500 us.
TOY: Json = {
    "ssd": {
        "geometry": {
            "channels": 1,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": 1,
            "blocks_per_plane": 8,
            "pages_per_block": 4,
            "page_size": "4KiB",
        },
        "timing": {
            "command": "1us",
            "read": "20us",
            "program": "200us",
            "erase": "1500us",
            "transfer_rate": "409.6MB/s",
        },
        "ftl": {"over_provisioning": 0.5, "allocation": "PCWD"},
        "gc": {"soft_threshold": {"blocks": 2}},
    },
}

#: Pages written one after the other, a millisecond apart. Then two blocks are free. The next
#: write, the fourth to block 5, opens one of them and calls for a collection. Only page 3 is valid
#: in block 0, the first victim. The block that it is moved to leaves none free, so that block 4
#: follows, where only page 4 is valid.
BRINK = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 4, 5, 0, 1]


@pytest.fixture
def toy_trace(tmp_path: Path) -> Path:
    path = tmp_path / "brink.csv"
    writes = [(1_000 * step, page) for step, page in enumerate(BRINK)]
    writes += [(23_000, 2), (23_300, 7)]
    rows = [f"{at},{4096 * page},4096,write" for at, page in writes]
    path.write_text("\n".join(["at,offset,bytes,operation", *rows]) + "\n", encoding="utf-8")
    return path


def toy_result(trace: Path, **settings: Any) -> copyback.Result:
    workload = {
        "type": "trace",
        "path": trace,
        "format": {
            "type": "csv",
            "time": "at:us",
            "offset": "offset:bytes",
            "length": "bytes:bytes",
            "operation": "operation",
            "read": "read",
            "write": "write",
        },
    }
    config = {**TOY, "workload": workload, "precondition": {"fill": 0.0}}
    return copyback.run(config, audit=True, metrics__slowest=1, **settings)


def test_a_write_behind_two_collections(toy_trace: Path) -> None:
    """Its operations and words, computed by hand from the latencies."""
    result = toy_result(toy_trace)
    assert result.slowest is not None
    [request] = result.slowest
    assert (request["request"], request["operation"]) == (24, "write")
    assert request["response_us"] == 3562.0
    assert request["breakdown_us"] == {"service": 211.0, "gc_same_plane": 3351.0}
    [wait] = request["waits"]
    assert (wait["begin_us"], wait["end_us"]) == (23_300.0, 26_651.0)

    [die] = request["dies"]
    done = [
        (span["begin_us"] - 23_000, span["end_us"] - 23_000, span["class"], span["command"])
        for span in die["operations"]
    ]
    assert done == [
        (211, 431, "gc", "copyback"),  # page 3, out of block 0
        (431, 1931, "gc", "erase"),
        (1931, 2151, "gc", "copyback"),  # page 4, out of block 4
        (2151, 3651, "gc", "erase"),
        (3651, 3662, "host_write", "program"),  # over the channel
        (3662, 3862, "host_write", "program"),
    ]
    assert [span["requests"] for span in die["operations"]] == [[], [], [], [], [24], [24]]
    assert [span["blocks"] for span in die["collections"]] == [[0], [4]]
    assert slowest.reasons(request, several_drives=False) == [
        "waited 1.72 ms for a collection of block 4 on die 0 (on demand, 1 valid page)",
        "waited 1.63 ms for a collection of block 0 on die 0 (on demand, 1 valid page)",
        "took 211 µs for its own commands, array operations and transfers",
    ]


def test_a_write_behind_another_says_so(toy_trace: Path) -> None:
    """The two last writes at once: the second waits for the first, then for the collections."""
    text = toy_trace.read_text(encoding="utf-8").replace("23300,", "23000,")
    toy_trace.write_text(text, encoding="utf-8")
    result = toy_result(toy_trace)
    assert result.slowest is not None
    [request] = result.slowest
    assert slowest.reasons(request, several_drives=False)[-1] == (
        "waited 211 µs behind other requests on die 0"
    )
    assert request["response_us"] == 211 + 2 * 1720 + 211


def test_the_page_tells_and_draws_it(toy_trace: Path) -> None:
    result = toy_result(toy_trace)
    text = render(result)
    assert "Why was this request late?" in text
    assert "waited 1.72 ms for a collection of block 4 on die 0 (on demand, 1 valid page)" in text
    assert 'aria-label="die 0: collection' in text
    saved = result.save(toy_trace.parent / "out")
    assert copyback.Result.load(saved).slowest == result.slowest


def test_operations_too_narrow_to_be_seen_are_drawn_as_one() -> None:
    def shape(x: float, width: float, kind: str = "gc") -> slowest.Shape:
        return slowest.Shape(x, width, kind, "", "array")

    drawn = slowest.joined([shape(0, 1), shape(1.5, 1), shape(2.6, 1, "own"), shape(10, 1)])
    assert [(part.x, part.width, part.kind) for part in drawn] == [
        (0, 2.5, "gc"),
        (2.6, 1, "own"),
        (10, 1, "gc"),
    ]


def test_a_page_without_them_says_how_to_get_them() -> None:
    assert "--set metrics.slowest=16" in render(copyback.run(tiny_config()))


def test_a_wait_that_took_no_time_decides_nothing() -> None:
    waits = [{"begin_us": 5.0, "end_us": 5.0}, {"begin_us": 1.0, "end_us": 3.0}]
    assert slowest.deciding(waits) == [waits[1]]


#: Where a request waits for others: in front of a queue, for a stripe, for room, for its mapping.
WAITING: dict[str, Json] = {
    "a short queue": {"host__queue_depth": 2},
    "RAID-5": {"array__layout": "raid5", "array__devices": 3},
    "RAID-6": {"array__layout": "raid6", "array__devices": 4, "host__queue_depth": 2},
    "a small buffer": {"ssd__buffer__capacity": "16KiB"},
    "parts of pages": {"workload__request_size": "2KiB", "workload__alignment": "512B"},
    "a mapping in flash": {"ssd__ftl__mapping": {"type": "demand_paged", "cache": "1KiB"}},
    "log blocks": {"ssd__ftl__mapping": "log_block"},
}


@pytest.mark.parametrize("name", WAITING)
def test_the_words_add_up_to_the_response(name: str) -> None:
    for request in kept(tiny_config(), 16, **WAITING[name]):
        told = slowest.timed_reasons(request, several_drives=False)
        time = math.fsum(time for time, _ in told)
        assert time == pytest.approx(request["response_us"], rel=0.05), told


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a short queue", "host_queue"),
        ("RAID-5", "stripe"),
        ("RAID-6", "drive_queue"),
        ("a small buffer", "buffer"),
        ("parts of pages", "update"),
        ("a mapping in flash", "mapping"),
    ],
)
def test_a_wait_for_others_names_them_and_what_they_waited_for(name: str, kind: str) -> None:
    """Some slow request waited so, behind somebody who had waited for a collection."""
    waits = [
        wait
        for request in kept(tiny_config(), 100, **WAITING[name])
        for wait in request["waits"]
        if wait["for"] == kind and wait["behind"] and wait["behind"]["waits"]
    ]
    assert waits
    first = waits[0]["behind"]["waits"][0]
    assert first["end_us"] > first["begin_us"]
    [(time, words)] = slowest.reasons_of_wait(waits[0], several_drives=True)
    assert time == waits[0]["end_us"] - waits[0]["begin_us"]
    assert "behind" in words
    assert "had waited" in words
