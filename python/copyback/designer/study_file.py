"""Reads a study file."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from msgspec import Meta, field

from copyback._core import InputError
from copyback.designer.space_file import space_of
from copyback.designer.study import Goal, Load, Objective, Sampling, Study
from copyback.inputs import toml_file
from copyback.inputs.tables import Table, read
from copyback.sweep.bounds import measure_named, parse_bound
from copyback.sweep.design import numbered_seeds
from copyback.sweep.labels import key_names
from copyback.sweep.schemes import SHOWN
from copyback.sweep.sweep_file import Homes, located, point_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from copyback.sweep.axes import Point

WordT = TypeVar("WordT", Goal, Sampling)

#: Objectives that a study may have: more, and nearly every design is on the front.
MOST_OBJECTIVES = 3

_WEIGHT = "weight"

#: Name of the load of a study that names none.
_OWN = "the workload of the configuration"


class _File(Table, frozen=True):
    """Content of a study file."""

    objectives: Annotated[tuple[Any, ...], Meta(min_length=1)]
    budget: Annotated[int, Meta(ge=1)]
    space: Annotated[dict[str, Any], Meta(min_length=1)]
    config: str | None = None
    preset: str | None = None
    settings: dict[str, Any] = field(default_factory=dict, name="set")
    workloads: dict[str, dict[str, Any]] = field(default_factory=dict)
    short: dict[str, Any] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    seeds: Any = 1
    seed: Annotated[int, Meta(ge=0)] = 1
    sampler: str = Sampling.NSGA2
    batch: Annotated[int, Meta(ge=1)] = 8
    held_back: Annotated[int, Meta(ge=0)] = 60


class _Objective(Table, frozen=True):
    """Objective whose direction is given."""

    measure: str
    goal: str


def read_study(path: Path) -> Study:
    """Read a study file.

    Raises
    ------
    InputError
        With the file, the key, what was found and what is allowed.
    """
    return toml_file.read(path, lambda table: study_of(table, path.parent))


def study_of(table: dict[str, Any], home: Path) -> Study:
    """Return the study that a table says; its paths are relative to a directory.

    Raises
    ------
    InputError
        With the key, what was found and what is allowed.
    """
    return _study(read(table, _File), Homes(home, home))


def _study(file: _File, homes: Homes) -> Study:
    space = space_of(file.space, partial(located, homes=homes))
    settings, short = point_of(file.settings, homes), point_of(file.short, homes)
    keys = [key.key for key in space.keys]
    for place, own in (("set", settings), ("short", short)):
        _check_apart(own, keys, place)
    loads = tuple(_load(name, own, homes) for name, own in file.workloads.items())
    for load in loads:
        _check_apart(load.settings, keys, f"workloads.{load.name}")
    if file.config is None and file.preset is None:
        raise InputError("found no configuration; allowed: config = FILE or preset = NAME")
    objectives = _objectives(file.objectives, key_names(keys))
    return Study(
        base=homes.file / file.config if file.config is not None else None,
        preset=file.preset,
        settings=settings,
        space=space,
        loads=loads or (Load(_OWN, ()),),
        short=short,
        objectives=objectives,
        constraints=tuple(parse_bound(text, "constraints:") for text in file.constraints),
        budget=file.budget,
        seeds=numbered_seeds(file.seeds),
        seed=file.seed,
        sampler=_word(file.sampler, Sampling, "sampler"),
        batch=file.batch,
        held_back=file.held_back,
    )


def _check_apart(settings: Point, keys: list[str], place: str) -> None:
    """Refuse a setting of a key that the space chooses."""
    for key, _ in settings:
        for chosen in keys:
            if f"{key}.".startswith(f"{chosen}.") or f"{chosen}.".startswith(f"{key}."):
                raise InputError(
                    f"{place}.{key}: found beside space.{chosen}; allowed: one of them"
                )


def _load(name: str, table: Mapping[str, Any], homes: Homes) -> Load:
    weight = table.get(_WEIGHT, 1)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or weight <= 0:
        raise InputError(f"workloads.{name}.weight: found {weight!r}; allowed: a number above 0")
    settings = {key: value for key, value in table.items() if key != _WEIGHT}
    return Load(name, point_of(settings, homes), float(weight))


def _objectives(given: tuple[Any, ...], names: Mapping[str, str]) -> tuple[Objective, ...]:
    """Return the objectives; keys of the space among them by their names."""
    asked = (_objective(one, f"objectives[{i}]") for i, one in enumerate(given))
    found = tuple(_named(one, names) for one in asked)
    labels = [one.measure.label for one in found]
    if len(found) > MOST_OBJECTIVES or len(set(labels)) < len(labels):
        raise InputError(
            f"objectives: found {', '.join(labels)}; allowed: one to {MOST_OBJECTIVES} different "
            "measures"
        )
    return found


def _named(own: Objective, names: Mapping[str, str]) -> Objective:
    label = names.get(own.measure.column, own.measure.label)
    return Objective(replace(own.measure, label=label), own.goal)


def _objective(given: Any, place: str) -> Objective:
    if isinstance(given, str):
        measure = measure_named(given, place)
        return Objective(measure, Goal.MAXIMISE if measure.more_is_better else Goal.MINIMISE)
    if not isinstance(given, dict):
        known = ", ".join(measure.label for measure in SHOWN)
        raise InputError(
            f"{place}: found {given!r}; allowed: a measure such as {known}, or "
            '{ measure = ..., goal = "maximise" }'
        )
    table = read(given, _Objective, place=place)
    return Objective(measure_named(table.measure, place), _word(table.goal, Goal, f"{place}.goal"))


def _word(text: str, kind: type[WordT], place: str) -> WordT:
    try:
        return kind(text)
    except ValueError:
        raise InputError(f"{place}: found {text}; allowed: {', '.join(kind)}") from None
