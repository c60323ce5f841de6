"""Ablation: the chosen design with one choice at a time back to the base, really run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback.designer.scores import Refused
from copyback.designer.study import Length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.designer.runs import Runner
    from copyback.designer.scores import Measured
    from copyback.designer.space import Design
    from copyback.designer.study import Study
    from copyback.sweep.ratios import NoRatio, Ratio


@dataclass(frozen=True)
class Ablated:
    """Chosen design without its choice for one key.

    Attributes
    ----------
    ratios
        For each objective the ratio of its number to that of the chosen design; empty if it was
        not run.
    because
        Why it was not run; None if it was.
    is_feasible
        Whether it keeps the constraints.
    """

    key: str
    ratios: tuple[Ratio | NoRatio, ...]
    because: str | None = None
    is_feasible: bool = True


#: Reason for which the base's own choice is not run again.
AS_THE_BASE = "as in the base"


def ablate(study: Study, runner: Runner, chosen: Measured) -> tuple[Ablated, ...]:
    """Return what the chosen design loses without each of its choices."""
    keys = [key for key, _ in chosen.design.point]
    designs = [study.space.without(chosen.design, key) for key in keys]
    own = _runs(study, runner, chosen.design)
    same = [_runs(study, runner, design) == own for design in designs]
    changed = [design for design, is_same in zip(designs, same, strict=True) if not is_same]
    outcomes = iter(runner.measure(changed, Length.FULL, study.seeds))
    return tuple(
        Ablated(key, (), AS_THE_BASE) if is_same else _ablated(key, next(outcomes), chosen)
        for key, is_same in zip(keys, same, strict=True)
    )


def _runs(study: Study, runner: Runner, design: Design) -> Sequence[str]:
    """Return the keys of the runs of a design; none if it is refused."""
    planned = runner.plan(design, Length.FULL, study.seeds)
    return [] if isinstance(planned, Refused) else [run.key for run in planned]


def _ablated(key: str, outcome: Measured | Refused, chosen: Measured) -> Ablated:
    if isinstance(outcome, Refused):
        return Ablated(key, (), outcome.reason)
    places = range(len(next(iter(chosen.by_seed.values()))))
    ratios = tuple(outcome.ratio(chosen, place) for place in places)
    return Ablated(key, ratios, is_feasible=outcome.is_feasible)
