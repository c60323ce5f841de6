"""Knee of a curve: where it stops paying.

The method is Kneedle (Satopää, Albrecht, Irwin, Raghavan: Finding a "Kneedle" in a Haystack,
ICDCS Workshops 2011) with sensitivity 1, on means over seeds as they are, without a spline through
them: points of a sweep are few and not noisy. `axes.js` has it for the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback.sweep.answer import number
from copyback.sweep.page_numbers import number_keys, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.sweep.labels import Names
    from copyback.sweep.schemes import Contest, Measure, Setting

#: A value of a key, the number that it is, and the mean of a measure there.
_PointOfLine = tuple[Any, float, float]

#: Points from which a curve can have a knee.
LEAST_POINTS = 5

#: How far a curve must bend away from the line between its ends, as a share of its height.
LEAST_BEND = 0.15

#: How far it may lie on the other side of that line.
MOST_STRAY = 0.1


def knee(xs: Sequence[float], ys: Sequence[float]) -> int | None:
    """Return the place of the knee of a curve.

    Parameters
    ----------
    xs
        Ascending.

    Returns
    -------
    int or None
        None of a curve of few points, one that bends too little, or one that bends both ways.

    Examples
    --------
    >>> knee([1, 2, 3, 4, 5, 6], [100, 20, 10, 8, 7, 6]), knee([1, 2, 3, 4, 5], [5, 4, 3, 2, 1])
    (1, None)
    """
    if len(xs) < LEAST_POINTS or max(ys) == min(ys):
        return None
    x, up = _unit(xs), _unit(ys)
    y = up if ys[-1] > ys[0] else [1 - value for value in up]
    above = [own - across for own, across in zip(y, x, strict=True)]
    sign = 1 if max(above) >= -min(above) else -1
    bend = [sign * value for value in above]
    top = bend.index(max(bend))
    falls = any(value < bend[top] - 1 / (len(xs) - 1) for value in bend[top + 1 :])
    return top if falls and bend[top] >= LEAST_BEND and min(bend) >= -MOST_STRAY else None


def _unit(values: Sequence[float]) -> list[float]:
    least, most = min(values), max(values)
    return [(value - least) / (most - least) for value in values]


def knees(contests: Sequence[Contest], measure: Measure, names: Names) -> list[str]:
    """Return a sentence for each knee of schemes and loads that differ in one number only."""
    means: dict[Setting, float] = {
        (*contest.load, *scheme.setting): own.mean
        for contest in contests
        for scheme in contest.schemes
        if (own := scheme.values.get(measure.label)) is not None
    }
    return [
        _sentence(rest, (key, points[place][0]), points[place][2], measure, names)
        for key in number_keys(means)
        for rest, points in _lines(means, key).items()
        if (place := knee([at for _, at, _ in points], [mean for *_, mean in points])) is not None
    ]


def _lines(means: Mapping[Setting, float], key: str) -> dict[Setting, list[_PointOfLine]]:
    """Return for all that differ in nothing but a key its values, what they come to, and means."""
    lines: dict[Setting, list[_PointOfLine]] = {}
    for setting, mean in means.items():
        value = dict(setting).get(key)
        if value is not None and (at := quantity(value)) is not None:
            rest = tuple(pair for pair in setting if pair[0] != key)
            lines.setdefault(rest, []).append((value, at[1], mean))
    return {rest: sorted(points, key=lambda point: point[1]) for rest, points in lines.items()}


def _sentence(
    rest: Setting, place: tuple[str, Any], value: float, measure: Measure, names: Names
) -> str:
    where = f"{names.key(place[0])} {names.value(place)}"
    of = f" ({names.of(rest)})" if names.differs(rest) else ""
    return f"{measure.label} bends at {where}{of}, where it is {number(measure, value)}"
