"""From a configuration to what it has in place of a board's base."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.inputs import configuration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from copyback._core import Config
    from copyback.leaderboard.board import Board

#: What a board's workloads and seeds decide, whatever a configuration says.
OF_THE_BOARD = ("workload", "seed")


def tables_of(config: Config) -> dict[str, Any]:
    """Return a configuration with every default, as tables."""
    return tomllib.loads(config.to_toml())


def settings_of_entry(board: Board, path: Path) -> dict[str, str]:
    """Return what the configuration of a file has in place of the base.

    Raises
    ------
    InputError
        If it differs from the base in a key that is not open.
    """
    found = tables_of(configuration.load(path))
    settings = {}
    for key, base, own in _differences(board.base, found):
        if key.partition(".")[0] in OF_THE_BOARD:
            continue
        if not board.is_open(key):
            raise InputError(
                f"{path}: {key}: found {_told(own)}; allowed: {_told(base)}, as on the board "
                f"(open are {', '.join(board.open_keys) or 'no keys'})"
            )
        if own is None:
            raise InputError(f"{path}: {key}: missing; a value is needed, as the base has one")
        settings[key] = configuration.to_toml(own)
    return settings


def _differences(base: Any, own: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the dotted keys at which two tables differ, and both values."""
    if base == own:
        return
    if not (_is_section(base) and _is_section(own)):
        yield key, base, own
        return
    for name in dict.fromkeys((*base, *own)):
        inner = f"{key}.{name}" if key else name
        yield from _differences(base.get(name), own.get(name), inner)


def _is_section(value: Any) -> bool:
    """Whether a value is a table of keys; one with a type is a value."""
    return isinstance(value, dict) and "type" not in value


def _told(value: Any) -> str:
    return "no value" if value is None else configuration.to_toml(value)
