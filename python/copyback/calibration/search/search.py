"""Search for the values of the least loss: everywhere first, then around the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from copyback.calibration.search.near import Near

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from copyback.calibration.search.aim import Aim
    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.span import Span

    Array = NDArray[np.float64]
    Evaluate = Callable[[Sequence[tuple[float, ...]]], list[Evaluation]]

#: Share of the evaluations that look everywhere.
EVERYWHERE = 0.5

#: Points of a generation: least, and most for each key.
LEAST_POINTS, POINTS_A_KEY = 6, 4

#: Generations that there are at least, where the budget allows it.
GENERATIONS = 3


class Search:
    """Search in a number of evaluations.

    Places are from 0 to 1 for each key, in the scale of the search.

    Parameters
    ----------
    spans
        Ranges of the keys.
    evaluate
        Returns the evaluations of several points.
    aim
        Numbers that are fitted.
    seed
        Decides the points that are drawn.
    """

    def __init__(self, spans: Sequence[Span], evaluate: Evaluate, aim: Aim, seed: int) -> None:
        self._spans = spans
        self._aim = aim
        self._evaluate = evaluate
        self._random = np.random.default_rng(seed)
        self._tried: dict[tuple[float, ...], Evaluation] = {}

    def run(self, start: Sequence[float], budget: int) -> list[Evaluation]:
        """Return all evaluations, in the order of the search.

        Parameters
        ----------
        start
            Values of the configuration.
        budget
            Number of evaluations.
        """
        points = population(len(self._spans), budget)
        self._everywhere(start, points, max(int(budget * EVERYWHERE) // points, 1))
        near = Near(self._spans, self._aim, self._random)
        while len(self._tried) < budget:
            batch = near.proposals(list(self._tried.values()))
            if not batch:
                break
            self._try(batch[: budget - len(self._tried)])
        return list(self._tried.values())

    def _try(self, points: Sequence[tuple[float, ...]]) -> list[float]:
        """Evaluate points that were not tried; return the loss of each."""
        new = [point for point in dict.fromkeys(points) if point not in self._tried]
        self._tried |= {one.values: one for one in self._evaluate(new)}
        return [self._tried[point].loss for point in points]

    def _everywhere(self, start: Sequence[float], points: int, generations: int) -> None:
        """Evolve points that are spread over the ranges, the configuration's own among them."""
        from scipy.optimize import Bounds, differential_evolution
        from scipy.stats import qmc

        spans = self._spans
        own = places(spans, start)
        drawn = qmc.LatinHypercube(len(spans), seed=self._random).random(points - 1)
        ends = [(span.least, span.most) if span.is_counted else (0.0, 1.0) for span in spans]
        low, high = np.array(ends).T
        first = np.vstack([own, drawn])
        differential_evolution(
            _unused,
            Bounds(low, high),
            init=np.array([_unplaced(spans, row) for row in first]),
            maxiter=generations - 1,
            tol=0.0,
            polish=False,
            updating="deferred",
            workers=self._generation,
            integrality=[span.is_counted for span in spans],
            seed=self._random,
        )

    def _generation(self, _: object, rows: Iterable[Array]) -> list[float]:
        """Return the losses of all rows of a generation, which are evaluated at once."""
        return self._try([values(self._spans, row) for row in rows])


def at_start(spans: Sequence[Span], start: Sequence[float]) -> tuple[float, ...]:
    """Return the first point of a search: the configuration's own values, as they are written."""
    return values(spans, _unplaced(spans, np.array(places(spans, start))))


def places(spans: Sequence[Span], found: Sequence[float]) -> list[float]:
    """Return where values lie in their ranges."""
    return [span.place(value) for span, value in zip(spans, found, strict=True)]


def _unused(_: Array) -> float:
    """Stand where the evolution wants a function of one point: it is given a generation."""
    return 0.0


def population(keys: int, budget: int) -> int:
    """Return the number of points of a generation.

    >>> population(3, 30), population(3, 200), population(6, 200)
    (6, 12, 24)
    """
    most = int(budget * EVERYWHERE) // GENERATIONS
    return max(LEAST_POINTS, min(POINTS_A_KEY * keys, most))


def values(spans: Sequence[Span], row: Array) -> tuple[float, ...]:
    """Return the values at a row of the evolution: places, and counted numbers themselves."""
    pairs = zip(spans, row.tolist(), strict=True)
    return tuple(float(round(own)) if span.is_counted else span.value(own) for span, own in pairs)


def _unplaced(spans: Sequence[Span], row: Array) -> Array:
    """Return a row of the evolution from places."""
    pairs = zip(spans, row.tolist(), strict=True)
    return np.array([span.value(own) if span.is_counted else own for span, own in pairs])
