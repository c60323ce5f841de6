"""Full runs, with several seeds, of the designs that short runs have not clearly beaten.

Survivors come in batches, the best of the short runs first. Each batch has one full run of every
design; those that a design with all its runs beats by the margin have no other. The rest have a run
for each seed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback.designer.dominance import MARGIN, beats, spread
from copyback.designer.scores import Measured
from copyback.designer.study import Length

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from copyback.designer.dominance import Costs
    from copyback.designer.runs import Runner
    from copyback.designer.space import Design
    from copyback.designer.study import Study


@dataclass(frozen=True)
class Survived:
    """Designs that have all their full runs.

    Attributes
    ----------
    settled
        They, in the order in which they were run.
    left
        Number of survivors for which the budget did not last.
    """

    settled: tuple[Measured, ...]
    left: int


def survivors(study: Study, tried: Sequence[Measured]) -> list[Design]:
    """Return the designs that no other clearly beats by its short runs, in the order of full runs.

    Those that fewest others beat come first; of those that are alike in this, one that is far from
    all before it, so that the first few are spread over the front.
    """
    feasible = [one for one in tried if one.may_be_built] or list(tried)
    costs = [one.costs(study.objectives) for one in feasible]
    levels: dict[int, list[int]] = defaultdict(list)
    for place, own in enumerate(costs):
        if not _beaten_by(own, costs, MARGIN):
            levels[_beaten_by(own, costs, 0.0)].append(place)
    return [
        feasible[level[i]].design
        for _, level in sorted(levels.items())
        for i in spread([costs[place] for place in level])
    ]


def _beaten_by(own: Costs, costs: Sequence[Costs], margin: float) -> int:
    return sum(beats(other, own, margin) for other in costs)


def run_survivors(
    study: Study,
    runner: Runner,
    tried: Sequence[Measured],
    each: int,
    on_batch: Callable[[int], None],
) -> Survived:
    """Run the survivors at full length as long as the budget lasts; one of them in any case.

    Where the search has had all runs that there are, all designs have survived.

    Parameters
    ----------
    each
        Page operations that all full runs of a design are expected to take.
    """
    if not study.has_survivors:
        return Survived(tuple(tried), 0)
    left = survivors(study, tried)
    settled: list[Measured] = []
    while left and (runner.spent + each <= study.budget or not settled):
        size = min(study.batch, max((study.budget - runner.spent) // each, 1))
        batch, left = left[:size], left[size:]
        before = runner.spent
        chosen = _not_clearly_beaten(study, runner, batch, settled)
        outcomes = runner.measure(chosen, Length.FULL, study.seeds)
        settled += [one for one in outcomes if isinstance(one, Measured)]
        each = max(each, (runner.spent - before) // len(batch))
        on_batch(len(settled))
    return Survived(tuple(settled), len(left))


def _not_clearly_beaten(
    study: Study, runner: Runner, batch: Sequence[Design], settled: Sequence[Measured]
) -> list[Design]:
    """Return the designs of a batch that their first full run does not drop."""
    outcomes = runner.measure(batch, Length.FULL, study.seeds[:1])
    rivals = [one.costs(study.objectives) for one in settled if one.may_be_built]
    return [
        one.design
        for one in outcomes
        if isinstance(one, Measured) and not _beaten_by(one.costs(study.objectives), rivals, MARGIN)
    ]
