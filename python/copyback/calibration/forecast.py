"""Forecasts of the times of requests, as distributions, and how far off they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: The quantiles of a request's time that a forecast tells: the middles of equal shares.
LEVELS = (np.arange(200) + 0.5) / 200


@dataclass(frozen=True)
class Forecast:
    """Forecast of the times of requests: each request is of a kind, each kind has quantiles.

    Attributes
    ----------
    kinds : numpy.ndarray of shape (n_requests,)
        Which row of ``quantiles`` a request has.
    quantiles : numpy.ndarray of shape (n_kinds, n_levels)
        Times in microseconds at :data:`LEVELS`.
    shift : numpy.ndarray of shape (n_requests,)
        What each request takes beyond its kind, in microseconds.
    """

    kinds: NDArray[np.int64]
    quantiles: Array
    shift: Array

    @classmethod
    def of_points(cls, times: Array) -> Forecast:
        """Return the forecast that each request takes exactly this time."""
        return cls(np.zeros(len(times), dtype=np.int64), np.zeros((1, len(LEVELS))), times)

    @classmethod
    def of_kinds(cls, kinds: NDArray[np.int64], times: list[Array]) -> Forecast:
        """Return the forecast that a request takes any of the times of its kind, all as likely."""
        quantiles = np.array([np.quantile(one, LEVELS) for one in times])
        return cls(kinds, quantiles, np.zeros(len(kinds)))

    def all_times(self) -> Array:
        """Return the quantiles of every request, a row a request."""
        return np.asarray(self.quantiles[self.kinds] + self.shift[:, None])

    def score(self, measured: Array) -> float:
        """Return the quantile score: 0 if every time was known, and less is better.

        The mean pinball loss of the logarithms over requests and levels, doubled, so that a
        forecast of points has the mean absolute logarithm of predicted over measured time.
        """
        beyond = np.log(measured)[:, None] - np.log(np.maximum(self.all_times(), 1e-3))
        return float(2.0 * np.mean(np.maximum(LEVELS * beyond, (LEVELS - 1.0) * beyond)))

    def quantile(self, level: float) -> float:
        """Return a quantile of the times of all requests together."""
        return float(np.quantile(self.all_times(), level))
