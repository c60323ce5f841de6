"""Files of experiments: TOML, one file an experiment, whose keys are its description."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field, structs

from copyback._core import InputError
from copyback.inputs.configuration import read_text
from copyback.inputs.tables import Table, read
from copyback_papers.checks import Check, read_check
from copyback_papers.experiment import (
    Case,
    Experiment,
    Load,
    OpenInput,
    Reading,
    Scale,
    Tables,
    as_settings,
    laid_over,
    read_as,
)
from copyback_papers.figures import Figure
from copyback_papers.ranking import Ranking
from copyback_papers.regions import read_region

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from copyback_papers.targets import Target

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
    """Content of an experiment's file."""

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
    regions: tuple[Any, ...] = ()
    column: str = ""


class _Workload(Table, frozen=True):
    """Keys of a workload beside its settings."""

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
        scales={"quick": file.quick, "full": file.full, "double": doubled(file.full)},
        figures=file.figures,
        checks=tuple(
            read_check(one, targets, path, f"checks[{index}]", Check)
            for index, one in enumerate(file.checks)
        ),
        rankings=file.rankings,
        column=file.column,
        regions=tuple(
            read_region(one, targets, path, f"regions[{index}]")
            for index, one in enumerate(file.regions)
        ),
    )
    _check_names(experiment)
    experiment = laid_over(experiment, joint or {})
    readings = tuple(read_as(experiment, *named) for named in file.readings.items())
    return replace(experiment, readings=readings)


def doubled(full: Scale) -> Scale:
    """Return full scale with twice the requests."""
    cost = 2 * full.cpu_minutes if full.cpu_minutes else None
    return structs.replace(full, longer=2 * full.longer, cpu_minutes=cost)


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
    for index, region in enumerate(experiment.regions):
        places = tuple(region.places([point.name for point in experiment.points]))
        _check_joint(experiment, index, region.joint, places)
        used += [(f"regions[{index}]", kind, names) for kind, names in region.names()]
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


def _check_joint(experiment: Experiment, index: int, joint: str, places: tuple[str, ...]) -> None:
    """Refuse a joint reading that is none of the places of a region."""
    if joint and joint not in places:
        raise InputError(
            f"{experiment.path}: regions[{index}].joint: no {joint!r} among the places; "
            f"there are: {', '.join(places)}"
        )
