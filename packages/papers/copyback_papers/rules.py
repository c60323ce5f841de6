"""Rules that say what a shape is: flat, rising, below another, alike, none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, structs

from copyback.inputs.tables import Table
from copyback.words import units
from copyback_papers.agreement import POINTS
from copyback_papers.measures import Cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback_papers.measures import Measures


class Rule(Table, frozen=True):
    """One rule of a shape.

    Attributes
    ----------
    variants
        Whom it is about.
    baseline
        Whom they are compared with, where the rule compares.
    bound
        The factor that it allows or demands. Of `flat`: how much of the baseline's rise it allows;
        the baseline is a drive with collections, or one whose collections are free.
    last
        How many points it looks at, the last ones; all of them if zero.
    """

    rule: Literal["flat", "rises", "at_most", "at_least", "alike", "gains", "none", "some"]
    variants: tuple[str, ...]
    measure: str = "response_us.all.mean"
    baseline: str | None = None
    bound: float = 1.0
    last: Annotated[int, Meta(ge=0)] = 0

    def __post_init__(self) -> None:
        if not self.variants:
            raise ValueError("variants: empty; a list of variants is needed")
        if self.rule in COMPARING and self.baseline is None:
            raise ValueError("baseline: missing; the name of a variant is needed")

    @property
    def is_order(self) -> bool:
        """Whether it says that one number is less than another, however little."""
        return self.rule in {"at_most", "at_least"} and self.bound == 1.0


@dataclass(frozen=True)
class Held:
    """Result of a rule.

    Attributes
    ----------
    places, idle
        How many pairs of numbers a rule of "less" or "more" compares, and how many of them are
        the same number: no policy acts there.
    """

    holds: bool
    text: str
    places: int = 0
    idle: int = 0


def judge(rule: Rule, measures: Measures, loads: list[str], points: list[str]) -> Held:
    """Apply a rule to what was measured under these workloads at these points."""
    points = points[-rule.last :]
    found, text = KINDS[rule.rule](rule, measures, loads, points)
    ratios = _ratios(rule, measures, loads, points) if rule.is_order else []
    return Held(found, f"{', '.join(rule.variants)}: {text}", len(ratios), ratios.count(1.0))


def _factor(value: float) -> str:
    if value == math.inf:
        return "∞ ×"
    return f"{units.significant(value)} ×" if math.isfinite(value) else units.MISSING


def _times(value: float, base: float) -> float:
    """Return how many times the base a number is; of nothing, anything is infinitely many.

    >>> _times(3.0, 2.0), _times(3.0, 0.0), _times(0.0, 0.0)
    (1.5, inf, 1.0)
    """
    if base:
        return value / base
    return math.inf if value else 1.0


def _worst(values: list[float]) -> float:
    return max(values, default=math.nan, key=lambda value: value if value == value else math.inf)


def _flat(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    """See that a variant rises by no more than a part of what its baseline rises by."""
    found = []
    for load, variant in product(loads, r.variants):
        ours, base = (_span(r, m, load, points, one) for one in (variant, r.baseline or ""))
        allowed = 1 + max(r.bound * (base - 1), POINTS)
        found.append((ours - allowed, ours, base, allowed))
    _, ours, base, allowed = max(found, key=lambda one: one[0] if one[0] == one[0] else math.inf)
    text = (
        f"varies by {_factor(ours)} where {r.baseline} varies by {_factor(base)} "
        f"(flat: at most {_factor(allowed)})"
    )
    return ours <= allowed, text


def _span(r: Rule, m: Measures, load: str, points: list[str], variant: str) -> float:
    """Return how many times its least number the greatest of a variant is, over the points."""
    values = [m.mean(Cell(load, point, variant), r.measure) for point in points]
    return _times(max(values), min(values))


def _rises(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    steps = []
    for load, variant in product(loads, r.variants):
        first, last = (m.mean(Cell(load, p, variant), r.measure) for p in (points[0], points[-1]))
        steps.append(_times(last, first))
    least = min(steps)
    return least >= r.bound, f"last / first {_factor(least)} (rises: at least {_factor(r.bound)})"


def _at_most(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    worst = _worst(_ratios(r, m, loads, points))
    text = f"at most {_factor(worst)} {r.baseline} (allowed: {_factor(r.bound)})"
    return worst <= r.bound, text


def _at_least(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    least = min(_ratios(r, m, loads, points))
    text = f"at least {_factor(least)} {r.baseline} (needed: {_factor(r.bound)})"
    return least >= r.bound, text


def _ratios(r: Rule, m: Measures, loads: list[str], points: list[str]) -> list[float]:
    ratios = []
    for load, point, variant in product(loads, points, r.variants):
        base = m.mean(Cell(load, point, r.baseline or ""), r.measure)
        ratios.append(m.mean(Cell(load, point, variant), r.measure) / base if base else math.nan)
    return ratios


def _alike(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    spans = []
    for load, point in product(loads, points):
        values = [m.mean(Cell(load, point, variant), r.measure) for variant in r.variants]
        spans.append(max(values) / min(values) if min(values) else math.nan)
    worst = _worst(spans)
    return worst <= r.bound, f"apart by {_factor(worst)} (alike: at most {_factor(r.bound)})"


def _gains(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    """See that what a variant has of its baseline falls from each point to the next."""
    lines = [
        _ratios(structs.replace(r, variants=(variant,)), m, [load], points)
        for load, variant in product(loads, r.variants)
    ]
    steps = [_times(one, after) for line in lines for one, after in pairwise(line)]
    told = "; ".join(", ".join(_factor(value) for value in line) for line in lines)
    text = f"{told} {r.baseline} (gains: each less than the one before, by {_factor(r.bound)})"
    return all(step > r.bound for step in steps), text


def _none(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    total = sum(m.mean(Cell(*cell), r.measure) for cell in product(loads, points, r.variants))
    return total == 0, f"{units.significant(total)} in all (needed: 0)"


def _some(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    values = [m.mean(Cell(*cell), r.measure) for cell in product(loads, points, r.variants)]
    return min(values) > 0, f"at least {units.significant(min(values))} (needed: more than 0)"


#: Each rule by its name.
KINDS: dict[str, Callable[[Rule, Measures, list[str], list[str]], tuple[bool, str]]] = {
    "flat": _flat,
    "rises": _rises,
    "at_most": _at_most,
    "at_least": _at_least,
    "alike": _alike,
    "gains": _gains,
    "none": _none,
    "some": _some,
}

COMPARING = ("flat", "at_most", "at_least", "gains")
