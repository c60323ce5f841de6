"""Refuses schemes that cannot be compared with their absence, before anything is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.designer.found import BASE
from copyback.designer.sampler import RandomChooser
from copyback.designer.scores import Refused
from copyback.designer.study import Length

if TYPE_CHECKING:
    from copyback.designer.runs import Runner
    from copyback.designer.scheme import Scheme

#: Designs that are drawn to see whether anything can be built with a scheme.
_DRAWS = 50


def check_apart(scheme: Scheme, runner: Runner) -> None:
    """Refuse a scheme that the base has.

    Raises
    ------
    InputError
        With the place of the scheme.
    """
    base, alone = (
        runner.plan(one, Length.FULL, runner.study.seeds) for one in (BASE, scheme.alone)
    )
    if isinstance(base, Refused) or isinstance(alone, Refused):
        return
    if [run.key for run in base] == [run.key for run in alone]:
        raise InputError(f"{scheme.place}: the base has it; allowed: a base without it")


def check_possible(scheme: Scheme, runner: Runner) -> None:
    """Refuse a scheme beside which nothing of the runner's study can be built.

    Raises
    ------
    InputError
        With the place of the scheme, and why the first design that was drawn cannot be built.
    """
    study = runner.study
    drawn = (study.space.choose(RandomChooser(seed)) for seed in range(_DRAWS))
    reasons = []
    for one in drawn:
        planned = runner.plan(one, study.search_length, study.seeds[:1])
        if not isinstance(planned, Refused):
            return
        reasons.append(planned.reason)
    raise InputError(f"{scheme.place}: {reasons[0]}")
