"""Marks on claims that are counted apart, or not at all: three tables of ``paper.toml``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.inputs.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from copyback_papers.targets import Target


class Because(StrEnum):
    """Ground on which a row is no claim."""

    IDENTITY = "identity"
    IDLE = "no policy acts"


class Kind(StrEnum):
    """Kind of a mark, the strongest first: a claim has one."""

    NO_CLAIM = "no claim"
    NO_TRACE = "on a trace that nobody has"
    SEEN = "seen"


@dataclass(frozen=True)
class Mark:
    """Mark on a claim.

    Attributes
    ----------
    why
        What makes it no claim, which trace it rests on, or what was seen of it.
    because
        The ground, if it is no claim.
    """

    kind: Kind
    why: str
    because: Because | None = None


class NoClaim(Table, frozen=True):
    """A row that any program would meet.

    Attributes
    ----------
    because
        It is an identity of the set-up, or no policy acts in it.
    """

    target: dict[str, Any]
    because: Because
    reason: str


class RestsOn(Table, frozen=True):
    """Rows that rest on a trace that nobody has, such as a table of its properties."""

    target: dict[str, Any]
    trace: str


class Seen(Table, frozen=True):
    """Rows whose figure under the joint reading was seen before that reading was chosen.

    Attributes
    ----------
    saw
        The figure, and the set-up under which it was seen.
    """

    target: dict[str, Any]
    saw: str


class Marks(Table, frozen=True):
    """Marks of a paper, as its file has them; the target of a row matches one claim or several."""

    no_claims: tuple[NoClaim, ...] = ()
    rests_on: tuple[RestsOn, ...] = ()
    seen: tuple[Seen, ...] = ()

    def rows(self) -> Iterator[tuple[str, dict[str, Any], Mark]]:
        """Yield each row's place in the file, its target and its mark, the weakest kind first."""
        for at, saw in enumerate(self.seen):
            yield f"seen[{at}]", saw.target, Mark(Kind.SEEN, saw.saw)
        for at, rests in enumerate(self.rests_on):
            yield f"rests_on[{at}]", rests.target, Mark(Kind.NO_TRACE, rests.trace)
        for at, no in enumerate(self.no_claims):
            yield (
                f"no_claims[{at}]",
                no.target,
                Mark(Kind.NO_CLAIM, f"{no.because}: {no.reason}", no.because),
            )


def marked(marks: Marks, targets: Sequence[Target], path: Path) -> dict[Target, Mark]:
    """Return the mark of each claim that has one: the strongest of several.

    Raises
    ------
    InputError
        If a row matches no claim.
    """
    found: dict[Target, Mark] = {}
    for place, columns, mark in marks.rows():
        texts = {key: str(value) for key, value in columns.items()}
        matching = [one for one in targets if one.matches(texts)]
        if not matching:
            raise InputError(f"{path}: {place}: no row of targets.csv matches {texts}")
        found.update(dict.fromkeys(matching, mark))
    return found
