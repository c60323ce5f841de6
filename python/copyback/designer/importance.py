"""Importance: how much of the differences between the designs of a space a choice explains.

Sobol's indices of a model of the study's short runs, over designs drawn evenly from the space. The
total index of a choice is the share of the variance that is left if all other choices are known;
its own index the share that it explains alone (Jansen 1999; Saltelli et al. 2010). Their difference
is what it does together with others. A choice is drawn anew with the parameters of its options; a
conditional one counts where it exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.designer.codes import Code, columns_of, redrawn
from copyback.designer.model import TREES, by_tree, grown
from copyback.designer.sampler import RandomChooser

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from copyback.designer.scores import Measured
    from copyback.designer.space import Space
    from copyback.designer.study import Study

#: Groups of the model's trees, whose indices give the interval; and designs that are drawn.
_GROUPS, _DRAWS = 12, 768

#: Fewest designs from which anything is concluded.
FEWEST = 16

#: Share of the variance below which a choice explains nothing that matters.
_NEGLIGIBLE = 0.01

#: Ends of an interval over groups of trees.
_LOW, _HIGH = 0.025, 0.975


@dataclass(frozen=True)
class Share:
    """Share of the variance of an objective, with its 95% interval over groups of trees."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Explained:
    """Shares of the differences in an objective that a choice explains.

    Attributes
    ----------
    name
        Key, or key, option and parameter.
    alone
        By itself.
    total
        With what it does together with others.
    is_found
        Whether it explains more than a choice that does nothing.
    """

    name: str
    alone: Share
    total: Share
    is_found: bool


@dataclass(frozen=True)
class Importance:
    """Importance of every choice and parameter to one objective, the greatest first."""

    label: str
    explained: tuple[Explained, ...]


def importance(study: Study, tried: Sequence[Measured]) -> tuple[Importance, ...]:
    """Return the importance of every choice to each objective; nothing of too few designs."""
    if len(tried) < FEWEST:
        return ()
    picks = [one.design.picks for one in tried]
    keys = {key.key for key in study.space.keys}
    costs = np.array([one.costs(study.objectives) for one in tried])
    return tuple(
        Importance(one.measure.label, indices(study.space, picks, costs[:, place], seed=study.seed))
        for place, one in enumerate(study.objectives)
        # What is chosen itself needs no model.
        if one.measure.column not in keys
    )


def indices(
    space: Space,
    picks: Sequence[Mapping[str, Any]],
    values: NDArray[np.float64],
    *,
    seed: int,
) -> tuple[Explained, ...]:
    """Return the indices of every choice and parameter, the greatest first.

    Parameters
    ----------
    picks
        Of each design.
    values
        Its result, of which differences count.
    """
    columns = dict(columns_of(space))
    code = Code(columns)
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = [space.choose(RandomChooser(seed + 1 + i)).picks for i in range(_DRAWS)]
    # A choice that does nothing shows what chance gives: a column of its own, the last.
    codes = _with_chance(code.rows(picks), random)
    model = grown(codes, values, seed=seed)

    def results(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        means: NDArray[np.float64] = (
            by_tree(model, rows).reshape(_GROUPS, TREES // _GROUPS, -1).mean(axis=1)
        )
        return means

    first = _with_chance(code.rows(drawn), random)
    here = results(first)
    variance = np.maximum(here.var(axis=1), np.finfo(float).tiny)

    def total(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        shares: NDArray[np.float64] = ((here - results(rows)) ** 2).mean(axis=1) / (2 * variance)
        return shares

    chance = total(_with_chance(first[:, :-1], random))
    found = []
    for name in columns:
        anew = code.rows(redrawn(space, drawn, name, seed + 1 + _DRAWS, others=False))
        kept = code.rows(redrawn(space, drawn, name, seed + 1 + _DRAWS, others=True))
        totals = total(np.column_stack([anew, first[:, -1]]))
        alone = 1 - total(_with_chance(kept, random))
        is_found = bool(np.quantile(totals - chance, _LOW) > 0 and totals.mean() > _NEGLIGIBLE)
        found.append(Explained(name, _share(alone), _share(totals), is_found))
    return tuple(sorted(found, key=lambda one: -one.total.mean))


def _share(values: NDArray[np.float64]) -> Share:
    low, high = np.quantile(values, [_LOW, _HIGH])
    return Share(*(float(max(value, 0.0)) for value in (values.mean(), low, high)))


def _with_chance(rows: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    return np.column_stack([rows, random.uniform(size=len(rows))])
