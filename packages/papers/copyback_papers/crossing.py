"""Crossing of two variants: the place on the axis where one number passes another."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from copyback_papers.agreement import POINTS
from copyback_papers.measures import Cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from copyback_papers.checks import Check
    from copyback_papers.measures import Measures

#: The number that the name of a point, or of a variant, ends with.
NUMBER = re.compile(r"(\d+(?:\.\d+)?)%?$")


def by_load(
    check: Check, measures: Measures, cells: Sequence[tuple[str, str]]
) -> list[list[float]]:
    """Return for each workload the crossing of each seed, NaN where there is none.

    Empty if a run is missing.
    """
    found = []
    for load in dict.fromkeys(load for load, _ in cells):
        line = list(_line(check, load, [point for one, point in cells if one == load]))
        if not all(cell in measures and base in measures for _, cell, base in line):
            return []
        places = [place for place, _, _ in line]
        seeds = zip(*(_above(check, measures, *cells) for _, *cells in line), strict=True)
        found.append([crossing(places, above) for above in seeds])
    return found


def _line(check: Check, load: str, points: Sequence[str]) -> Iterable[tuple[float, Cell, Cell]]:
    """Yield each place on the axis, whose number it is, and what that is compared with."""
    for point in points:
        base = Cell(load, check.baseline_point or point, check.baseline)
        if check.along:
            for variant in check.along:
                yield place_of(variant), Cell(load, point, variant), base
        else:
            yield place_of(point), Cell(load, point, check.variant), base


def _above(check: Check, measures: Measures, cell: Cell, base: Cell) -> list[float]:
    """Return how far a number is above what it is compared with, as a share, for each seed."""
    paired = measures.paired(cell, base)
    ours, theirs = (paired.by_seed(one, check.measure) for one in (cell, base))
    return [a / b - 1 if b else math.nan for a, b in zip(ours, theirs, strict=True)]


def place_of(name: str) -> float:
    """Return where on the axis a point or a variant is.

    >>> place_of("planes, 8"), place_of("71%")
    (8.0, 71.0)
    """
    number = NUMBER.search(name)
    if number is None:
        raise ValueError(f"{name!r} does not end with a number")
    return float(number[1])


def crossing(places: Sequence[float], above: Sequence[float]) -> float:
    """Return the first place at which differences change their sign; NaN if they never do.

    Lines that are never two points apart are the same line, which crosses nowhere.

    >>> crossing([2, 4, 8], [0.3, 0.1, -0.1]), crossing([2, 4], [-0.1, -0.2])
    (6.0, nan)
    >>> crossing([2, 4], [0.01, -0.01])
    nan
    """
    if not max(map(abs, above)) >= POINTS:
        return math.nan
    line = list(zip(places, above, strict=True))
    for (here, first), (there, second) in pairwise(line):
        if first * second <= 0 and first != second:
            return here + (there - here) * first / (first - second)
    return math.nan
