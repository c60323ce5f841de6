"""Designs that are run from the page of a study, from what the study has left.

The study's file may be gone: `design.json` has the base under each workload, as the search ran it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from copyback._core import Config, InputError
from copyback.data.summary_numbers import numbers_of
from copyback.design.files import DESIGN
from copyback.design.scores import RunNumbers, score
from copyback.design.study import Load
from copyback.inputs import configuration, policy_names
from copyback.inputs.configuration import parse_setting
from copyback.inputs.tables import read
from copyback.simulation.driver import Driver
from copyback.sweep.answer import number
from copyback.sweep.bounds import measure_named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from copyback._core import Progress


class _Objective(msgspec.Struct, frozen=True):
    """Measure of a study."""

    measure: str
    column: str


class Left(msgspec.Struct, frozen=True):
    """What of `design.json` it takes to run a design.

    Attributes
    ----------
    workloads
        The weight of each.
    keys
        Of the space.
    runs
        For each workload the configuration of the base.
    """

    objectives: tuple[_Objective, ...]
    workloads: dict[str, float]
    keys: tuple[str, ...]
    runs: dict[str, str]


def is_study(directory: Path) -> bool:
    """Whether a directory holds a study."""
    return (directory / DESIGN).is_file()


def left(directory: Path) -> Left:
    """Return what a study has left.

    Raises
    ------
    InputError
        With the file, and what is wrong with it.
    """
    path = directory / DESIGN
    try:
        content = json.loads(configuration.read_text(path))
    except json.JSONDecodeError as fault:
        raise InputError(f"{path}: not JSON: {fault}") from None
    return read(content, Left, path)


def settings_in(own: Left, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the settings of a design.

    Raises
    ------
    InputError
        If one is of a key that the study does not choose.
    """
    settings = [parse_setting(text) for text in texts]
    for key, _ in settings:
        if key not in own.keys:
            raise InputError(f"{key}: found outside the study; allowed: {', '.join(own.keys)}")
    return settings


def run(
    own: Left,
    settings: Sequence[tuple[str, str]],
    *,
    policies: Collection[str] = (),
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> list[tuple[str, str]]:
    """Run a design under each workload, and return each objective and its number.

    Parameters
    ----------
    policies
        Policies in Python that the user names; no others are run.

    Raises
    ------
    InputError
        If the configuration refuses the design, or it has a policy that the user has not named.
    SimulationError
        If the drive cannot go on.
    """
    numbers = {
        name: _numbers(_config(name, toml, settings, policies), on_progress)
        for name, toml in own.runs.items()
    }
    loads = [Load(name, (), own.workloads[name]) for name in own.runs]
    measures = [
        replace(measure_named(one.column, DESIGN), label=one.measure) for one in own.objectives
    ]
    return [(one.label, number(one, score(loads, one, numbers))) for one in measures]


def _config(
    name: str, toml: str, settings: Sequence[tuple[str, str]], policies: Collection[str]
) -> Config:
    config = Config.load(toml=toml, name=name, settings=list(settings))
    strange = {own for own in policy_names.named_by(config).values() if own not in policies}
    if strange:
        raise InputError(
            f"{min(strange)}: of a result, whose policies in Python are run only if you name them: "
            "--policy of `copyback view`"
        )
    return config


def _numbers(config: Config, on_progress: Callable[[Progress], None]) -> RunNumbers:
    result = Driver(config).run_in_memory("copyback view", on_progress=on_progress)
    summary = result.summary.to_dict()
    operations = int(summary["simulator"]["page_operations"])
    return RunNumbers(numbers_of(summary), configuration.resolved(config), operations)
