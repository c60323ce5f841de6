"""One experiment: a figure, a table or a question, read from its TOML file.

The file is the description: what the paper claims, what it leaves open and what was chosen, the
settings of every run, what is drawn, and which rows of ``targets.csv`` it answers.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field, structs

from copyback import configuration
from copyback._core import InputError
from copyback.configuration import read_text
from copyback.papers.checks import Check, read_check
from copyback.papers.figures import Figure
from copyback.papers.ranking import Ranking
from copyback.tables import Table, read

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from copyback.papers.targets import Target

#: Dotted keys of a configuration and their values as TOML, in the order in which they are laid.
Settings = tuple[tuple[str, str], ...]

#: Named rows of settings, as a file has them.
Tables = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A named row of settings: a variant, or a point of the swept parameter."""

    name: str
    settings: Settings


@dataclass(frozen=True)
class Load:
    """What the host asks for.

    Attributes
    ----------
    at
        Settings of single points under this workload, laid over the point's own.
    stands_for
        What of the paper it stands for, and how well; None if it is what the paper used.
    trace
        File of a real trace, below the directory of traces; None of a workload that is generated.
    """

    name: str
    settings: Settings
    at: dict[str, Settings]
    stands_for: str | None
    trace: str | None


class Scale(Table, frozen=True):
    """How much is simulated.

    Attributes
    ----------
    note
        What differs from the paper's setting, in a sentence.
    cpu_minutes
        About what all of it costs, estimated before it is run; None if nobody knows.
    seeds
        Each run is repeated with each.
    shorter
        Numbers of requests that settings give are divided by this.
    set
        Settings laid over the configuration, under workloads, points and variants.
    points, workloads
        Names of those that are run; all if empty.
    variants
        Settings of single variants at this scale, laid over the variant's own.
    """

    note: str = ""
    cpu_minutes: Annotated[float, Meta(gt=0)] | None = None
    seeds: tuple[Annotated[int, Meta(ge=0)], ...] = (0,)
    shorter: Annotated[int, Meta(ge=1)] = 1
    set: dict[str, Any] = field(default_factory=dict)
    points: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    variants: Tables = field(default_factory=dict)


class OpenInput(Table, frozen=True):
    """Something that a paper's text leaves open.

    Attributes
    ----------
    says
        What is open, and what was chosen.
    key
        The setting that it is, if it is one.
    bounds
        The values that the text allows: the least and the greatest, or all of them.
    """

    says: str
    bounds: Annotated[tuple[Any, ...], Meta(min_length=2)]
    key: str | None = None


class Reading(Table, frozen=True):
    """A named reading of a paper's text.

    Attributes
    ----------
    reason
        Why the text can be read like this.
    set
        Settings laid over those of the scale, under workloads, points and variants.
    """

    reason: str
    set: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """What one file says.

    Attributes
    ----------
    name
        The file's name without ``.toml``; what ``copyback paper run PAPER NAME`` takes.
    config
        The configuration under all settings, in the shape of a dictionary.
    open_inputs
        What the paper leaves open, with the bounds within which its text lets it move.
    axis
        What the points are points of; empty if there is one.
    rankings
        Tables of the paper whose order is compared with ours.
    reading
        The name of the reading; empty of the paper's joint one.
    readings
        The experiment under other readings of the paper's text; verdicts are never mixed.
    """

    name: str
    path: Path
    title: str
    claim: str
    chosen: tuple[str, ...]
    open_inputs: tuple[OpenInput, ...]
    config: dict[str, Any]
    variants: tuple[Case, ...]
    axis: str
    points: tuple[Case, ...]
    workloads: tuple[Load, ...]
    scales: dict[str, Scale]
    figures: tuple[Figure, ...]
    checks: tuple[Check, ...]
    rankings: tuple[Ranking, ...] = ()
    reading: str = ""
    readings: tuple[Experiment, ...] = ()


#: Workloads that several experiments of a paper use, beside them.
SHARED = "workloads.toml"

#: The only point of an experiment that sweeps nothing, and the only workload of one that says none.
ONLY = ""


#: The name of a reading is part of the name of a directory.
NAME = r"^[a-z0-9][a-z0-9-]*$"


class _Points(Table, frozen=True):
    axis: str = ONLY
    values: Tables = field(default_factory=dict)


class _File(Table, frozen=True):
    """What the file of an experiment says."""

    title: str
    claim: str
    config: dict[str, Any]
    variants: Annotated[Tables, Meta(min_length=1)]
    quick: Scale = Scale()
    full: Scale = Scale()
    chosen: tuple[str, ...] = ()
    open_inputs: tuple[OpenInput, ...] = ()
    readings: dict[Annotated[str, Meta(pattern=NAME)], Reading] = field(default_factory=dict)
    points: _Points = _Points()
    shared_workloads: tuple[str, ...] = ()
    workloads: Tables = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    checks: tuple[Any, ...] = ()
    rankings: tuple[Ranking, ...] = ()


