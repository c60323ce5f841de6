"""Contradictions within what is stored of a paper: one claim has one verdict, whoever asks.

Publishing fails if an experiment that it stores takes part in one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.words import units
from copyback_papers import setups
from copyback_papers.agreement import ROUNDING
from copyback_papers.answers import cells_of
from copyback_papers.marks import Because
from copyback_papers.quoted import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from copyback_papers.answers import Answer
    from copyback_papers.book import Book
    from copyback_papers.claims import Claim, Sought
    from copyback_papers.experiment import OpenInput
    from copyback_papers.found import Found
    from copyback_papers.measures import Cell
    from copyback_papers.regions import Mapped
    from copyback_papers.setups import Setup

#: Keys of two set-ups that are named; of more their number is told.
KEYS = 3


class Kind(StrEnum):
    """Kind of a contradiction."""

    VERDICT = "another verdict"
    SETUP = "another set-up"
    INPUT = "an input that changes nothing"
    PROSE = "prose from a run that settles nothing"
    MARK = "a claim that is none by name only"
    COMMIT = "a run of an uncommitted program"


@dataclass(frozen=True)
class Contradiction:
    """Contradiction between results, or between a result and a page.

    Attributes
    ----------
    experiments
        Those that take part.
    """

    kind: Kind
    experiments: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True)
class _Looked:
    """A paper's results, beside the set-ups that they have."""

    book: Book

    @cached_property
    def setups(self) -> dict[str, dict[Cell, Setup]]:
        """The set-ups of what pages show, by experiment."""
        return {name: setups.of_cells(found) for name, found in self.book.found.items()}

    @cached_property
    def _settled(self) -> dict[object, list[tuple[str, Setup]]]:
        """Set-ups that were run until they left their start, by what is not their length."""
        settled: dict[object, list[tuple[str, Setup]]] = {}
        for name, found in self.book.found.items():
            for cell, setup in self.of(found).items():
                if found.scale != "quick" and cell not in found.transient:
                    key = setups.without_length(setup)
                    settled.setdefault(key, []).append((name, setup))
        return settled

    def better(self, found: Found, cell: Cell) -> str | None:
        """Return another experiment that has a cell's set-up settled; None if it settles itself.

        It is no shorter, and its drive no smaller. Lengths within one experiment are its axis.
        """
        setup = self.of(found).get(cell)
        if setup is None or (found.scale != "quick" and cell not in found.transient):
            return None
        there = self._settled.get(setups.without_length(setup), [])
        others = ((name, one) for name, one in there if name != found.experiment.name)
        return next((name for name, one in others if setups.is_as_long(one, setup)), None)

    def of(self, found: Found) -> dict[Cell, Setup]:
        """Return the set-ups of the cells of an experiment."""
        return self.setups[found.experiment.name]


def contradictions(book: Book, templates: Sequence[Path]) -> list[Contradiction]:
    """Return all contradictions of a paper, in the order of its claims and experiments."""
    looked = _Looked(book)
    found: list[Contradiction] = []
    for claim in book.claims:
        for sought in claim.regions:
            found += _joint(looked, claim, sought)
        found += _mark(claim)
    for one in book.found.values():
        found += _inputs(looked, one)
    for template in templates:
        found += _prose(looked, template)
    return [*found, *_uncommitted(book)]


def refuse(found: Sequence[Contradiction], experiments: Sequence[str]) -> None:
    """Refuse to store experiments of which one takes part in a contradiction.

    Raises
    ------
    InputError
        With a line for each contradiction.
    """
    lines = [f"{one}" for one in found if not set(experiments).isdisjoint(one.experiments)]
    if lines:
        raise InputError("\n".join(lines))


def _joint(looked: _Looked, claim: Claim, sought: Sought) -> Iterator[Contradiction]:
    """Yield how the joint point of a region differs from the claim's row."""
    joint = sought.mapped.answers.get(sought.mapped.region.joint)
    row = claim.joint
    if joint is None or row is None or sought.experiment.reading:
        return
    names = (sought.experiment.name, row.found.experiment.name)
    what = f"{names[0]}: {claim.target.figure}, {claim.target.label}: joint point"
    one, other = joint.verdict, row.answer.verdict
    if one is not other and not (one.is_in_band and other.is_in_band):
        text = f"{what} is {one} ({joint.ours}), its row in {names[1]} {other} ({row.answer.ours})"
        yield Contradiction(Kind.VERDICT, names, text)
    keys = _apart(looked, (sought.found, joint), (row.found, row.answer))
    if keys:
        more = f", and {len(keys) - KEYS} keys more" if len(keys) > KEYS else ""
        text = f"{what} and its row in {names[1]}: {', '.join(keys[:KEYS])}{more}"
        yield Contradiction(Kind.SETUP, names, text)


