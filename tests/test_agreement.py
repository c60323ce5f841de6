"""When a claim of a paper is reproduced: the one rule, up to its bounds."""

from __future__ import annotations

from typing import Any

import pytest

from copyback_papers import agreement
from copyback_papers.agreement import Claimed, Remains, Verdict
from copyback_papers.answers import Answer, answer, band_of
from copyback_papers.checks import Check
from copyback_papers.measures import Cell, Measures
from copyback_papers.ranking import Ranking, ranked
from copyback_papers.rules import Rule, judge
from copyback_papers.targets import Target


def judged(paper: float, ours: float, half: float | None = 0.0, **more: Any) -> Verdict:
    claimed = Claimed(paper, **more)
    return agreement.judge(claimed, claimed.band, ours, half)


@pytest.mark.parametrize(
    ("paper", "ours", "verdict"),
    [
        # A quarter of the paper's effect, either way.
        (0.20, 0.25, Verdict.REPRODUCED),
        (0.20, 0.15, Verdict.REPRODUCED),
        (0.20, 0.251, Verdict.SAME_SIGN),
        (0.20, 0.149, Verdict.SAME_SIGN),
        (-0.40, -0.50, Verdict.REPRODUCED),
        (-0.40, -0.51, Verdict.SAME_SIGN),
        # What remains, within 1.5 times: 0.2 for 0.3, 0.3 for 0.2, 0.17 for 0.014.
        (0.70, 0.80, Verdict.REPRODUCED),
        (0.70, 0.801, Verdict.SAME_SIGN),
        (0.80, 0.70, Verdict.REPRODUCED),
        (0.80, 0.699, Verdict.SAME_SIGN),
        (0.986, 0.830, Verdict.SAME_SIGN),
        (0.986, 0.9791, Verdict.REPRODUCED),
        # Nothing remains: two points.
        (1.0, 0.981, Verdict.REPRODUCED),
        (1.0, 0.979, Verdict.SAME_SIGN),
        # A small effect has no two points of its own.
        (0.04, 0.05, Verdict.REPRODUCED),
        (0.04, 0.051, Verdict.SAME_SIGN),
        (0.0006, 0.0036, Verdict.SAME_SIGN),
        # An effect below two points is none beside one that is not.
        (0.30, 0.02, Verdict.SAME_SIGN),
        (0.30, 0.019, Verdict.CONTRADICTED),
        (0.0077, 0.876, Verdict.CONTRADICTED),
        # The other sign, however near.
        (0.30, -0.30, Verdict.CONTRADICTED),
        (0.03, -0.001, Verdict.CONTRADICTED),
        # A paper's zero means within two points.
        (0.0, 0.02, Verdict.REPRODUCED),
        (0.0, -0.02, Verdict.REPRODUCED),
        (0.0, 0.021, Verdict.CONTRADICTED),
        (0.3, float("nan"), Verdict.CONTRADICTED),
    ],
)
def test_effect_and_what_remains_must_agree(paper: float, ours: float, verdict: Verdict) -> None:
    assert judged(paper, ours) is verdict


@pytest.mark.parametrize(
    ("paper", "ours", "verdict"),
    [
        # Times of a baseline: 2.7 is an effect of 1.7, and 2.7 remains.
        (2.7, 3.12, Verdict.REPRODUCED),
        (2.7, 2.28, Verdict.REPRODUCED),
        (2.7, 2.27, Verdict.SAME_SIGN),
        (2.7, 0.42, Verdict.CONTRADICTED),
        (1.0, 1.02, Verdict.REPRODUCED),
        (1.0, 1.06, Verdict.CONTRADICTED),
    ],
)
def test_a_ratio_is_an_effect_away_from_one(paper: float, ours: float, verdict: Verdict) -> None:
    assert judged(paper - 1, ours - 1, remains=Remains.RATIO) is verdict


def test_the_interval_must_lie_inside_the_band() -> None:
    assert judged(0.20, 0.24, 0.01) is Verdict.REPRODUCED
    assert judged(0.20, 0.24, 0.011) is Verdict.NEAR
    assert judged(0.20, 0.24, None) is Verdict.NEAR
    # An interval makes no number agree whose mean is outside.
    assert judged(0.20, 0.26, 0.1) is Verdict.SAME_SIGN


