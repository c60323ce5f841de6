"""Designs as rows of numbers, and designs with a choice drawn anew, for the importance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.design.sampler import RandomChooser
from copyback.design.space import Choice, owner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from copyback.design.space import Domain, Space

#: Code of a choice in a design in which it does not exist; others are 0 and more.
_ABSENT = -1.0


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
