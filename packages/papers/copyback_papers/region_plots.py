"""Draws regions: a claim's number at each point, beside the paper's and what counts as it."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from copyback_papers.answers import band_of
from copyback_papers.plots import COLOURS, drawing

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from copyback_papers.answers import Answer
    from copyback_papers.found import Found
    from copyback_papers.regions import Mapped

#: The colour of the paper's number; the others are for lines of ours.
PAPER = COLOURS[1]
OWN = [colour for colour in COLOURS if colour != PAPER]


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
    regions = drawable(found)
    with drawing(path, found.experiment.title, len(regions)) as (_, axes):
        for axis, one in zip(axes, regions, strict=True):
            _panel(axis, found, one)


def _panel(axis: Axes, found: Found, one: Mapped) -> None:
    claimed = one.target.value or 0.0
    most = one.target.most if one.target.most is not None else claimed
    ends = [end for one_end in (claimed, most) for end in band_of(one.region, one.target, one_end)]
    axis.axhspan(min(ends), max(ends), color=PAPER, alpha=0.12, linewidth=0)
    axis.axhline(claimed, color=PAPER, linewidth=1.0, label="the paper's")
    lines = _lines(one)
    for colour, (name, answers) in zip(cycle(OWN), lines.items(), strict=False):
        values = {at: given.value or 0.0 for at, given in answers.items()}
        axis.plot(list(values), list(values.values()), color=colour, linewidth=1.0, label=name)
        for place, value in values.items():
            inside = answers[place].verdict.is_in_band
            axis.plot([place], [value], "o", color=colour, markerfacecolor=_filled(colour, inside))
    if len(lines) > 1:
        axis.legend(fontsize=6, frameon=False)
    title = ": ".join(filter(None, (one.target.label, one.region.says)))
    axis.set_title(f"{one.target.figure}, {title}", fontsize=7, wrap=True)
    axis.set_xlabel(found.experiment.axis)
    axis.set_ylabel(one.target.unit)
    axis.grid(axis="y", color="#dddddd", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    turned = any(len(place) > 6 for answers in lines.values() for place in answers)
    axis.tick_params(axis="x", labelrotation=40 if turned else 0)


def _lines(one: Mapped) -> dict[str, dict[str, Answer]]:
    """Return the answers of each line, by their places on the axis.

    Variants are lines over the points, if there are several of both.
    """
    several = one.region.variants and len({a.check.points for a in one.answers.values()}) > 1
    lines: dict[str, dict[str, Answer]] = {}
    for place, given in one.answers.items():
        name = given.check.variant if several else "ours"
        lines.setdefault(name, {})[place.removeprefix(f"{name}, ")] = given
    return lines


def _filled(colour: str, inside: bool) -> str:
    """Return what a point is filled with: its colour if it lies in the band."""
    return colour if inside else "white"
