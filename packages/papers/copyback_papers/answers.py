"""Answers to the papers' claims, and to our own questions: numbers from what was measured."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from copyback.sweep.intervals import estimate
from copyback.words import units
from copyback_papers import agreement, crossing, rules
from copyback_papers.agreement import Claimed, Remains, Verdict
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
    holds
        Whether the interval holds the paper's value; empty where there is no interval.
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
    holds: str = ""
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
    if found is None:
        return found
    part = ", ".join(filter(None, (part, found.part)))
    verdict = Verdict.PART if part and found.verdict.is_in_band else found.verdict
    return replace(found, part=part, verdict=verdict)


def cells_of(check: Check, measures: Measures) -> list[Cell]:
    """Return the cells that an answer is made of."""
    found = []
    for load, point in _cells(check, measures):
        used = {(check.variant, point), (check.baseline, check.baseline_point or point)}
        used |= {(check.beyond, point), (check.beyond, check.baseline_point or point)}
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
    seeds = min(len(measures.rows[cell]) for cell in cells_of(check, measures))
    verdict = agreement.of_rules([rule.holds for rule in held], seeds)
    kept = f"{sum(rule.holds for rule in held)} of {len(held)} rules hold"
    found = [f"{'' if rule.holds else 'NOT '}{rule.text}" for rule in held]
    interval = agreement.told(seeds) if seeds < agreement.SEEDS else ""
    given = Answer(check, "shape" if check.target else "", kept, verdict, interval)
    return replace(given, note="; ".join(found), part=_idle(held))


def _idle(held: Sequence[rules.Held]) -> str:
    """Return at how many places no policy acts, of the rule of which most are such."""
    worst = max(held, key=lambda rule: rule.idle)
    return f"{worst.idle} of {worst.places} alike: no policy acts" if worst.idle else ""


def _number(check: Check, measures: Measures, cells: list[tuple[str, str]]) -> Answer | None:
    if check.form == "crossing":
        per_cell = crossing.by_load(check, measures, cells)
    else:
        per_cell = [_by_seed(check, measures, load, point) for load, point in cells]
    if not all(per_cell):
        return None
    if check.take == "range":
        return _range(check, per_cell)
    if check.over == "workloads":
        number = _Number.over_cells(check, per_cell)
    else:
        number = _Number.over_seeds(check, check.take, per_cell)
    given = Answer(
        check,
        "",
        _show(check, number.mean),
        Verdict.NONE,
        number.interval,
        note=number.spread,
        value=number.mean,
    )
    target = check.target
    if target is None or target.value is None:
        return given
    claim = target.nearest(number.mean)
    assert claim is not None
    verdict = _verdict(check, target, number, claim)
    holds = _yes(_holds(check, target, number))
    return replace(given, paper=_claimed(check, target), verdict=verdict, holds=holds)


def _range(check: Check, per_cell: list[list[float]]) -> Answer:
    """Compare the ends of what all workloads and points give with those of the claim."""
    target = check.target
    assert target is not None
    ends = [_Number.over_seeds(check, take, per_cell) for take in ("min", "max")]
    pairs = [
        (end, claim)
        for end, claim in zip(ends, (target.value, target.most), strict=True)
        if claim is not None
    ]
    verdicts = [_verdict(check, target, end, claim) for end, claim in pairs]
    held = [end.holds(claim, claim) for end, claim in pairs]
    least, most = ends
    return Answer(
        check,
        _claimed(check, target),
        f"{_show(check, least.mean)} to {_show(check, most.mean)}",
        agreement.worse(*verdicts),
        interval=" and ".join(dict.fromkeys(end.interval for end in ends)),
        holds=_yes(None if None in held else all(held)),
    )


@dataclass(frozen=True)
class _Number:
    """One number of several seeds, each of several workloads and points.

    Attributes
    ----------
    half
        Half the width of the interval; None of one sample.
    seeds
        Samples of the interval: seeds, or workloads.
    """

    mean: float
    half: float | None
    seeds: int
    interval: str
    spread: str

    @classmethod
    def over_seeds(cls, check: Check, take: str, per_cell: list[list[float]]) -> _Number:
        return cls.of(check, [TAKES[take](values) for values in zip(*per_cell, strict=True)])

    @classmethod
    def over_cells(cls, check: Check, per_cell: list[list[float]]) -> _Number:
        return cls.of(check, [statistics.fmean(values) for values in per_cell])

    @classmethod
    def of(cls, check: Check, samples: list[float]) -> _Number:
        mean = statistics.fmean(samples)
        many = len(samples)
        # Lines that cross nowhere for one seed give no number, and no interval.
        half = estimate(samples).half_width if all(map(math.isfinite, samples)) else None
        if half is None:
            return cls(mean, None, many, agreement.told(many, check.over), "")
        low, high = (_show(check, value) for value in (min(samples), max(samples)))
        few = f", {agreement.told(many, check.over)}" if many < agreement.SEEDS else ""
        spread = f"{low} to {high} over {many} {check.over}"
        return cls(mean, half, many, f"± {_show(check, half)}{few}", spread)

    def holds(self, least: float, most: float) -> bool | None:
        """Return whether the interval has a value between two; None if there is no interval."""
        if self.half is None or not math.isfinite(self.mean):
            return None
        return self.mean - self.half <= most and least <= self.mean + self.half


def _holds(check: Check, target: Target, ours: _Number) -> bool | None:
    """Return whether our interval holds what the paper says; None if there is none."""
    assert target.value is not None
    most = target.value if target.most is None else target.most
    return ours.holds(target.value, math.inf if check.at_least else most)


def _yes(holds: bool | None) -> str:
    return "" if holds is None else "yes" if holds else "no"


def _claimed(check: Check, target: Target) -> str:
    """Return what the paper says, as it says it."""
    bound = "at least " if check.at_least else "up to " if check.up_to else ""
    least = _show(check, target.value or 0.0)
    return f"{bound}{least}" + (f" to {_show(check, target.most)}" if target.most else "")


def _verdict(check: Check, target: Target, ours: _Number, claim: float) -> Verdict:
    """Judge a number by the one rule, as an effect."""
    claimed = _as_effect(check, target, claim)
    band = claimed.band.at_least if check.at_least else claimed.band
    half = None
    if ours.half is not None and ours.seeds >= agreement.SEEDS:
        half = ours.half * _unit(check)
    return agreement.judge(claimed, band, effect_of(check, ours.mean), half)


def _as_effect(check: Check, target: Target, claim: float) -> Claimed:
    """Return a number of the paper as an effect: what remains of it turns on its form."""
    effect = effect_of(check, claim)
    if check.form in {"reduction", "normalised"}:
        return Claimed(effect)
    if check.form == "ratio":
        return Claimed(effect, Remains.RATIO)
    if not target.unit.startswith("%"):
        return Claimed(effect, Remains.NOTHING, points=0.0)
    remains = Remains.REST if check.form == "value" else Remains.NOTHING
    return Claimed(effect, remains, whole=100.0, points=100 * agreement.POINTS)


def band_of(check: Check, target: Target, claim: float) -> tuple[float, float]:
    """Return the least and the most that agree with a number of the paper, in its unit."""
    band = _as_effect(check, target, claim).band
    low, high = sorted(_value_of(check, effect) for effect in (band.low, band.high))
    return low, high


def _unit(check: Check) -> float:
    """Return what a number has to be multiplied by to be a share, if it is one."""
    return {"reduction": 0.01, "normalised": 0.01}.get(check.form, 1.0)


def _by_seed(check: Check, measures: Measures, load: str, point: str) -> list[float]:
    """Return the number for each seed; none if a run is missing."""
    ours = Cell(load, point, check.variant)
    base = Cell(load, check.baseline_point or point, check.baseline or check.variant)
    beyond = [replace(cell, variant=check.beyond or cell.variant) for cell in (ours, base)]
    cells = [ours, base, *beyond]
    if any(cell not in measures for cell in cells):
        return []
    paired = measures.paired(*cells)
    values, against, *floors = (paired.by_seed(cell, check.measure) for cell in cells)
    if check.beyond:
        values, against = map(_less, (values, against), floors)
    return [_form(check, *pair) for pair in zip(values, against, strict=True)]


def _less(values: list[float], floor: list[float]) -> list[float]:
    return [value - off for value, off in zip(values, floor, strict=True)]


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


def _value_of(check: Check, effect: float) -> float:
    """Return the number that has an effect."""
    return {
        "reduction": 100 * effect,
        "ratio": effect + 1,
        "normalised": 100 * (1 - effect),
    }.get(check.form, effect)


def _show(check: Check, value: float) -> str:
    if not math.isfinite(value):
        return units.MISSING
    own = f" {check.target.unit}" if check.target is not None else ""
    suffix = {"reduction": " %", "ratio": " ×", "normalised": " %"}.get(check.form, own)
    return f"{units.significant(value)}{suffix}"
