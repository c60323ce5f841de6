"""Reads a sweep file: the base configuration, and what varies."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import field

from copyback._core import InputError
from copyback.inputs import configuration, toml_file
from copyback.inputs.tables import Table, read
from copyback.sweep.axes import TRACE, Point, axis_of, value_text
from copyback.sweep.design import Design, numbered_seeds
from copyback.sweep.random_draws import Draws

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_QUICK = "quick"


class _File(Table, frozen=True):
    """Content of a sweep file at one scale."""

    config: str | None = None
    preset: str | None = None
    settings: dict[str, Any] = field(default_factory=dict, name="set")
    grid: dict[str, Any] = field(default_factory=dict)
    cases: tuple[dict[str, Any], ...] = field(default=(), name="list")
    random: dict[str, Any] | None = None
    loads: dict[str, dict[str, Any]] = field(default_factory=dict)
    schemes: dict[str, dict[str, Any]] = field(default_factory=dict)
    seeds: Any = field(default_factory=list)
    baseline: dict[str, Any] = field(default_factory=dict)
    skip_refused: bool = False


@dataclasses.dataclass(frozen=True)
class SweepFile:
    """Content of a sweep file.

    Attributes
    ----------
    config
        A configuration file, relative to the sweep file; None if none is named.
    preset
        The preset to start from; None if none is named.
    settings
        What is laid over that.
    skip_refused
        Leave out combinations that the simulator refuses.
    """

    design: Design
    config: Path | None = None
    preset: str | None = None
    settings: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    skip_refused: bool = False


class Homes(NamedTuple):
    """Bases of relative paths: those of traces, and all others."""

    file: Path
    traces: Path


def read_sweep(path: Path, *, quick: bool = False, traces: Path | None = None) -> SweepFile:
    """Read a sweep file.

    Parameters
    ----------
    quick
        Lay its table ``quick`` over it.
    traces
        The directory that paths of traces are relative to; else that of the file.

    Raises
    ------
    InputError
        With the file, the key, what was found and what is allowed.
    """
    homes = Homes(path.parent, traces or path.parent)
    return toml_file.read(path, lambda table: _sweep_of(_at_scale(table, quick=quick), homes))


def _at_scale(table: Mapping[str, Any], *, quick: bool) -> dict[str, Any]:
    """Return the file without its quick version, or with that laid over it."""
    smaller = read(table.get(_QUICK, {}), dict[str, Any], place=_QUICK)
    if quick and not smaller:
        raise InputError("quick: is missing; it says what a quick version has instead")
    if _QUICK in smaller:
        raise InputError("quick.quick: unknown key")
    whole = {key: value for key, value in table.items() if key != _QUICK}
    return _laid_over(whole, smaller) if quick else whole


def _laid_over(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    laid = dict(under)
    for key, value in over.items():
        is_inside = isinstance(value, dict) and isinstance(laid.get(key), dict)
        laid[key] = _laid_over(laid[key], value) if is_inside else value
    return laid


def _sweep_of(table: Mapping[str, Any], homes: Homes) -> SweepFile:
    file = read(table, _File)
    return SweepFile(
        Design(
            grid=tuple(axis_of(key, located(key, v, homes)) for key, v in file.grid.items()),
            cases=tuple(point_of(case, homes) for case in file.cases),
            draws=Draws.read(file.random) if file.random is not None else None,
            loads={name: point_of(own, homes) for name, own in file.loads.items()},
            schemes={name: point_of(own, homes) for name, own in file.schemes.items()},
            seeds=numbered_seeds(file.seeds),
            baseline=point_of(file.baseline, homes),
        ),
        config=homes.file / file.config if file.config is not None else None,
        preset=file.preset,
        settings=list(point_of(file.settings, homes)),
        skip_refused=file.skip_refused,
    )


def point_of(settings: Mapping[str, Any], homes: Homes) -> Point:
    """Return the settings of a table as a point has them."""
    return tuple((key, value_text(located(key, v, homes), key)) for key, v in settings.items())


def located(key: str, value: Any, homes: Homes) -> Any:
    """Return paths of traces, and of policies in files, as seen from here."""
    if isinstance(value, list):
        return [located(key, item, homes) for item in value]
    if key != TRACE and not key.endswith(".path"):
        return configuration.with_absolute_policies(value, key, homes.file)
    return str(homes.traces / value) if isinstance(value, str) else value