def test_times_and_counts_have_no_points_and_nothing_remains() -> None:
    plain: dict[str, Any] = {"remains": Remains.NOTHING, "points": 0.0}
    assert judged(53.0, 66.25, **plain) is Verdict.REPRODUCED
    assert judged(53.0, 66.3, **plain) is Verdict.SAME_SIGN
    assert judged(0.0, 0.0, **plain) is Verdict.REPRODUCED
    assert judged(0.0, 1.0, **plain) is Verdict.CONTRADICTED


def test_a_shape_is_reproduced_if_all_its_rules_hold_over_five_seeds() -> None:
    assert agreement.of_rules([True, True], 5) is Verdict.REPRODUCED
    assert agreement.of_rules([True, True], 4) is Verdict.NEAR
    assert agreement.of_rules([True, False], 5) is Verdict.PART
    assert agreement.of_rules([False], 5) is Verdict.CONTRADICTED


def line(**numbers: list[float]) -> Measures:
    """Return numbers of variants over as many points."""
    return Measures(
        {
            Cell("", str(at), name): [{"x": value}]
            for name, values in numbers.items()
            for at, value in enumerate(values)
        }
    )


def test_what_is_compared_has_the_seeds_that_both_have() -> None:
    cells = Cell("", "", "ours"), Cell("", "", "base")
    rows: dict[Cell, list[dict[str, float | None]]] = {
        cells[0]: [{"seed": seed, "x": 10.0 * seed} for seed in (1, 2, 3)],
        cells[1]: [{"seed": seed, "x": 1.0 * seed} for seed in (2, 4)],
    }
    paired = Measures(rows).paired(*cells)
    assert [paired.by_seed(cell, "x") for cell in cells] == [[20.0], [2.0]]


@pytest.mark.parametrize(
    ("ours", "base", "bound", "holds"),
    [
        # A quarter of what the baseline rises by.
        ([1.0, 1.25], [1.0, 2.0], 0.25, True),
        ([1.0, 1.26], [1.0, 2.0], 0.25, False),
        # "Gently": less than the baseline.
        ([1.0, 1.9], [1.0, 2.0], 1.0, True),
        ([1.0, 2.1], [1.0, 2.0], 1.0, False),
        # Two points are nothing.
        ([1.0, 1.02], [1.0, 1.0], 0.25, True),
        ([1.0, 1.03], [1.0, 1.0], 0.25, False),
        # Wherever on the line the greatest number is.
        ([1.3, 1.0, 1.1], [1.0, 2.0, 1.5], 0.25, False),
    ],
)
def test_flat_is_judged_against_what_a_baseline_rises_by(
    ours: list[float], base: list[float], bound: float, holds: bool
) -> None:
    rule = Rule(rule="flat", variants=("new",), measure="x", baseline="old", bound=bound)
    points = [str(at) for at in range(len(ours))]
    assert judge(rule, line(new=ours, old=base), [""], points).holds is holds


def test_flat_without_a_baseline_is_refused() -> None:
    with pytest.raises(ValueError, match="baseline: missing"):
        Rule(rule="flat", variants=("new",))


@pytest.mark.parametrize(
    ("ours", "verdict", "part"),
    [
        ([1.0, 1.0], Verdict.NEAR, ""),
        ([1.0, 2.0], Verdict.PART, "1 of 2 alike: no policy acts"),
        ([2.0, 2.0], Verdict.PART, "2 of 2 alike: no policy acts"),
        ([3.0, 2.0], Verdict.CONTRADICTED, "1 of 2 alike: no policy acts"),
    ],
)
def test_an_order_of_equal_numbers_says_nothing(
    ours: list[float], verdict: Verdict, part: str
) -> None:
    rule = Rule(rule="at_most", variants=("new",), measure="x", baseline="old")
    shape = Target("paper", "1", "", "faster", "new", "old", None, "shape")
    check = Check(target=shape, rules=(rule,))
    found = answer(check, line(new=ours, old=[2.0, 2.0]))
    assert found is not None
    assert (found.verdict, found.part) == (verdict, part)


def claim(value: float, most: float | None = None, *, figure: str = "1", load: str = "") -> Target:
    return Target("paper", figure, load, "mean", "new", "old", value, "%", most)


