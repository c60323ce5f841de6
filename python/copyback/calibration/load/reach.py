"""Intervals of fitted values: how far each can be from the best with a fit that is as good.

The loss at the true values is above the least by what noise and the model's own faults add. How
much that can be is asked of the errors that are left at the best point. With signs drawn anew they
make measurements of a drive that has the best values; each is fitted, and the loss at the best
values less that of the fit is the excess that truth can have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from copyback.calibration.load.aim import AS_GOOD
from copyback.calibration.load.near import FAR, Model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from copyback.calibration.load.aim import Aim
    from copyback.calibration.load.kept import Evaluation
    from copyback.calibration.load.span import Span

    Array = NDArray[np.float64]

#: Drawn measurements, the share of them whose truth is to be kept, and what draws their signs.
DRAWS, KEPT, SEED = 100, 0.95, 1


def intervals(
    spans: Sequence[Span], evaluations: Sequence[Evaluation], aim: Aim
) -> list[tuple[float, float]]:
    """Return the least and the greatest value of each key that fit as well as the best.

    They hold the evaluations that are as good, and what a linear model around the best one says
    of the values between and beyond: a search may have tried none that is as good.
    """
    best = min(evaluations, key=lambda one: one.loss)
    logs = np.array([aim.logs(one.found) for one in evaluations])
    usable = np.isfinite(logs).all(axis=1)
    if not usable[evaluations.index(best)]:
        good = [one.values for one in evaluations if one.loss <= best.loss + AS_GOOD]
        return [(min(column), max(column)) for column in zip(*good, strict=True)]
    known = [one for one, is_usable in zip(evaluations, usable, strict=True) if is_usable]
    places = np.array([_place(spans, one) for one in known])
    model = Model.of(places, logs[usable], known.index(best), FAR)
    # Values that change nothing reach the ends of their range.
    model = replace(model, radius=1.0)
    above = max(AS_GOOD, excess(model, aim))
    good = [
        place for place, one in zip(places, known, strict=True) if one.loss <= best.loss + above
    ]
    return [
        _interval(model, aim, above, key, np.array(good), span) for key, span in enumerate(spans)
    ]


def excess(model: Model, aim: Aim) -> float:
    """Return how far the loss at the true values can be above the least, in 95 of 100 draws."""
    errors = _errors(model, aim)
    blocks = np.unique(
        np.array([f"{rate} {name}" for rate, name in aim.blocks]), return_inverse=True
    )
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], (DRAWS, len(blocks[0])))
    loss = float(np.abs(errors) @ aim.weights)
    drawn = [aim.measuring(model.logs + errors * own[blocks[1]]) for own in signs]
    return float(np.nanquantile([loss - model.least_loss(one) for one in drawn], KEPT))


def _errors(model: Model, aim: Aim) -> Array:
    """Return the measured less the simulated logarithms, beyond the spread of passes."""
    return np.clip(model.logs, aim.low, aim.high) - model.logs


def _interval(
    model: Model, aim: Aim, above: float, key: int, good: Array, span: Span
) -> tuple[float, float]:
    most = float(np.abs(_errors(model, aim)) @ aim.weights) + above
    ends = [model.farthest(aim, key, sign, most)[key] for sign in (-1.0, 1.0)]
    reached = np.clip([*ends, *good[:, key]], 0.0, 1.0)
    return span.value(float(reached.min())), span.value(float(reached.max()))


def _place(spans: Sequence[Span], one: Evaluation) -> list[float]:
    return [span.place(value) for span, value in zip(spans, one.values, strict=True)]
