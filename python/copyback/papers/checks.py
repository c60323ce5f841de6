"""Answers to the papers' claims, and to our own questions: numbers from what was measured."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from copyback import units
from copyback.papers import agreement, rules
from copyback.papers.agreement import Verdict
from copyback.papers.measures import Cell
from copyback.papers.rules import Rule
from copyback.papers.targets import SHAPE, Target, find_target
from copyback.sweep.intervals import estimate
from copyback.tables import Table, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from copyback.papers.measures import Measures

#: How several workloads or points become one number.
TAKES: dict[str, Callable[[Iterable[float]], float]] = {
    "mean": statistics.fmean,
    "max": max,
    "min": min,
}


class Check(Table, frozen=True):
    """One answer.

    Attributes
    ----------
    target
        The claim that it answers; None if the question is our own.
    says
        What is asked; what the claim says if empty.
    baseline_point
        The point of the baseline; None for the variant's own point.
    workloads, points
        Under what; all if empty.
    scale
        A value is multiplied by this: from the unit of the summary to that of the claim.
    at_least
        The claim is a lower bound.
    up_to
        The claim is the largest of several; what is taken must be the largest, too.
    rules
        Those of a shape; empty if the answer is a number.
    """

    target: Target | None = None
    says: str = ""
    form: Literal["reduction", "ratio", "normalised", "value"] = "reduction"
    measure: str = "response_us.all.mean"
    variant: str = ""
    baseline: str = ""
    baseline_point: str | None = None
    workloads: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    take: Literal["mean", "max", "min"] = "mean"
    scale: float = 1.0
    at_least: bool = False
    up_to: bool = False
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        if not self.variant and not self.rules:
            raise ValueError("variant: missing; a text is needed")
        if not self.says and self.target is None:
            raise ValueError("says: missing; a text is needed")
        if self.up_to and self.take != "max":
            raise ValueError(f"take: found {self.take!r}; a claim of \"up to\" needs 'max'")
        if self.target is not None and (self.target.value is None) == (not self.rules):
            needed = "rules" if self.target.unit == SHAPE else "a number, not rules"
            raise ValueError(f"rules: the claim needs {needed}")

    @property
    def question(self) -> str:
        """What is asked."""
        return self.says or (self.target.label if self.target else "")

    def names(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Yield the names of variants, points and workloads that it uses."""
        yield "variants", tuple(filter(None, (self.variant, self.baseline)))
        yield "points", self.points + ((self.baseline_point,) if self.baseline_point else ())
        yield "workloads", self.workloads
        for rule in self.rules:
            yield "variants", rule.variants + ((rule.baseline,) if rule.baseline else ())


@dataclass(frozen=True)
class Answer:
    """What became of a check.

    Attributes
    ----------
    note
        The spread over seeds, or what each rule found.
    """

    check: Check
    paper: str
    ours: str
    verdict: Verdict
    note: str


def read_check(found: Any, targets: tuple[Target, ...], path: Path, place: str) -> Check:
    """Read a check, whose target is what tells a claim from the others."""
    table = dict(read(found, dict[str, Any], path, place))
    if "target" in table:
        table["target"] = wanted(table["target"], targets, path, f"{place}.target")
    return read(table, Check, path, place)


def wanted(found: Any, targets: tuple[Target, ...], path: Path, place: str) -> Target:
    """Return the one claim that has all columns of a table."""
    columns = read(found, dict[str, Any], path, place)
    texts = {key: str(value) for key, value in columns.items()}
    return find_target(targets, texts, f"{path}: {place}")


def answer(check: Check, measures: Measures) -> Answer | None:
    """Return the answer, or None if nothing that it needs was run."""
    cells = _cells(check, measures)
    if not cells:
        return None
    return _of_shape(check, measures, cells) if check.rules else _number(check, measures, cells)


def _cells(check: Check, measures: Measures) -> list[tuple[str, str]]:
    """Return the workloads and points that were run, in order."""
    there = dict.fromkeys((cell.workload, cell.point) for cell in measures.rows)
    return [
        (load, point)
        for load, point in there
        if (not check.workloads or load in check.workloads)
        and (not check.points or point in check.points)
    ]


def _of_shape(check: Check, measures: Measures, cells: list[tuple[str, str]]) -> Answer:
    loads = list(dict.fromkeys(load for load, _ in cells))
    points = list(dict.fromkeys(point for _, point in cells))
    held = [rules.judge(rule, measures, loads, points) for rule in check.rules]
    verdict = agreement.of_rules([rule.holds for rule in held])
    kept = f"{sum(rule.holds for rule in held)} of {len(held)} rules hold"
    note = "; ".join(f"{'' if rule.holds else 'NOT '}{rule.text}" for rule in held)
    return Answer(check, "shape" if check.target else "", kept, verdict, note)


def _number(check: Check, measures: Measures, cells: list[tuple[str, str]]) -> Answer | None:
    per_cell = [_by_seed(check, measures, load, point) for load, point in cells]
    if not all(per_cell):
        return None
    per_seed = [TAKES[check.take](values) for values in zip(*per_cell, strict=True)]
    ours = statistics.fmean(per_seed)
    half = estimate(per_seed).half_width or 0.0
    spread = ""
    if len(per_seed) > 1:
        low, high = (_show(check, value) for value in (min(per_seed), max(per_seed)))
        spread = f"± {_show(check, half)}; {low} to {high} over {len(per_seed)} seeds"
    if check.target is None or check.target.value is None:
        return Answer(check, "", _show(check, ours), Verdict.NONE, spread)
    verdict = _verdict(check, check.target, ours, half)
    return Answer(check, _claimed(check, check.target), _show(check, ours), verdict, spread)


def _claimed(check: Check, target: Target) -> str:
    """Return what the paper says, as it says it."""
    bound = "at least " if check.at_least else "up to " if check.up_to else ""
    least = _show(check, target.value or 0.0)
    return f"{bound}{least}" + (f" to {_show(check, target.most)}" if target.most else "")


def _verdict(check: Check, target: Target, ours: float, half: float) -> Verdict:
    """Judge a number by the one rule, as an effect."""
    claim, effect = _effect(check, target.nearest(ours) or 0.0), _effect(check, ours)
    if check.at_least and effect >= claim:
        return Verdict.REPRODUCED
    unit = {"reduction": 0.01, "normalised": 0.01}.get(check.form, 1.0)
    return agreement.compare(claim, effect, interval=half * unit, points=_two_points(check, target))


def _two_points(check: Check, target: Target) -> float:
    """Return what two points are in the unit of a check's effect; zero of times and counts."""
    if check.form != "value":
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


def _effect(check: Check, value: float) -> float:
    """Return how far a number is from saying that nothing changes, as a share."""
    return {
        "reduction": value / 100,
        "ratio": value - 1,
        "normalised": 1 - value / 100,
        "value": value,
    }[check.form]


def _show(check: Check, value: float) -> str:
    if not math.isfinite(value):
        return units.MISSING
    suffix = {"reduction": " %", "ratio": " ×", "normalised": " %", "value": ""}[check.form]
    return f"{units.significant(value)}{suffix}"
