"""Rules that say what a shape is: flat, rising, below another, alike, none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from copyback import units
from copyback.papers.measures import Cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback.papers.fields import Fields
    from copyback.papers.measures import Measures


@dataclass(frozen=True)
class Rule:
    """One rule of a shape.

    Attributes
    ----------
    kind
        A key of `KINDS`.
    variants
        Whom it is about.
    baseline
        Whom they are compared with, where the rule compares.
    bound
        The factor that it allows or demands.
    """

    kind: str
    measure: str
    variants: tuple[str, ...]
    baseline: str | None
    bound: float


@dataclass(frozen=True)
class Held:
    """What became of a rule."""

    holds: bool
    text: str


def read_rule(fields: Fields) -> Rule:
    """Read a rule."""
    kind = fields.one_of("rule", tuple(KINDS))
    rule = Rule(
        kind=kind,
        measure=fields.text("measure", "response_us.all.mean"),
        variants=fields.texts("variants"),
        baseline=fields.optional_text("baseline"),
        bound=fields.take("bound", float, 1.0),
    )
    if not rule.variants:
        raise fields.fault("variants", "missing; a list of variants is needed")
    if kind in COMPARING and rule.baseline is None:
        raise fields.fault("baseline", "missing; the name of a variant is needed")
    fields.end()
    return rule


def judge(rule: Rule, measures: Measures, loads: list[str], points: list[str]) -> Held:
    """Apply a rule to what was measured under these workloads at these points."""
    found, text = KINDS[rule.kind](rule, measures, loads, points)
    return Held(found, f"{', '.join(rule.variants)}: {text}")


def _factor(value: float) -> str:
    return f"{units.significant(value)} ×" if math.isfinite(value) else units.MISSING


def _worst(values: list[float]) -> float:
    return max(values, default=math.nan, key=lambda value: value if value == value else math.inf)


def _flat(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    spans = []
    for load, variant in product(loads, r.variants):
        values = [m.mean(Cell(load, point, variant), r.measure) for point in points]
        spans.append(max(values) / min(values))
    worst = _worst(spans)
    return worst <= r.bound, f"varies by {_factor(worst)} (flat: at most {_factor(r.bound)})"


def _rises(r: Rule, m: Measures, loads: list[str], points: list[str]) -> tuple[bool, str]:
    steps = []
    for load, variant in product(loads, r.variants):
        first, last = (m.mean(Cell(load, p, variant), r.measure) for p in (points[0], points[-1]))
        steps.append(last / first)
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
    "none": _none,
    "some": _some,
}

COMPARING = ("at_most", "at_least")
