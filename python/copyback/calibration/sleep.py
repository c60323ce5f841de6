"""Whether a device sleeps: what requests take beyond after idle time, and after how much of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Idle times after which a device may sleep, in microseconds: what is tried.
_AFTER = np.array([1, 2, 5, 8, 10, 15, 20, 50, 100, 200, 500, 1000]) * 1e3

#: Requests after idle time that are needed to tell.
_LEAST = 30


@dataclass(frozen=True)
class Sleep:
    """A device that sleeps after idle time, in microseconds, and wakes up in so much."""

    after_us: float
    time_us: float

    @property
    def setting(self) -> tuple[str, str]:
        """The setting of the configuration."""
        after, time = round(self.after_us * 1e3), round(self.time_us * 1e3)
        table = f'{{ type = "sleeps", after = "{after}ns", time = "{time}ns" }}'
        return "ssd.controller.wake_up", table


def idle_before(frame: pl.DataFrame) -> Array:
    """Return for how long nothing had been outstanding as each request arrived, in microseconds.

    Negative if something was.

    Parameters
    ----------
    frame
        Requests as they arrived, with ``arrival_ns`` and ``measured_response_ns``.
    """
    arrivals = frame["arrival_ns"].to_numpy().astype(np.float64)
    took = frame["measured_response_ns"].fill_null(0).to_numpy().astype(np.float64)
    ended = np.maximum.accumulate(arrivals + took)
    return np.concatenate([[0.0], arrivals[1:] - ended[:-1]]) / 1e3


def found(idle: Array, kinds: NDArray[np.int64], beyond: Array) -> Sleep | None:
    """Return the sleep that explains most of what requests took beyond.

    A kind whose times hardly differ says more than one whose times do: errors count by the spread.

    Parameters
    ----------
    idle
        Of each request, what was idle before it.
    kinds
        Requests of the same number are compared with one another.
    beyond
        What each took beyond a device that never sleeps, in microseconds.
    """
    known = np.zeros(len(idle), dtype=bool)
    spread = np.ones(len(idle))
    for kind in np.unique(kinds):
        of_kind = kinds == kind
        awake = beyond[of_kind & (idle < _AFTER[0])]
        if len(awake) >= _LEAST:
            known |= of_kind
            spread[of_kind] = max(1.0, np.median(np.abs(awake - np.median(awake))))
    idle, kinds, beyond, weights = idle[known], kinds[known], beyond[known], 1.0 / spread[known]
    best, least = None, np.inf
    for after in _AFTER.tolist():
        asleep = idle >= after
        if asleep.sum() < _LEAST:
            break
        left = beyond.copy()
        for kind in np.unique(kinds):
            left[kinds == kind] -= np.median(beyond[(kinds == kind) & ~asleep])
        time = max(0.0, _weighted_median(left[asleep], weights[asleep]))
        error = float((weights * np.abs(left - time * asleep)).sum())
        if error < least:
            best, least = Sleep(after, time), error
    return best if best is not None and best.time_us > 0.0 else None


def _weighted_median(values: Array, weights: Array) -> float:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])
