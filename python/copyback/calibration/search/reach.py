"""Intervals of fitted values: how far each can be from the best with a fit that is as good.

A search of few evaluations leaves gaps, and the loss jumps between them. So an emulator says what
numbers there are between and beyond, and how sure that is. A value is excluded if the fit is worse
than that of the best one in what the emulator is sure of (history matching). A long search goes to
the ends itself (`near.py`). Of many keys an emulator is sure of so little that it would exclude
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from copyback.calibration.search.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from copyback.calibration.search.aim import Aim
    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.span import Span

    Array = NDArray[np.float64]

#: A fit is as good as the best if its loss is no more than this above.
AS_GOOD = 0.02

#: Evaluations a key from which on the search itself says how far values reach.
LONG = 20

#: Standard deviations of a number that are forgiven: one in twenty of its errors is larger.
SURE = 2.0

#: Places that are asked at a time, how often, and what draws them.
PLACES, ROUNDS, SEED = 4096, 4, 1

#: Distances of the first places from the best one; others are anywhere.
NEAR = (0.01, 0.04, 0.15)


def intervals(
    spans: Sequence[Span], evaluations: Sequence[Evaluation], aim: Aim
) -> list[tuple[float, float]]:
    """Return the least and the greatest value of each key that are not excluded."""
    best = min(evaluations, key=lambda one: one.loss)
    good = np.array([_place(spans, one) for one in evaluations if one.loss <= best.loss + AS_GOOD])
    logs = np.array([aim.logs(one.found) for one in evaluations])
    usable = np.isfinite(logs).all(axis=1)
    is_short = len(evaluations) < LONG * len(spans)
    # Fewer do not determine a trend and its error.
    if is_short and usable.sum() > len(spans) + 2 and usable[evaluations.index(best)]:
        places = np.array([_place(spans, one) for one in evaluations])
        emulator = Emulator.of(places[usable], logs[usable])
        good = np.vstack([good, reached(emulator, aim, _place(spans, best), aim.logs(best.found))])
    ends = zip(spans, good.min(axis=0).tolist(), good.max(axis=0).tolist(), strict=True)
    return [(span.value(low), span.value(high)) for span, low, high in ends]


def reached(emulator: Emulator, aim: Aim, best: Sequence[float], logs: Array) -> Array:
    """Return places that are not excluded, and that reach as far as such places do.

    Parameters
    ----------
    best
        Place of the best evaluation.
    logs
        Its numbers.
    """
    random = np.random.default_rng(SEED)
    keys = len(best)
    anywhere = random.random((PLACES, keys))
    near = [best + random.normal(0.0, scale, (PLACES, keys)) for scale in NEAR]
    found = np.array([best])
    drawn = np.vstack([anywhere, *near])
    for _ in range(ROUNDS):
        asked = np.clip(drawn, 0.0, 1.0)
        found = np.vstack([found, asked[_is_as_good(emulator, aim, asked, logs)]])
        from_ = found[random.integers(len(found), size=PLACES)]
        drawn = from_ + random.normal(0.0, 1.0, from_.shape) * found.std(axis=0)
    return found


def _is_as_good(emulator: Emulator, aim: Aim, places: Array, best: Array) -> NDArray[np.bool_]:
    """Return which places fit as well as the best one in what is sure."""
    logs, deviations = emulator.at(places)
    forgiven = SURE * deviations
    losses = np.maximum(aim.errors(logs) - forgiven, 0.0) @ aim.weights
    reference = np.maximum(aim.errors(best) - forgiven, 0.0) @ aim.weights
    return np.asarray(losses <= reference + AS_GOOD)


def _place(spans: Sequence[Span], one: Evaluation) -> list[float]:
    return [span.place(value) for span, value in zip(spans, one.values, strict=True)]
