"""The search: short runs of what the sampler asks for, in batches of a fixed size."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.designer.sampler import Sampler
from copyback.designer.scores import Measured, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback.designer.runs import Runner
    from copyback.designer.study import Study

#: Share of the budget that the search may use, if designs are run again after it.
SHARE = 0.6

#: Batches without any run after which the search ends: the configuration refuses nearly everything.
_IDLE_BATCHES = 20


@dataclass(frozen=True)
class Searched:
    """Designs that the search has looked at.

    Attributes
    ----------
    tried
        Those that were run, in the order in which they were asked for.
    refused
        Reasons for which others were not, and of how many.
    is_used_up
        Whether the space has no other design.
    """

    tried: tuple[Measured, ...]
    refused: Counter[str]
    is_used_up: bool


def search(study: Study, runner: Runner, on_batch: Callable[[int], None]) -> Searched:
    """Run what the sampler asks for until the search's share of the rest of the budget is used.

    A batch is begun if some of it is left, and is finished then.

    Raises
    ------
    InputError
        If every design of the first batches, or of the space, is refused.
    """
    sampler = Sampler(study)
    tried: list[Measured] = []
    refused: Counter[str] = Counter()
    rest = max(study.budget - runner.spent, 1)
    limit = runner.spent + rest * (SHARE if study.has_survivors else 1)
    idle, is_used_up = 0, False
    while runner.spent < limit and idle < _IDLE_BATCHES:
        batch = sampler.ask(study.batch)
        if not batch:
            is_used_up = True
            break
        designs = [asked.design for asked in batch]
        before = runner.spent
        outcomes = runner.measure(designs, study.search_length, study.seeds[:1])
        for asked, outcome in zip(batch, outcomes, strict=True):
            sampler.record(asked, outcome)
        tried += [one for one in outcomes if isinstance(one, Measured)]
        refused += Counter(one.reason for one in outcomes if isinstance(one, Refused))
        idle = idle + 1 if runner.spent == before else 0
        if not tried and len(refused) and idle > 1:
            break
        on_batch(len(tried))
    if not tried:
        raise InputError(
            "space: every design is refused, such as for\n" + "\n".join(list(refused)[:3])
        )
    return Searched(tuple(tried), refused, is_used_up)
