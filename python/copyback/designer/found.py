"""Everything that a study finds, in one go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.designer.ablation import Ablated, ablate
from copyback.designer.dominance import front, nearest_to_all, surely_beats, without_chance
from copyback.designer.drawn import run_drawn
from copyback.designer.importance import Importance, importance
from copyback.designer.scores import Measured, Refused
from copyback.designer.search import Searched, search
from copyback.designer.space import Design
from copyback.designer.study import Length
from copyback.designer.surrogate import Surrogate, surrogates
from copyback.designer.survivors import Survived, run_survivors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from copyback.designer.runs import Runner
    from copyback.designer.study import Study

#: Design that has nothing of the space.
BASE = Design((), {})


@dataclass(frozen=True)
class Spent:
    """Page operations of a study.

    Attributes
    ----------
    search
        Of the base, the search and the survivors: what has a budget.
    ablation
        Of the chosen design without its choices.
    drawn
        Of the designs that are drawn evenly.
    """

    search: int
    ablation: int
    drawn: int


@dataclass(frozen=True)
class Found:
    """Result of a study.

    Attributes
    ----------
    base
        The configuration as it is, with full runs.
    points
        The front, ordered by the first objective.
    chosen
        The point that is nearest to the best of every objective; None if the front is empty.
    undecided
        Designs that are not on the front, and that no design surely beats.
    left_out
        Designs with full runs that may not be on the front, by why.
    drawn
        Designs drawn evenly after the search.
    surrogates
        One for each objective that the space does not choose itself; none of too few designs.
    spent
        Page operations.
    """

    study: Study
    base: Measured
    searched: Searched
    survived: Survived
    points: tuple[Measured, ...]
    chosen: Measured | None
    undecided: tuple[Measured, ...]
    left_out: dict[str, int]
    importance: tuple[Importance, ...]
    ablation: tuple[Ablated, ...]
    drawn: tuple[Measured, ...]
    surrogates: tuple[Surrogate, ...]
    spent: Spent


def investigate(study: Study, runner: Runner, on_batch: Callable[[str, int], None]) -> Found:
    """Search, run the survivors, and say what each choice of the chosen design buys."""
    runner.check_base(BASE)
    (base,) = runner.measure([BASE], Length.FULL, study.seeds)
    if isinstance(base, Refused):
        raise InputError(f"the base: {base.reason}")
    each = runner.spent
    searched = search(study, runner, lambda count: on_batch("designs tried", count))
    survived = run_survivors(
        study, runner, searched.tried, each, lambda count: on_batch("designs with all runs", count)
    )
    spent = [runner.spent]
    allowed = [one for one in survived.settled if one.may_be_built]
    points = front_of(study, allowed)
    costs = [one.costs(study.objectives) for one in points]
    chosen = points[nearest_to_all(costs)] if points else None
    ablation = ablate(study, runner, chosen) if chosen is not None else ()
    spent.append(runner.spent)
    drawn = run_drawn(study, runner)
    spent.append(runner.spent)
    return Found(
        study,
        base,
        searched,
        survived,
        points,
        chosen,
        _undecided(study, allowed, points),
        _left_out(survived.settled),
        importance(study, [*searched.tried, *drawn]),
        ablation,
        drawn,
        surrogates(study, searched.tried, drawn),
        Spent(spent[0], spent[1] - spent[0], spent[2] - spent[1]),
    )


def front_of(study: Study, allowed: Sequence[Measured]) -> tuple[Measured, ...]:
    """Return the designs that none beats, those by chance left out, by the first objective."""
    costs = [one.costs(study.objectives) for one in allowed]
    places = sorted(front(costs), key=lambda place: costs[place])
    return tuple(without_chance([allowed[place] for place in places], study.objectives))


def _undecided(
    study: Study, allowed: Sequence[Measured], points: Sequence[Measured]
) -> tuple[Measured, ...]:
    return tuple(
        own
        for own in allowed
        if own not in points
        and not any(surely_beats(other, own, study.objectives) for other in points)
    )


def _left_out(settled: Sequence[Measured]) -> dict[str, int]:
    counts = {
        "exceed a constraint": sum(not one.is_feasible for one in settled),
        "are overloaded": sum(one.is_feasible and one.is_overloaded for one in settled),
    }
    return {why: count for why, count in counts.items() if count}
