"""Figure of a study: the front in two objectives, all designs that were tried, and the base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.figures.canvas import COLOURS, Sheet, styled
from copyback.figures.scales import scaled
from copyback.sweep.schemes import Format

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from copyback.designer.found import Found
    from copyback.designer.scores import Measured


@styled()
def of_design(found: Found, width: float | None = None) -> Figure:
    """Return the front of a study in its first two objectives; with one, over the designs tried."""
    made = Sheet.of(1, width).canvas()
    axes = made.axes[0]
    groups = (
        (found.searched.tried, "tried", {"color": COLOURS[7], "marker": ".", "alpha": 0.5}),
        (found.points, "the front", {"color": COLOURS[0], "marker": "o"}),
        ((found.base,), "the base", {"color": COLOURS[1], "marker": "x"}),
    )
    places = range(min(2, len(found.study.objectives)))
    everything = [own for group, _, _ in groups for own in group]
    for place in places:
        _label(axes, found, place, [own.score(place) for own in everything])
    for group, name, style in groups:
        axes.scatter(*_at(group, len(places)), label=name, **style)
    _number_points(axes, found, len(places))
    made.legend()
    return made.figure


def _at(group: tuple[Measured, ...] | list[Measured], objectives: int) -> list[list[float]]:
    """Return where designs lie: of one objective they stand side by side."""
    scores = [[own.score(place) for own in group] for place in range(objectives)]
    return scores if objectives == 2 else [[float(i) for i in range(len(group))], *scores]


def _label(axes: Axes, found: Found, place: int, values: list[float]) -> None:
    """Give an objective its axis: the first lies, unless it is the only one."""
    is_first = place == 0 and len(found.study.objectives) > 1
    axis = axes.xaxis if is_first else axes.yaxis
    measure = found.study.objectives[place].measure
    scaled(axis, values, is_time=measure.format is Format.TIME)
    axis.set_label_text(measure.label)


def _number_points(axes: Axes, found: Found, objectives: int) -> None:
    """Write its number beside each design of the front."""
    for number, at in enumerate(zip(*_at(found.points, objectives), strict=True), 1):
        axes.annotate(str(number), at, xytext=(4, 4), textcoords="offset points")
