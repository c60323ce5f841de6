"""The points of a sweep: every combination of a grid, a list and random draws, over seeds."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from copyback import configuration
from copyback._core import InputError
from copyback.sweep.axes import SEED, TRACE, Axis, axis_of, value_text
from copyback.sweep.random_draws import Draws

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: One combination: keys and texts of values, in the order in which they are laid over the base.
Point = tuple[tuple[str, str], ...]

_KEYS = ("config", "preset", "set", "grid", "list", "random", "seeds", "baseline")


@dataclass(frozen=True)
class Design:
    """What a sweep varies.

    Attributes
    ----------
    grid
        Every combination of these values.
    cases
        Combinations that belong together, each with every point of the grid.
    draws
        Combinations drawn at random.
    seeds
        Each point is run with each of these; with the configuration's own if there are none.
    baseline
        What the others are compared with, as far as it is said.
    """

    grid: tuple[Axis, ...] = ()
    cases: tuple[Point, ...] = ()
    draws: Draws | None = None
    seeds: tuple[int, ...] = ()
    baseline: Point = ()

    def points(self) -> list[Point]:
        """Return all combinations, seeds last."""
        drawn = self.draws.points() if self.draws else [()]
        axes = [[(axis.key, text) for text in axis.values] for axis in self.grid]
        seeds: list[Point] = [((SEED, str(seed)),) for seed in self.seeds]
        combined = product(self.cases or ((),), product(*axes), drawn, seeds or ((),))
        points = [tuple(pair for part in parts for pair in part) for parts in combined]
        for point in points:
            _check_keys(point)
        return points


def _check_keys(point: Point) -> None:
    keys = [key for key, _ in point]
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        raise InputError(f"{twice[0]}: is varied twice")


@dataclass(frozen=True)
class SweepFile:
    """A sweep file: the base configuration, and what varies.

    Attributes
    ----------
    config
        A configuration file, relative to the sweep file; None if none is named.
    preset
        The preset to start from; None if none is named.
    settings
        What is laid over that.
    """

    design: Design
    config: Path | None = None
    preset: str | None = None
    settings: list[tuple[str, str]] = field(default_factory=list)


def read_sweep(path: Path) -> SweepFile:
    """Read a sweep file.

    Raises
    ------
    InputError
        With the file, the key, what was found and what is allowed.
    """
    text = configuration.read_text(path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"{path}: {fault}") from None
    try:
        return _sweep_of(table, path.parent)
    except InputError as fault:
        raise InputError("\n".join(f"{path}: {line}" for line in str(fault).split("\n"))) from None


def _sweep_of(table: Mapping[str, Any], home: Path) -> SweepFile:
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise InputError(f"{unknown[0]}: unknown key; there are {', '.join(_KEYS)}")
    design = Design(
        grid=tuple(
            axis_of(key, _from_home(key, v, home)) for key, v in _table(table, "grid").items()
        ),
        cases=tuple(_cases(table.get("list", []), home)),
        draws=Draws.read(table["random"]) if "random" in table else None,
        seeds=_seeds(table.get("seeds", [])),
        baseline=_point(_table(table, "baseline"), home),
    )
    config = table.get("config")
    return SweepFile(
        design,
        config=home / config if config is not None else None,
        preset=table.get("preset"),
        settings=list(_point(_table(table, "set"), home)),
    )


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise InputError(
            f'{key}: found {value!r}; a table is needed, such as "ssd.gc.victim" = ...'
        )
    return value


def _cases(cases: Any, home: Path) -> list[Point]:
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise InputError("list: a list of tables is needed")
    return [_point(case, home) for case in cases]


def _point(settings: Mapping[str, Any], home: Path) -> Point:
    return tuple((key, value_text(_from_home(key, v, home))) for key, v in settings.items())


def _from_home(key: str, value: Any, home: Path) -> Any:
    """Return paths of traces as seen from here; a sweep file has them relative to itself."""
    if key != TRACE and not key.endswith(".path"):
        return value
    if isinstance(value, list):
        return [_from_home(key, item, home) for item in value]
    return str(home / value) if isinstance(value, str) else value


def _seeds(value: Any) -> tuple[int, ...]:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return tuple(range(1, value + 1))
    is_list = isinstance(value, list) and all(
        isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in value
    )
    if not is_list or len(set(value)) != len(value):
        raise InputError(
            f"seeds: found {value!r}; a number of seeds or a list of different seeds is needed"
        )
    return tuple(value)


def numbered_seeds(count: int | None) -> tuple[int, ...]:
    """Return the seeds 1 to `count`; none if it is None."""
    return tuple(range(1, count + 1)) if count is not None else ()


def grid_of(over: Mapping[str, Sequence[Any]]) -> tuple[Axis, ...]:
    """Return the axes of a grid given in Python."""
    return tuple(axis_of(key, values) for key, values in over.items())
