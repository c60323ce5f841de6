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

from copyback.design.forest import Grower, predict
from copyback.design.sampler import RandomChooser
from copyback.design.space import Choice, owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from copyback.design.scores import Measured
    from copyback.design.space import Domain, Space
    from copyback.design.study import Study

#: Models, each of some trees, whose indices give the interval; and designs that are drawn.
_MODELS, _TREES, _DRAWS = 12, 8, 768

#: Fewest designs from which anything is concluded.
FEWEST = 16

#: Share of the variance below which a choice explains nothing that matters.
_NEGLIGIBLE = 0.01

#: Code of a choice in a design in which it does not exist; others are 0 and more.
_ABSENT = -1.0

#: Ends of an interval over the models.
_LOW, _HIGH = 0.025, 0.975


@dataclass(frozen=True)
class Share:
    """Share of the variance of an objective, with its 95% interval over the models."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Explained:
    """What a choice explains of an objective.

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
    columns = dict(_columns(space))
    code = _Code(columns)
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = [space.choose(RandomChooser(seed + 1 + i)).picks for i in range(_DRAWS)]
    # A choice that does nothing shows what chance gives: a column of its own, the last.
    codes = _with_chance(code.rows(picks), random)
    grower = Grower([*code.options, 0], random)
    models = [[grower.grow(codes, values) for _ in range(_TREES)] for _ in range(_MODELS)]

    def results(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([np.mean([predict(t, rows) for t in trees], axis=0) for trees in models])

    first = _with_chance(code.rows(drawn), random)
    here = results(first)
    variance = np.maximum(here.var(axis=1), np.finfo(float).tiny)

    def total(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        shares: NDArray[np.float64] = ((here - results(rows)) ** 2).mean(axis=1) / (2 * variance)
        return shares

    chance = total(_with_chance(first[:, :-1], random))
    found = []
    for name in columns:
        anew = code.rows(_redrawn(space, drawn, name, seed, others=False))
        kept = code.rows(_redrawn(space, drawn, name, seed, others=True))
        totals = total(np.column_stack([anew, first[:, -1]]))
        alone = 1 - total(_with_chance(kept, random))
        is_found = bool(np.quantile(totals - chance, _LOW) > 0 and totals.mean() > _NEGLIGIBLE)
        found.append(Explained(name, _share(alone), _share(totals), is_found))
    return tuple(sorted(found, key=lambda one: -one.total.mean))


def _share(values: NDArray[np.float64]) -> Share:
    low, high = np.quantile(values, [_LOW, _HIGH])
    return Share(*(float(max(value, 0.0)) for value in (values.mean(), low, high)))


def _is_of(name: str, own: str) -> bool:
    """Whether a choice is `own`, or a parameter of one of its options."""
    return owner(name, {own}) is not None


def _with_chance(rows: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    return np.column_stack([rows, random.uniform(size=len(rows))])


def _redrawn(
    space: Space,
    drawn: Sequence[Mapping[str, Any]],
    own: str,
    seed: int,
    *,
    others: bool,
) -> list[Mapping[str, Any]]:
    """Return designs of which a choice, or all others, are drawn anew.

    What exists only beside what is drawn is drawn, too.
    """
    return [
        space.choose(
            _Keeper(
                {name: pick for name, pick in picks.items() if _is_of(name, own) == others},
                seed + 1 + _DRAWS + i,
            )
        ).picks
        for i, picks in enumerate(drawn)
    ]


class _Keeper(RandomChooser):
    """Chooser that keeps some picks, and draws the others."""

    def __init__(self, kept: Mapping[str, Any], seed: int) -> None:
        super().__init__(seed)
        self._kept = kept

    def suggest_categorical(self, name: str, choices: tuple[str, ...]) -> Any:
        return self._kept.get(name) or super().suggest_categorical(name, choices)

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        if name in self._kept:
            return int(self._kept[name])
        return super().suggest_int(name, low, high, log=log)

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        if name in self._kept:
            return float(self._kept[name])
        return super().suggest_float(name, low, high, log=log)


def _columns(space: Space) -> Iterator[tuple[str, Domain]]:
    """Yield every choice and parameter."""
    for key in space.keys:
        yield from _of_domain(key.key, key.domain)


def _of_domain(name: str, domain: Domain) -> Iterable[tuple[str, Domain]]:
    yield name, domain
    if isinstance(domain, Choice):
        for option in domain.options:
            for inner, own in option.parameters:
                yield from _of_domain(f"{name}.{option.label}.{inner}", own)


class _Code:
    """Designs as rows of numbers."""

    def __init__(self, columns: Mapping[str, Domain]) -> None:
        self._columns = columns

    @property
    def options(self) -> list[int]:
        """Number of the options of each column; 0 of numbers."""
        return [len(c.options) if isinstance(c, Choice) else 0 for c in self._columns.values()]

    def rows(self, picks: Iterable[Mapping[str, Any]]) -> NDArray[np.float64]:
        """Return a row for each design."""
        return np.array(
            [[_number(own.get(name), c) for name, c in self._columns.items()] for own in picks]
        )


def _number(pick: Any, domain: Domain) -> float:
    """Return a pick as a number from 0 on; less if it does not exist."""
    if pick is None:
        return _ABSENT
    if isinstance(domain, Choice):
        return float([option.label for option in domain.options].index(pick))
    low, high = domain.range.least, domain.range.most
    value = pick * domain.range.step
    way = np.log if domain.is_log else np.asarray
    return float((way(value) - way(low)) / (way(high) - way(low)))
