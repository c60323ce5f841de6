"""Density of values, smoothed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def kernel_density(values: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the density of `values` at some places, by Gaussian kernels of Silverman's width.

    Parameters
    ----------
    values
        At least two that are not all alike.
    """
    quartiles = float(np.subtract(*np.percentile(values, [75, 25]))) / 1.349
    spread = min(float(values.std()), quartiles) or float(values.std())
    width = 0.9 * spread * len(values) ** -0.2
    kernels = np.exp(-(((at[:, None] - values[None, :]) / width) ** 2) / 2)
    return np.asarray(kernels.mean(axis=1) / (width * np.sqrt(2 * np.pi)), dtype=np.float64)
