"""Theirs beside ours: each number, how far apart, and whether that is within the bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from copyback_papers.validation.stored import Numbers, Responses, Row

#: Counts of requests may differ by those that a simulator never completes, with the stated cause.
TIMES = ("mean_us", "p99_us", "p99_9_us")
COUNTS = ("page_reads", "page_programs", "erases")


@dataclass(frozen=True)
class Compared:
    """One number.

    Attributes
    ----------
    what
        What it is.
    theirs, ours
        What was stored of another simulator, and what was found here.
    explained, without
        What a model gives with their rules, and with ours; None: no cause is stated.
    """

    what: str
    theirs: float
    ours: float
    explained: float | None = None
    without: float | None = None

    def off(self) -> float:
        """Return how far ours is from theirs, as a share of theirs."""
        return _off(self.ours, self.theirs)

    def explained_off(self) -> float | None:
        """Return how far what the cause predicts is from theirs, as a share of theirs."""
        return None if self.explained is None else _off(self.explained, self.theirs)

    def predicted(self) -> float:
        """Return what ours should be: theirs, moved by as much as the cause moves the model."""
        if self.explained is None or self.without is None:
            return self.theirs
        return self.theirs * self.without / self.explained if self.explained else self.without

    def predicted_off(self) -> float:
        """Return how far ours should be from theirs, as a share of theirs."""
        return _off(self.predicted(), self.theirs)

    def beside_prediction(self) -> float:
        """Return how far ours is from what it should be, as a share of that."""
        return _off(self.ours, self.predicted())


@dataclass(frozen=True)
class Verdict:
    """A row with all its numbers."""

    row: Row
    numbers: list[Compared]

    def worst(self) -> Compared:
        """Return the number that is furthest off."""
        return max(self.numbers, key=lambda one: abs(one.off()))

    def is_same(self) -> bool:
        """Whether all numbers are the same."""
        return all(number.off() == 0 for number in self.numbers)

    def furthest(self) -> Compared:
        """Return the number that is furthest from what it should be."""
        return max(self.numbers, key=lambda one: abs(one.beside_prediction()))

    def agrees(self) -> bool:
        """Whether all numbers are within the row's bound of what they should be."""
        return abs(self.furthest().beside_prediction()) <= self.row.within


def compare(row: Row, ours: Numbers) -> Verdict:
    """Compare what a row stores with what was found here."""
    of = [row.theirs, ours, row.explained, row.without]
    responses = [] if row.counts_only else list(_responses(of))
    counts = [
        _number(count, [_of(numbers, count) for numbers in of])
        for count in COUNTS
        if getattr(row.theirs, count) is not None
    ]
    return Verdict(row, [*responses, *counts])


def _responses(of: Sequence[Numbers | None]) -> Iterator[Compared]:
    for kind in ("reads", "writes"):
        sides: list[Responses | None] = [
            None if numbers is None else getattr(numbers, kind) for numbers in of
        ]
        if sides[0] is None or sides[1] is None:
            if sides[0] is not None or sides[1] is not None:
                found = [0.0 if side is None else float(side.count) for side in sides[:2]]
                yield Compared(f"{kind}: count", found[0], found[1])
            continue
        for time in ("count", *TIMES):
            yield _number(f"{kind}: {time}", [_of(side, time) for side in sides])


def _of(side: Numbers | Responses | None, what: str) -> float | None:
    return None if side is None else float(getattr(side, what))


def _number(what: str, values: Sequence[float | None]) -> Compared:
    theirs, ours, explained, without = values
    assert theirs is not None
    assert ours is not None
    return Compared(what, theirs, ours, explained, without)


def _off(ours: float, theirs: float) -> float:
    if theirs == 0:
        return 0.0 if ours == 0 else float("inf")
    return ours / theirs - 1
