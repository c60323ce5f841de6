"""Effects of keys on the numbers that are fitted, by evaluations around the best one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from copyback.calibration.certainty import LEAST_OWN, own_shares
from copyback.calibration.search.known import Effect
from copyback.calibration.search.near import FAR, NEAR, Model
from copyback.calibration.search.reach import AS_GOOD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from copyback.calibration.search.aim import Aim
    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.span import Span

    Array = NDArray[np.float64]

#: Share of the room of evaluations that are as good, up to which the linear model is believed.
SURE = 0.75

#: Evaluations for each key: one at each end of its range, and one on each side of the best value.
EACH = 4

#: Evaluations for each key that follow a search; the last two are the ends of its interval.
AFTER = EACH + 2


def around(spans: Sequence[Span], best: Sequence[float]) -> list[tuple[float, ...]]:
    """Return the points that differ from the best one in a single key, `EACH` for each key."""
    return [
        (*best[:index], span.value(place), *best[index + 1 :])
        for index, span in enumerate(spans)
        for own in (span.place(best[index]),)
        for place in (0.0, 1.0, max(own - NEAR, 0.0), min(own + NEAR, 1.0))
    ]


@dataclass(frozen=True)
class Changes:
    """Changes of the numbers that are fitted, around the best evaluation.

    Attributes
    ----------
    logs
        Logarithms of the numbers of the best evaluation.
    each : numpy.ndarray of shape (n_keys, EACH, n_targets)
        Changes of the logarithms at the points around it; 0 where there was no number.
    """

    spans: Sequence[Span]
    aim: Aim
    best: Evaluation
    logs: Array
    each: Array

    @classmethod
    def of(
        cls, spans: Sequence[Span], aim: Aim, best: Evaluation, tried: Sequence[Evaluation]
    ) -> Changes:
        """Return the changes from the evaluations of the points around the best one."""
        logs = aim.logs(best.found)
        changes = np.array([aim.logs(one.found) - logs for one in tried])
        each = np.nan_to_num(changes).reshape(len(spans), EACH, -1)
        return cls(spans, aim, best, logs, each)

    def effects(self) -> list[Effect]:
        """Return the effect of each key.

        A key has an effect if some number changes by more than 2% at an end of its range or nearby.
        Another can take its place if the others can undo all but 2% of what it does nearby.
        """
        there = np.array([bool((np.abs(own) > AS_GOOD).any()) for own in self.each])
        slopes = self.each[:, 3] - self.each[:, 2]
        usable = np.flatnonzero(there & (np.abs(slopes) > 0).any(axis=1)).tolist()
        others: dict[int, str] = {}
        if len(usable) > 1:
            own, alike = own_shares(slopes[usable].T, self.aim.weights)
            for key, share, other in zip(usable, own, alike, strict=True):
                if share < LEAST_OWN:
                    others[key] = self.spans[usable[other]].key
        return [Effect(bool(is_there), others.get(key)) for key, is_there in enumerate(there)]

    def farthest(self) -> list[tuple[float, ...]]:
        """Return points with the least and the most of each key that should be as good."""
        pairs = zip(self.spans, self.best.values, strict=True)
        places = np.array([span.place(value) for span, value in pairs])
        widths = np.minimum(places + NEAR, 1.0) - np.maximum(places - NEAR, 0.0)
        slopes = (self.each[:, 3] - self.each[:, 2]) / widths[:, None]
        model = Model(places, self.logs, slopes, FAR)
        most = self.best.loss + SURE * AS_GOOD
        found = [
            model.farthest(self.aim, key, sign, most)
            for key in range(len(self.spans))
            for sign in (-1.0, 1.0)
        ]
        return [self._values(place.tolist()) for place in found]

    def _values(self, places: Sequence[float]) -> tuple[float, ...]:
        return tuple(span.value(place) for span, place in zip(self.spans, places, strict=True))
