"""Simulations of a question: several at once, and each once."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count, product
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.calibration.search import known
from copyback.calibration.search.aim import UnmeasuredError
from copyback.calibration.search.bench import Bench
from copyback.calibration.search.effects import Changes, around
from copyback.calibration.search.kept import Evaluation, Kept
from copyback.calibration.search.search import Search, at_start
from copyback.calibration.search.workers import workers
from copyback.words.console import counting_display

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from copyback._core import Config
    from copyback.calibration.search.aim import Numbers
    from copyback.calibration.search.bench import Loads
    from copyback.calibration.search.known import Effect
    from copyback.calibration.search.question import Question
    from copyback.calibration.search.workers import Outcome, Workers

    Settings = Sequence[tuple[str, str]]


class Trial:
    """Simulations of a question.

    Parameters
    ----------
    bench
        Simulates the drive.
    kept
        Evaluations that are known and those that end.
    workers
        Run simulations.
    """

    def __init__(self, question: Question, bench: Bench, kept: Kept, workers: Workers) -> None:
        self._question = question
        self.bench = bench
        self._kept = kept
        self._workers = workers

    def search(self) -> list[Evaluation]:
        """Return all evaluations, in the order of the search.

        Raises
        ------
        InputError
            If no values that were tried can be simulated, or those of the configuration give no
            number that is fitted.
        """
        asked = self._question
        self._refuse_unmeasured(self.evaluate([at_start(asked.spans, asked.start)])[0])
        search = Search(asked.spans, self.evaluate, asked.aim, asked.seed)
        evaluations = search.run(asked.start, asked.budget)
        best = known.best_of(evaluations)
        if best.found is None:
            raise InputError(best.fault)
        return evaluations

    def _refuse_unmeasured(self, first: Evaluation) -> None:
        """Refuse loads under which the drive that is started from gives no number."""
        asked = self._question
        target = asked.aim.unmeasured(first.found) if first.found is not None else None
        if target is not None:
            raise UnmeasuredError(target.place, str(target.place), target.metric)

    def effects(self, searched: Sequence[Evaluation]) -> tuple[list[Effect], list[Evaluation]]:
        """Return the effect of each key, and all evaluations.

        Parameters
        ----------
        searched
            Evaluations of the search. Those around the best one, and those with the least and the
            most of each key that are as good, come after them.
        """
        asked = self._question
        best = known.best_of(searched)
        beside = self.evaluate(around(asked.spans, best.values))
        changes = Changes.of(asked.spans, asked.aim, best, beside)
        farthest = self.evaluate(changes.farthest())
        return changes.effects(), _each_once([*searched, *beside, *farthest])

    def settings(self, values: Sequence[float]) -> list[tuple[str, str]]:
        """Return the settings that give the keys these values."""
        return [one.setting(value) for one, value in zip(self._question.spans, values, strict=True)]

    def numbers(self, settings: Settings, places: Iterable[Any]) -> dict[Any, Numbers]:
        """Return the simulated numbers of loads.

        Raises
        ------
        InputError, SimulationError
            If a load gives none.
        """
        asked = list(places)
        outcomes = self._workers.simulate([(settings, place) for place in asked])
        return {place: _numbers(one) for place, one in zip(asked, outcomes, strict=True)}

    def evaluate(self, points: Sequence[tuple[float, ...]]) -> list[Evaluation]:
        """Return the evaluations of points, in their order; those that are kept are not redone."""
        places = self._question.aim.simulated
        new = [point for point in dict.fromkeys(points) if point not in self._kept.known]
        pairs = product(map(self.settings, new), places)
        results = self._workers.simulate(list(pairs))
        for point in new:
            self._kept.add(self._evaluation(point, places, results))
        return [self._kept.known[point] for point in points]

    def _evaluation(
        self, point: tuple[float, ...], places: Sequence[Any], results: Iterator[Outcome]
    ) -> Evaluation:
        """Return the evaluation of a point from the next results."""
        found: dict[Any, Numbers] = {}
        fault = ""
        for place in places:
            result = next(results)
            if isinstance(result, Exception):
                fault = fault or str(result)
            else:
                found[place] = result
        whole = None if fault else found
        return Evaluation(point, self._question.aim.loss(whole), whole, fault)


def _numbers(outcome: Outcome) -> Numbers:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _each_once(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    return list({one.values: one for one in evaluations}.values())


@contextmanager
def trial(
    question: Question,
    config: Config,
    load: Loads,
    directory: Path | None,
    simulations: int,
) -> Iterator[Trial]:
    """Yield what runs the simulations of a question, and shows how many have ended.

    Parameters
    ----------
    config
        Drive that is simulated.
    load
        Loads that it is simulated under.
    directory
        Where evaluations are kept, and gone on with; nowhere if None.
    simulations
        Number of them.

    Raises
    ------
    InputError
        If the directory holds another search.
    """
    bench = Bench(config, load)
    done = count(1)
    with (
        Kept(directory, question.head, question.place) as kept,
        counting_display("Simulations", simulations, quiet=question.quiet) as show,
        workers(question.where, bench, lambda: show(next(done))) as ready,
    ):
        show(0)
        yield Trial(question, bench, kept, ready)
