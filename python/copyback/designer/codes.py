"""Designs as rows of numbers, and designs with a choice drawn anew, for models of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.designer.sampler import RandomChooser
from copyback.designer.space import Choice, owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from copyback.designer.space import Domain, Space, Span

#: Code of a number in a design in which it does not exist; others are from 0 to 1.
ABSENT = -1.0


def columns_of(space: Space) -> Iterator[tuple[str, Domain]]:
    """Yield every choice and parameter."""
    for key in space.keys:
        yield from _of_domain(key.key, key.domain)


def _of_domain(name: str, domain: Domain) -> Iterable[tuple[str, Domain]]:
    yield name, domain
    if isinstance(domain, Choice):
        for option in domain.options:
            for inner, own in option.parameters:
                yield from _of_domain(f"{name}.{option.label}.{inner}", own)


class Code:
    """Designs as rows of numbers.

    A range has one column, from 0 at its least to 1 at its most. A choice has a column for each
    option, 1 where that is chosen.
    """

    def __init__(self, columns: Mapping[str, Domain]) -> None:
        self._columns = columns

    def rows(self, picks: Iterable[Mapping[str, Any]]) -> NDArray[np.float64]:
        """Return a row for each design."""
        return np.array(
            [
                [
                    number
                    for name, own in self._columns.items()
                    for number in _coded(pick, name, own)
                ]
                for pick in picks
            ]
        )


def _coded(picks: Mapping[str, Any], name: str, domain: Domain) -> list[float]:
    """Return the columns of a choice or range."""
    pick = picks.get(name)
    if isinstance(domain, Choice):
        return [float(option.label == pick) for option in domain.options]
    return [ABSENT if pick is None else along(pick * domain.range.step, domain)]


def along(value: float, domain: Span) -> float:
    """Return where a value lies in its range: 0 is its least, 1 its most."""
    low, high = domain.range.least, domain.range.most
    way = np.log if domain.is_log else np.asarray
    return float((way(value) - way(low)) / (way(high) - way(low)))


def redrawn(
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
                seed + i,
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


def _is_of(name: str, own: str) -> bool:
    """Whether a choice is `own`, or a parameter of one of its options."""
    return owner(name, {own}) is not None
