"""Question that a search answers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback import __version__
from copyback._core import InputError
from copyback.inputs import configuration

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback._core import Config
    from copyback.calibration.search.aim import Aim
    from copyback.calibration.search.span import Span
    from copyback.sweep.where import Where

#: Evaluations, unless it is said, and the fewest.
BUDGET, LEAST_BUDGET = 200, 10


@dataclass(frozen=True)
class Question:
    """Question for the values of keys.

    Attributes
    ----------
    spans
        Ranges of the keys.
    start
        Values of the configuration.
    aim
        Numbers that are fitted.
    seed
        Decides the points that are drawn.
    budget
        Evaluations of the search.
    head
        Facts that decide the evaluations; a search that goes on must have the same.
    place
        Makes a load's place from its text in the file of evaluations.
    where
        Where simulations run.
    """

    spans: list[Span]
    start: list[float]
    aim: Aim
    seed: int
    budget: int
    head: dict[str, Any]
    place: Callable[[str], Any]
    where: Where
    quiet: bool


def question(
    config: Config,
    spans: list[Span],
    aim: Aim,
    facts: dict[str, Any],
    *,
    place: Callable[[str], Any],
    budget: int,
    where: Where,
    quiet: bool,
) -> Question:
    """Return the question for the keys of a configuration.

    Parameters
    ----------
    facts
        Facts beside configuration, keys and budget that decide the evaluations.
    """
    tables = configuration.resolved(config)
    head = {
        "schema": 1,
        "version": __version__,
        **facts,
        "configuration": hashlib.sha256(config.to_toml().encode()).hexdigest(),
        "fit": [[one.key, one.least, one.most] for one in spans],
        "budget": budget,
    }
    start = [one.start(tables) for one in spans]
    return Question(spans, start, aim, tables["seed"], budget, head, place, where, quiet)


def check_budget(budget: int) -> None:
    """Refuse a budget that no search can do with.

    Raises
    ------
    InputError
        If it is too small.
    """
    if budget < LEAST_BUDGET:
        raise InputError(f"--budget: found {budget}; allowed: {LEAST_BUDGET} or more")
