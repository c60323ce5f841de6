"""Loss that a fit minimises: the errors of the usual request, or of the fast ones of every size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Errors beyond this ratio (of e, so about 10%) count by their size, no longer by its square: the
#: device's pauses are hundreds of times as long as what is fitted.
SCALE = 0.1

#: The share of requests that are faster than the fast way.
FAST = 0.1


@dataclass(frozen=True)
class Loss:
    """A robust loss of the logarithms of simulated over measured times.

    Attributes
    ----------
    too_slow, too_fast
        What errors of requests that are simulated too slow, and too fast, are multiplied with.
    weights : numpy.ndarray of shape (n_requests,) or None
        How much each request counts; all alike if None.
    """

    too_slow: float = 1.0
    too_fast: float = 1.0
    weights: Array | None = None

    def scaled(self, residuals: Array) -> Array:
        """Return what of each error multiplies."""
        return np.where(residuals > 0.0, self.too_slow, self.too_fast)

    def rho(self, squares: Array) -> Array:
        """Return the loss of squared scaled errors with its derivatives, as SciPy wants it."""
        root = np.sqrt(1.0 + squares)
        weights = 1.0 if self.weights is None else self.weights
        return np.array([2.0 * (root - 1.0), 1.0 / root, -0.5 / root**3]) * weights

    def cost(self, scaled: Array) -> float:
        """Return the mean loss of scaled errors."""
        return float(np.mean(self.rho((scaled / SCALE) ** 2)[0]))

    def slopes(self, scaled: Array) -> Array:
        """Return how much each request pulls at a fit."""
        return np.asarray(self.rho((scaled / SCALE) ** 2)[1])


#: The usual request: the fit of a median.
USUAL = Loss()


def fast_way(operations: NDArray[np.str_], sizes: Array) -> Loss:
    """Return the loss of the fast way: a tenth of the requests are faster.

    The rarer a size, the more each request of it counts: a class of sizes counts by the root of
    how many it has. A few large requests say more about how the time grows with the size than
    thousands of small ones.
    """
    classes = np.char.add(operations, np.floor(np.log2(sizes)).astype(int).astype(str))
    _, places, counts = np.unique(classes, return_inverse=True, return_counts=True)
    weights = 1.0 / np.sqrt(counts[places])
    return Loss(2.0 * (1.0 - FAST), 2.0 * FAST, weights / weights.mean())
