"""Theirs beside ours: each number, how far apart, and whether that is within the bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.validation.stored import Numbers, Responses, Row

#: Counts of requests may differ by those that a simulator never completes, with the stated cause.
TIMES = ("mean_us", "p99_us", "p99_9_us")
COUNTS = ("page_reads", "page_programs", "erases")


@dataclass(frozen=True)
class Compared:
    """One number: what it is, theirs, ours, and what the cause predicts of theirs (or None)."""

    what: str
    theirs: float
    ours: float
    explained: float | None

    def off(self) -> float:
        """Return how far ours is from theirs, as a share of theirs."""
        return _off(self.ours, self.theirs)

    def explained_off(self) -> float | None:
        """Return how far what the cause predicts is from theirs, as a share of theirs."""
        return None if self.explained is None else _off(self.explained, self.theirs)


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

    def agrees(self) -> bool:
        """Whether all numbers are within the row's bound."""
        return abs(self.worst().off()) <= self.row.within


def compare(row: Row, ours: Numbers) -> Verdict:
    """Compare what a row stores with what was found here."""
    return Verdict(row, list(_compared(row.theirs, ours, row.explained)))


def _compared(theirs: Numbers, ours: Numbers, explained: Numbers | None) -> Iterator[Compared]:
    for kind in ("reads", "writes"):
        sides: list[Responses | None] = [
            None if numbers is None else getattr(numbers, kind)
            for numbers in (theirs, ours, explained)
        ]
        if sides[0] is None or sides[1] is None:
            if sides[0] is not None or sides[1] is not None:
                found = [0.0 if side is None else float(side.count) for side in sides[:2]]
                yield Compared(f"{kind}: count", found[0], found[1], None)
            continue
        for time in ("count", *TIMES):
            third = None if sides[2] is None else float(getattr(sides[2], time))
            yield Compared(
                f"{kind}: {time}", getattr(sides[0], time), getattr(sides[1], time), third
            )
    for count in COUNTS:
        third = None if explained is None else float(getattr(explained, count))
        yield Compared(count, getattr(theirs, count), getattr(ours, count), third)


def _off(ours: float, theirs: float) -> float:
    if theirs == 0:
        return 0.0 if ours == 0 else float("inf")
    return ours / theirs - 1
