"""A paper and what is stored of it: where pages look up cells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.words import units
from copyback_papers import stored_files
from copyback_papers.catalogue import load_paper
from copyback_papers.claims import claims
from copyback_papers.measures import Cell
from copyback_papers.readings import tried

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from copyback_papers.answers import Answer
    from copyback_papers.catalogue import Paper
    from copyback_papers.claims import Claim
    from copyback_papers.experiment import Experiment
    from copyback_papers.found import Found
    from copyback_papers.marks import Kind
    from copyback_papers.readings import Tried
    from copyback_papers.stored import Key, Run, Stored

#: The directory of stored results, below that of the pages.
RESULTS = "results"

#: Scales that pages show, the one that they prefer first.
SCALES = ("full", "quick")

#: Full scale with twice the requests: pages say whether a verdict moves.
DOUBLE = "double"


@dataclass(frozen=True)
class Book:
    """A paper and what is stored of it.

    Attributes
    ----------
    by_scale
        What was found at each scale, by the experiment's name; without those of which nothing is
        stored.
    """

    paper: Paper
    results: Mapping[str, Stored]
    by_scale: Mapping[str, Mapping[str, Found]]

    @cached_property
    def found(self) -> dict[str, Found]:
        """Findings for the pages of each experiment: of the largest scale that was run."""
        found: dict[str, Found] = {}
        for scale in SCALES:
            found = {**self.by_scale[scale], **found}
        return found

    @cached_property
    def claims(self) -> list[Claim]:
        """The claims of the paper, and what became of them."""
        return claims(self.paper, self.found, self.by_scale[DOUBLE])

    @property
    def counted(self) -> list[Claim]:
        """The claims that are neither counted apart nor no claims."""
        return [claim for claim in self.claims if claim.mark is None]

    @cached_property
    def tried(self) -> list[Tried]:
        """The readings beside the joint one, by what each reproduces of the counted claims."""
        return tried(self.counted)

    def marked(self, kind: Kind) -> list[Claim]:
        """Return the claims that have a mark."""
        return [claim for claim in self.claims if claim.mark and claim.mark.kind is kind]

    @property
    def scales(self) -> list[str]:
        """The scales of what pages show."""
        return [scale for scale in SCALES if any(f.scale == scale for f in self.found.values())]

    @cached_property
    def runs(self) -> dict[Key, Run]:
        """The runs that pages show."""
        return {key: run for name in self.found for key, run in self.runs_of(name).items()}

    def ran(self, *names: str) -> bool:
        """Return whether something is stored of each of these experiments."""
        return all(self.experiment(name).name in self.found for name in names)

    def runs_of(self, name: str) -> dict[Key, Run]:
        """Return the runs of an experiment, at the scale that pages show."""
        return self.results[self.of(name).scale].runs_of(name)

    def experiment(self, name: str) -> Experiment:
        """Return an experiment by its name, under the joint or another reading."""
        for one in self.paper.everything:
            if one.name == name:
                return one
        raise InputError(f"{self.paper.name} has no experiment {name!r}")

    def of(self, name: str) -> Found:
        """Return what was found; an error if nothing is stored."""
        self.experiment(name)
        if name not in self.found:
            raise InputError(f"nothing is stored of experiment {name!r} of {self.paper.name}")
        return self.found[name]

    def value(
        self,
        name: str,
        variant: str,
        *,
        workload: str = "",
        point: str = "",
        measure: str = "response_us.all.mean",
    ) -> float:
        """Return the number of one cell: its mean over seeds."""
        found = self.of(name)
        cell = Cell(workload, point, variant)
        if cell not in found.measures:
            raise InputError(f"no cell {name} / {workload} / {point} / {variant} is stored")
        number = found.measures.mean(cell, measure)
        if number != number:
            raise InputError(f"no {measure} is stored of {name} / {workload} / {point} / {variant}")
        return number

    def cell(self, name: str, variant: str, *, scale: float = 1.0, **where: str) -> str:
        """Return the number of a cell as text."""
        return units.significant(self.value(name, variant, **where) * scale)

    def times(self, name: str, variant: str, baseline: str, **where: str) -> str:
        """Return how many times a variant's number is that of another under the same load."""
        base = self.value(name, baseline, **where)
        if not base:
            raise InputError(f"{name}: {baseline} is zero: nothing is a multiple of it")
        return units.significant(self.value(name, variant, **where) / base)

    def faster(self, name: str, variant: str, baseline: str, *, point: str = "") -> list[str]:
        """Return the loads under which a variant's mean response is shorter than another's."""
        loads = [cell.workload for cell in cells_at(self.of(name), (variant,), point)]
        return [
            load
            for load in loads
            if self.value(name, variant, workload=load, point=point)
            < self.value(name, baseline, workload=load, point=point)
        ]

    def ours(self, name: str, number: int) -> str:
        """Return our answer to a check of an experiment, counted from one."""
        return self.answer(name, number).ours

    def at(self, name: str, number: int, place: str) -> str:
        """Return our answer at a place of a region of an experiment, counted from one."""
        return self.answer(name, number, place).ours

    def number(self, name: str, number: int, place: str = "") -> float:
        """Return our answer to a check, or at a place of a region, as a number."""
        given = self.answer(name, number, place)
        if given.value is None:
            raise InputError(f"answer {number} of {name} is no number: {given.ours}")
        return given.value

    def answer(self, name: str, number: int, place: str = "") -> Answer:
        """Return the answer to a check of an experiment, or to a region of it at a place.

        Raises
        ------
        InputError
            If there is none.
        """
        if not place:
            answers = self.of(name).answers
            if not 1 <= number <= len(answers):
                raise InputError(f"{name} has {len(answers)} answers, none is number {number}")
            return answers[number - 1]
        regions = self.of(name).regions
        if not 1 <= number <= len(regions):
            raise InputError(f"{name} has {len(regions)} regions, none is number {number}")
        found = regions[number - 1].answers
        if place not in found:
            raise InputError(f"region {number} of {name} has no place {place!r}")
        return found[place]

    def given(self, name: str, text: str) -> str:
        """Return a figure that the experiment's file or the claims have, as they have it."""
        path = self.experiment(name).path
        claimed = {f"{t.value:g}" for t in self.paper.targets if t.value is not None}
        whole = rf"(?<![\d.]){re.escape(text)}(?![\d.]*\d)"
        if text not in claimed and not re.search(whole, path.read_text(encoding="utf-8")):
            raise InputError(f"{path.name} and the claims do not say {text!r}")
        return text


def cells_at(found: Found, variants: Collection[str], point: str) -> list[Cell]:
    """Return the stored cells of some variants at a point, of every load."""
    return [one for one in found.measures.rows if one.variant in variants and one.point == point]


def said(text: str, holds: bool) -> str:
    """Return words of a page; an error if what is stored is not so."""
    if not holds:
        raise InputError(f"{text!r}: what is stored says otherwise")
    return text


def open_book(docs: Path, name: str) -> Book:
    """Return a paper and what is stored of it below the directory of the pages."""
    paper = load_paper(name)
    return book_of(
        paper, {one: stored_files.load(docs / RESULTS, paper, one) for one in (*SCALES, DOUBLE)}
    )


def book_of(paper: Paper, results: Mapping[str, Stored]) -> Book:
    """Return a paper and its results at each scale."""
    by_scale = {
        scale: {
            one.name: found for one in paper.everything if (found := stored.of(one)) is not None
        }
        for scale, stored in results.items()
    }
    return Book(paper, results, by_scale)
