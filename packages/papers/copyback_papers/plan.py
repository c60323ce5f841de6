"""From an experiment to a sweep: workloads are its loads, variants its schemes, points an axis."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.sweep import plan as sweep
from copyback.sweep.axes import LOAD, POINT, SCHEME, SEED, TRACE
from copyback_papers.experiment import as_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from copyback_papers.experiment import Experiment, Load, Scale, Settings

#: The environment's name for the directory of real traces.
TRACES = "COPYBACK_TRACES"


@dataclass(frozen=True)
class Plan:
    """An experiment at one scale, as a sweep.

    Attributes
    ----------
    sweep
        A run for each cell and seed; none if every workload is left out.
    skipped
        Workloads that are left out, and why.
    """

    experiment: Experiment
    scale: str
    sweep: sweep.Plan
    skipped: tuple[str, ...]

    @property
    def simulations(self) -> int:
        """Number of simulations; several runs may be one."""
        return len({run.key for run in self.sweep.runs})

    def refuse(self, sentence: str, fault: Exception) -> None:
        """End with what is wrong with a run: of an experiment none may be missing."""
        raise type(fault)(f"{self.experiment.path}: {sentence}") from None


def make_plan(
    experiment: Experiment,
    scale_name: str,
    traces: Path | None,
    seeds: tuple[int, ...] = (),
) -> Plan:
    """Return the simulations of an experiment, their configurations checked.

    Parameters
    ----------
    traces
        Directory of real traces; without it, workloads that need one are left out.
    seeds
        In place of the scale's, if there are any.

    Raises
    ------
    InputError
        If a configuration is wrong, with the experiment and what the wrong runs have in common.
    """
    scale = experiment.scales[scale_name]
    loads, skipped = _loads(experiment, scale, traces)
    points = [
        ((LOAD, load.name), (POINT, point.name), (SCHEME, variant.name), (SEED, str(seed)))
        for load, point, variant, seed in product(
            loads, experiment.points, experiment.variants, seeds or scale.seeds
        )
        if not scale.points or point.name in scale.points
    ]
    if not points:
        return Plan(experiment, scale_name, sweep.Plan((), (), ()), tuple(skipped))
    try:
        made = sweep.make_plan(
            experiment.config,
            points,
            named=dict(_named(experiment, scale, loads, traces)),
            settings=_shortened(as_settings(scale.set), scale),
            merged=False,
        )
    except InputError as fault:
        lines = str(fault).splitlines()
        raise InputError("\n".join(f"{experiment.path}: {line}" for line in lines)) from None
    return Plan(experiment, scale_name, made, tuple(skipped))


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


def _named(
    experiment: Experiment, scale: Scale, loads: list[Load], traces: Path | None
) -> Iterator[tuple[Settings, Settings]]:
    """Yield what each name stands for, a point under each load for both: it may change the load."""
    for load in loads:
        yield ((LOAD, load.name),), ()
        trace = ((TRACE, str(traces / load.trace)),) if traces and load.trace else ()
        for point in experiment.points:
            at = load.at.get(point.name, ())
            own = _laid((*trace, *load.settings), point.settings, at)
            yield ((LOAD, load.name), (POINT, point.name)), _shortened(own, scale)
    for variant in experiment.variants:
        own = _laid(variant.settings, as_settings(scale.variants.get(variant.name, {})))
        yield ((SCHEME, variant.name),), _shortened(own, scale)


def _laid(*layers: Settings) -> Settings:
    """Return settings of which later ones take the place of earlier ones."""
    return tuple({key: text for layer in layers for key, text in layer}.items())


def _shortened(settings: Settings, scale: Scale) -> Settings:
    return tuple(
        (key, shortened(key, text, scale.shorter, times=scale.longer)) for key, text in settings
    )


def shortened(key: str, text: str, divisor: int, *, times: int = 1) -> str:
    """Return the value of a setting, divided and multiplied if it is a number of requests.

    >>> shortened("workload.flows.0.requests", "600", 4), shortened("seed", "600", 4)
    ('150', '600')
    """
    counts = key.startswith("workload.") and key.endswith((".requests", ".limit"))
    return str(max(int(text) * times // divisor, 1)) if counts and text.isdigit() else text
