"""Figures of a comparison: bars, curves over a number, a map over two."""

from __future__ import annotations

from enum import StrEnum, auto
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.figures import bars, curves, map_of_two
from copyback.figures.canvas import styled
from copyback.sweep.answer import headline
from copyback.sweep.page_numbers import number_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from copyback.sweep.schemes import Contest, Measure


class ComparisonFigure(StrEnum):
    """Figure of a comparison, by the name that its user gives."""

    BARS = auto()
    CURVE = auto()
    HEAT = auto()


#: Keys that are numbers which a figure needs.
_KEYS = {ComparisonFigure.BARS: 0, ComparisonFigure.CURVE: 1, ComparisonFigure.HEAT: 2}


def kinds(contests: Sequence[Contest]) -> list[ComparisonFigure]:
    """Return the figures that a comparison has: a curve needs a key that is a number, a map two."""
    numbers = len(_numbers(contests))
    return [kind for kind, needed in _KEYS.items() if needed <= numbers]


@styled()
def of_comparison(
    contests: Sequence[Contest],
    measure: str | None = None,
    *,
    kind: str = ComparisonFigure.BARS,
    over: Sequence[str] = (),
    width: float | None = None,
) -> Figure:
    """Return a figure of a comparison.

    Parameters
    ----------
    measure
        Label; else that of the answer.
    kind
        One of `kinds`.
    over
        The keys of a curve or map; else those with most values.
    width
        Inches; else as wide as its panels need.

    Raises
    ------
    InputError
        If there is no such figure, measure or key; without matplotlib.
    """
    known = kinds(contests)
    if kind not in known:
        raise InputError(f"figure: found {kind!r}; this comparison has: {', '.join(known)}")
    chosen = measure_of(contests, measure)
    keys = _chosen_keys(contests, ComparisonFigure(kind), over)
    match ComparisonFigure(kind):
        case ComparisonFigure.BARS:
            return bars.draw(contests, chosen, width)
        case ComparisonFigure.CURVE:
            return curves.draw(contests, chosen, keys[0], width)
        case ComparisonFigure.HEAT:
            return map_of_two.draw(contests, chosen, (keys[0], keys[1]), width)


def measure_of(contests: Sequence[Contest], label: str | None) -> Measure:
    """Return the measure of a label; without one that of the answer."""
    if label is None:
        return headline(contests)
    known = {measure.label: measure for measure in contests[0].requests.shown}
    if label not in known:
        raise InputError(f"measure: found {label!r}; allowed: {', '.join(known)}")
    return known[label]


def _numbers(contests: Sequence[Contest]) -> list[str]:
    """Return the keys that are numbers, those with most values first."""
    settings = [
        (*contest.load, *scheme.setting) for contest in contests for scheme in contest.schemes
    ]
    found = number_keys(settings)
    return sorted(found, key=lambda key: -found[key])


def _chosen_keys(
    contests: Sequence[Contest], kind: ComparisonFigure, over: Sequence[str]
) -> list[str]:
    known, needed = _numbers(contests), _KEYS[kind]
    unknown = [key for key in over if key not in known]
    if unknown:
        allowed = ", ".join(known) or "none, as no key that varies is a number"
        raise InputError(f"over: found {unknown[0]!r}; allowed: {allowed}")
    if len(over) > needed or len(set(over)) < len(over):
        raise InputError(f"over: found {', '.join(over)}; allowed for {kind}: {needed} keys")
    return [*over, *(key for key in known if key not in over)][:needed]
