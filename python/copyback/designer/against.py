"""The honest baseline: what a scheme gains once everything else is tuned without it, too.

Two studies are searched with the same budget and seed: no design of the first has the scheme, and
every design of the second has it. The best design of each, and the base without and with the
scheme, are run with fresh seeds, which chose none of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.data.outputs import replace_file
from copyback.designer import answer, files
from copyback.designer.found import BASE
from copyback.designer.possible import check_apart, check_possible
from copyback.designer.scores import Measured, Refused
from copyback.designer.study import Length
from copyback.sweep.answer import number
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from copyback.designer.found import Found
    from copyback.designer.runs import Outcome, Runner
    from copyback.designer.scheme import Scheme
    from copyback.designer.space import Design
    from copyback.designer.study import Study
    from copyback.sweep.ratios import NoRatio, Ratio

#: Directories of the two studies, and the file that compares them.
WITHOUT, WITH, AGAINST = "without", "with", "against.json"

#: Fewest fresh seeds that the gain is measured with.
FRESH = 5


@dataclass(frozen=True)
class Pair:
    """One design without a scheme and one with it, run with the same seeds."""

    without: Measured
    with_scheme: Measured

    @property
    def ratios(self) -> tuple[Ratio | NoRatio, ...]:
        """For each objective the ratio of what goes with the scheme to what goes without it."""
        places = range(len(next(iter(self.without.by_seed.values()))))
        return tuple(self.with_scheme.ratio(self.without, place) for place in places)


@dataclass(frozen=True)
class Against:
    """Gain of a scheme, as it is added to the base and once everything else is tuned.

    Attributes
    ----------
    untuned
        The base without and with the scheme; or why the configuration refuses the second.
    tuned
        The designs that are best in the first objective.
    seeds
        The fresh ones.
    """

    scheme: str
    study: Study
    untuned: Pair | Refused
    tuned: Pair
    seeds: tuple[int, ...]

    def sentence(self) -> str:
        """Return the gain that remains, and the gain before."""
        return (
            f"With {self.scheme} the best design has, against the best without it: "
            f"{self._told(self.tuned)}. {self._before()} Both were searched with "
            f"{units.count(self.study.budget)} page operations and are best in "
            f"{self.study.objectives[0].measure.label}; the ratios are of {len(self.seeds)} fresh "
            "seeds."
        )

    def _before(self) -> str:
        if isinstance(self.untuned, Refused):
            return f"Added to the base alone it is refused: {self.untuned.reason}."
        return f"Added to the base alone: {self._told(self.untuned)}."

    def _told(self, pair: Pair) -> str:
        return "; ".join(
            f"{one.measure.label} {answer.ratio_words(ratio)}"
            for one, ratio in zip(self.study.objectives, pair.ratios, strict=True)
        )

    def named(self) -> Iterator[tuple[str, Measured]]:
        """Yield the designs that were run, each with what it is."""
        if isinstance(self.untuned, Pair):
            yield "the base", self.untuned.without
            yield "the base, with it", self.untuned.with_scheme
        yield "the best without", self.tuned.without
        yield "the best with it", self.tuned.with_scheme


def compare(scheme: Scheme, founds: tuple[Found, Found], runners: tuple[Runner, Runner]) -> Against:
    """Run the best design of each study, and the base without and with the scheme.

    Raises
    ------
    InputError
        If one of the studies has no design that may be built.
    """
    study = founds[0].study
    seeds = fresh_seeds(study)
    without, best = (
        _measured(runner.measure([_best(found, name)], Length.FULL, seeds))
        for found, runner, name in zip(founds, runners, (WITHOUT, WITH), strict=True)
    )
    (base, alone) = runners[0].measure([BASE, scheme.alone], Length.FULL, seeds)
    assert isinstance(base, Measured), "it has been run with other seeds"
    untuned = alone if isinstance(alone, Refused) else Pair(base, alone)
    return Against(scheme.name, study, untuned, Pair(without, best), seeds)


def fresh_seeds(study: Study) -> tuple[int, ...]:
    """Return seeds that the study does not run with."""
    first = max(study.seeds) + 1
    return tuple(range(first, first + max(FRESH, len(study.seeds))))


def _best(found: Found, name: str) -> Design:
    """Return the design that is best in the first objective."""
    if not found.points:
        raise InputError(f"{name}: no design keeps the constraints; allowed: a larger budget")
    return found.points[0].design


def _measured(outcomes: Sequence[Outcome]) -> Measured:
    (outcome,) = outcomes
    assert isinstance(outcome, Measured), "it has been run with other seeds"
    return outcome


def rows(own: Against) -> list[tuple[str, list[str], str]]:
    """Return for each design what it is, its numbers and its choices."""
    return [
        (f"{name}{_flaw(one)}", _values(own, one), answer.words(one.design.point))
        for name, one in own.named()
    ]


def _flaw(one: Measured) -> str:
    """Return why a design may not be built; nothing if it may."""
    if one.is_overloaded:
        return " (overloaded)"
    return "" if one.is_feasible else " (a constraint breaks)"


def _values(own: Against, one: Measured) -> list[str]:
    objectives = own.study.objectives
    return [number(goal.measure, one.score(i)) for i, goal in enumerate(objectives)]


def write(own: Against, directory: Path) -> None:
    """Write the comparison in numbers."""
    untuned = own.untuned
    content: dict[str, Any] = {
        "schema": files.SCHEMA,
        "scheme": own.scheme,
        "answer": own.sentence(),
        "seeds": list(own.seeds),
        "tuned": numbers(own.study, own.tuned),
        "untuned": untuned.reason if isinstance(untuned, Refused) else numbers(own.study, untuned),
    }
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    replace_file(directory / AGAINST, text.encode())


def numbers(study: Study, pair: Pair) -> dict[str, Any]:
    """Return two designs with their scores and ratios, as the file of a comparison has them."""
    return {
        WITHOUT: _point(pair.without),
        WITH: _point(pair.with_scheme),
        "ratios": {
            one.measure.label: files.ratio(ratio)
            for one, ratio in zip(study.objectives, pair.ratios, strict=True)
        },
    }


def _point(one: Measured) -> dict[str, Any]:
    return {**files.point(one), "overloaded": one.is_overloaded, "feasible": one.is_feasible}


def check(directory: Path) -> None:
    """Refuse a directory that holds something other than such a comparison.

    Raises
    ------
    InputError
        With what was found.
    """
    files.check_only(directory, {WITHOUT, WITH, AGAINST}.__contains__, "a study")


def investigate_both(
    scheme: Scheme,
    study: Study,
    runner_of: Callable[[Study, str], Runner],
    run: Callable[[Runner], Found],
) -> Against:
    """Run both studies, and compare what they found.

    Parameters
    ----------
    runner_of
        Returns the runner of a study, in the directory of a name.
    run
        Runs a study.

    Raises
    ------
    InputError
        If the space has nothing but the scheme, the base has it, or nothing can be built with it.
    """
    # The gain needs no surrogate.
    own = replace(study, held_back=0)
    without = runner_of(scheme.study_without(own), WITHOUT)
    with_scheme = runner_of(scheme.study_with(own), WITH)
    check_apart(scheme, without)
    check_possible(scheme, with_scheme)
    return compare(scheme, (run(without), run(with_scheme)), (without, with_scheme))
