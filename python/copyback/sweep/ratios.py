"""Ratio of a scheme's number to another's: the one estimator of every comparison.

Two schemes are run with the same seeds, hence the same requests: each seed gives one ratio. The
estimate is their geometric mean, with Student's interval of their logarithms. It does not depend on
which of the two is the baseline: exchange them, and ratio and interval are inverted. Over several
loads a seed's logarithm is the mean over the loads. `ratio.js` has the same for the page, where any
scheme can be the baseline.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from copyback.sweep.intervals import estimate
from copyback.words.ratio import ends_text, ratio_text
from copyback.words.units import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from copyback.sweep.schemes import Contest, Scheme, Setting

#: Marks a ratio whose interval holds 1.
MARK = "?"

#: Numbers of one scheme and of the other, by seed.
Pair = tuple["Mapping[int, float]", "Mapping[int, float]"]


class NoRatio(Enum):
    """Reason for which two schemes have no ratio."""

    ZERO = "no ratio"
    """A run has zero, of which there is neither a ratio nor a geometric mean."""

    APART = MISSING
    """No seed was run with both."""

    @property
    def text(self) -> str:
        """Text of a table's cell."""
        return self.value

    @property
    def marked(self) -> str:
        """Text of a table's cell; nothing is in doubt."""
        return self.value

    @property
    def sentence(self) -> str:
        """Text without an interval, as there is none."""
        return self.value

    @property
    def ends(self) -> None:
        """No interval."""
        return None


@dataclass(frozen=True)
class Ratio:
    """Ratio of a scheme's number to another's.

    Attributes
    ----------
    ratio
        The geometric mean over the seeds.
    low, high
        Ends of its 95% interval; None with one seed.
    """

    ratio: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, logs: Sequence[float]) -> Ratio:
        """Return the ratio from logarithms, one a seed."""
        found = estimate(logs)
        if found.half_width is None:
            return cls(math.exp(found.mean), None, None)
        low, high = found.mean - found.half_width, found.mean + found.half_width
        return cls(math.exp(found.mean), _exp(low), _exp(high))

    @property
    def may_be_one(self) -> bool:
        """Whether the interval holds 1: the two are not distinguishable."""
        return self.low is not None and self.high is not None and self.low <= 1 <= self.high

    @property
    def text(self) -> str:
        """Text without the interval: ``5.60×`` or ``−45.3 %``."""
        return ratio_text(self.ratio)

    @property
    def marked(self) -> str:
        """Text of a table's cell, with a mark if the two are not distinguishable.

        Nothing is in doubt where both ends are the same text: ``0.0 %``.
        """
        if self.low is None or self.high is None or not self.may_be_one:
            return self.text
        return self.text + MARK * (ratio_text(self.low) != ratio_text(self.high))

    @property
    def ends(self) -> tuple[str, str] | None:
        """Texts of the interval's ends; None with one seed."""
        return None if self.low is None or self.high is None else ends_text(self.low, self.high)

    @property
    def sentence(self) -> str:
        """Text with the interval, and whether the two are distinguishable."""
        if self.ends is None:
            return self.text
        doubt = ": not distinguishable" if self.may_be_one else ""
        return f"{self.text} (95% interval {' to '.join(self.ends)}{doubt})"


def _exp(value: float) -> float:
    """Return e to a power, infinite where it is too large for a number."""
    return math.exp(value) if value < 700 else math.inf


def log_ratios(pairs: Iterable[Pair]) -> dict[int, float] | NoRatio:
    """Return for each seed that all pairs have the mean of their logarithms of own / other."""
    each: list[dict[int, float]] = []
    for own, other in pairs:
        shared = own.keys() & other.keys()
        if any(own[seed] <= 0 or other[seed] <= 0 for seed in shared):
            return NoRatio.ZERO
        each.append({seed: math.log(own[seed] / other[seed]) for seed in shared})
    seeds = set.intersection(*map(set, each)) if each else set()
    if not seeds:
        return NoRatio.APART
    return {seed: statistics.fmean(one[seed] for one in each) for seed in sorted(seeds)}


def ratio_of(pairs: Iterable[Pair]) -> Ratio | NoRatio:
    """Return the ratio of one scheme to another over pairs of numbers, one a load.

    >>> ratio_of([({1: 20.0, 2: 80.0}, {1: 10.0, 2: 10.0})]).text
    '4.00×'
    """
    logs = log_ratios(pairs)
    return logs if isinstance(logs, NoRatio) else Ratio.of(list(logs.values()))


def pairs_of(
    contests: Iterable[Contest], own: Setting, other: Setting | None, label: str
) -> list[Pair]:
    """Return the numbers of two schemes under each load.

    Parameters
    ----------
    other
        None is the baseline of each load.
    """
    return [
        (
            _by_seed(contest.by_setting.get(own), label),
            _by_seed(contest.baseline if other is None else contest.by_setting.get(other), label),
        )
        for contest in contests
    ]


def compared(
    contests: Iterable[Contest], own: Setting, other: Setting | None, label: str
) -> Ratio | NoRatio:
    """Return the ratio of a scheme's number to another's over some loads."""
    return ratio_of(pairs_of(contests, own, other, label))


def _by_seed(scheme: Scheme | None, label: str) -> Mapping[int, float]:
    return {} if scheme is None else scheme.by_seed.get(label, {})
