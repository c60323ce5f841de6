"""Bars: a measure of each scheme, a panel a load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.figures.canvas import COLOURS, LONGEST, MOST_PANELS, Sheet
from copyback.figures.scales import Scale, ends_of, scaled
from copyback.sweep.labels import Names
from copyback.sweep.schemes import Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from copyback.sweep.intervals import Estimate
    from copyback.sweep.schemes import Contest, Measure, Scheme

#: Inches of a line of a name, between two bars, and above and below all bars of a panel.
_LINE, _BETWEEN, _AROUND = 0.15, 0.13, 0.9


def draw(contests: Sequence[Contest], measure: Measure, width: float | None) -> Figure:
    """Return a measure of each scheme: 95% intervals over the seeds, ratios to the baseline.

    A bar begins at zero. On a logarithmic axis, which has none, a scheme is a point.
    """
    names = Names(contests)
    shown = contests[:MOST_PANELS]
    sheet = Sheet.of(len(shown), width)
    schemes = [[own for own in one.schemes if measure.label in own.values] for one in shown]
    if not any(schemes):
        raise InputError(f"figure: no scheme has {measure.label}")
    labels = [[_label(own, measure, names, sheet) for own in each] for each in schemes]
    height = max(_AROUND + sum(map(_height, each)) for each in labels)
    made = sheet.canvas(min(height, LONGEST))
    every = [scheme.values[measure.label] for own in schemes for scheme in own]
    for axis, contest, own, beside in zip(made.axes, shown, schemes, labels, strict=True):
        if own:
            _panel(axis, own, measure, beside, every, sheet.beside_names)
        if contest.load:
            axis.set_title(sheet.above(names.of(contest.load)))
        axis.set_xlabel(measure.label)
    if len(shown) < len(contests):
        made.figure.suptitle(f"the first {len(shown)} of {len(contests)} loads")
    return made.figure


def _label(scheme: Scheme, measure: Measure, names: Names, sheet: Sheet) -> str:
    """Return the name of a scheme, and below it its ratio to the baseline."""
    name = sheet.beside(names.of(scheme.setting))
    ratio = scheme.ratios.get(measure.label)
    return name if ratio is None else f"{name}\n{ratio.marked}"


def _height(label: str) -> float:
    return _BETWEEN + _LINE * len(label.splitlines())


def _panel(
    axis: Axes,
    schemes: Sequence[Scheme],
    measure: Measure,
    labels: Sequence[str],
    every: Sequence[Estimate],
    inches: float,
) -> None:
    """Draw the schemes of a load, on the axis that all loads share."""
    found = [scheme.values[measure.label] for scheme in schemes]
    means = [own.mean for own in found]
    scale = scaled(
        axis.xaxis,
        [own.mean for own in every],
        ends_of(every),
        is_time=measure.format is Format.TIME,
        inches=inches,
    )
    colours = [COLOURS[0] if scheme.is_baseline else COLOURS[4] for scheme in schemes]
    places = range(len(schemes))
    if scale is Scale.LINEAR:
        axis.barh(places, means, color=colours)
    else:
        axis.scatter(means, places, color=colours, zorder=3)
    halves = [own.half_width or 0.0 for own in found]
    axis.errorbar(means, places, xerr=halves, fmt="none", ecolor="black", elinewidth=1, capsize=2)
    axis.set_yticks(places, labels)
    axis.set_ylim(len(schemes) - 0.4, -0.6)
    axis.grid(visible=False, axis="y")
