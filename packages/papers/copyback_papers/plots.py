"""Draws figures in the manner of the papers, as SVG, with matplotlib (the extra ``plots``)."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from copyback.data.density import kernel_density
from copyback_papers import found as findings
from copyback_papers import microscope
from copyback_papers.measures import Cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from copyback_papers.figures import Figure
    from copyback_papers.found import Found

#: Width and height of a panel in inches, and panels in a row.
PANEL = (4.2, 3.1)
COLUMNS = 3

#: Okabe and Ito's colours, told apart by colour-blind eyes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999")
MARKERS = "osv^Dx+*"

#: Names longer than this stand at an angle.
LONG = 4


@contextmanager
def drawing(
    path: Path, title: str, panels: int, *, wide: float = 1.3
) -> Iterator[tuple[Canvas, list[Axes]]]:
    """Yield a drawing and its panels, and write it as SVG: the same bytes for the same numbers.

    Parameters
    ----------
    wide
        The width of a drawing that has one panel, in panels.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    columns = min(panels, COLUMNS)
    rows = math.ceil(panels / columns)
    width = PANEL[0] * (columns if panels > 1 else wide)
    with mpl.rc_context({"svg.hashsalt": "copyback", "font.size": 8, "svg.fonttype": "none"}):
        canvas = Canvas(figsize=(width, PANEL[1] * rows), layout="constrained")
        axes = list(canvas.subplots(rows, columns, squeeze=False).flat)
        for axis in axes[panels:]:
            axis.remove()
        yield canvas, axes[:panels]
        canvas.suptitle(title, fontsize=9)
        canvas.savefig(path, format="svg", metadata={"Date": None})


def draw(found: Found, figure: Figure, path: Path) -> None:
    """Draw a figure and write it as SVG."""
    if figure.kind == "microscope":
        microscope.draw(found, figure, path)
        return
    loads, points, _ = findings.chosen(found, figure)
    panels = _panels(figure, loads, points)
    wide = 2.2 if figure.kind in {"bars", "stack"} else 1.3
    with drawing(path, figure.title, len(panels), wide=wide) as (canvas, axes):
        for axis, (load, point) in zip(axes, panels, strict=True):
            KINDS[figure.kind](axis, found, figure, load, point)
            _dress(axis, found, figure, " ".join(filter(None, (load, point))))
        handles, labels = axes[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)


def _panels(
    figure: Figure, loads: list[str], points: list[str]
) -> list[tuple[str | None, str | None]]:
    """Return workload and point of each panel; None is what runs along the axis."""
    if figure.kind == "lines":
        return [(load, None) for load in loads]
    if figure.table is not None:
        return [(load, point) for load in loads for point in points]
    if len(points) == 1:
        return [(None, points[0])]
    return [(load, None) for load in loads]


