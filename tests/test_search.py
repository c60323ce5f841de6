"""Searches: bounds and ranges as users say them, bisection, and what the command prints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import copyback
from copyback._core import InputError
from copyback.frame import Frame
from copyback.sweep.bisection import Probe, SearchResult, find
from copyback.sweep.bounds import parse_bound, parse_range
from copyback.sweep.intervals import Estimate
from copyback.sweep.knee import knee, knees
from copyback.sweep.labels import Names
from copyback.sweep.page_numbers import kind_of, quantity
from copyback.sweep.schemes import MEASURES, contests
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from conftest import RunCli

RANGE = "ssd.ftl.over_provisioning=0.1..0.5"


def evaluating(
    mean: Callable[[float], float], half: float | None, asked: list[float]
) -> Callable[[Sequence[float]], Mapping[float, Estimate]]:
    """Return what stands for simulations whose number is a function of the key."""

    def evaluate(values: Sequence[float]) -> dict[float, Estimate]:
        asked[:] = values
        return {value: Estimate(mean(value), half) for value in values}

    return evaluate


@pytest.mark.parametrize("root", [0.1001, 0.137, 0.3, 0.4999])
def test_the_least_value_is_found_within_a_hundredth_of_the_range(root: float) -> None:
    asked: list[float] = []
    least = parse_range(RANGE, wants_least=True)
    bound = parse_bound("p99.9 <= 5ms")
    _, (value, beyond, low, high) = find(
        least, bound, evaluating(lambda v: 5000.0 + 1e5 * (root - v), None, asked)
    )
    assert value is not None
    assert beyond is not None
    assert beyond < root <= value
    assert value - beyond <= 0.01 * 0.4 + 1e-9
    # A grid as fine has a hundred values.
    assert len(asked) <= 10
    assert low is high is None


def test_the_greatest_value_is_found_too_and_whole_numbers_to_the_next() -> None:
    asked: list[float] = []
    most = parse_range("host.queue_depth=1..256", wants_least=False)
    bound = parse_bound("p99 < 1ms")
    _, (value, beyond, *_) = find(
        most, bound, evaluating(lambda depth: 30.0 * depth, None, asked), within=1e-6
    )
    assert (value, beyond) == (33, 34)
    assert all(float(depth).is_integer() for depth in asked)


def test_the_interval_is_where_the_bound_begins_to_hold_for_its_ends() -> None:
    least = parse_range(RANGE, wants_least=True)
    bound = parse_bound("p99.9 < 5ms")
    # The ends of the interval meet the bound 0.05 before and behind the mean.
    _, (value, _, low, high) = find(
        least, bound, evaluating(lambda v: 5000.0 + 1e5 * (0.3 - v), 5000.0, [])
    )
    assert value == pytest.approx(0.3, abs=0.005)
    assert low == pytest.approx(0.25, abs=0.01)
    assert high == pytest.approx(0.35, abs=0.01)


def test_a_bound_that_none_or_all_hold_ends_the_search_at_once() -> None:
    asked: list[float] = []
    least = parse_range(RANGE, wants_least=True)
    bound = parse_bound("p99.9 < 5ms")
    _, none = find(least, bound, evaluating(lambda _: 9e9, None, asked))
    assert none[:2] == (None, 0.5)
    _, all_ = find(least, bound, evaluating(lambda _: 1.0, None, asked))
    assert all_[:2] == (0.1, None)
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("p99.9", "NAME<NUMBER is needed"),
        ("p99.9<fast", "NAME<NUMBER is needed"),
        ("p9.99<5ms", "no number 'p9.99'.*did you mean p99.9"),
        ("WA<5ms", "not counted in such units"),
    ],
)
def test_a_bound_that_says_nothing_is_refused(text: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        parse_bound(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a.b", "KEY=LOW..HIGH is needed"),
        ("a.b=1..x", "KEY=LOW..HIGH is needed"),
        ("a.b=2..1", "first value must be below"),
        ("a.b=1..5ms", "two numbers, times, sizes or rates are needed"),
        ("a.b=1MiB..5ms", "two numbers, times, sizes or rates are needed"),
        ("a.b=2GiB..1024MiB", "first value must be below"),
    ],
)
def test_a_range_that_says_nothing_is_refused(text: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        parse_range(text, wants_least=True)


def test_every_dotted_key_of_the_summary_can_be_bounded() -> None:
    assert parse_bound("gc.erases<100").measure.column == "gc.erases"
    assert parse_bound("response_us.read.p99<1ms").limit == 1000.0
    for name in ("mean", "max", "p50", "p99", "p99.9", "p99.99"):
        column = f"response_us.write.{name.replace('.', '_')}"
        assert parse_bound(f"write.{name} < 2ms").measure.column == column


def test_times_are_searched_in_nanoseconds() -> None:
    times = parse_range("ssd.timing.read=20us..100us", wants_least=False)
    middle = times.between(times.least, times.most, 0.01)
    assert middle is not None
    assert times.text(middle) == "60000ns"
    assert times.shown(middle) == "60.0 µs"


@pytest.mark.parametrize(
    ("text", "root", "expected"),
    [
        ("ssd.buffer.capacity=1MiB..64MiB", 9.4 * 2**20, 4096),
        ("ssd.buffer.capacity=0B..1GiB", 300e6, 4096),
        ("workload.request_size=512B..64KiB", 5000, 512),
        ("a.b=1000B..3000B", 1234, 1),
    ],
)
def test_sizes_are_searched_in_whole_pages(text: str, root: float, expected: int) -> None:
    asked: list[float] = []
    sizes = parse_range(text, wants_least=True)
    bound = parse_bound("WA < 2")
    _, (value, beyond, *_) = find(
        sizes, bound, evaluating(lambda v: 1.0 if v >= root else 3.0, None, asked)
    )
    assert value is not None
    assert beyond is not None
    assert beyond < root <= value
    assert all(size % expected == 0 for size in asked)
    assert len(asked) <= 12
    assert quantity(sizes.text(value)) == ("size", value)


def test_rates_are_searched_in_their_unit() -> None:
    rates = parse_range("ssd.timing.transfer_rate=200MT/s..800MT/s", wants_least=True)
    middle = rates.between(200, 800, 0.01)
    assert middle is not None
    assert (rates.text(middle), rates.shown(middle)) == ("500MT/s", "500MT/s")
    rebuilt = parse_range("array.rebuild.rate=1MiB/s..2GiB/s", wants_least=False)
    assert (rebuilt.least, rebuilt.most) == (1, 2048)
    assert rebuilt.text(64) == "64MiB/s"


def test_a_size_is_found_by_the_command(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    arguments = ["--least", "ssd.buffer.capacity=64KiB..4MiB", "--where", "mean<500us"]
    done = cli("search", tiny_toml, *arguments, "--within", "0.2", "--out", "found", "--quiet")
    told = " ".join(done.stdout.split())
    assert told.startswith("Answer The least buffer.capacity with mean below 500 µs is")
    rows = pl.read_parquet(tmp_path / "found" / "results.parquet")
    by_value = dict(rows.select("ssd.buffer.capacity", "response_us.all.mean").iter_rows())
    held = min(size(text) for text, mean in by_value.items() if mean < 500)
    assert f" is {units.size(held)}: " in told
    assert max(size(text) for text, mean in by_value.items() if mean >= 500) < held


def size(text: str) -> float:
    found = quantity(text)
    assert found is not None
    return found[1]


def test_a_search_finds_what_runs_confirm_and_keeps_a_comparison(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    arguments = ["--least", "ssd.ftl.over_provisioning=0.25..0.5", "--where", "WA<1.5"]
    done = cli("search", tiny_toml, *arguments, "--within", "0.1", "--out", "found", "--quiet")
    assert done.stdout.startswith("Answer       The least over_provisioning with WA below 1.500 is")
    assert "holds" in done.stdout
    rows = pl.read_parquet(tmp_path / "found" / "results.parquet")
    by_value = dict(rows.select("ssd.ftl.over_provisioning", "write_amplification").iter_rows())
    held = min(value for value, wa in by_value.items() if wa < 1.5)
    assert f" is {held:g}: " in " ".join(done.stdout.split())
    assert max(value for value, wa in by_value.items() if wa >= 1.5) < held
    assert (tmp_path / "found" / "report.html").is_file()
    refused = cli("search", tiny_toml, "--where", "WA<2", status=2)
    assert "a search needs either --least" in refused.stderr
    absent = cli("search", tiny_toml, *arguments[:2], "--where", "gc.erased<2", status=2)
    assert "no result has gc.erased" in absent.stderr


def test_a_bound_of_mebibytes_is_read() -> None:
    """The errors list it among what a bound may be of."""
    bound = parse_bound("MiB/s >= 20")
    assert (bound.measure.label, bound.sign, bound.limit) == ("MiB/s", ">=", 20.0)


def test_what_does_not_hold_does_not_look_as_if_it_did() -> None:
    """200.44 us is shown as 200 us, which would be at most 0.2 ms."""
    probes = (Probe(185e3, Estimate(196.0, None)), Probe(190e3, Estimate(200.44, None)))
    found = SearchResult(
        parse_bound("max <= 0.2ms"),
        parse_range("ssd.timing.read=50us..1ms", wants_least=False),
        value=185e3,
        beyond=190e3,
        low=None,
        high=None,
        probes=probes,
        comparison=None,  # type: ignore[arg-type]
    )
    assert found.sentence() == (
        "The greatest read with max at most 200 µs is 185 µs: 196 µs at 185 µs, "
        "above 200 µs by less than is shown at 190 µs."
    )
    exact = (probes[0], Probe(190e3, Estimate(200.0, None)))
    told = replace(found, bound=parse_bound("max < 0.2ms"), probes=exact).sentence()
    assert told.endswith("196 µs at 185 µs, 200 µs at 190 µs.")


def test_python_gets_the_same(tiny: dict[str, Any]) -> None:
    found = copyback.search(
        tiny, most="workload.read_share=0.1..0.9", where="flash.programs > 1500", within=0.1
    )
    assert found.value is not None
    assert found.beyond is not None
    assert found.value < found.beyond
    assert "greatest read_share with flash.programs above 1,500" in found.sentence()
    assert found.comparison.frame.height == len(found.probes)


# Knees.


def test_a_knee_is_where_a_curve_stops_paying() -> None:
    xs = list(range(1, 11))
    assert knee(xs, [100 / x for x in xs]) in (1, 2)
    # An elbow: flat, then steep.
    assert knee(xs, [1, 1, 1, 1, 1, 1, 1, 10, 50, 100]) == 7
    assert knee(xs, [float(x) for x in xs]) is None
    assert knee(xs, [1.0] * 10) is None
    assert knee(xs[:4], [9.0, 2.0, 1.0, 1.0]) is None
    # To and fro.
    assert knee(xs, [5, 9, 1, 8, 2, 9, 1, 7, 3, 4]) is None


def test_knees_are_told_of_each_line_with_the_name_of_its_key() -> None:
    means = {"greedy": [90, 30, 12, 10, 9, 8], "fifo": [95, 80, 65, 50, 35, 20]}
    rows = [
        {
            "ssd.ftl.over_provisioning": 0.1 + 0.05 * place,
            "ssd.gc.victim": victim,
            "seed": 1,
            "run": f"{victim}{place}",
            "response_us.all.count": 9,
            "response_us.all.mean": float(mean),
        }
        for victim, own in means.items()
        for place, mean in enumerate(own)
    ]
    found = contests(Frame.of_rows(rows), ["ssd.ftl.over_provisioning", "ssd.gc.victim"])
    (told,) = knees(found, MEASURES[0], Names(found))
    assert told == "mean bends at over_provisioning 0.2 (victim greedy), where it is 12.0 µs"


def test_keys_are_numbers_if_all_of_their_values_are() -> None:
    assert kind_of("a", [1, 2.5]) == "number"
    assert kind_of("a", ["25us", "1 ms"]) == "time"
    assert kind_of("a", ["25us", "4KiB"]) == "name"
    assert kind_of("a", ["greedy", "fifo"]) == "name"
    assert kind_of("scheme", ["1", "2"]) == "name"
