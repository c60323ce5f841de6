"""Emulator of simulated numbers: what they are between evaluations, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Distances over which numbers are alike, and shares of noise, of which the likeliest are taken.
LENGTHS = (0.2, 0.3, 0.45, 0.7, 1.0, 1.5)
NOISES = (0.003, 0.01, 0.03, 0.1, 0.3)

#: Least variance, for numbers that nothing changes.
LEAST = 1e-8


@dataclass(frozen=True)
class Emulator:
    """Gaussian process of each number: a linear trend, and what deviates from it.

    All numbers share the distance over which they are alike and the share of noise, which jumps of
    the simulation count as. Each has its own variance.
    """

    places: Array
    length: float
    noise: float
    inverse: Array
    trend: Array
    trend_inverse: Array
    weights: Array
    variances: Array
    likelihood: float

    @classmethod
    def of(cls, places: Array, logs: Array) -> Emulator:
        """Return the likeliest emulator of evaluations: logarithms of numbers at places."""
        return max(cls._every(places, logs), key=lambda one: one.likelihood)

    @classmethod
    def _every(cls, places: Array, logs: Array) -> Iterator[Emulator]:
        basis = _basis(places)
        free = max(len(places) - basis.shape[1], 1)
        for length, noise in product(LENGTHS, NOISES):
            alike = _alike(places, places, length) + noise * np.eye(len(places))
            inverse = np.asarray(np.linalg.inv(alike), dtype=np.float64)
            square = basis.T @ inverse @ basis
            solved = np.linalg.solve(square, basis.T @ inverse @ logs)
            trend = np.asarray(solved, dtype=np.float64)
            rest = logs - basis @ trend
            weights = inverse @ rest
            variances = np.maximum((rest * weights).sum(axis=0) / free, LEAST)
            spread = np.linalg.slogdet(alike)[1] + np.linalg.slogdet(square)[1]
            likelihood = -free * np.log(variances).sum() - logs.shape[1] * spread
            yield cls(
                places,
                length,
                noise,
                inverse,
                trend,
                np.asarray(np.linalg.inv(square), dtype=np.float64),
                weights,
                variances,
                float(likelihood),
            )

    def at(self, places: Array) -> tuple[Array, Array]:
        """Return the numbers at places, and the standard deviation of each, with its noise."""
        alike, basis = _alike(places, self.places, self.length), _basis(places)
        known = alike @ self.inverse
        missed = basis - known @ _basis(self.places)
        own = 1.0 + self.noise - (known * alike).sum(axis=1)
        of_trend = ((missed @ self.trend_inverse) * missed).sum(axis=1)
        share = np.maximum(own, self.noise) + of_trend
        return basis @ self.trend + alike @ self.weights, np.sqrt(np.outer(share, self.variances))


def _basis(places: Array) -> Array:
    return np.hstack([np.ones((len(places), 1)), places])


def _alike(first: Array, second: Array, length: float) -> Array:
    """Return how alike numbers at two places are, from 0 to 1."""
    square = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2.0 * first @ second.T
    return np.asarray(np.exp(-0.5 * np.maximum(square, 0.0) / length**2))
