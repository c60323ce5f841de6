"""Means over seeds, with 95% confidence intervals.

Seeds are independent repetitions, so a mean has Student's interval.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from copyback._core import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Share of intervals that hold the true value.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its interval; None with fewer than two values."""

    mean: float
    half_width: float | None


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
