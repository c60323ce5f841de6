"""When a claim of a paper is reproduced: the one rule, up to its bounds."""

from __future__ import annotations

from typing import Any

import pytest

from copyback_papers import agreement
from copyback_papers.agreement import Verdict
from copyback_papers.answers import Answer, answer
from copyback_papers.checks import Check
from copyback_papers.measures import Cell, Measures
from copyback_papers.ranking import Ranking, ranked
from copyback_papers.targets import Target


@pytest.mark.parametrize(
    ("paper", "ours", "verdict"),
    [
        # A quarter of the paper's effect, either way.
        (0.40, 0.50, Verdict.REPRODUCED),
        (0.40, 0.30, Verdict.REPRODUCED),
        (0.40, 0.501, Verdict.SAME_SIGN),
        (0.40, 0.299, Verdict.SAME_SIGN),
        (-0.40, -0.50, Verdict.REPRODUCED),
        (-0.40, -0.51, Verdict.SAME_SIGN),
        # Two points, if a quarter is less.
        (0.04, 0.06, Verdict.REPRODUCED),
        (0.04, 0.02, Verdict.REPRODUCED),
        (0.04, 0.061, Verdict.SAME_SIGN),
        (0.03, 0.011, Verdict.REPRODUCED),
        # An effect of ours below two points is none.
        (0.30, 0.02, Verdict.SAME_SIGN),
        (0.30, 0.019, Verdict.CONTRADICTED),
        # The other sign, however near.
        (0.30, -0.30, Verdict.CONTRADICTED),
        (0.03, -0.001, Verdict.CONTRADICTED),
        (3.0, -0.2, Verdict.CONTRADICTED),
        # A small effect has no sign worth comparing: the difference decides.
        (0.0006, 0.0036, Verdict.REPRODUCED),
        (0.01, -0.009, Verdict.REPRODUCED),
        (0.01, -0.011, Verdict.CONTRADICTED),
        (0.01, 0.04, Verdict.CONTRADICTED),
        (0.0, 0.0, Verdict.REPRODUCED),
        (0.3, float("nan"), Verdict.CONTRADICTED),
        # Within a factor of two, and not reproduced.
        (0.32, 0.168, Verdict.SAME_SIGN),
        (0.498, 0.927, Verdict.SAME_SIGN),
    ],
)
def test_effects_agree_within_a_quarter_or_two_points(
    paper: float, ours: float, verdict: Verdict
) -> None:
    assert agreement.compare(paper, ours) is verdict


def test_an_interval_over_seeds_widens_the_tolerance() -> None:
    assert agreement.compare(0.30, 0.45) is Verdict.SAME_SIGN
    assert agreement.compare(0.30, 0.45, interval=0.149) is Verdict.SAME_SIGN
    assert agreement.compare(0.30, 0.45, interval=0.15) is Verdict.REPRODUCED
    assert agreement.compare(0.30, -0.05, interval=0.5) is Verdict.CONTRADICTED


def test_times_and_counts_have_no_points() -> None:
    assert agreement.compare(53.0, 66.25, points=0.0) is Verdict.REPRODUCED
    assert agreement.compare(53.0, 66.3, points=0.0) is Verdict.SAME_SIGN
    assert agreement.compare(0.0, 1.0, points=0.0) is Verdict.CONTRADICTED


def test_a_shape_is_reproduced_if_all_its_rules_hold() -> None:
    assert agreement.of_rules([True, True]) is Verdict.REPRODUCED
    assert agreement.of_rules([True, False]) is Verdict.PART
    assert agreement.of_rules([False]) is Verdict.CONTRADICTED


def claim(value: float, most: float | None = None, *, figure: str = "1", load: str = "") -> Target:
    return Target("paper", figure, load, "mean", "new", "old", value, "%", most)