def answered(
    reductions: list[float], target: Target | None, *, seeds: int = 5, **more: Any
) -> Answer:
    """Answer a check on workloads of which `new` takes so many per cent less than `old`."""
    rows = {
        Cell(f"load {place}", "", variant): [{"x": x}] * seeds
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
        ([3.0, 15.0], Verdict.REPRODUCED),
        ([2.9, 12.0], Verdict.SAME_SIGN),
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
        ([5.0, 70.0], Verdict.REPRODUCED),
        ([5.0, 86.0], Verdict.REPRODUCED),
        ([80.0, 59.0], Verdict.REPRODUCED),
        ([5.0, 69.0], Verdict.SAME_SIGN),
        ([5.0, 99.0], Verdict.SAME_SIGN),
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
        (70.0, Verdict.REPRODUCED),
        (69.0, Verdict.SAME_SIGN),
        (-80.0, Verdict.CONTRADICTED),
    ],
)
def test_at_least_is_met_by_anything_above(reduction: float, verdict: Verdict) -> None:
    found = answered([reduction], claim(80.0), at_least=True)
    assert found.verdict is verdict
    assert found.paper == "at least 80.0 %"


def test_a_claim_of_which_a_part_was_run_is_reproduced_in_part() -> None:
    found = answered([8.0], claim(8.0), seeds=1, workloads=("load 0", "load 1", "load 2"))
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


@pytest.mark.parametrize(
    ("reductions", "paper", "verdict", "holds"),
    [
        ([9.0, 9.5, 10.0, 10.5, 11.0], 10.0, Verdict.REPRODUCED, "yes"),
        # 12 is in no interval around 10, which lies inside 9 to 15.
        ([9.5, 9.8, 10.0, 10.2, 10.5], 12.0, Verdict.REPRODUCED, "no"),
        # The interval leaves the band of 7.5 to 12.5.
        ([6.0, 8.0, 10.0, 12.0, 14.0], 10.0, Verdict.NEAR, "yes"),
        # Too few seeds.
        ([9.5, 10.0, 10.5], 10.0, Verdict.NEAR, "yes"),
    ],
)
def test_the_interval_of_five_seeds_decides(
    reductions: list[float], paper: float, verdict: Verdict, holds: str
) -> None:
    rows = {
        Cell("", "", variant): [{"x": x} for x in numbers]
        for variant, numbers in (
            ("old", [100.0] * len(reductions)),
            ("new", [100.0 - reduction for reduction in reductions]),
        )
    }
    check = Check(target=claim(paper), variant="new", baseline="old", measure="x")
    found = answer(check, Measures(rows))
    assert found is not None
    assert found.ours == "10.0 %"
    assert (found.verdict, found.holds) == (verdict, holds)
    assert f"over {len(reductions)} seeds" in found.note
    assert ("3 seeds" in found.interval) is (len(reductions) == 3)


@pytest.mark.parametrize(("half", "pieces"), [("± 2.48 %", 6), ("± 1.86 %, 3 workloads", 3)])
def test_an_interval_may_be_over_workloads(half: str, pieces: int) -> None:
    # Student's 2.571 or 4.303, by the standard deviation, over the root of the number.
    reductions = {6: [7.0, 13.0, 8.0, 12.0, 9.0, 11.0], 3: [10.0, 9.3, 10.8]}[pieces]
    found = answered(reductions, claim(10.0), seeds=5, over="workloads")
    assert found.interval == half
    assert found.note.endswith(f"over {pieces} workloads")
    # The band is 7.5 to 12.5.
    assert found.verdict is (Verdict.REPRODUCED if pieces == 6 else Verdict.NEAR)


def test_an_interval_over_workloads_is_of_their_mean() -> None:
    with pytest.raises(ValueError, match="an interval over workloads needs 'mean'"):
        Check(target=claim(10.0), variant="new", take="max", over="workloads")


def test_a_share_has_a_rest_and_a_time_has_none() -> None:
    rows = {Cell("", "", "new"): [{"x": 0.84}] * 5}
    share, time = (
        Target("paper", "1", "", "so much", "new", "", 98.6, unit) for unit in ("% of all", "ms")
    )
    for target, verdict in ((share, Verdict.SAME_SIGN), (time, Verdict.REPRODUCED)):
        check = Check(target=target, variant="new", form="value", measure="x", scale=100.0)
        found = answer(check, Measures(rows))
        assert found is not None
        assert found.verdict is verdict


def test_the_band_is_drawn_in_the_unit_of_the_claim() -> None:
    target = claim(70.0)
    bands: dict[Any, tuple[float, float]] = {
        "reduction": (55.0, 80.0),
        "normalised": (62.5, 77.5),
        "value": (55.0, 80.0),
    }
    for form, band in bands.items():
        check = Check(target=target, variant="new", baseline="old", form=form)
        assert band_of(check, target, 70.0) == pytest.approx(band)
    ratio = Check(target=target, variant="new", baseline="old", form="ratio")
    assert band_of(ratio, target, 2.7) == pytest.approx((2.275, 3.125))


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
