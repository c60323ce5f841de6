"""Designs that are run from the page of a study."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from copyback._core import Config
from copyback.designer.scores import RunNumbers, score
from copyback.designer.study import Load
from copyback.inputs import configuration, policy_names
from copyback.simulation.driver import Driver
from copyback.sweep.answer import number
from copyback.sweep.bounds import measure_named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from copyback._core import Progress
    from copyback.designer.left import Left


def run(
    own: Left,
    file: Path,
    settings: Sequence[tuple[str, str]],
    *,
    policies: Collection[str] = (),
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> list[tuple[str, str]]:
    """Run a design under each workload, and return each objective and its number.

    Parameters
    ----------
    own, file
        What the study has left, and where.
    policies
        Policies in Python that the user names; no others are run.

    Raises
    ------
    InputError
        If the configuration refuses the design, or it has a policy that the user has not named.
    SimulationError
        If the drive cannot go on.
    """
    configs = {
        name: Config.load(toml=toml, name=name, settings=list(settings))
        for name, toml in own.runs.items()
    }
    for config in configs.values():
        policy_names.check_named(config, file, policies)
    numbers = {name: _numbers(config, on_progress) for name, config in configs.items()}
    loads = [Load(name, (), own.workloads[name]) for name in own.runs]
    measures = [
        replace(measure_named(one.column, file.name), label=one.measure) for one in own.objectives
    ]
    return [(one.label, number(one, score(loads, one, numbers))) for one in measures]


def _numbers(config: Config, on_progress: Callable[[Progress], None]) -> RunNumbers:
    result = Driver(config).run_in_memory("copyback view", on_progress=on_progress)
    return RunNumbers.of(result.summary.to_dict(), configuration.resolved(config))
