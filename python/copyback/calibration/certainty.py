"""Certainty of each fitted parameter: how well the requests determine it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from copyback.calibration.fit import Fit
    from copyback.calibration.parameters import Parameter

    Array = NDArray[np.float64]

#: A parameter of which times change by a smaller share (root mean square) has no effect.
_LEAST_EFFECT = 1e-4

#: A parameter this near to the end of its range, as a logarithm, is at its bound.
_NEAR = 0.01

#: One is exchangeable if the others can undo all of its effect but this share.
LEAST_OWN = 0.02

#: An interval wider than this factor says little.
_WIDE = 2.0

#: The bootstrap draws stretches of consecutive requests: neighbours err alike.
_STRETCHES = 50
_RESAMPLES = 1000
_LEVELS = (0.025, 0.975)


class Verdict(Enum):
    """Whether a parameter can be told from the trace."""

    DETERMINED = "determined"
    WIDE = "within a wide interval"
    EXCHANGEABLE = "only together with another"
    AT_BOUND = "at the end of its range"
    NO_EFFECT = "without effect"


@dataclass(frozen=True)
class Certainty:
    """Certainty of a fitted value.

    Attributes
    ----------
    interval
        95% of the values that other stretches of the same trace would have given; None if the
        value is not determined.
    other
        The key that can take its place, if it is exchangeable.
    """

    verdict: Verdict
    interval: tuple[float, float] | None = None
    other: str | None = None


def certainties(fit: Fit, parameters: Sequence[Parameter], seed: int) -> list[Certainty]:
    """Return what is known of each fitted value.

    From the derivatives at the fit, so no further simulations: to first order, the fit of a
    resampled trace is one step of Gauss and Newton away.
    """
    effect = np.sqrt(np.mean(fit.jacobian**2, axis=0))
    weights = fit.slopes
    found = [Certainty(Verdict.NO_EFFECT)] * len(parameters)
    effective = np.flatnonzero(effect >= _LEAST_EFFECT)
    own, others = own_shares(fit.jacobian[:, effective], weights)
    free = []
    for place, share, other in zip(effective.tolist(), own, others, strict=True):
        if share < LEAST_OWN:
            partner = parameters[effective[other]].key
            found[place] = Certainty(Verdict.EXCHANGEABLE, other=partner)
        elif _is_at_bound(fit.logs[place], parameters[place]):
            found[place] = Certainty(Verdict.AT_BOUND)
        else:
            free.append(place)
    moves = _bootstrap(fit.jacobian[:, free], fit.residuals, weights, seed)
    for place, column in zip(free, moves.T, strict=True):
        found[place] = _interval(fit.logs[place], column)
    return found


def _is_at_bound(log: float, parameter: Parameter) -> bool:
    return bool(min(log - np.log(parameter.least), np.log(parameter.most) - log) < _NEAR)


def _interval(log: float, moves: Array) -> Certainty:
    least, most = np.exp(log + np.quantile(moves, _LEVELS))
    verdict = Verdict.WIDE if most > _WIDE * least else Verdict.DETERMINED
    return Certainty(verdict, (float(least), float(most)))


def own_shares(jacobian: Array, weights: Array) -> tuple[Array, list[int]]:
    """Return the share of each effect that the others can't undo, and the most alike of these.

    Parameters
    ----------
    jacobian : numpy.ndarray of shape (n_residuals, n_parameters)
        Effects; none may be 0 throughout.
    weights : numpy.ndarray of shape (n_residuals,)
        Weight of each residual.
    """
    information = jacobian.T @ (weights[:, None] * jacobian)
    scale = np.sqrt(np.diag(information))
    likeness = information / np.outer(scale, scale)
    shares, others = [], []
    for place in range(len(scale)):
        rest = np.delete(np.arange(len(scale)), place)
        with_rest = likeness[place, rest]
        undone = with_rest @ np.linalg.pinv(likeness[np.ix_(rest, rest)]) @ with_rest
        shares.append(1.0 - undone)
        others.append(int(rest[np.argmax(np.abs(with_rest))]) if len(rest) else place)
    return np.array(shares), others


def _bootstrap(jacobian: Array, residuals: Array, weights: Array, seed: int) -> Array:
    """Return how far each resampled trace moves the parameters, a row a resample."""
    stretches = np.array_split(np.arange(len(residuals)), _STRETCHES)
    weighted = weights[:, None] * jacobian
    information = np.array([weighted[rows].T @ jacobian[rows] for rows in stretches])
    gradient = np.array([weighted[rows].T @ residuals[rows] for rows in stretches])
    # What is left of the gradient at the fit, because it ended there, is no part of the spread.
    gradient -= gradient.mean(axis=0)
    random = np.random.default_rng([seed, 1])
    drawn = random.integers(len(stretches), size=(_RESAMPLES, len(stretches)))
    moves = [
        -np.linalg.lstsq(information[rows].sum(axis=0), gradient[rows].sum(axis=0))[0]
        for rows in drawn
    ]
    return np.array(moves).reshape(_RESAMPLES, jacobian.shape[1])
