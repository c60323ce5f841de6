"""Asks Optuna for the next designs, and records what became of them.

Optuna keeps its study in memory only. A study that goes on is asked for the same designs again, in
the same order, and finds their runs in the store.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.designer.scores import Refused
from copyback.designer.study import Sampling

if TYPE_CHECKING:
    import optuna

    from copyback.designer.runs import Outcome
    from copyback.designer.space import Design
    from copyback.designer.study import Study

#: Questions to Optuna for a design that has not been asked for before, and then draws at random.
_QUESTIONS = 4
_DRAWS = 1_000

#: Constraint that a refused design exceeds, and by how much: more than any run does.
_REFUSED, _BY = "refused", 10.0


@dataclass(frozen=True)
class Asked:
    """Design that Optuna has asked for."""

    trial: optuna.Trial
    design: Design


class Sampler:
    """Source of designs, each of which comes once."""

    def __init__(self, study: Study) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = study
        self._random = RandomChooser(study.seed)
        self._seen: set[Design] = set()
        self._optuna = optuna.create_study(
            sampler=_sampler(study), directions=["minimize"] * len(study.objectives)
        )

    def ask(self, count: int) -> list[Asked]:
        """Return the next designs; fewer if the space is used up."""
        found: list[Asked] = []
        while len(found) < count and (asked := self._new()) is not None:
            self._seen.add(asked.design)
            found.append(asked)
        return found

    def record(self, asked: Asked, outcome: Outcome) -> None:
        """Record what became of a design."""
        if isinstance(outcome, Refused):
            asked.trial.set_constraint(_REFUSED, _BY)
            values = [0.0] * len(self._study.objectives)
        else:
            asked.trial.set_constraint(_REFUSED, 0.0)
            asked.trial.set_constraint("bounds", outcome.excess)
            asked.trial.set_constraint("overload", float(outcome.is_overloaded))
            values = list(outcome.costs(self._study.objectives))
        self._optuna.tell(asked.trial, values)

    def _new(self) -> Asked | None:
        """Return a design that has not been asked for before; None if none is found."""
        import optuna

        for _ in range(_QUESTIONS):
            asked = self._next()
            if asked.design not in self._seen:
                return asked
            self._optuna.tell(asked.trial, state=optuna.trial.TrialState.FAIL)
        for _ in range(_DRAWS):
            design = self._study.space.choose(self._random)
            if design not in self._seen:
                self._optuna.enqueue_trial(dict(design.picks))
                return self._next()
        return None

    def _next(self) -> Asked:
        trial = self._optuna.ask()
        return Asked(trial, self._study.space.choose(trial))


def _sampler(study: Study) -> optuna.samplers.BaseSampler:
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        if study.sampler is Sampling.TPE:
            startup = max(10, 2 * study.batch)
            return optuna.samplers.TPESampler(
                seed=study.seed, multivariate=True, group=True, n_startup_trials=startup
            )
        if study.sampler is Sampling.NSGA2:
            population = 2 * study.batch
            return optuna.samplers.NSGAIISampler(seed=study.seed, population_size=population)
        return optuna.samplers.RandomSampler(seed=study.seed)


class RandomChooser:
    """Chooser that draws each value on its own, evenly."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.Generator(np.random.PCG64(seed))

    def suggest_categorical(self, name: str, choices: tuple[str, ...]) -> Any:  # noqa: ARG002
        """Choose one of some labels."""
        return choices[int(self._random.integers(len(choices)))]

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """Choose a whole number."""
        if not log:
            return int(self._random.integers(low, high, endpoint=True))
        return min(max(round(self.suggest_float(name, low, high, log=True)), low), high)

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:  # noqa: ARG002
        """Choose a number."""
        if log:
            return float(np.exp(self._random.uniform(np.log(low), np.log(high))))
        return float(self._random.uniform(low, high))
