"""Whether an entry's numbers are those of its runs today."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.leaderboard.board import BoardRun, Entry


def differences(entry: Entry, found: tuple[BoardRun, ...]) -> Iterator[str]:
    """Yield a sentence for each run of an entry that is not as the board has it."""
    by_place = {(run.load, run.seed): run for run in found}
    for stored in entry.runs:
        own = by_place[stored.load, stored.seed]
        place = f"{entry.name}, {stored.load}, seed {stored.seed}"
        if own.digest != stored.digest:
            yield f"{place}: configuration: found {own.digest}, stored is {stored.digest}"
        for measure, number in stored.numbers.items():
            if own.numbers[measure] != number:
                yield f"{place}: {measure}: found {own.numbers[measure]!r}, stored is {number!r}"
        if own.overloaded != stored.overloaded:
            told = ("keeps up", "does not keep up")
            yield (
                f"{place}: its drive {told[own.overloaded]}, where the board says that it "
                f"{told[stored.overloaded]}"
            )
