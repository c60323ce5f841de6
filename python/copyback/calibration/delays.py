"""Delays of the controller: what requests take beyond the fast way, as a distribution by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from copyback.calibration.forecast import LEVELS, Forecast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: The quantiles that are fitted: the tail needs more of them.
PROBABILITIES = np.array(
    [
        0,
        0.05,
        0.1,
        0.2,
        0.3,
        0.4,
        0.5,
        0.6,
        0.7,
        0.8,
        0.85,
        0.9,
        0.925,
        0.95,
        0.97,
        0.98,
        0.99,
        0.995,
        1,
    ]
)

#: Requests that each size of the fitted distributions rests on at least: what is tried.
LEAST = (60, 120, 240)


@dataclass(frozen=True)
class Delays:
    """Additional times of requests of one kind.

    Attributes
    ----------
    sizes : numpy.ndarray of shape (n_sizes,)
        Sizes in bytes, the smallest first.
    times : numpy.ndarray of shape (n_sizes, n_probabilities)
        Microseconds, a row a size.
    """

    sizes: Array
    times: Array

    @classmethod
    def fitted(cls, sizes: Array, beyond: Array, least: int) -> Delays:
        """Return those of requests of which each took so much beyond."""
        groups = _groups(sizes, least)
        means = [np.exp2(np.mean(np.log2(sizes[group]))) for group in groups]
        taken = np.maximum(beyond, 0.0)
        return cls(
            np.round(means),
            np.array([np.quantile(taken[group], PROBABILITIES) for group in groups]),
        )

    def forecast(self, sizes: Array, shift: Array) -> Forecast:
        """Return what requests of these sizes take, beyond these times."""
        kinds, places = np.unique(sizes, return_inverse=True)
        at_levels = np.array([np.interp(LEVELS, PROBABILITIES, row) for row in self.times])
        columns = [np.interp(kinds, self.sizes, column) for column in at_levels.T]
        return Forecast(places.astype(np.int64), np.column_stack(columns), shift)

    def setting(self, operation: str) -> tuple[str, str]:
        """Return the setting of the configuration that draws them."""
        shares = ", ".join(f"{share:g}" for share in PROBABILITIES)
        rows = ", ".join(
            f'{{ size = "{round(size)}B", times = [{", ".join(map(_time, row))}] }}'
            for size, row in zip(self.sizes.tolist(), self.times.tolist(), strict=True)
        )
        table = f'{{ type = "by_size", probabilities = [{shares}], rows = [{rows}] }}'
        return f"ssd.controller.{operation}_delay", table


def _time(us: float) -> str:
    return f'"{round(us * 1e3)}ns"'


def _groups(sizes: Array, least: int) -> list[NDArray[np.bool_]]:
    """Return which requests are of each group of neighbouring sizes that are enough together."""
    kinds, counts = np.unique(sizes, return_counts=True)
    ends: list[float] = []
    together = 0
    for size, count in zip(kinds.tolist(), counts.tolist(), strict=True):
        together += count
        if together >= least:
            ends.append(size)
            together = 0
    # What is left over joins the last group.
    ends = [*ends[:-1], float(kinds[-1])]
    starts = [0.0, *ends[:-1]]
    return [(sizes > start) & (sizes <= end) for start, end in zip(starts, ends, strict=True)]