def _dress(axis: Axes, found: Found, figure: Figure, title: str) -> None:
    axis.set_title(title, fontsize=8)
    axis.set_ylabel(figure.axis)
    axis.grid(axis="y", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    if figure.logarithmic:
        axis.set_yscale("log")
    if figure.kind in {"bars", "lines"} and not figure.logarithmic:
        axis.set_ylim(bottom=0)
    if figure.kind == "lines":
        axis.set_xlabel(found.experiment.axis)


def _lines(axis: Axes, found: Found, figure: Figure, load: str | None, _: str | None) -> None:
    points, variants = findings.chosen(found, figure)[1:]
    for index, variant in enumerate(variants):
        values = [
            findings.value(found, figure, Cell(load or "", point, variant), figure.measure)
            for point in points
        ]
        axis.plot(
            points,
            values,
            color=_colour(index),
            marker=MARKERS[index % 8],
            label=variant,
            markersize=4,
            linewidth=1.2,
        )


def _groups(
    found: Found, figure: Figure, load: str | None, point: str | None
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names of the groups along the axis, and their workload and point."""
    loads, points, _ = findings.chosen(found, figure)
    if load is None:
        return loads, [(name, point or "") for name in loads]
    return points, [(load, name) for name in points]


def _bars(axis: Axes, found: Found, figure: Figure, load: str | None, point: str | None) -> None:
    _, _, variants = findings.chosen(found, figure)
    names, cells = _groups(found, figure, load, point)
    width = 0.8 / len(variants)
    for index, variant in enumerate(variants):
        heights = [findings.value(found, figure, Cell(*c, variant), figure.measure) for c in cells]
        places = [group + (index + 0.5) * width - 0.4 for group in range(len(cells))]
        axis.bar(places, heights, width * 0.92, color=_colour(index), label=variant)
    _name_groups(axis, names)


def _stack(axis: Axes, found: Found, figure: Figure, load: str | None, point: str | None) -> None:
    _, _, variants = findings.chosen(found, figure)
    names, cells = _groups(found, figure, load, point)
    width = 0.8 / len(variants)
    places = [
        group + (index + 0.5) * width - 0.4
        for group in range(len(cells))
        for index in range(len(variants))
    ]
    floor = [0.0] * len(places)
    for index, (part, measure) in enumerate(figure.parts.items()):
        heights = [
            findings.value(found, figure, Cell(*cell, variant), measure)
            for cell in cells
            for variant in variants
        ]
        heights = [height if math.isfinite(height) else 0.0 for height in heights]
        axis.bar(places, heights, width * 0.92, bottom=floor, color=_colour(index), label=part)
        floor = [low + height for low, height in zip(floor, heights, strict=True)]
    _name_groups(axis, names)
    for place, top, variant in zip(places, floor, variants * len(cells), strict=True):
        axis.annotate(
            variant,
            (place, top),
            rotation=90,
            fontsize=5,
            ha="center",
            va="bottom",
            xytext=(0, 1),
            textcoords="offset points",
        )


def _name_groups(axis: Axes, names: list[str]) -> None:
    turned = any(len(name) > LONG for name in names) and len(names) > 3
    axis.set_xticks(
        range(len(names)), names, rotation=40 if turned else 0, ha="right" if turned else "center"
    )


def _distribution(
    axis: Axes, found: Found, figure: Figure, load: str | None, point: str | None
) -> None:
    for index, variant, rows in _rows(found, figure, load, point):
        axis.plot(
            rows["response_us"] / 1e3,
            rows["fraction"],
            color=_colour(index),
            label=variant,
            linewidth=1.1,
        )
    excess = figure.operation != "all"
    axis.set_xlabel("beyond the bound (ms)" if excess else "response time (ms)")
    axis.set_xscale("log")


def _series(axis: Axes, found: Found, figure: Figure, load: str | None, point: str | None) -> None:
    for index, variant, rows in _rows(found, figure, load, point):
        axis.plot(
            rows["start_s"],
            rows[figure.measure] * figure.scale,
            color=_colour(index),
            label=variant,
            linewidth=0.9,
        )
    axis.set_xlabel("time (s)")


def _density(axis: Axes, found: Found, figure: Figure, load: str | None, point: str | None) -> None:
    """Draw how the bandwidth of the series' rows spreads; the last, which is not whole, is out."""
    places = np.linspace(0.0, 2.0, 401)
    for index, variant, rows in _rows(found, figure, load, point):
        bandwidth = (rows["read_bytes"] + rows["write_bytes"]).to_numpy()[:-1].astype(np.float64)
        relative = bandwidth / bandwidth.mean()
        axis.plot(
            places,
            kernel_density(relative, places),
            color=_colour(index),
            label=variant,
            linewidth=1.1,
        )
    axis.set_xlabel("bandwidth / its mean")


def _rows(
    found: Found, figure: Figure, load: str | None, point: str | None
) -> list[tuple[int, str, pl.DataFrame]]:
    """Return the rows of the first seed of each variant."""
    assert figure.table is not None
    _, _, variants = findings.chosen(found, figure)
    kept = pl.col("operation") == figure.operation if figure.kind == "distribution" else True
    results = [found.result(Cell(load or "", point or "", variant)) for variant in variants]
    rows = [result.to_polars(figure.table).filter(kept) for result in results]
    return list(zip(range(len(rows)), variants, rows, strict=True))


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


KINDS: dict[str, Callable[[Any, Any, Any, Any, Any], None]] = {
    "lines": _lines,
    "bars": _bars,
    "stack": _stack,
    "distribution": _distribution,
    "series": _series,
    "density": _density,
}
