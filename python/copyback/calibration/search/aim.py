"""Loss of a fit: how far simulated numbers are from those that were measured."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from copyback._core import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Simulated numbers of a load, by metric.
Numbers = dict[str, float]

#: Most that a number adds to the loss.
MOST = math.log(4.0)


class UnmeasuredError(InputError):
    """A load under which a drive gives no number that is fitted.

    Attributes
    ----------
    place
        The load.
    """

    def __init__(self, place: Any, name: str, metric: str) -> None:
        super().__init__(
            f"{name}: nothing was measured for {metric} with the values of the configuration; "
            "allowed: a load that has such requests after its ramp"
        )
        self.place = place


class Target(NamedTuple):
    """Number that is fitted, with the least and the greatest of what was measured.

    Attributes
    ----------
    place
        Load whose number it is, such as an offered rate.
    """

    place: Any
    metric: str
    low: float
    high: float


class Aim:
    """Numbers that are fitted.

    Parameters
    ----------
    targets
        The numbers, with the ends between which there is no error.
    groups
        Group of each. Groups weigh the same, and so do the targets of a group.
    """

    def __init__(self, targets: Sequence[Target], groups: Sequence[Hashable]) -> None:
        self._targets = targets
        counts = Counter(groups)
        self.weights = np.array([1.0 / (len(counts) * counts[group]) for group in groups])
        self.low = np.log([target.low for target in targets])
        self.high = np.log([target.high for target in targets])

    @property
    def simulated(self) -> list[Any]:
        """Loads that are simulated to know the loss, in their order."""
        return sorted({target.place for target in self._targets})

    def logs(self, found: Mapping[Any, Numbers] | None) -> Array:
        """Return the logarithms of the simulated numbers; NaN for one that there is not.

        Parameters
        ----------
        found
            Simulated numbers of each load; None if the simulation failed.
        """
        numbers = [
            math.nan if found is None else found[target.place].get(target.metric, 0.0)
            for target in self._targets
        ]
        return np.log([number if number > 0 else math.nan for number in numbers])

    def unmeasured(self, found: Mapping[Any, Numbers]) -> Target | None:
        """Return the first target of which a simulation gave no number, if there is one."""
        missing = np.isnan(self.logs(found)).tolist()
        pairs = zip(self._targets, missing, strict=True)
        return next((target for target, is_missing in pairs if is_missing), None)

    def losses(self, logs: Array) -> Array:
        """Return the loss of each row: the mean error of its numbers beyond what was measured."""
        return np.asarray(self.errors(logs) @ self.weights)

    def errors(self, logs: Array) -> Array:
        """Return the error of each number beyond what was measured, capped."""
        beyond = np.maximum(logs - self.high, 0.0) + np.maximum(self.low - logs, 0.0)
        return np.asarray(np.minimum(np.nan_to_num(beyond, nan=MOST), MOST))

    def loss(self, found: Mapping[Any, Numbers] | None) -> float:
        """Return the loss of simulated numbers."""
        return float(self.losses(self.logs(found)))