class _Workload(Table, frozen=True):
    """What a workload says beside its settings."""

    stands_for: str | None = None
    trace: str | None = None
    at: Tables = field(default_factory=dict)


def read_experiment(
    path: Path, targets: tuple[Target, ...], joint: Mapping[str, Any] | None = None
) -> Experiment:
    """Read the file of an experiment.

    Parameters
    ----------
    joint
        Settings of the paper's joint reading.

    Raises
    ------
    InputError
        With the file and the key of what is wrong.
    """
    file = read(read_toml(path), _File, path)
    shared = _shared(file, path)
    experiment = Experiment(
        name=path.stem,
        path=path,
        title=file.title,
        claim=file.claim,
        chosen=file.chosen,
        open_inputs=file.open_inputs,
        config=file.config,
        variants=_cases(file.variants),
        axis=file.points.axis,
        points=_cases(file.points.values) or (Case(ONLY, ()),),
        workloads=(*shared, *_workloads(file.workloads, path)) or (Load(ONLY, (), {}, None, None),),
        scales={"quick": file.quick, "full": file.full},
        figures=file.figures,
        checks=tuple(
            read_check(one, targets, path, f"checks[{index}]")
            for index, one in enumerate(file.checks)
        ),
        rankings=file.rankings,
    )
    _check_names(experiment)
    experiment = laid_over(experiment, joint or {})
    readings = tuple(_read_as(experiment, *named) for named in file.readings.items())
    return replace(experiment, readings=readings)


def laid_over(experiment: Experiment, settings: Mapping[str, Any]) -> Experiment:
    """Return an experiment with more settings over those of its scales."""
    scales = {
        name: structs.replace(scale, set={**scale.set, **settings})
        for name, scale in experiment.scales.items()
    }
    return replace(experiment, scales=scales)


def _read_as(experiment: Experiment, name: str, reading: Reading) -> Experiment:
    """Return an experiment under another reading: an experiment of its own, named after both."""
    named = replace(
        experiment,
        name=f"{experiment.name}@{name}",
        reading=name,
        title=f"{experiment.title} (reading: {name})",
        chosen=(*experiment.chosen, f"Reading {name}: {reading.reason}"),
    )
    return laid_over(named, reading.set)


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file holds."""
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"{path}: {fault}") from None


def _shared(file: _File, path: Path) -> tuple[Load, ...]:
    """Return the workloads that the experiment takes from the paper's common file."""
    if not file.shared_workloads:
        return ()
    common = path.parent / SHARED
    tables = read(read_toml(common).get("workloads", {}), Tables, common, "workloads")
    for name in file.shared_workloads:
        if name not in tables:
            raise InputError(f"{path}: shared_workloads: no {name!r} in {SHARED}")
    return _workloads({name: tables[name] for name in file.shared_workloads}, common)


def _cases(tables: Tables) -> tuple[Case, ...]:
    return tuple(Case(name, as_settings(table)) for name, table in tables.items())


def _workloads(tables: Tables, path: Path) -> tuple[Load, ...]:
    return tuple(_workload(name, dict(table), path) for name, table in tables.items())


def _workload(name: str, table: dict[str, Any], path: Path) -> Load:
    own = {key: table.pop(key) for key in _Workload.__struct_fields__ if key in table}
    said = read(own, _Workload, path, f"workloads.{name}")
    at = {point: as_settings(settings) for point, settings in said.at.items()}
    return Load(name, as_settings(table), at, said.stands_for, said.trace)


def as_settings(table: Mapping[str, Any]) -> Settings:
    """Return a table of dotted keys of a configuration as settings."""
    return tuple((key, configuration.to_toml(value)) for key, value in table.items())


def _check_names(experiment: Experiment) -> None:
    """Refuse names of variants, points, workloads and claims that there are not."""
    known = {
        "variants": {case.name for case in experiment.variants},
        "points": {case.name for case in experiment.points},
        "workloads": {load.name for load in experiment.workloads},
        "claims": {check.target.figure for check in experiment.checks if check.target},
    }
    used: list[tuple[str, str, tuple[str, ...]]] = []
    for name, scale in experiment.scales.items():
        used.append((f"{name}.points", "points", scale.points))
        used.append((f"{name}.workloads", "workloads", scale.workloads))
        used.append((f"{name}.variants", "variants", tuple(scale.variants)))
    for index, check in enumerate(experiment.checks):
        used += [(f"checks[{index}]", kind, names) for kind, names in check.names()]
    for index, figure in enumerate(experiment.figures):
        used += [(f"figures[{index}]", kind, names) for kind, names in figure.names()]
    for index, ranking in enumerate(experiment.rankings):
        used.append((f"rankings[{index}].figure", "claims", (ranking.figure,)))
    for place, kind, names in used:
        for name in names:
            if name not in known[kind]:
                there = ", ".join(sorted(known[kind])) or "none"
                raise InputError(
                    f"{experiment.path}: {place}: no {name!r} among the {kind}; there are: {there}"
                )
