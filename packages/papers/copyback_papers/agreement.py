"""Is a claim reproduced? One rule for all numbers, fixed before the runs.

A claim is an effect: a reduction, or how far a ratio is from one. It is *reproduced* if ours has
the same sign and lies within a tolerance of the paper's: the largest of our 95% interval over
seeds, a quarter of the paper's effect, and two points. An effect of less than two points is judged
by the difference alone. A range is judged by its nearest end, a bound ("at least") as such. A
claim that is a shape is a list of rules, each with its bound in the experiment's file: all must
hold; if only some do, that is said, and does not count as reproduced.
"""

from __future__ import annotations

import math
from enum import StrEnum

#: This share of the paper's effect ours may be away from it.
QUARTER = 0.25

#: Two points: what any two shares may differ by; a smaller effect has no sign worth comparing.
POINTS = 0.02


#: The rule in a sentence, for pages.
RULE = (
    "A claim is reproduced if ours has the same sign and lies within the largest of our 95% "
    "interval, a quarter of the paper's effect, and two points of it; a shape, if all its rules "
    "hold."
)


class Verdict(StrEnum):
    """Verdict on a claim."""

    REPRODUCED = "reproduced"
    SAME_SIGN = "same sign, other size"
    PART = "in part"
    CONTRADICTED = "contradicted"
    NONE = "–"


def compare(paper: float, ours: float, *, interval: float = 0.0, points: float = POINTS) -> Verdict:
    """Compare two effects, as shares: 0.3 is 30% less, or 1.3 times as much.

    Parameters
    ----------
    interval
        Half the width of our 95% interval, in the unit of the effects.
    points
        What is two points in the unit of the effects; zero of times and counts.

    >>> compare(0.30, 0.35), compare(0.30, 0.15), compare(0.30, -0.2)
    (<Verdict.REPRODUCED: 'reproduced'>, <Verdict.SAME_SIGN: 'same sign, other size'>, \
<Verdict.CONTRADICTED: 'contradicted'>)
    """
    if not math.isfinite(ours):
        return Verdict.CONTRADICTED
    near = abs(ours - paper) <= max(interval, QUARTER * abs(paper), points) * (1 + 1e-9)
    if abs(paper) < points or paper == 0:
        return Verdict.REPRODUCED if near else Verdict.CONTRADICTED
    if ours * paper <= 0:
        return Verdict.CONTRADICTED
    if near:
        return Verdict.REPRODUCED
    return Verdict.SAME_SIGN if abs(ours) >= points else Verdict.CONTRADICTED


def worse(one: Verdict, other: Verdict) -> Verdict:
    """Return the less favourable of two verdicts, as of the ends of a range.

    >>> worse(Verdict.REPRODUCED, Verdict.SAME_SIGN)
    <Verdict.SAME_SIGN: 'same sign, other size'>
    """
    return max(one, other, key=list(Verdict).index)


def of_rules(held: list[bool]) -> Verdict:
    """Return the verdict on a shape."""
    if all(held):
        return Verdict.REPRODUCED
    return Verdict.PART if any(held) else Verdict.CONTRADICTED
