"""From an experiment to the configurations of its simulations."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from copyback import configuration
from copyback._core import Config, InputError
from copyback.papers.measures import Cell

if TYPE_CHECKING:
    from pathlib import Path

    from copyback.papers.experiment import Case, Experiment, Load, Scale
    from copyback.papers.fields import Settings

#: The environment's name for the directory of real traces.
TRACES = "COPYBACK_TRACES"


@dataclass(frozen=True)
class Run:
    """One simulation."""

    cell: Cell
    seed: int
    config: Config


@dataclass(frozen=True)
class Plan:
    """All simulations of an experiment.

    Attributes
    ----------
    skipped
        Workloads that are left out, and why.
    """

    experiment: Experiment
    scale: Scale
    runs: tuple[Run, ...]
    skipped: tuple[str, ...]


def make_plan(experiment: Experiment, scale_name: str, traces: Path | None) -> Plan:
    """Return the simulations of an experiment, their configurations checked.

    Parameters
    ----------
    traces
        Directory of real traces; without it, workloads that need one are left out.

    Raises
    ------
    InputError
        If a configuration is wrong, with the experiment and the cell.
    """
    scale = experiment.scale(scale_name)
    loads, skipped = _loads(experiment, scale, traces)
    points = [p for p in experiment.points if not scale.points or p.name in scale.points]
    runs = [
        _run(experiment, scale, load, point, variant, seed, traces)
        for load, point, variant, seed in product(loads, points, experiment.variants, scale.seeds)
    ]
    return Plan(experiment, scale, tuple(runs), tuple(skipped))


def _loads(
    experiment: Experiment, scale: Scale, traces: Path | None
) -> tuple[list[Load], list[str]]:
    found, skipped = [], []
    for load in experiment.workloads:
        if scale.workloads and load.name not in scale.workloads:
            continue
        if load.trace is None or (traces is not None and (traces / load.trace).is_file()):
            found.append(load)
        else:
            where = f"not in {traces}" if traces else f"--traces or {TRACES} is not given"
            skipped.append(f"{load.name}: {load.trace}: {where}")
    return found, skipped


def _run(
    experiment: Experiment,
    scale: Scale,
    load: Load,
    point: Case,
    variant: Case,
    seed: int,
    traces: Path | None,
) -> Run:
    settings: list[tuple[str, str]] = []
    for layer in layers(scale, load, point, variant, traces):
        settings += [(key, shortened(key, text, scale.shorter)) for key, text in layer]
    settings.append(("seed", str(seed)))
    cell = Cell(load.name, point.name, variant.name)
    try:
        config = configuration.load(experiment.config, settings=settings)
    except InputError as fault:
        where = ", ".join(filter(None, (cell.workload, cell.point, cell.variant)))
        lines = str(fault).splitlines()
        raise InputError(
            "\n".join(f"{experiment.path}: {where}: {line}" for line in lines)
        ) from None
    return Run(cell, seed, config)


def layers(
    scale: Scale, load: Load, point: Case, variant: Case, traces: Path | None
) -> tuple[Settings, ...]:
    """Return the settings in the order in which they are laid: what varies comes last."""
    trace: Settings = ()
    if load.trace is not None and traces is not None:
        trace = tuple(configuration.trace_settings(traces / load.trace, None))
    at = load.at.get(point.name, ())
    of_scale = scale.variants.get(variant.name, ())
    return scale.settings, trace, load.settings, point.settings, at, variant.settings, of_scale


def shortened(key: str, text: str, divisor: int) -> str:
    """Return the value of a setting, divided if it is a number of requests.

    >>> shortened("workload.flows.0.requests", "600", 4), shortened("seed", "600", 4)
    ('150', '600')
    """
    counts = key.startswith("workload.") and key.endswith((".requests", ".limit"))
    return str(max(int(text) // divisor, 1)) if counts else text
