"""A look at single requests of an array, and at what its drives did meanwhile.

One column a variant; from top to bottom the response times of requests over their arrival, and for
each drive that is looked at the service times of its commands and when it collected.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from copyback_papers import found as findings
from copyback_papers.measures import Cell

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from copyback.result import Result
    from copyback_papers.figures import Figure
    from copyback_papers.found import Found

#: Inches of a column, and of a row for response times and for collections.
WIDTH, TALL, LOW = 4.6, 1.5, 0.42

#: More points than this are drawn as a picture within the SVG, in so many dots an inch.
MANY, DOTS = 500, 150

READ, WRITE, COLLECTING = "#0072B2", "#D55E00", "#CC79A7"


def _moments(result: Result) -> pl.DataFrame:
    """Return requests, commands and collections as rows of one table, in order of their begin.

    ``what`` is ``request``, ``command`` or ``collection``; ``took_s`` is a response time, a time in
    service, or the length of a collection. Requests have no ``device``, collections no ``is_read``.
    """
    second = 1e9
    requests = result.to_polars("requests").select(
        pl.lit("request").alias("what"),
        pl.lit(None, pl.UInt16).alias("device"),
        (pl.col("operation").cast(pl.String) == "read").alias("is_read"),
        (pl.col("arrival_ns") / second).alias("begin_s"),
        (pl.col("response_ns") / second).alias("took_s"),
    )
    in_service = pl.col("response_ns") - pl.col("host_queue_ns")
    commands = result.to_polars("commands").select(
        pl.lit("command").alias("what"),
        pl.col("device"),
        (pl.col("operation").cast(pl.String) == "read").alias("is_read"),
        (pl.col("arrival_ns") / second).alias("begin_s"),
        (in_service / second).alias("took_s"),
    )
    collections = result.to_polars("collections").select(
        pl.lit("collection").alias("what"),
        pl.col("device"),
        pl.lit(None, pl.Boolean).alias("is_read"),
        (pl.col("begin_ns") / second).alias("begin_s"),
        ((pl.col("end_ns") - pl.col("begin_ns")) / second).alias("took_s"),
    )
    return pl.concat([requests, commands, collections]).sort("begin_s", maintain_order=True)


def draw(found: Found, figure: Figure, path: Path) -> None:
    """Draw a microscopic view and write it as SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    loads, points, variants = findings.chosen(found, figure)
    cells = [Cell(*cell) for cell in product(loads, points, variants)]
    heights = [TALL] + [TALL, LOW] * len(figure.drives)
    with mpl.rc_context({"svg.hashsalt": "copyback", "font.size": 8, "svg.fonttype": "none"}):
        canvas = Canvas(figsize=(WIDTH * len(cells), sum(heights) + 0.7), layout="constrained")
        axes = canvas.subplots(
            len(heights),
            len(cells),
            squeeze=False,
            sharex=True,
            sharey="row",
            height_ratios=heights,
        )
        for column, cell in enumerate(cells):
            rows = _in_window(found, figure, cell)
            _column([axes[row][column] for row in range(len(heights))], rows, figure)
            axes[0][column].set_title(cell.variant, fontsize=8)
        for row, label in enumerate(_labels(figure)):
            axes[row][0].set_ylabel(label)
        handles, labels = axes[0][0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        canvas.suptitle(figure.title, fontsize=9)
        canvas.savefig(path, format="svg", dpi=DOTS, metadata={"Date": None})


def _labels(figure: Figure) -> list[str]:
    labels = ["requests (ms)"]
    for drive in figure.drives:
        labels += [f"drive {drive} (ms)", "GC"]
    return labels


def _in_window(found: Found, figure: Figure, cell: Cell) -> pl.DataFrame:
    """Return the rows of the first seed of a cell that touch the window."""
    begin, end = (ms / 1e3 for ms in figure.window_ms)
    return _moments(found.result(cell)).filter(
        (pl.col("begin_s") < end) & (pl.col("begin_s") + pl.col("took_s") > begin)
    )


def _column(axes: list[Axes], rows: pl.DataFrame, figure: Figure) -> None:
    _times(axes[0], rows.filter(pl.col("what") == "request"))
    for index, drive in enumerate(figure.drives):
        mine = rows.filter(pl.col("device") == drive)
        _times(axes[1 + 2 * index], mine.filter(pl.col("what") == "command"))
        _collections(axes[2 + 2 * index], mine.filter(pl.col("what") == "collection"))
    for axis in axes:
        axis.set_xlim(*(float(ms) for ms in figure.window_ms))
        axis.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("time (ms)")


def _times(axis: Axes, rows: pl.DataFrame) -> None:
    for operation, is_read, colour in (("read", True, READ), ("write", False, WRITE)):
        some = rows.filter(pl.col("is_read") == is_read)
        begin, took = some["begin_s"] * 1e3, some["took_s"] * 1e3
        axis.plot(
            begin,
            took,
            linestyle="none",
            marker=".",
            markersize=2.5,
            color=colour,
            label=operation,
            rasterized=len(rows) > MANY,
        )
    axis.set_ylim(bottom=0)


def _collections(axis: Axes, rows: pl.DataFrame) -> None:
    spans = zip((rows["begin_s"] * 1e3).to_list(), (rows["took_s"] * 1e3).to_list(), strict=True)
    axis.broken_barh(list(spans), (0, 1), color=COLLECTING)
    axis.set_ylim(0, 1)
    axis.set_yticks([])
