"""Scores of designs: one number a design, seed and objective, over all workloads.

A score is the weighted geometric mean over the workloads, so that a workload with long times does
not decide alone. Designs are compared by logarithms of scores: less is better.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.data.summary_numbers import numbers_of
from copyback.sweep.page_numbers import quantity
from copyback.sweep.ratios import ratio_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.designer.space import Design
    from copyback.designer.study import Load, Objective, Study
    from copyback.sweep.bounds import Bound
    from copyback.sweep.ratios import NoRatio, Ratio
    from copyback.sweep.schemes import Measure

#: Score that zero counts as where logarithms are taken: a billionth.
LEAST = 1e-9

#: Finding of a run whose numbers depend on its length.
_OVERLOADED = "verdict.overload"


@dataclass(frozen=True)
class RunNumbers:
    """Numbers of one run that a study looks at.

    Attributes
    ----------
    measured
        Numbers of the summary by their columns.
    resolved
        Its configuration, with every default.
    operations
        Page operations that it took.
    commit
        Commit of the checkout that it was run from; None elsewhere.
    """

    measured: Mapping[str, float | None]
    resolved: Mapping[str, Any]
    operations: int
    commit: str | None = None

    @classmethod
    def of(cls, summary: Mapping[str, Any], resolved: Mapping[str, Any]) -> RunNumbers:
        """Return those of a run, by its summary and its configuration."""
        simulator = summary["simulator"]
        operations = int(simulator["page_operations"])
        return cls(numbers_of(summary), resolved, operations, simulator.get("commit"))

    @property
    def is_overloaded(self) -> bool:
        """Whether the drive did not keep up."""
        return bool(self.measured.get(_OVERLOADED))

    def value(self, measure: Measure) -> float:
        """Return a measure; a dotted key of the configuration is one as well.

        Raises
        ------
        InputError
            If the run does not have it.
        """
        found = self.measured.get(measure.column)
        if found is None:
            found = _of_configuration(self.resolved, measure.column)
        if found is None:
            raise InputError(f"{measure.label}: no run has such a number")
        return found


def _of_configuration(node: Any, column: str) -> float | None:
    for name in column.split("."):
        node = node.get(name) if isinstance(node, dict) else None
    amount = None if node is None else quantity(node)
    return None if amount is None else amount[1]


@dataclass(frozen=True)
class Measured:
    """Design that has been run.

    Attributes
    ----------
    by_seed
        For each seed the score of each objective.
    excess
        Share by which the constraint that is exceeded most is exceeded; 0 if all hold.
    is_overloaded
        Whether the drive did not keep up in a run.
    """

    design: Design
    by_seed: Mapping[int, tuple[float, ...]]
    excess: float
    is_overloaded: bool

    @property
    def is_feasible(self) -> bool:
        """Whether every constraint holds."""
        return self.excess <= 0

    @property
    def may_be_built(self) -> bool:
        """Whether it may be on the front: it keeps every constraint, and up with its workloads."""
        return self.is_feasible and not self.is_overloaded

    def score(self, place: int) -> float:
        """Return the score of an objective: the geometric mean over the seeds."""
        logs = [math.log(max(own[place], LEAST)) for own in self.by_seed.values()]
        return math.exp(statistics.fmean(logs))

    def logs(self, count: int) -> list[float]:
        """Return the logarithm of the score of each of some objectives."""
        return [math.log(max(self.score(place), LEAST)) for place in range(count)]

    def costs(self, objectives: Sequence[Objective]) -> tuple[float, ...]:
        """Return what the search makes small: the logarithm of each score."""
        logs = self.logs(len(objectives))
        return tuple(
            -log if one.is_maximised else log for log, one in zip(logs, objectives, strict=True)
        )

    def ratio(self, other: Measured, place: int) -> Ratio | NoRatio:
        """Return the ratio of its score to another's, seed by seed, with its interval."""
        return ratio_of([(self._numbers(place), other._numbers(place))])

    def _numbers(self, place: int) -> dict[int, float]:
        return {seed: own[place] for seed, own in self.by_seed.items()}


@dataclass(frozen=True)
class Refused:
    """Design that cannot be run, and why."""

    design: Design
    reason: str


def measured(study: Study, design: Design, runs: Mapping[tuple[str, int], RunNumbers]) -> Measured:
    """Return what a design's runs came to.

    Parameters
    ----------
    runs
        By the name of the workload and the seed.
    """
    seeds = list(dict.fromkeys(seed for _, seed in runs))
    by_seed = {
        seed: _scores(study, {load.name: runs[load.name, seed] for load in study.loads})
        for seed in seeds
    }
    excesses = [
        _excess(bound, [runs[load.name, seed].value(bound.measure) for seed in seeds])
        for bound in study.constraints
        for load in study.loads
    ]
    overloaded = any(run.is_overloaded for run in runs.values())
    return Measured(design, by_seed, max(excesses, default=0.0), overloaded)


def _scores(study: Study, runs: Mapping[str, RunNumbers]) -> tuple[float, ...]:
    return tuple(score(study.loads, one.measure, runs) for one in study.objectives)


def score(loads: Sequence[Load], measure: Measure, runs: Mapping[str, RunNumbers]) -> float:
    """Return the weighted geometric mean over the workloads; zero if one is zero.

    Parameters
    ----------
    runs
        By the name of the workload.
    """
    values = {load.name: runs[load.name].value(measure) for load in loads}
    if any(own <= 0 for own in values.values()):
        return 0.0
    total = math.fsum(load.weight for load in loads)
    logs = (load.weight * math.log(values[load.name]) for load in loads)
    return math.exp(math.fsum(logs) / total)


def _excess(bound: Bound, values: Sequence[float]) -> float:
    """Return the share of a bound by which the mean over the seeds exceeds it; 0 if it holds."""
    value = statistics.fmean(values)
    if bound.holds(value):
        return 0.0
    return max(abs(value - bound.limit) / max(abs(bound.limit), LEAST), LEAST)
