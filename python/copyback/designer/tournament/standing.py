"""Result of a tournament, as its file has it (``tournament.json``)."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

from copyback import __version__
from copyback._core import InputError
from copyback.data.outputs import replace_file
from copyback.designer.files import ratio
from copyback.designer.scores import Measured
from copyback.designer.tournament.contest import Kind  # noqa: TC001 - msgspec reads it
from copyback.inputs.tables import read_json
from copyback.sweep.ratios import Ratio

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from copyback.designer.tournament.contest import Contest, Entry
    from copyback.designer.tournament.tournament_file import TournamentFile

SCHEMA = 1


class Goal(msgspec.Struct, frozen=True):
    """Objective: its label, its column in the summary, and its direction."""

    measure: str
    column: str
    goal: str


class Standing(msgspec.Struct, frozen=True):
    """Design in a contest.

    Attributes
    ----------
    scheme
        Name of the scheme or bound; empty of the base and of the best of the whole space.
    settings
        What it has beside the base.
    refused
        Why it cannot be run; then it has no numbers.
    flaw
        Why it may not be built though it runs.
    scores
        For each fresh seed the number in each objective.
    ratios
        For each objective the ratio of its number to that of the best, and the ends of the 95%
        interval; nothing if there is none.
    tried
        Designs that its search had short runs of; null of what was not searched.
    """

    scheme: str
    kind: Kind
    settings: dict[str, str]
    refused: str | None
    flaw: str | None
    scores: dict[str, list[float]]
    ratios: list[list[float | None]]
    tried: int | None

    def score(self, place: int) -> float | None:
        """Return the geometric mean of an objective over the seeds; zero if one is."""
        values = [scores[place] for scores in self.scores.values()]
        if not values:
            return None
        return statistics.geometric_mean(values) if min(values) > 0 else 0.0

    def ratio(self, place: int) -> Ratio | None:
        """Return the ratio of an objective to that of the best, if there is one."""
        found = self.ratios[place] if self.ratios else []
        if len(found) != 3 or found[0] is None:
            return None
        return Ratio(found[0], found[1], found[2])


class UnderLoad(msgspec.Struct, frozen=True):
    """Contest under one workload.

    Attributes
    ----------
    best
        Place of the best among the standings, from 0.
    """

    load: str
    best: int
    standings: list[Standing]

    def of(self, kind: Kind) -> list[Standing]:
        """Return the standings of a kind."""
        return [one for one in self.standings if one.kind is kind]

    @property
    def winner(self) -> Standing:
        """The best."""
        return self.standings[self.best]


class Content(msgspec.Struct, frozen=True):
    """Content of the file.

    Attributes
    ----------
    commits
        Commits of the checkouts that the runs with fresh seeds are from, with `-dirty` if one was
        changed; none of runs from elsewhere.
    budget
        Page operations of each search.
    """

    schema: int
    copyback: str
    commits: list[str]
    objectives: list[Goal]
    budget: int
    seeds: list[int]
    contests: list[UnderLoad]


def content_of(file: TournamentFile, contests: Sequence[Contest]) -> Content:
    """Return the content of what a tournament has found."""
    goals = [Goal(one.measure.label, one.measure.column, one.goal) for one in file.study.objectives]
    return Content(
        SCHEMA,
        __version__,
        sorted(set().union(*(one.commits for one in contests))),
        goals,
        file.study.budget,
        list(contests[0].seeds),
        [_under_load(one) for one in contests],
    )


def _under_load(own: Contest) -> UnderLoad:
    best = own.best.outcome
    assert isinstance(best, Measured), "it was the least"
    standings = [_standing(one, best) for one in own.entries]
    return UnderLoad(own.load.name, own.entries.index(own.best), standings)


def _standing(entry: Entry, best: Measured) -> Standing:
    own = entry.outcome
    settings = dict(own.design.point)
    if not isinstance(own, Measured):
        return Standing(entry.scheme, entry.kind, settings, own.reason, None, {}, [], entry.tried)
    scores = {str(seed): list(values) for seed, values in own.by_seed.items()}
    places = range(len(next(iter(scores.values()))))
    ratios = [ratio(own.ratio(best, place)) for place in places]
    flaw = _flaw(own)
    return Standing(entry.scheme, entry.kind, settings, None, flaw, scores, ratios, entry.tried)


def _flaw(own: Measured) -> str | None:
    if own.is_overloaded:
        return "overloaded"
    return None if own.is_feasible else "a constraint breaks"


def write(content: Content, path: Path) -> None:
    """Write the file."""
    text = msgspec.json.format(msgspec.json.encode(content), indent=2)
    replace_file(path, text + b"\n")


def load(path: Path) -> Content:
    """Read the file.

    Raises
    ------
    InputError
        With the file, the place, what was found and what is allowed.
    """
    content = read_json(path, Content)
    for place, own in enumerate(content.contests):
        _check(own, len(content.objectives), f"{path}: contests[{place}]")
    return content


def _check(own: UnderLoad, goals: int, place: str) -> None:
    """Refuse a contest whose parts do not fit together."""
    if not 0 <= own.best < len(own.standings):
        count = len(own.standings)
        raise InputError(f"{place}.best: found {own.best}; allowed: a place among {count}")
    for number, one in enumerate(own.standings):
        lengths = {len(one.ratios), *map(len, one.scores.values())}
        if one.refused is None and (not one.scores or lengths != {goals}):
            raise InputError(
                f"{place}.standings[{number}]: found scores or ratios of another number of "
                f"objectives; allowed: {goals}"
            )
