"""Answers to the papers' claims, and to our own questions: numbers from what was measured."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from copyback.sweep.intervals import estimate
from copyback.words import units
from copyback_papers import agreement, crossing, rules
from copyback_papers.agreement import Verdict
from copyback_papers.measures import Cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from copyback_papers.checks import Check
    from copyback_papers.measures import Measures
    from copyback_papers.targets import Target

#: How several workloads or points become one number.
TAKES: dict[str, Callable[[Iterable[float]], float]] = {
    "mean": statistics.fmean,
    "max": max,
    "min": min,
}


@dataclass(frozen=True)
class Answer:
    """Answer to a check.

    Attributes
    ----------
    interval
        Half the width of the 95% interval over seeds, or "one seed"; empty of a shape.
    note
        The spread over seeds, or what each rule found.
    value
        Our number; None of a shape or a range.
    part
        How much of what the claim is about was run, if not all: then it is reproduced in part.
    """

    check: Check
    paper: str
    ours: str
    verdict: Verdict
    interval: str = ""
    note: str = ""
    value: float | None = None
    part: str = ""


def answer(
    check: Check, measures: Measures, *, loads: Sequence[str] = (), points: Sequence[str] = ()
) -> Answer | None:
    """Return the answer, or None if nothing that it needs was run.

    Parameters
    ----------
    loads, points
        All that the experiment has: what a check that names none is about.
    """
    cells = _cells(check, measures)
    if not cells:
        return None
    found = _of_shape(check, measures, cells) if check.rules else _number(check, measures, cells)
    wanted = (("workloads", check.workloads or loads), ("points", check.points or points))
    part = _part(wanted, cells)
    if found is None or not part:
        return found
    reproduced = found.verdict is Verdict.REPRODUCED
    return replace(found, part=part, verdict=Verdict.PART if reproduced else found.verdict)


def cells_of(check: Check, measures: Measures) -> list[Cell]:
    """Return the cells that an answer is made of."""
    found = []
    for load, point in _cells(check, measures):
        used = {(check.variant, point), (check.baseline, check.baseline_point or point)}
        used |= {(variant, point) for variant in check.along}
        for rule in check.rules:
            used |= {(variant, point) for variant in (*rule.variants, rule.baseline or "")}
        found += [Cell(load, at, variant) for variant, at in sorted(used) if variant]
    return [cell for cell in found if cell in measures]


def _cells(check: Check, measures: Measures) -> list[tuple[str, str]]:
    """Return the workloads and points that were run, in order."""
    there = dict.fromkeys((cell.workload, cell.point) for cell in measures.rows)
    return [
        (load, point)
        for load, point in there
        if (not check.workloads or load in check.workloads)
        and (not check.points or point in check.points)
    ]


def _part(wanted: Sequence[tuple[str, Sequence[str]]], cells: Sequence[tuple[str, str]]) -> str:
    """Return how many of the workloads and points that are wanted were run; empty if all."""
    there = [(kind, names, {cell[at] for cell in cells}) for at, (kind, names) in enumerate(wanted)]
    return ", ".join(
        f"{len(found)} of {len(names)} {kind}"
        for kind, names, found in there
        if not found.issuperset(names)
    )


def _of_shape(check: Check, measures: Measures, cells: list[tuple[str, str]]) -> Answer:
    loads = list(dict.fromkeys(load for load, _ in cells))
    points = list(dict.fromkeys(point for _, point in cells))
    held = [rules.judge(rule, measures, loads, points) for rule in check.rules]
    verdict = agreement.of_rules([rule.holds for rule in held])
    kept = f"{sum(rule.holds for rule in held)} of {len(held)} rules hold"
    found = [f"{'' if rule.holds else 'NOT '}{rule.text}" for rule in held]
    return Answer(check, "shape" if check.target else "", kept, verdict, note="; ".join(found))


def _number(check: Check, measures: Measures, cells: list[tuple[str, str]]) -> Answer | None:
    if check.form == "crossing":
        per_cell = crossing.by_load(check, measures, cells)
    else:
        per_cell = [_by_seed(check, measures, load, point) for load, point in cells]
    if not all(per_cell):
        return None
    if check.take == "range":
        return _range(check, per_cell)
    number = _Number.over_seeds(check, check.take, per_cell)
    ours = _show(check, number.mean)
    if check.target is None or check.target.value is None:
        return Answer(check, "", ours, Verdict.NONE, number.interval, number.spread, number.mean)
    verdict = _verdict(check, check.target, number, check.target.nearest(number.mean) or 0.0)
    claimed = _claimed(check, check.target)
    return Answer(check, claimed, ours, verdict, number.interval, number.spread, number.mean)


def _range(check: Check, per_cell: list[list[float]]) -> Answer:
    """Compare the ends of what all workloads and points give with those of the claim."""
    target = check.target
    assert target is not None
    ends = [_Number.over_seeds(check, take, per_cell) for take in ("min", "max")]
    verdicts = [
        _verdict(check, target, end, claim or 0.0)
        for end, claim in zip(ends, (target.value, target.most), strict=True)
    ]
    least, most = ends
    return Answer(
        check,
        _claimed(check, target),
        f"{_show(check, least.mean)} to {_show(check, most.mean)}",
        agreement.worse(*verdicts),
        interval=" and ".join(dict.fromkeys(end.interval for end in ends)),
    )


@dataclass(frozen=True)
class _Number:
    """One number of several seeds, each of several workloads and points."""

    mean: float
    half: float
    interval: str
    spread: str

    @classmethod
    def over_seeds(cls, check: Check, take: str, per_cell: list[list[float]]) -> _Number:
        per_seed = [TAKES[take](values) for values in zip(*per_cell, strict=True)]
        mean = statistics.fmean(per_seed)
        half = estimate(per_seed).half_width
        if half is None:
            return cls(mean, 0.0, "one seed", "")
        low, high = (_show(check, value) for value in (min(per_seed), max(per_seed)))
        spread = f"{low} to {high} over {len(per_seed)} seeds"
        return cls(mean, half, f"± {_show(check, half)}", spread)


def _claimed(check: Check, target: Target) -> str:
    """Return what the paper says, as it says it."""
    bound = "at least " if check.at_least else "up to " if check.up_to else ""
    least = _show(check, target.value or 0.0)
    return f"{bound}{least}" + (f" to {_show(check, target.most)}" if target.most else "")


def _verdict(check: Check, target: Target, ours: _Number, claimed: float) -> Verdict:
    """Judge a number by the one rule, as an effect."""
    claim, effect = effect_of(check, claimed), effect_of(check, ours.mean)
    if check.at_least and effect >= claim:
        return Verdict.REPRODUCED
    points = _two_points(check, target)
    interval = ours.half * _unit(check)
    return agreement.compare(claim, effect, interval=interval, points=points)


def tolerance(check: Check, target: Target, claimed: float) -> float:
    """Return how far ours may be from what is claimed, in its unit, whatever our interval is."""
    quarter = agreement.QUARTER * abs(effect_of(check, claimed))
    return max(quarter, _two_points(check, target)) / _unit(check)


def _unit(check: Check) -> float:
    """Return what a number has to be multiplied by to be a share, if it is one."""
    return {"reduction": 0.01, "normalised": 0.01}.get(check.form, 1.0)


def _two_points(check: Check, target: Target) -> float:
    """Return what two points are in the unit of a check's effect; zero of times and counts."""
    if not check.has_unit:
        return agreement.POINTS
    return 100 * agreement.POINTS if target.unit.startswith("%") else 0.0