def _apart(looked: _Looked, one: tuple[Found, Answer], other: tuple[Found, Answer]) -> list[str]:
    """Return the keys in which the set-ups of two answers to a claim differ."""
    sides = [_ordered(looked, *side) for side in (one, other)]
    if len(sides[0]) != len(sides[1]):
        return [f"{len(sides[0])} and {len(sides[1])} runs"]
    keys = {key: None for pair in zip(*sides, strict=True) for key in setups.differences(*pair)}
    return list(keys)


def _ordered(looked: _Looked, found: Found, answer: Answer) -> list[Setup]:
    """Return the set-ups that an answer rests on, in an order that names do not decide."""
    known = looked.of(found)
    cells = [cell for cell in cells_of(answer.check, found.measures) if cell in known]
    return sorted(
        (known[cell] for cell in cells), key=lambda setup: sorted(map(repr, setup.items()))
    )


def _mark(claim: Claim) -> Iterator[Contradiction]:
    """Yield a row that is marked as no claim, and whose number moves all the same.

    An identity has one number under every workload and seed, and what no policy acts in has the
    same number under every variant.
    """
    if claim.mark is None or claim.mark.because is None or claim.joint is None:
        return
    found, check = claim.joint.found, claim.joint.answer.check
    cells = cells_of(check, found.measures)
    if claim.mark.because is Because.IDLE:
        places = {(cell.workload, cell.point) for cell in cells}
        cells = [cell for cell in found.measures.rows if (cell.workload, cell.point) in places]
    numbers = [
        n for cell in cells for line in found.measures.of(cell, check.measures) for n in line
    ]
    if not all(math.isclose(n, numbers[0], rel_tol=ROUNDING) for n in numbers):
        name = found.experiment.name
        text = (
            f"{name}: {claim.target.figure}, {claim.target.label} ({claim.mark.because}): "
            f"from {units.significant(min(numbers))} to {units.significant(max(numbers))}"
        )
        yield Contradiction(Kind.MARK, (name,), text)


def _inputs(looked: _Looked, found: Found) -> Iterator[Contradiction]:
    """Yield open inputs that move no number of any region of an experiment."""
    for open_input in found.experiment.open_inputs:
        still = [one for one in found.regions if _is_still(looked, found, one, open_input)]
        if open_input.key and still:
            claims = "; ".join(dict.fromkeys(f"{o.target.figure}, {o.target.label}" for o in still))
            name = found.experiment.name
            text = f"{name}: {open_input.key} moves no number of the region of {claims}"
            yield Contradiction(Kind.INPUT, (name,), text)


def _is_still(looked: _Looked, found: Found, one: Mapped, open_input: OpenInput) -> bool:
    """Return whether a region varies an open input by itself, and no number moves with it."""
    known = looked.of(found)
    cells = {
        cell
        for answer in one.answers.values()
        for cell in cells_of(answer.check, found.measures)
        if cell in known
    }
    if open_input.key is None:
        return False
    groups: dict[object, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(setups.without(known[cell], open_input.key), []).append(cell)
    varied = [
        group
        for group in groups.values()
        if len({setups.part(known[cell], open_input.key) for cell in group}) > 1
    ]
    measures = one.region.measures
    return bool(varied) and all(
        len({repr(found.measures.of(cell, measures)) for cell in group}) == 1 for group in varied
    )


def _prose(looked: _Looked, template: Path) -> Iterator[Contradiction]:
    """Yield quotations of transient or quick runs where another experiment has them settled."""
    for one in quoted(template, looked.book):
        found = looked.book.found[one.experiment]
        open_ones = [c for c in one.cells if found.scale == "quick" or c in found.transient]
        named = sorted(filter(None, {looked.better(found, cell) for cell in open_ones}))
        if named:
            text = f"{one.where} quotes {one.experiment}; settled in {', '.join(named)}"
            yield Contradiction(Kind.PROSE, (one.experiment,), text)


def _uncommitted(book: Book) -> Iterator[Contradiction]:
    """Yield experiments of which a stored run is of a program that is in no commit."""
    for scale, by_name in book.by_scale.items():
        for name in by_name:
            runs = book.results[scale].runs_of(name).values()
            dirty = sum(run.commit.endswith("-dirty") for run in runs)
            if dirty:
                text = f"{name} at {scale} scale: {dirty} of {len(runs)} runs"
                yield Contradiction(Kind.COMMIT, (name,), text)
