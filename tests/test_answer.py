"""The answer of a comparison: names, the sentence, all loads at once, one seed that decides."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from copyback.frame import Frame
from copyback.sweep.answer import answer, headline, warnings
from copyback.sweep.comparison import Comparison
from copyback.sweep.contest_table import ContestTable
from copyback.sweep.labels import Names, key_names, value_labels
from copyback.sweep.ranking import rank, swings
from copyback.sweep.ratios import Ratio, compared
from copyback.sweep.schemes import MEASURES, contests
from copyback.sweep.tables import finding_labels, tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.sweep.schemes import Contest

SEMI = '{ type = "semi_preemptive", pipeline = true, merge = 4 }'
SEMI_PLAIN = '{ type = "semi_preemptive", pipeline = false, merge = 4 }'


def found(
    times: Mapping[tuple[Any, ...], Sequence[float]],
    keys: Sequence[str] = ("load", "ssd.gc.victim"),
    requests: int = 20_000,
) -> list[Contest]:
    """Return contests in which schemes have these p99.9 (and p99), one a seed."""
    rows = [
        {
            **dict(zip(keys, setting, strict=True)),
            "seed": seed,
            "run": f"{setting}{seed}",
            "response_us.all.count": requests,
            "response_us.all.mean": value / 10,
            "response_us.all.p99": value,
            "response_us.all.p99_9": value,
        }
        for setting, values in times.items()
        for seed, value in enumerate(values, start=1)
    ]
    return contests(Frame.of_rows(rows), keys)


# Names.


def test_keys_are_told_by_as_many_parts_as_tell_them_apart() -> None:
    named = key_names(["ssd.ftl.placement", "workload.inter_arrival.mean", "a.read", "b.read"])
    # A mean is a number of every result, too.
    assert list(named.values()) == ["placement", "inter_arrival.mean", "a.read", "b.read"]


def test_tables_are_told_by_their_type_and_what_differs() -> None:
    pairs = [("p", "none"), ("p", SEMI), ("p", SEMI_PLAIN), ("q", SEMI)]
    assert list(value_labels(pairs).values()) == [
        "none",
        "semi_preemptive (pipeline)",
        "semi_preemptive (pipeline off)",
        "semi_preemptive",
    ]


def test_no_name_is_a_bare_number_and_what_all_share_is_left_out() -> None:
    keys = ("ssd.ftl.over_provisioning", "ssd.gc.victim", "host.queue_depth", "ssd.gc.width")
    one, other = (0.28, "greedy", 1, "serial"), (0.07, "fifo", 480, "serial")
    both = found({one: [1.0], other: [2.0]}, keys)
    names = Names(both)
    first = both[0].schemes[0].setting
    assert names.of(first) == "over_provisioning 0.28, victim greedy"
    assert names.short(first) == "over_provisioning 0.28 · greedy"
    assert names.of(both[0].load) == "queue_depth 1"


def test_values_that_several_keys_have_are_told_with_their_key() -> None:
    contest = found({("none", "none"): [1.0], ("fifo", "wide"): [1.0]}, ("a.victim", "a.width"))[0]
    names = Names([contest])
    assert [names.short(scheme.setting) for scheme in contest.schemes] == [
        "victim none · width none",
        "fifo · wide",
    ]


# All loads at once.


def test_multiples_over_loads_are_geometric_and_their_interval_is_over_seeds() -> None:
    two = found(
        {
            ("light", "greedy"): [10.0, 20.0],
            ("light", "fifo"): [20.0, 40.0],
            ("heavy", "greedy"): [100.0, 100.0],
            ("heavy", "fifo"): [800.0, 800.0],
        }
    )
    fifo = two[0].schemes[1].setting
    both = compared(two, fifo, None, "p99.9")
    assert isinstance(both, Ratio)
    # Twice and eight times, with either seed: no doubt is left.
    assert both.ratio == pytest.approx(4)
    assert both.low == pytest.approx(4)
    spread = found({("l", "greedy"): [10.0, 10.0], ("l", "fifo"): [10.0, 20.0]})
    single = compared(spread, spread[0].schemes[1].setting, None, "p99.9")
    assert isinstance(single, Ratio)
    assert single.high is not None
    # Half the interval: Student's 12.706 times the standard error of log 1 and log 2.
    assert math.log(single.high / single.ratio) == pytest.approx(12.706 * math.log(2) / 2, rel=1e-4)
    assert single.may_be_one


def test_a_scheme_that_lacks_a_load_has_no_place_over_all() -> None:
    three = found(
        {("a", "greedy"): [10.0], ("a", "fifo"): [5.0], ("b", "greedy"): [10.0]},
    )
    ranking = rank(three, headline(three))
    assert [dict(own)["ssd.gc.victim"] for own in ranking.order] == ["greedy"]
    assert list(ranking.left_out.values()) == ["not under every load"]


# The sentence.


def test_the_answer_names_the_first_and_how_far_it_is_from_the_baseline() -> None:
    one = found({("l", "greedy"): [1000.0, 1010.0, 990.0], ("l", "fifo"): [500.0, 505.0, 495.0]})
    told = answer(one, Names(one))
    assert told == (
        "victim fifo has the least p99.9: 500 µs, −50.0 % (95% interval −50.0 to −50.0 %) "
        "against the baseline, victim greedy. It is first in mean response time, too."
    )


def test_the_answer_names_again_who_is_meant() -> None:
    level = found(
        {("l", "greedy"): [90.0, 88.0], ("l", "fifo"): [50.0, 52.0], ("l", "random"): [52.0, 50.0]}
    )
    told = answer(level, Names(level))
    assert "not distinguishable from it" in told
    assert "victim random is first in mean response time, too." in told
    assert "It is" not in told
    one = found({("l", "greedy"): [500.0], ("l", "fifo"): [600.0]})
    assert "victim greedy is first in mean response time, too." in answer(one, Names(one))


def test_the_answer_calls_nobody_first_where_it_is_level_with_another() -> None:
    (contest,) = found(
        {("l", "greedy"): [1000.0, 1010.0, 990.0], ("l", "fifo"): [500.0, 505.0, 495.0]}
    )
    greedy, fifo = contest.schemes
    fifo = replace(fifo, by_seed={**fifo.by_seed, "mean": {1: 90.0, 2: 150.0, 3: 80.0}})
    told = answer([replace(contest, schemes=(greedy, fifo))], Names([contest]))
    assert "It is not distinguishable from the first in mean response time." in told
    assert "is first" not in told


def test_the_answer_says_when_the_baseline_is_first_and_by_how_much() -> None:
    one = found({("l", "greedy"): [500.0], ("l", "fifo"): [600.0]})
    told = answer(one, Names(one))
    assert told.startswith(
        "The baseline, victim greedy, has the least p99.9: 500 µs; "
        "the next is victim fifo, +20.0 %."
    )


def test_the_answer_says_when_nothing_can_be_told_apart() -> None:
    one = found({("l", "greedy"): [100.0, 200.0, 300.0], ("l", "fifo"): [110.0, 180.0, 330.0]})
    assert "With these seeds no other is distinguishable from it." in answer(one, Names(one))
    same = found({("l", "greedy"): [100.0], ("l", "fifo"): [100.0]})
    assert answer(same, Names(same)) == "All 2 schemes have the same p99.9."


def test_short_runs_are_compared_by_a_percentile_that_they_have() -> None:
    times = {("l", "greedy"): [100.0], ("l", "fifo"): [50.0]}
    assert headline(found(times, requests=9_999)).label == "p99"
    assert headline(found(times, requests=10_000)).label == "p99.9"


def test_a_single_scheme_is_told_over_its_loads() -> None:
    loads = found({("light", "greedy"): [100.0], ("heavy", "greedy"): [5000.0]})
    told = answer(loads, Names(loads))
    assert told == "The p99.9 goes from 100 µs (light) to 5.00 ms (heavy)."


def test_over_all_loads_the_table_has_the_answer_s_ratio_and_says_who_is_not_ranked() -> None:
    light, heavy = found(
        {
            ("light", "greedy"): [10.0, 20.0],
            ("light", "fifo"): [25.0, 50.0],
            ("light", "random"): [30.0, 60.0],
            ("heavy", "greedy"): [100.0, 100.0],
            ("heavy", "fifo"): [1000.0, 1000.0],
            ("heavy", "random"): [10.0, 10.0],
        }
    )
    *others, random = heavy.schemes
    heavy = replace(heavy, schemes=(*others, replace(random, findings={"overload": 1})))
    both = [light, heavy]
    told = answer(both, Names(both))
    # Two and a half times, and ten times.
    assert "the next is victim fifo, 5.00× (95% interval 5.00 to 5.00×)." in told
    assert "Not ranked: victim random (overloaded under 1 of 2 loads)." in told
    frame = Frame.of_rows([{"seed": 1}])
    whole = Comparison(Path("nowhere"), frame, (light, heavy), (), 0, (), (), "")
    terminal = Console(width=150)
    with terminal.capture() as capture:
        terminal.print(*tables(whole))
    lines = capture.get().split("All loads: ")[1].splitlines()
    assert any(line.startswith("victim fifo ") and "5.00×" in line for line in lines)
    assert any(line.startswith("victim random · not ranked") for line in lines)


# One seed that decides.


def test_a_seed_that_decides_who_is_first_is_named() -> None:
    times = {("l", "greedy"): [100.0, 100.0, 100.0], ("l", "fifo"): [110.0, 112.0, 40.0]}
    one = found(times)
    (swing,) = swings(one, headline(one))
    assert swing.seed == 3
    ((label, text),) = warnings(one, Names(one))
    assert label == "One seed decides"
    assert text.startswith("without seed 3, victim greedy would have the least p99.9 under l")


def test_no_seed_decides_where_all_agree_or_schemes_are_alike() -> None:
    agreed = found({("l", "greedy"): [100.0, 120.0], ("l", "fifo"): [50.0, 70.0]})
    assert not warnings(agreed, Names(agreed))
    alike = found({("l", "greedy"): [100.0, 100.0], ("l", "fifo"): [100.4, 99.5]})
    assert not swings(alike, headline(alike))


def test_a_single_seed_is_warned_of() -> None:
    one = found({("l", "greedy"): [100.0], ("l", "fifo"): [50.0]})
    ((label, text),) = warnings(one, Names(one))
    assert (label, "--seeds 5" in text) == ("One seed", True)


def test_an_overloaded_baseline_is_warned_of() -> None:
    (contest,) = found({("l", "greedy"): [100.0, 101.0], ("l", "fifo"): [50.0, 51.0]})
    base, other = contest.schemes
    over = replace(contest, schemes=(replace(base, findings={"overload": 2}), other))
    ((label, text),) = warnings([over], Names([over]))
    assert (label, text.startswith("it is overloaded, so that")) == ("Baseline", True)
    fine = replace(contest, schemes=(base, replace(other, findings={"overload": 2})))
    assert not warnings([fine], Names([fine]))


# The terminal.


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 120, 200])
def test_no_column_is_lost_and_no_number_cut_at_any_width(width: int) -> None:
    contest = found(
        {
            ("l", "greedy"): [1234567.0, 1230000.0, 1450000.0],
            ("l", '{ type = "rga", d = 10 }'): [1034.0, 1230.0, 1100.0],
        }
    )[0]
    table = ContestTable(contest, "l", Names([contest]), finding_labels)
    terminal = Console(width=width)
    with terminal.capture() as capture:
        terminal.print(table)
    text = capture.get()
    assert "…" not in text
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    for measure in MEASURES:
        assert measure.label in text
    for scheme in contest.schemes:
        assert Names([contest]).of(scheme.setting) in " ".join(text.split())
    for number in ("1.30 s", "130 ms", "1.12 ms", "1/1,163", "1/1,647 to", "1/822"):
        assert number in text
