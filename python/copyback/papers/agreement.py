"""Do we agree with a paper? One rule for all numbers, fixed before the runs.

A claim is an effect: a reduction in per cent, or how far a ratio is from one. We agree if ours has
the same sign and lies within a factor of two of the paper's; we agree *in direction* if only the
sign is the same and the effect is at least one per cent. A claim that is a shape is a list of
rules, each with its bound in the experiment's file: all must hold, else some do, or none does.
"""

from __future__ import annotations

import math
from enum import StrEnum

#: Within this factor two effects are of one size.
FACTOR = 2.0

#: An effect below this share is none.
LEAST = 0.01


class Verdict(StrEnum):
    """Whether ours agrees with the paper's."""

    YES = "yes"
    DIRECTION = "direction only"
    PART = "in part"
    NO = "no"
    NONE = "–"


def compare(paper: float, ours: float) -> Verdict:
    """Compare two effects, as shares: 0.3 is 30% less, or 1.3 times as much.

    >>> compare(0.30, 0.45), compare(0.30, 0.05), compare(0.30, -0.2)
    (<Verdict.YES: 'yes'>, <Verdict.DIRECTION: 'direction only'>, <Verdict.NO: 'no'>)
    """
    if not math.isfinite(ours):
        return Verdict.NO
    if ours * paper <= 0 or abs(ours) < LEAST:
        return Verdict.YES if abs(paper) < LEAST and abs(ours) < LEAST else Verdict.NO
    return Verdict.YES if 1 / FACTOR <= ours / paper <= FACTOR else Verdict.DIRECTION


def of_rules(held: list[bool]) -> Verdict:
    """Return the verdict on a shape."""
    if all(held):
        return Verdict.YES
    return Verdict.PART if any(held) else Verdict.NO
