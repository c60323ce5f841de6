"""Heat map: a measure over two keys that are numbers, a panel for all else that differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from copyback._core import InputError
from copyback.figures.canvas import LETTER_WIDTH, MOST_PANELS, POINTS_AN_INCH, SMALL, Sheet
from copyback.figures.curves import without
from copyback.figures.scales import colours_of, plain_text, time_text, with_room
from copyback.sweep.labels import Names
from copyback.sweep.page_numbers import quantity
from copyback.sweep.schemes import Format
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from copyback.sweep.schemes import Contest, Measure, Setting

#: Means by their place: the value of the key across and of the key up.
Cells = dict[tuple[float, float], float]

#: The texts of a key's values, in ascending order of these.
Texts = dict[float, str]

#: Inches of a row of cells, and of what a panel has around them.
_ROW, _AROUND = 0.3, 1.1

#: Inches that the colours and their numbers take beside a panel.
_COLOURS = 1.5

#: Inches that the number in a cell takes.
_NUMBER = 8 * LETTER_WIDTH * SMALL / POINTS_AN_INCH

#: Brightness of a colour from which a number on it is black.
_BRIGHT = 0.5

#: Shares of red, green and blue in brightness (Rec. 709).
_WEIGHTS = (0.2126, 0.7152, 0.0722)


def draw(
    contests: Sequence[Contest], measure: Measure, keys: tuple[str, str], width: float | None
) -> Figure:
    """Return the mean over seeds at each pair of values, as the colour and number of a cell.

    Parameters
    ----------
    keys
        The key across, and the key up.
    """
    names = Names(contests)
    panels, texts = _panels(contests, measure, keys, names)
    if not panels:
        raise InputError(f"figure: no scheme has {measure.label}, {keys[0]} and {keys[1]}")
    shown = list(panels.items())[:MOST_PANELS]
    colours = colours_of([mean for _, cells in shown for mean in cells.values()])
    sheet = Sheet.of(len(shown), width)
    made = sheet.canvas(_AROUND + _ROW * max(len(texts[1]), 5))
    inside = sheet.panel - _COLOURS
    is_time = measure.format is Format.TIME
    meshes = []
    for axis, (rest, cells) in zip(made.axes, shown, strict=True):
        meshes.append(_panel(axis, cells, texts, colours, inside))
        if inside / len(texts[0]) >= _NUMBER:
            _write(axis, meshes[-1], is_time=is_time)
        axis.set_xlabel(names.key(keys[0]))
        axis.set_ylabel(names.key(keys[1]))
        if names.differs(rest):
            axis.set_title(sheet.above(names.of(rest)))
    text = time_text if is_time else plain_text
    made.figure.colorbar(
        meshes[0], ax=made.axes, label=measure.label, format=lambda value, _: text(value)
    )
    if len(shown) < len(panels):
        made.figure.suptitle(f"the first {len(shown)} of {len(panels)} maps")
    return made.figure


def _panels(
    contests: Sequence[Contest], measure: Measure, keys: tuple[str, str], names: Names
) -> tuple[dict[Setting, Cells], tuple[Texts, Texts]]:
    """Return the cells by all that differs else, and the texts of both keys' values."""
    panels: dict[Setting, Cells] = {}
    texts: tuple[Texts, Texts] = ({}, {})
    for contest in contests:
        for scheme in contest.schemes:
            every = (*contest.load, *scheme.setting)
            values = [dict(every).get(key) for key in keys]
            amounts = [quantity(value) for value in values]
            found = scheme.values.get(measure.label)
            if found is None or amounts[0] is None or amounts[1] is None:
                continue
            place = (amounts[0][1], amounts[1][1])
            panels.setdefault(without(every, *keys), {})[place] = found.mean
            for own, at, key, value in zip(texts, place, keys, values, strict=True):
                own[at] = names.value((key, value))
    across, up = (dict(sorted(own.items())) for own in texts)
    return panels, (across, up)


def _panel(
    axis: Axes, cells: Cells, texts: tuple[Texts, Texts], colours: Normalize, inches: float
) -> QuadMesh:
    """Draw cells of one size in the order of their values; a place without a run is empty."""
    across, up = texts
    grid = np.asarray([[cells.get((x, y), np.nan) for x in across] for y in up])
    mesh = axis.pcolormesh(np.ma.masked_invalid(grid), norm=colours, cmap="viridis")
    middles = [place + 0.5 for place in range(len(across))]
    shown = list(across.values())
    kept = with_room(middles, shown, len(across) / inches)
    axis.set_xticks([middles[own] for own in kept], [shown[own] for own in kept])
    axis.set_yticks(np.arange(len(up)) + 0.5, list(up.values()))
    axis.grid(visible=False)
    return mesh


def _write(axis: Axes, mesh: QuadMesh, *, is_time: bool) -> None:
    """Write the number of each cell into it, dark on bright colours."""
    grid: NDArray[np.float64] = np.ma.asarray(mesh.get_array()).filled(np.nan)
    for (row, column), mean in np.ndenumerate(grid):
        if np.isnan(mean):
            continue
        brightness = float(np.dot(mesh.to_rgba(np.asarray(mean))[:3], _WEIGHTS))
        axis.text(
            column + 0.5,
            row + 0.5,
            units.time_us(mean) if is_time else units.significant(mean),
            ha="center",
            va="center",
            fontsize=SMALL,
            color="black" if brightness > _BRIGHT else "white",
        )
