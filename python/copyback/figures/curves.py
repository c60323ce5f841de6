"""Curves: a measure over a key that is a number, a line a scheme, a panel a load."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from copyback._core import InputError
from copyback.figures.canvas import COLOURS, MOST_PANELS, Sheet
from copyback.figures.scales import ends_of, name_values, scaled
from copyback.sweep.labels import Names
from copyback.sweep.page_numbers import quantity
from copyback.sweep.schemes import Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from copyback.sweep.intervals import Estimate
    from copyback.sweep.schemes import Contest, Measure, Setting

#: Strokes and marks of lines, the next where all colours are used.
_STROKES, _MARKS = ("-", "--", ":", "-."), ("o", "s", "^", "D")

#: Lines that can be told apart.
MOST_LINES = len(COLOURS) * len(_STROKES)


class Point(NamedTuple):
    """Place on a curve: the value of the key, its text, and what was measured there."""

    value: float
    text: str
    found: Estimate


#: The points of each scheme, by its setting without the key.
Lines = dict["Setting", list[Point]]


def draw(contests: Sequence[Contest], measure: Measure, key: str, width: float | None) -> Figure:
    """Return a measure over a key, with 95% intervals over the seeds."""
    names = Names(contests)
    panels = _panels(contests, measure, key, names)
    if not panels:
        raise InputError(f"figure: no scheme has {measure.label} and {key}")
    shown = list(panels.items())[:MOST_PANELS]
    schemes = list(dict.fromkeys(scheme for _, lines in shown for scheme in lines))[:MOST_LINES]
    sheet = Sheet.of(len(shown), width)
    made = sheet.canvas()
    points = [point for _, lines in shown for own in schemes for point in lines.get(own, [])]
    for axis, (load, lines) in zip(made.axes, shown, strict=True):
        _axes(axis, points, measure, sheet.inside)
        for place, scheme in enumerate(schemes):
            if scheme in lines:
                _line(axis, lines[scheme], place, names.of(scheme))
        axis.set_xlabel(names.key(key))
        axis.set_ylabel(measure.label)
        if names.differs(load):
            axis.set_title(sheet.above(names.of(load)))
    made.legend()
    if len(shown) < len(panels):
        made.figure.suptitle(f"the first {len(shown)} of {len(panels)} loads")
    return made.figure


def _panels(
    contests: Sequence[Contest], measure: Measure, key: str, names: Names
) -> dict[Setting, Lines]:
    """Return the lines of each load; a scheme that does not set the key has none."""
    panels: dict[Setting, Lines] = {}
    for contest in contests:
        for scheme in contest.schemes:
            found = scheme.values.get(measure.label)
            value = dict((*contest.load, *scheme.setting)).get(key)
            amount = quantity(value)
            if found is not None and amount is not None:
                point = Point(amount[1], names.value((key, value)), found)
                lines = panels.setdefault(without(contest.load, key), {})
                lines.setdefault(without(scheme.setting, key), []).append(point)
    return panels


def without(setting: Setting, *keys: str) -> Setting:
    """Return a setting without some keys."""
    return tuple(pair for pair in setting if pair[0] not in keys)


def _axes(axis: Axes, points: Sequence[Point], measure: Measure, inches: float) -> None:
    """Scale both axes for the points of all panels, so that panels can be compared."""
    name_values(axis.xaxis, {point.value: point.text for point in points}, inches)
    scaled(
        axis.yaxis,
        [point.found.mean for point in points],
        ends_of(point.found for point in points),
        is_time=measure.format is Format.TIME,
    )


def _line(axis: Axes, points: Sequence[Point], place: int, name: str) -> None:
    ordered = sorted(points, key=lambda point: point.value)
    again = place // len(COLOURS)
    axis.errorbar(
        [point.value for point in ordered],
        [point.found.mean for point in ordered],
        yerr=[point.found.half_width or 0.0 for point in ordered],
        color=COLOURS[place % len(COLOURS)],
        linestyle=_STROKES[again],
        marker=_MARKS[again],
        markersize=4,
        capsize=2,
        label=name,
    )
