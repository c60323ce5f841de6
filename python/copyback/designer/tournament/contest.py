"""Contest under one workload: a search of the whole space, and one for each scheme.

Each search has the same budget. The base, each scheme as it is added to that, and the best design
of each search are then run with fresh seeds, which chose none of them. The least of these is the
best; each bound is that design with settings that nobody can build.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from copyback._core import InputError
from copyback.designer.against import fresh_seeds
from copyback.designer.found import BASE
from copyback.designer.possible import check_apart, check_possible
from copyback.designer.scores import Measured
from copyback.designer.study import Length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from copyback.designer.found import Found
    from copyback.designer.runs import Outcome, Runner
    from copyback.designer.scheme import Scheme
    from copyback.designer.space import Design
    from copyback.designer.study import Load, Study
    from copyback.designer.tournament.tournament_file import TournamentFile

#: Directories of a contest beside those of its schemes.
WHOLE, FRESH = "whole", "fresh"


class Kind(StrEnum):
    """Kind of an entry of a contest."""

    BASE = "base"
    WHOLE = "best of the space"
    PUBLISHED = "as published"
    TUNED = "tuned"
    BOUND = "bound"


@dataclass(frozen=True)
class Entry:
    """Design that was run with fresh seeds, or refused.

    Attributes
    ----------
    scheme
        Name of the scheme or bound; empty of the base and of the best of the whole space.
    tried
        Designs that its search had short runs of; None of what was not searched.
    """

    scheme: str
    kind: Kind
    outcome: Outcome
    tried: int | None

    @property
    def rank(self) -> Measured | None:
        """Outcome with which it may win; None if it is refused, or may not be built."""
        own = self.outcome
        return own if isinstance(own, Measured) and own.may_be_built else None


class _Entered(NamedTuple):
    """Design that is to be run with fresh seeds."""

    scheme: str
    kind: Kind
    design: Design
    tried: int | None = None


@dataclass(frozen=True)
class Contest:
    """Result under one workload.

    Attributes
    ----------
    best
        The entry with the least of the first objective of all that may be built.
    seeds
        The fresh ones.
    commits
        Commits of the checkouts that these runs were run from.
    """

    study: Study
    entries: tuple[Entry, ...]
    best: Entry
    seeds: tuple[int, ...]
    commits: set[str]

    @property
    def load(self) -> Load:
        """The workload."""
        return self.study.loads[0]


@dataclass(frozen=True)
class Ways:
    """Ways to carry out the searches of a tournament.

    Attributes
    ----------
    runner_of
        Returns the runner of a study in a directory, which is relative to the tournament's.
    run
        Runs the study of a runner.
    """

    runner_of: Callable[[Study, str], Runner]
    run: Callable[[Runner], Found]


def hold(file: TournamentFile, ways: Ways) -> list[Contest]:
    """Hold a contest under each workload.

    Raises
    ------
    InputError
        If the base has a scheme, nothing can be built with one or a bound, which is looked at
        before anything is run; or if no design of a search keeps up.
    """
    homes = [_folder(place, load.name) for place, load in enumerate(file.study.loads, 1)]
    pairs = list(zip(file.study.loads, homes, strict=True))
    for load, home in pairs:
        _check(file, load, home, ways)
    return [_hold(file, load, home, ways) for load, home in pairs]


def _check(file: TournamentFile, load: Load, home: str, ways: Ways) -> None:
    """Refuse schemes and bounds that cannot be compared under a workload."""
    for scheme, runner in _searches(file, load, home, ways):
        if scheme is not None:
            check_apart(scheme, runner)
            check_possible(scheme, runner)
    for bound in file.bounds:
        study = bound.study_with(file.study_of(load))
        check_possible(bound, ways.runner_of(study, f"{home}/{FRESH}"))


def _hold(file: TournamentFile, load: Load, home: str, ways: Ways) -> Contest:
    study = file.study_of(load)
    entered = [_Entered("", Kind.BASE, BASE)]
    for scheme, runner in _searches(file, load, home, ways):
        found = ways.run(runner)
        best = _best(found, "space" if scheme is None else scheme.place)
        tried = len(found.searched.tried)
        if scheme is None:
            entered.append(_Entered("", Kind.WHOLE, best, tried))
        else:
            entered.append(_Entered(scheme.name, Kind.PUBLISHED, scheme.alone))
            entered.append(_Entered(scheme.name, Kind.TUNED, best, tried))
    judge = ways.runner_of(study, f"{home}/{FRESH}")
    entries = _run(judge, entered)
    first = _first(study, entries)
    bounds = [_Entered(own.name, Kind.BOUND, own.over(first.outcome.design)) for own in file.bounds]
    entries += _run(judge, bounds)
    return Contest(study, tuple(entries), first, fresh_seeds(study), judge.commits)


def _searches(
    file: TournamentFile, load: Load, home: str, ways: Ways
) -> Iterator[tuple[Scheme | None, Runner]]:
    """Yield the search of the whole space, then that of each scheme, with its runner."""
    study = file.study_of(load)
    yield None, ways.runner_of(study, f"{home}/{WHOLE}")
    for place, scheme in enumerate(file.schemes, 1):
        own = scheme.study_with(study)
        yield scheme, ways.runner_of(own, f"{home}/{_folder(place, scheme.name)}")


def _folder(place: int, name: str) -> str:
    """Return the directory of what a user has named.

    >>> _folder(2, "AGC + DGC")
    '2-agc-dgc'
    """
    return f"{place}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}"


def _best(found: Found, place: str) -> Design:
    """Return the design that is best in the first objective."""
    if not found.points:
        load = found.study.loads[0].name
        raise InputError(
            f"{place}: no design keeps up with {load} and the constraints; "
            "allowed: a larger budget, or a load that a design keeps up with"
        )
    return found.points[0].design


def _run(judge: Runner, entered: Sequence[_Entered]) -> list[Entry]:
    designs = [one.design for one in entered]
    outcomes = judge.measure(designs, Length.FULL, fresh_seeds(judge.study))
    return [
        Entry(one.scheme, one.kind, outcome, one.tried)
        for one, outcome in zip(entered, outcomes, strict=True)
    ]


def _first(study: Study, entries: Sequence[Entry]) -> Entry:
    """Return the entry with the least of the first objective."""
    ranked = [one for one in entries if one.rank is not None]
    if not ranked:
        raise InputError(
            f"workloads.{study.loads[0].name}: no design keeps up with it with fresh seeds; "
            "allowed: a load that a design keeps up with"
        )
    return min(ranked, key=lambda one: _cost(study, one))


def _cost(study: Study, entry: Entry) -> float:
    """Return what the first objective comes to, less being better."""
    assert entry.rank is not None
    return entry.rank.costs(study.objectives)[0]