def _by_seed(check: Check, measures: Measures, load: str, point: str) -> list[float]:
    """Return the number for each seed; none if a run is missing."""
    cell = Cell(load, point, check.variant)
    other = Cell(load, check.baseline_point or point, check.baseline or check.variant)
    if cell not in measures or other not in measures:
        return []
    ours = measures.by_seed(cell, check.measure)
    base: Sequence[float] = measures.by_seed(other, check.measure)
    return [_form(check, value, against) for value, against in zip(ours, base, strict=True)]


def _form(check: Check, value: float, base: float) -> float:
    if check.form == "value":
        return value * check.scale
    if not base:
        return math.nan
    ratio = value / base
    return {"reduction": 100 * (1 - ratio), "ratio": ratio, "normalised": 100 * ratio}[check.form]


def effect_of(check: Check, value: float) -> float:
    """Return how far a number is from saying that nothing changes, as a share."""
    return {
        "reduction": value / 100,
        "ratio": value - 1,
        "normalised": 1 - value / 100,
    }.get(check.form, value)


def _show(check: Check, value: float) -> str:
    if not math.isfinite(value):
        return units.MISSING
    own = f" {check.target.unit}" if check.target is not None else ""
    suffix = {"reduction": " %", "ratio": " ×", "normalised": " %"}.get(check.form, own)
    return f"{units.significant(value)}{suffix}"