def answered(reductions: list[float], target: Target | None, **more: Any) -> Answer:
    """Answer a check on workloads of which `new` takes so many per cent less than `old`."""
    rows = {
        Cell(f"load {place}", "", variant): [{"x": x}]
        for place, reduction in enumerate(reductions)
        for variant, x in (("old", 100.0), ("new", 100.0 - reduction))
    }
    check = Check(
        target=target, says="how much?", variant="new", baseline="old", measure="x", **more
    )
    found = answer(check, Measures(rows))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("reductions", "verdict"),
    [
        ([4.0, 8.0, 12.0], Verdict.REPRODUCED),
        ([2.0, 15.0], Verdict.REPRODUCED),
        # The mean would be inside.
        ([-20.0, 36.0], Verdict.CONTRADICTED),
        ([4.0, 36.0], Verdict.SAME_SIGN),
        ([8.0, 8.1], Verdict.SAME_SIGN),
    ],
)
def test_a_range_is_compared_with_a_range(reductions: list[float], verdict: Verdict) -> None:
    found = answered(reductions, claim(4.0, 12.0), take="range")
    assert found.verdict is verdict
    assert found.paper == "4.00 % to 12.0 %"
    assert found.value is None
    assert " to " in found.ours


@pytest.mark.parametrize(
    ("reductions", "verdict"),
    [
        ([5.0, 64.0], Verdict.REPRODUCED),
        ([5.0, 99.0], Verdict.REPRODUCED),
        ([80.0, 59.0], Verdict.REPRODUCED),
        ([5.0, 59.0], Verdict.SAME_SIGN),
        ([-5.0, -59.0], Verdict.CONTRADICTED),
    ],
)
def test_up_to_is_of_the_largest(reductions: list[float], verdict: Verdict) -> None:
    found = answered(reductions, claim(80.0), take="max", up_to=True)
    assert found.verdict is verdict
    assert found.paper == "up to 80.0 %"


@pytest.mark.parametrize(
    ("reduction", "verdict"),
    [
        (80.0, Verdict.REPRODUCED),
        (99.0, Verdict.REPRODUCED),
        (60.0, Verdict.REPRODUCED),
        (59.0, Verdict.SAME_SIGN),
        (-80.0, Verdict.CONTRADICTED),
    ],
)
def test_at_least_is_met_by_anything_above(reduction: float, verdict: Verdict) -> None:
    found = answered([reduction], claim(80.0), at_least=True)
    assert found.verdict is verdict
    assert found.paper == "at least 80.0 %"


def test_a_claim_of_which_a_part_was_run_is_reproduced_in_part() -> None:
    found = answered([8.0], claim(8.0), workloads=("load 0", "load 1", "load 2"))
    assert found.verdict is Verdict.PART
    assert found.interval == "one seed"
    assert found.part == "1 of 3 workloads"
    found = answered([-8.0], claim(8.0), workloads=("load 0", "load 1"))
    assert found.verdict is Verdict.CONTRADICTED
    assert answered([8.0], claim(8.0), workloads=("load 0",)).part == ""


def test_a_check_that_names_no_workload_is_about_all() -> None:
    rows = {Cell("a", "", variant): [{"x": x}] for variant, x in (("old", 100.0), ("new", 92.0))}
    check = Check(target=claim(8.0), variant="new", baseline="old", measure="x")
    found = answer(check, Measures(rows), loads=["a", "b"], points=[""])
    assert found is not None
    assert (found.verdict, found.part) == (Verdict.PART, "1 of 2 workloads")


def test_several_seeds_give_an_interval() -> None:
    rows = {
        Cell("", "", variant): [{"x": x} for x in numbers]
        for variant, numbers in (("old", (100.0, 100.0, 100.0)), ("new", (90.0, 92.0, 94.0)))
    }
    check = Check(target=claim(12.0), variant="new", baseline="old", measure="x")
    found = answer(check, Measures(rows))
    assert found is not None
    assert found.ours == "8.00 %"
    assert found.interval == "± 4.97 %"
    assert found.note == "6.00 % to 10.0 % over 3 seeds"
    # A quarter of 12 is 3; the interval is wider.
    assert found.verdict is Verdict.REPRODUCED


def test_a_table_is_compared_as_a_ranking() -> None:
    ranking = Ranking(figure="T2", says="workloads")
    answers = [
        answered([ours], claim(paper, figure="T2", load=str(place)))
        for place, (paper, ours) in enumerate([(70.0, 20.0), (50.0, 10.0), (20.0, 15.0)])
    ]
    others = [answered([3.0], claim(3.0, figure="9")), answered([3.0], None)]
    found = ranked(ranking, [*answers, *others])
    assert found is not None
    assert (found.rows, found.ours) == (3, "0.500")
    assert ranked(ranking, answers[:2]) is None
