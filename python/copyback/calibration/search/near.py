"""Points near the best ones, by a linear model of the simulated numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from copyback.calibration.search.reach import AS_GOOD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from copyback.calibration.search.aim import Aim
    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.span import Span

    Array = NDArray[np.float64]

#: Distances at which the model is asked for a better point, and for one that is as good.
NEAR, FAR = 0.05, 0.25

#: Weight of the assumption that nothing changes.
RIDGE = 1e-3

#: Times that a point is drawn anew if it was tried.
DRAWS = 20


class Near:
    """Proposals of points: better than the best one, or as good and farther away.

    The latter show how far a value can be from the best one.

    Parameters
    ----------
    spans
        Ranges of the keys.
    aim
        Numbers that are fitted.
    random
        Draws points.
    """

    def __init__(self, spans: Sequence[Span], aim: Aim, random: np.random.Generator) -> None:
        self._spans = spans
        self._aim = aim
        self._random = random
        self._rounds = count()

    def proposals(self, tried: Sequence[Evaluation]) -> list[tuple[float, ...]]:
        """Return points that were not tried; none if there is nothing to begin with."""
        logs = np.array([self._aim.logs(one.found) for one in tried])
        usable = np.isfinite(logs).all(axis=1)
        if not usable.any():
            return []
        places = np.array([self._place(one.values) for one in tried])[usable]
        logs = logs[usable]
        losses = self._aim.losses(logs)
        known = {one.values for one in tried}
        found: list[tuple[float, ...]] = []
        for place in [*self._better(places, logs, losses), *self._wider(places, logs, losses)]:
            point = self._untried(place, known | set(found))
            found += [point] if point is not None else []
        return found

    def _better(self, places: Array, logs: Array, losses: Array) -> list[Array]:
        """Return the places of the least loss near the best one."""
        best = int(np.argmin(losses))
        models = [Model.of(places, logs, best, radius) for radius in (NEAR, FAR)]
        return [model.least(self._aim) for model in models]

    def _wider(self, places: Array, logs: Array, losses: Array) -> list[Array]:
        """Return places that are as good as the best, with more and with less of a key in turn."""
        key = next(self._rounds) % places.shape[1]
        most = losses.min() + AS_GOOD
        good = np.flatnonzero(losses <= most)
        ends = (good[np.argmin(places[good, key])], good[np.argmax(places[good, key])])
        return [
            Model.of(places, logs, int(end), FAR).farthest(self._aim, key, sign, most)
            for sign, end in zip((-1.0, 1.0), ends, strict=True)
        ]

    def _place(self, values: Sequence[float]) -> list[float]:
        return [span.place(value) for span, value in zip(self._spans, values, strict=True)]

    def _untried(self, place: Array, known: set[tuple[float, ...]]) -> tuple[float, ...] | None:
        """Return the values at a place, or near it if these were tried."""
        for _ in range(DRAWS):
            pairs = zip(self._spans, np.clip(place, 0.0, 1.0).tolist(), strict=True)
            values = tuple(span.value(own) for span, own in pairs)
            if values not in known:
                return values
            place = place + self._random.normal(0.0, NEAR, len(place))
        return None


@dataclass(frozen=True)
class Model:
    """Linear model of the logarithms of simulated numbers around a place.

    Attributes
    ----------
    slopes : numpy.ndarray of shape (n_keys, n_targets)
        Change of each number with the place.
    radius
        How far the model is trusted.
    """

    place: Array
    logs: Array
    slopes: Array
    radius: float

    @classmethod
    def of(cls, places: Array, logs: Array, base: int, radius: float) -> Model:
        """Return the model around one of several points; those that are near count most."""
        moved, changes = places - places[base], logs - logs[base]
        keys = places.shape[1]
        distances = np.abs(moved).max(axis=1)
        # As many as determine the slopes, however far away they are.
        enough = float(np.sort(distances)[min(keys + 2, len(distances) - 1)])
        scale = max(enough, radius)
        weights = np.exp(-((distances / scale) ** 2))[:, None]
        square = moved.T @ (weights * moved) + RIDGE * scale**2 * np.eye(keys)
        slopes = np.linalg.solve(square, moved.T @ (weights * changes))
        return cls(places[base], logs[base], np.asarray(slopes), radius)

    def least(self, aim: Aim) -> Array:
        """Return the place of the least loss."""
        keys = len(self.place)
        return self._solved(aim, np.r_[np.zeros(keys), aim.weights], None)

    def farthest(self, aim: Aim, key: int, sign: float, most: float) -> Array:
        """Return the place with the most of a key, or the least, whose loss is at most this."""
        keys, targets = self.slopes.shape
        cost = np.zeros(keys + targets)
        cost[key] = -sign
        return self._solved(aim, cost, most)

    def _solved(self, aim: Aim, cost: Array, most: float | None) -> Array:
        """Return the place of the least cost: a linear program of moves, and errors of targets."""
        from scipy.optimize import linprog

        keys, targets = self.slopes.shape
        own = np.eye(targets)
        rows = [np.hstack([self.slopes.T, -own]), np.hstack([-self.slopes.T, -own])]
        limits = [aim.high - self.logs, self.logs - aim.low]
        if most is not None:
            rows.append(np.r_[np.zeros(keys), aim.weights][None])
            limits.append(np.array([most]))
        low = np.maximum(self.place - self.radius, 0.0) - self.place
        high = np.minimum(self.place + self.radius, 1.0) - self.place
        bounds = [*zip(low, high, strict=True), *[(0.0, None)] * targets]
        found = linprog(cost, np.vstack(rows), np.concatenate(limits), bounds=bounds)
        # Capped errors may leave no solution.
        return self.place if found.x is None else self.place + found.x[:keys]
