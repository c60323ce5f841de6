"""Surrogate of a study: what a design that nobody has run would probably come to, and how wrong.

Trees on the search's runs say the logarithm of each score. The interval is conformal (Vovk,
Gammerman, Shafer 2005): of designs drawn evenly from the space nine of ten lie within, each judged
by the trees that have not seen it (Johansson et al. 2014). It is wide where the trees disagree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from copyback.designer.codes import Code, columns_of
from copyback.designer.model import TREES, by_tree, grown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray
    from sklearn.ensemble import ExtraTreesRegressor

    from copyback.designer.scores import Measured
    from copyback.designer.space import Space
    from copyback.designer.study import Study

#: Share of designs that lie within their interval.
COVERED = 0.9

#: Fewest designs drawn evenly from which an interval is told.
FEWEST = 20


@dataclass(frozen=True)
class Surrogate:
    """Model of one objective.

    Attributes
    ----------
    place
        Of the objective among those of the study.
    floor
        What is added to the spread of the trees: that of a typical design.
    width
        How many times spread and floor the interval reaches to either side.
    """

    place: int
    code: Code
    model: ExtraTreesRegressor
    floor: float
    width: float

    def predict(self, picks: Sequence[Mapping[str, Any]]) -> NDArray[np.float64]:
        """Return for each design the score, and the ends of its interval: three columns."""
        told = by_tree(self.model, self.code.rows(picks))
        middle = told.mean(axis=0)
        half = self.width * (told.std(axis=0) + self.floor)
        ends: NDArray[np.float64] = np.exp(np.column_stack([middle, middle - half, middle + half]))
        return ends


def surrogates(
    study: Study, tried: Sequence[Measured], drawn: Sequence[Measured]
) -> tuple[Surrogate, ...]:
    """Return a surrogate of each objective that is no key of the space.

    Nothing is returned if too few designs were drawn evenly to say how wrong one is.
    """
    if len(drawn) < FEWEST:
        return ()
    alike = {one.design for one in drawn}
    known = [*drawn, *(one for one in tried if one.design not in alike)]
    picks = [one.design.picks for one in known]
    logs = np.array([one.logs(len(study.objectives)) for one in known])
    keys = {key.key for key in study.space.keys}
    return tuple(
        fitted(study.space, place, picks, logs[:, place], evenly=len(drawn), seed=study.seed)
        for place, one in enumerate(study.objectives)
        if one.measure.column not in keys
    )


def fitted(
    space: Space,
    place: int,
    picks: Sequence[Mapping[str, Any]],
    values: NDArray[np.float64],
    *,
    evenly: int,
    seed: int,
) -> Surrogate:
    """Return the surrogate of the logarithm of a score.

    Parameters
    ----------
    place
        Of the objective.
    picks
        Of each design that was run.
    values
        Its logarithm.
    evenly
        How many of them, the first, were drawn evenly.
    """
    code = Code(dict(columns_of(space)))
    rows = code.rows(picks)
    model = grown(rows, values, seed=seed)
    told = np.ma.masked_array(by_tree(model, rows), mask=_seen(model, len(rows)))
    spread = told.std(axis=0).filled(0.0)
    missed = np.abs(told.mean(axis=0).filled(values) - values)
    floor = max(float(np.median(spread)), float(np.finfo(float).eps))
    misses = missed[:evenly] / (spread[:evenly] + floor)
    return Surrogate(place, code, model, floor, _reached(misses))


def _seen(model: ExtraTreesRegressor, designs: int) -> NDArray[np.bool_]:
    """Return for each tree which designs it has seen."""
    seen = np.zeros((TREES, designs), dtype=bool)
    for tree, sample in enumerate(model.estimators_samples_):
        seen[tree, sample] = True
    return seen


def _reached(misses: NDArray[np.float64]) -> float:
    """Return the miss that a new design stays below with the probability that is asked for."""
    place = math.ceil((len(misses) + 1) * COVERED) - 1
    return float(np.sort(misses)[min(place, len(misses) - 1)])
