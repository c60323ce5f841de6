"""Reads a sweep file: the base configuration, and what varies."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from copyback import configuration
from copyback._core import InputError
from copyback.sweep.axes import TRACE, Point, axis_of, value_text
from copyback.sweep.design import Design
from copyback.sweep.random_draws import Draws

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_QUICK = "quick"
_KEYS = (
    "config",
    "preset",
    "set",
    "grid",
    "list",
    "random",
    "loads",
    "schemes",
    "seeds",
    "baseline",
    "skip_refused",
    _QUICK,
)


@dataclass(frozen=True)
class SweepFile:
    """What a sweep file says.

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
    settings: list[tuple[str, str]] = field(default_factory=list)
    skip_refused: bool = False


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
    text = configuration.read_text(path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"{path}: {fault}") from None
    try:
        chosen = _at_scale(table, quick=quick)
        return _sweep_of(chosen, path.parent, traces or path.parent)
    except InputError as fault:
        raise InputError("\n".join(f"{path}: {line}" for line in str(fault).split("\n"))) from None


def _at_scale(table: Mapping[str, Any], *, quick: bool) -> dict[str, Any]:
    """Return the file without its quick version, or with that laid over it."""
    smaller = _table(table, _QUICK)
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


def _sweep_of(table: Mapping[str, Any], home: Path, traces: Path) -> SweepFile:
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise InputError(f"{unknown[0]}: unknown key; there are {', '.join(_KEYS)}")
    grid = _table(table, "grid").items()
    config = _text(table, "config")
    return SweepFile(
        Design(
            grid=tuple(axis_of(key, _located(key, value, traces)) for key, value in grid),
            cases=tuple(_cases(table.get("list", []), traces)),
            draws=Draws.read(table["random"]) if "random" in table else None,
            loads=_named(table, "loads", traces),
            schemes=_named(table, "schemes", traces),
            seeds=_seeds(table.get("seeds", [])),
            baseline=_point(_table(table, "baseline"), traces),
        ),
        config=home / config if config is not None else None,
        preset=_text(table, "preset"),
        settings=list(_point(_table(table, "set"), traces)),
        skip_refused=_is_true(table, "skip_refused"),
    )


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise InputError(
            f'{key}: found {value!r}; a table is needed, such as "ssd.gc.victim" = ...'
        )
    return value


def _text(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{key}: found {value_text(value)}; a text is needed")
    return value


def _is_true(table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise InputError(f"{key}: found {value_text(value)}; true or false is needed")
    return value


def _named(table: Mapping[str, Any], key: str, traces: Path) -> dict[str, Point]:
    named = _table(table, key)
    for name, settings in named.items():
        if not isinstance(settings, dict):
            raise InputError(f"{key}.{name}: found {value_text(settings)}; a table is needed")
    return {name: _point(settings, traces) for name, settings in named.items()}


def _cases(cases: Any, traces: Path) -> list[Point]:
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise InputError("list: a list of tables is needed")
    return [_point(case, traces) for case in cases]


def _point(settings: Mapping[str, Any], traces: Path) -> Point:
    return tuple((key, value_text(_located(key, v, traces))) for key, v in settings.items())


def _located(key: str, value: Any, traces: Path) -> Any:
    """Return paths of traces, and of policies in files, as seen from here."""
    if isinstance(value, list):
        return [_located(key, item, traces) for item in value]
    if key != TRACE and not key.endswith(".path"):
        return configuration.with_absolute_policies(value, key, traces)
    return str(traces / value) if isinstance(value, str) else value


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
