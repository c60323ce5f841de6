"""Draws regions: a claim's number at each point, beside the paper's and what counts as it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from copyback.papers.agreement import Verdict
from copyback.papers.answers import tolerance
from copyback.papers.plots import COLOURS, COLUMNS, PANEL, save

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from copyback.papers.found import Found
    from copyback.papers.regions import Mapped

#: A point is filled if the claim is reproduced at it.
FILLED = {True: COLOURS[0], False: "white"}


def drawable(found: Found) -> list[Mapped]:
    """Return the regions whose answers are numbers: shapes and ranges stand in the table only."""
    return [
        one
        for one in found.regions
        if one.target.value is not None
        and all(given.value is not None for given in one.answers.values())
    ]


def draw(found: Found, path: Path) -> None:
    """Draw all regions of an experiment, a panel each, and write them as SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    regions = drawable(found)
    columns = min(len(regions), COLUMNS)
    rows = math.ceil(len(regions) / columns)
    width = PANEL[0] * (columns if len(regions) > 1 else 1.3)
    with mpl.rc_context({"svg.hashsalt": "copyback", "font.size": 8, "svg.fonttype": "none"}):
        canvas = Canvas(figsize=(width, PANEL[1] * rows), layout="constrained")
        axes = list(canvas.subplots(rows, columns, squeeze=False).flat)
        for axis, one in zip(axes, regions, strict=False):
            _panel(axis, found, one)
        for axis in axes[len(regions) :]:
            axis.remove()
        canvas.suptitle(found.experiment.title, fontsize=9)
        save(canvas, path)


def _panel(axis: Axes, found: Found, one: Mapped) -> None:
    claimed = one.target.value or 0.0
    most = one.target.most if one.target.most is not None else claimed
    below, above = (tolerance(one.region, one.target, end) for end in (claimed, most))
    axis.axhspan(claimed - below, most + above, color=COLOURS[1], alpha=0.12, linewidth=0)
    axis.axhline(claimed, color=COLOURS[1], linewidth=1.0, label="the paper's")
    values = {at: given.value or 0.0 for at, given in one.answers.items()}
    axis.plot(list(values), list(values.values()), color=COLOURS[0], linewidth=1.0)
    for point, value in values.items():
        filled = FILLED[one.answers[point].verdict is Verdict.REPRODUCED]
        axis.plot([point], [value], "o", color=COLOURS[0], markerfacecolor=filled)
    axis.set_title(f"{one.target.figure}, {one.target.label}", fontsize=7, wrap=True)
    axis.set_xlabel(found.experiment.axis)
    axis.set_ylabel(one.target.unit)
    axis.grid(axis="y", color="#dddddd", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    turned = any(len(point) > 6 for point in values)
    axis.tick_params(axis="x", labelrotation=40 if turned else 0)
