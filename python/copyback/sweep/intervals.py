"""Means over seeds and differences between schemes, with 95% confidence intervals.

Seeds are independent repetitions, so a mean has Student's interval. Two schemes are run with the
same seeds, hence the same requests: the relative change is taken seed by seed (a paired interval),
which is far narrower than that of two independent means.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from copyback._core import student_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Share of intervals that hold the true value.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its interval; None with fewer than two values."""

    mean: float
    half_width: float | None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval says that there is a difference."""
        return self.half_width is not None and abs(self.mean) > self.half_width


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of independent values and its interval.

    >>> estimate([4.0])
    Estimate(mean=4.0, half_width=None)
    >>> round(estimate([1.0, 2.0, 3.0]).half_width, 3)
    2.484
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Estimate(mean, None)
    error = statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(mean, quantile(len(values)) * error)


@cache
def quantile(count: int) -> float:
    """Return the half-width of the interval of the mean of `count` values, in standard errors."""
    return student_quantile((1 + CONFIDENCE) / 2, count - 1)


def change(values: Mapping[int, float], baseline: Mapping[int, float]) -> Estimate | None:
    """Return the relative change from a baseline, seed by seed.

    Parameters
    ----------
    values, baseline
        By seed; only seeds that both have count.

    Returns
    -------
    Estimate or None
        Of ``value / baseline - 1``; None if no seed has both, or a baseline is zero.

    Examples
    --------
    >>> change({1: 12.0, 2: 22.0}, {1: 8.0, 2: 22.0}).mean
    0.25
    """
    shared = sorted(set(values) & set(baseline))
    if not shared or any(baseline[seed] == 0 for seed in shared):
        return None
    return estimate([values[seed] / baseline[seed] - 1 for seed in shared])
