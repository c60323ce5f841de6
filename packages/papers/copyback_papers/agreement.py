"""Is a claim reproduced? One rule for all numbers, fixed before the runs.

A claim has two sides: its effect (a reduction, or how far a ratio is from one), and what remains.
Of 98.6% less a seventy-first remains. Ours agrees if its effect is within a quarter of the
paper's, and what remains within 1.5 times. Both make a band. A number is *reproduced* if its 95%
interval over at least five seeds lies inside the band; if only its mean does, it is *near*. A
paper's zero has a band of two points. A bound ("at least") opens the far side of the band; a range
is judged by its nearest end. A claim that is a shape is a list of rules, each with its bound in the
experiment's file: all must hold; if only some do, that is said, and does not count as reproduced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

#: This share of the paper's effect ours may be away from it.
QUARTER = 0.25

#: This many times what remains in the paper may remain in ours, or as many times less.
TIMES = 1.5

#: Two points: the band of a paper's zero, and the least effect that has a sign.
POINTS = 0.02

#: Seeds that an interval needs.
SEEDS = 5

#: The widening of a band for the last digit of floating-point numbers.
ROUNDING = 1e-9


#: The rule in a sentence, for pages.
RULE = (
    f"A number is reproduced if our 95% interval over at least {SEEDS} seeds lies inside the "
    "paper's band: the effect within a quarter of the paper's, and what remains of it within "
    f"{TIMES:g} times. It is near if only its mean lies there. A paper's zero has a band of two "
    f"points. A shape is reproduced if all its rules hold over {SEEDS} seeds."
)


class Verdict(StrEnum):
    """Verdict on a claim."""

    REPRODUCED = "reproduced"
    NEAR = "near"
    SAME_SIGN = "same sign, other size"
    PART = "in part"
    CONTRADICTED = "contradicted"
    NONE = "–"

    @property
    def is_in_band(self) -> bool:
        """Whether our mean agrees with the paper, be it sure or not."""
        return self in {Verdict.REPRODUCED, Verdict.NEAR}


class Remains(StrEnum):
    """Rest of an effect."""

    REST = "one less the effect"
    RATIO = "one and the effect"
    NOTHING = "no share"


@dataclass(frozen=True)
class Claimed:
    """A number of a paper, as an effect.

    Attributes
    ----------
    whole
        What the effect is a share of, in its unit.
    points
        What two points are in the unit of the effect; zero of times and counts.
    """

    effect: float
    remains: Remains = Remains.REST
    whole: float = 1.0
    points: float = POINTS

    @property
    def band(self) -> Band:
        """The effects that agree with it."""
        near = QUARTER * abs(self.effect) or self.points
        band = Band(self.effect - near, self.effect + near)
        if self.remains is Remains.NOTHING:
            return band
        sign = 1 if self.remains is Remains.RATIO else -1
        left = self.whole + sign * self.effect
        ends = (left / TIMES, left * TIMES) if left else (-self.points, self.points)
        low, high = sorted(sign * (end - self.whole) for end in ends)
        return Band(max(band.low, low), min(band.high, high))


@dataclass(frozen=True)
class Band:
    """Band of effects."""

    low: float
    high: float

    def holds(self, least: float, most: float) -> bool:
        """Return whether an interval lies inside."""
        low, high = self.low - ROUNDING * abs(self.low), self.high + ROUNDING * abs(self.high)
        return low <= least and most <= high

    @property
    def at_least(self) -> Band:
        """The band of a lower bound."""
        return replace(self, high=math.inf)


def judge(claimed: Claimed, band: Band, ours: float, half: float | None) -> Verdict:
    """Judge an effect by the band of what is claimed.

    Parameters
    ----------
    half
        Half the width of our 95% interval; None if there are too few seeds for one.

    >>> claimed = Claimed(0.30)
    >>> [judge(claimed, claimed.band, *ours) for ours in ((0.35, 0.01), (0.35, None), (0.15, 0.01))]
    [<Verdict.REPRODUCED: 'reproduced'>, <Verdict.NEAR: 'near'>, \
<Verdict.SAME_SIGN: 'same sign, other size'>]
    """
    if band.holds(ours, ours):
        sure = half is not None and band.holds(ours - half, ours + half)
        return Verdict.REPRODUCED if sure else Verdict.NEAR
    return Verdict.SAME_SIGN if _is_same_sign(claimed, ours) else Verdict.CONTRADICTED


def _is_same_sign(claimed: Claimed, ours: float) -> bool:
    """Return whether ours points where the paper does; what is below two points points nowhere."""
    small = [abs(effect) < claimed.points for effect in (claimed.effect, ours)]
    return math.isfinite(ours) and small[0] == small[1] and ours * claimed.effect > 0


def worse(one: Verdict, other: Verdict) -> Verdict:
    """Return the less favourable of two verdicts, as of the ends of a range.

    >>> worse(Verdict.REPRODUCED, Verdict.SAME_SIGN)
    <Verdict.SAME_SIGN: 'same sign, other size'>
    """
    return max(one, other, key=list(Verdict).index)


def told(many: int, what: str = "seeds") -> str:
    """Return a number of samples as text.

    >>> told(1), told(3), told(1, "workloads")
    ('one seed', '3 seeds', 'one workload')
    """
    return f"one {what.removesuffix('s')}" if many == 1 else f"{many} {what}"


def of_rules(held: list[bool], seeds: int) -> Verdict:
    """Return the verdict on a shape, whose rules were asked of the means over so many seeds."""
    if all(held):
        return Verdict.REPRODUCED if seeds >= SEEDS else Verdict.NEAR
    return Verdict.PART if any(held) else Verdict.CONTRADICTED
