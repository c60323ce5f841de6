"""Loss of a fit: how far simulated numbers are from those that were measured."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from copyback.calibration.load.bench import WRITTEN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from copyback.calibration.load.bench import Numbers
    from copyback.calibration.load.table import Curve

    Array = NDArray[np.float64]

#: Most that a cell adds to the loss.
MOST = math.log(4.0)


class Target(NamedTuple):
    """Number that is fitted, with the least and the greatest of what the passes measured."""

    offered: float
    metric: str
    low: float
    high: float


class Aim:
    """Numbers that are fitted.

    Parameters
    ----------
    curve
        Load curve that was measured.
    rates
        Offered rates whose latencies are fitted.
    saturation
        Writes a second at the highest rate of the table; None if none is given.
    """

    def __init__(self, curve: Curve, rates: tuple[float, ...], saturation: float | None) -> None:
        self.rates = rates
        self.saturation = saturation
        self._targets = [
            Target(offered, metric, min(measured), max(measured))
            for offered in rates
            for metric in curve.at(offered).metrics
            for measured in (curve.at(offered).latencies(metric),)
        ]
        if saturation is not None:
            self._targets.append(Target(curve.rates[-1].offered, WRITTEN, saturation, saturation))
        self.weights = _weights([(one.offered, one.metric == WRITTEN) for one in self._targets])
        self.low = np.log([target.low for target in self._targets])
        self.high = np.log([target.high for target in self._targets])

    @property
    def simulated(self) -> list[float]:
        """Rates that are simulated to know the loss."""
        return sorted({target.offered for target in self._targets})

    def logs(self, found: Mapping[float, Numbers] | None) -> Array:
        """Return the logarithms of the simulated numbers; NaN for one that there is not.

        Parameters
        ----------
        found
            Simulated numbers of each rate; None if the simulation failed.
        """
        numbers = [
            math.nan if found is None else found[target.offered].get(target.metric, 0.0)
            for target in self._targets
        ]
        return np.log([number if number > 0 else math.nan for number in numbers])

    def losses(self, logs: Array) -> Array:
        """Return the loss of each row: the mean error of its cells beyond the spread of passes.

        Each fitted rate counts the same, and so does saturation.
        """
        return np.asarray(self.errors(logs) @ self.weights)

    def errors(self, logs: Array) -> Array:
        """Return the error of each cell beyond the spread of passes, capped."""
        beyond = np.maximum(logs - self.high, 0.0) + np.maximum(self.low - logs, 0.0)
        return np.asarray(np.minimum(np.nan_to_num(beyond, nan=MOST), MOST))

    def loss(self, found: Mapping[float, Numbers] | None) -> float:
        """Return the loss of simulated numbers."""
        return float(self.losses(self.logs(found)))


def _weights(groups: list[tuple[float, bool]]) -> Array:
    """Return the weight of each target: groups weigh the same, and the targets of a group too."""
    counts = Counter(groups)
    return np.array([1.0 / (len(counts) * counts[group]) for group in groups])
