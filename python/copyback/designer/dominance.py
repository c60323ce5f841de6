"""Dominance: which designs no other beats in every objective, and which of them is chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from copyback.sweep.ratios import Ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.designer.scores import Measured
    from copyback.designer.study import Objective

#: Costs of a design, one an objective: less is better.
Costs = tuple[float, ...]

#: Margin by which one short run has to beat another: 10%, as a logarithm.
MARGIN = math.log(1.1)


def beats(own: Costs, other: Costs, margin: float = 0.0) -> bool:
    """Whether a design is better in every objective by more than a margin.

    Without a margin it is enough to be better in one, and worse in none.

    >>> beats((1.0, 1.0), (1.0, 2.0)), beats((1.0, 1.0), (1.0, 2.0), 0.1)
    (True, False)
    """
    if margin > 0:
        return all(a + margin < b for a, b in zip(own, other, strict=True))
    return all(a <= b for a, b in zip(own, other, strict=True)) and own != other


def front(costs: Sequence[Costs]) -> list[int]:
    """Return the places of those that none beats, in their order.

    >>> front([(1.0, 3.0), (2.0, 2.0), (3.0, 3.0), (3.0, 1.0)])
    [0, 1, 3]
    """
    return [
        place for place, own in enumerate(costs) if not any(beats(other, own) for other in costs)
    ]


def nearest_to_all(costs: Sequence[Costs]) -> int:
    """Return the place of the design that is nearest to the best of every objective.

    Each objective is scaled to its range among them.

    >>> nearest_to_all([(0.0, 1.0), (0.2, 0.2), (1.0, 0.0)])
    1
    """
    distances = [math.hypot(*own) for own in _scaled(costs)]
    return distances.index(min(distances))


def spread(costs: Sequence[Costs]) -> list[int]:
    """Return all places: the nearest to the best, then each time the farthest from those before.

    >>> spread([(0.0, 1.0), (0.1, 0.9), (0.2, 0.2), (1.0, 0.0)])
    [2, 0, 3, 1]
    """
    scaled = _scaled(costs)
    order = [nearest_to_all(costs)]
    gaps = {
        place: math.dist(own, scaled[order[0]])
        for place, own in enumerate(scaled)
        if place != order[0]
    }
    while gaps:
        farthest = max(gaps, key=lambda place: (gaps[place], -place))
        del gaps[farthest]
        order.append(farthest)
        gaps = {
            place: min(gap, math.dist(scaled[place], scaled[farthest]))
            for place, gap in gaps.items()
        }
    return order


def _scaled(costs: Sequence[Costs]) -> list[Costs]:
    """Return costs with each objective from 0, the best, to 1."""
    columns = list(zip(*costs, strict=True))
    lows = [min(column) for column in columns]
    ranges = [(max(column) - min(column)) or 1.0 for column in columns]
    return [
        tuple((c - low) / wide for c, low, wide in zip(own, lows, ranges, strict=True))
        for own in costs
    ]


def without_chance(points: Sequence[Measured], objectives: Sequence[Objective]) -> list[Measured]:
    """Return the points of a front without those that are on it by chance.

    Another point is surely better in an objective, and in none are they surely better themselves.
    """
    left = list(points)
    for own in points:
        if any(_is_ahead(other, own, objectives) for other in left if other is not own):
            left.remove(own)
    return left


def _is_ahead(own: Measured, other: Measured, objectives: Sequence[Objective]) -> bool:
    ratios = [_ratio(own, other, place, one) for place, one in enumerate(objectives)]
    if any(one.low is None or one.high is None for one in ratios):
        return False
    is_better = any(one.high is not None and one.high < 1 for one in ratios)
    return is_better and not any(one.low is not None and one.low > 1 for one in ratios)


def surely_beats(own: Measured, other: Measured, objectives: Sequence[Objective]) -> bool:
    """Whether the 95% intervals over the seeds say that a design is better in every objective.

    Objectives in which the two are exactly equal, such as spare, do not count.
    """
    ratios = [_ratio(own, other, place, one) for place, one in enumerate(objectives)]
    if any(one.low is None or one.high is None for one in ratios):
        return False
    differing = [one for one in ratios if not one.low == 1 == one.high]
    return bool(differing) and all(one.high is not None and one.high < 1 for one in differing)


def _ratio(own: Measured, other: Measured, place: int, objective: Objective) -> Ratio:
    """Return a ratio that is below 1 where a design is better."""
    found = other.ratio(own, place) if objective.is_maximised else own.ratio(other, place)
    return found if isinstance(found, Ratio) else Ratio(1.0, None, None)
