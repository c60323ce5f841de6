"""One experiment: a figure, a table or a question, read from its TOML file.

The file is the description: what the paper claims, what it leaves open and what was chosen, the
settings of every run, what is drawn, and which rows of ``targets.csv`` it answers.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.configuration import read_text
from copyback.papers.checks import Check, read_check
from copyback.papers.fields import Fields, Settings
from copyback.papers.figures import Figure, read_figure

if TYPE_CHECKING:
    from pathlib import Path

    from copyback.papers.targets import Target

SCALES = ("quick", "full")


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


@dataclass(frozen=True)
class Scale:
    """How much is simulated.

    Attributes
    ----------
    note
        What differs from the paper's setting, in a sentence.
    seeds
        Each run is repeated with each.
    shorter
        Numbers of requests that settings give are divided by this.
    settings
        Laid over the workload, under points and variants.
    points, workloads
        Names of those that are run; all if empty.
    variants
        Settings of single variants at this scale, laid over the variant's own.
    """

    name: str
    note: str
    seeds: tuple[int, ...]
    shorter: int
    settings: Settings
    points: tuple[str, ...]
    workloads: tuple[str, ...]
    variants: dict[str, Settings]


@dataclass(frozen=True)
class Experiment:
    """What one file says.

    Attributes
    ----------
    name
        The file's name without ``.toml``; what ``copyback paper run PAPER NAME`` takes.
    config
        The configuration under all settings, in the shape of a dictionary.
    axis
        What the points are points of; empty if there is one.
    """

    name: str
    path: Path
    title: str
    claim: str
    chosen: tuple[str, ...]
    config: dict[str, Any]
    variants: tuple[Case, ...]
    axis: str
    points: tuple[Case, ...]
    workloads: tuple[Load, ...]
    scales: tuple[Scale, ...]
    figures: tuple[Figure, ...]
    checks: tuple[Check, ...]

    def scale(self, name: str) -> Scale:
        """Return the scale of this name."""
        return next(scale for scale in self.scales if scale.name == name)


#: Workloads that several experiments of a paper use, beside them.
SHARED = "workloads.toml"

#: The only point of an experiment that sweeps nothing, and the only workload of one that says none.
ONLY = ""


def read_experiment(path: Path, targets: tuple[Target, ...]) -> Experiment:
    """Read the file of an experiment.

    Raises
    ------
    InputError
        With the file and the key of what is wrong.
    """
    fields = read_fields(path)
    points = fields.table("points")
    experiment = Experiment(
        name=path.stem,
        path=path,
        title=fields.text("title"),
        claim=fields.text("claim"),
        chosen=fields.texts("chosen"),
        config=fields.take("config", dict),
        variants=_cases(fields, "variants"),
        axis=points.text("axis", ONLY),
        points=_cases(points, "values") or (Case(ONLY, ()),),
        workloads=(*_shared(fields, path.parent / SHARED), *_workloads(fields))
        or (Load(ONLY, (), {}, None, None),),
        scales=tuple(_scale(fields.table(name), name) for name in SCALES),
        figures=tuple(read_figure(table) for table in fields.tables("figures")),
        checks=tuple(read_check(table, targets) for table in fields.tables("checks")),
    )
    points.end()
    fields.end()
    _check_names(experiment, fields)
    return experiment


def read_fields(path: Path) -> Fields:
    """Return what a TOML file holds."""
    try:
        return Fields(tomllib.loads(read_text(path)), path)
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"{path}: {fault}") from None


def _shared(fields: Fields, path: Path) -> tuple[Load, ...]:
    """Return the workloads that the experiment takes from the paper's common file."""
    names = fields.texts("shared_workloads")
    if not names:
        return ()
    tables = read_fields(path).named_tables("workloads")
    for name in names:
        if name not in tables:
            raise fields.fault("shared_workloads", f"no {name!r} in {SHARED}")
    return tuple(_workload(name, tables[name]) for name in names)


def _cases(fields: Fields, key: str) -> tuple[Case, ...]:
    tables = fields.named_tables(key)
    return tuple(Case(name, table.rest_as_settings()) for name, table in tables.items())


def _workloads(fields: Fields) -> tuple[Load, ...]:
    return tuple(_workload(name, t) for name, t in fields.named_tables("workloads").items())


def _workload(name: str, table: Fields) -> Load:
    stands_for, trace = table.optional_text("stands_for"), table.optional_text("trace")
    at = {point: inner.rest_as_settings() for point, inner in table.named_tables("at").items()}
    return Load(name, table.rest_as_settings(), at, stands_for, trace)


def _scale(table: Fields, name: str) -> Scale:
    scale = Scale(
        name=name,
        note=table.text("note", ""),
        seeds=table.numbers("seeds", [0]),
        shorter=table.take("shorter", int, 1),
        settings=table.settings("set"),
        points=table.texts("points"),
        workloads=table.texts("workloads"),
        variants={n: t.rest_as_settings() for n, t in table.named_tables("variants").items()},
    )
    table.end()
    return scale


def _check_names(experiment: Experiment, fields: Fields) -> None:
    """Refuse names of variants, points and workloads that there are not."""
    known = {
        "variants": {case.name for case in experiment.variants},
        "points": {case.name for case in experiment.points},
        "workloads": {load.name for load in experiment.workloads},
    }
    used = [(f"{scale.name}.points", "points", scale.points) for scale in experiment.scales]
    used += [
        (f"{scale.name}.workloads", "workloads", scale.workloads) for scale in experiment.scales
    ]
    used += [
        (f"{scale.name}.variants", "variants", tuple(scale.variants)) for scale in experiment.scales
    ]
    for index, check in enumerate(experiment.checks):
        used += [(f"checks[{index}]", kind, names) for kind, names in check.names()]
    for index, figure in enumerate(experiment.figures):
        used += [(f"figures[{index}]", kind, names) for kind, names in figure.names()]
    for place, kind, names in used:
        for name in names:
            if name not in known[kind]:
                there = ", ".join(sorted(known[kind])) or "none"
                raise fields.fault(place, f"no {name!r} among the {kind}; there are: {there}")
