"""Fits timing parameters: least squares of the logarithms of simulated over measured times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from copyback.calibration.loss import SCALE, USUAL
from copyback.calibration.parameters import settings_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path

    from numpy.typing import NDArray

    from copyback.calibration.loss import Loss
    from copyback.calibration.parameters import Parameter
    from copyback.calibration.replay import Replay

    Array = NDArray[np.float64]

#: How far a parameter is moved to see what it does, as a logarithm.
_STEP = 0.01

#: Points that are tried beside the configuration's own, and fits that start from the best of all.
CANDIDATES = 15
STARTS = 2

#: Most steps of a fit, and the relative changes of error and parameters at which it ends.
_MOST_STEPS = 25
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Fit:
    """End of a fit: its parameters and errors.

    Attributes
    ----------
    logs : numpy.ndarray of shape (n_parameters,)
        Logarithms of the fitted values.
    cost
        Mean robust error of a request.
    residuals : numpy.ndarray of shape (n_requests,)
        Logarithms of simulated over measured times, as the loss scales them.
    jacobian : numpy.ndarray of shape (n_requests, n_parameters)
        Their derivatives by the logarithms of the parameters.
    slopes : numpy.ndarray of shape (n_requests,)
        How much each request pulls at the fit.
    """

    logs: Array
    cost: float
    residuals: Array
    jacobian: Array
    slopes: Array

    @property
    def values(self) -> Array:
        """The fitted values, in the parameters' units."""
        return np.exp(self.logs)


def most_simulations(parameters: int) -> int:
    """Return how many simulations a fit takes at most."""
    descents = STARTS + 2
    return 5 + CANDIDATES + descents * _MOST_STEPS * (1 + parameters)


class Problem:
    """The times of a trace as a function of the parameters.

    Parameters
    ----------
    replay
        The device.
    parameters
        What varies.
    trace
        What is simulated.
    pool
        Where several simulations run at once; they release the GIL.
    on_done
        Told after each simulation.
    loss
        What is made small.
    """

    def __init__(
        self,
        replay: Replay,
        parameters: Sequence[Parameter],
        trace: Path,
        pool: ThreadPoolExecutor,
        on_done: Callable[[], None],
        loss: Loss = USUAL,
    ) -> None:
        self._replay = replay
        self._parameters = parameters
        self._trace = trace
        self._pool = pool
        self._on_done = on_done
        self._loss = loss
        self._known: dict[bytes, Array] = {}
        self.bounds = (
            np.log([parameter.least for parameter in parameters]),
            np.log([parameter.most for parameter in parameters]),
        )

    def _simulate(self, logs: Array) -> Array:
        settings = settings_for(self._parameters, np.exp(logs))
        rows = self._replay.simulate(self._trace, settings)
        return np.asarray(np.log((rows["simulated_us"] / rows["measured_us"]).to_numpy()))

    def all_residuals(self, points: Sequence[Array]) -> list[Array]:
        """Return the residuals at several points, simulated at once."""
        found = []
        for residuals in self._pool.map(self._simulate, points):
            self._on_done()
            found.append(residuals)
        return found

    def residuals(self, logs: Array) -> Array:
        """Return the residuals at a point; the last one is remembered."""
        key = logs.tobytes()
        if key not in self._known:
            self._known = {key: self.all_residuals([logs])[0]}
        return self._known[key]

    def jacobian(self, logs: Array) -> Array:
        """Return the derivatives at a point, by steps into the range."""
        middle = np.mean(self.bounds, axis=0)
        steps = np.where(logs < middle, _STEP, -_STEP)
        here = self.residuals(logs)
        moved = self.all_residuals([logs + row for row in np.diag(steps)])
        slopes = np.column_stack([(there - here) for there in moved]) / steps
        return np.asarray(slopes * self._loss.scaled(here)[:, None])

    def _scaled(self, logs: Array) -> Array:
        residuals = self.residuals(logs)
        return np.asarray(residuals * self._loss.scaled(residuals))

    def fit(self, start: Array, seed: int) -> Fit:
        """Fit from the configuration's values and the best of points drawn from the range.

        Parameters
        ----------
        start : numpy.ndarray of shape (n_parameters,)
            The logarithms of the configuration's values.
        seed
            Decides the points that are drawn.
        """
        random = np.random.default_rng(seed)
        points = [start, *random.uniform(*self.bounds, size=(CANDIDATES, len(start)))]
        tried = self.all_residuals(points)
        costs = [self._loss.cost(one * self._loss.scaled(one)) for one in tried]
        best = np.argsort(costs, kind="stable")[:STARTS]
        return min((self.descend(points[place]) for place in best), key=lambda fit: fit.cost)

    def descend(self, start: Array) -> Fit:
        """Fit from these logarithms of values."""
        from scipy.optimize import least_squares

        found = least_squares(
            self._scaled,
            np.clip(start, *self.bounds),
            self.jacobian,
            bounds=self.bounds,
            loss=self._loss.rho,  # type: ignore[arg-type]
            f_scale=SCALE,
            ftol=_TOLERANCE,
            xtol=_TOLERANCE,
            max_nfev=_MOST_STEPS,
        )
        scaled = self._scaled(found.x)
        loss = self._loss
        jacobian = self.jacobian(found.x)
        return Fit(found.x, loss.cost(scaled), scaled, jacobian, loss.slopes(scaled))
