"""From a configuration to what it has in place of a board's base, and back to configurations."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.inputs import configuration
from copyback.inputs.configuration import setting_value
from copyback.policies.load import named_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from copyback._core import Config
    from copyback.leaderboard.board import Board

_NO_PYTHON = "found a policy in Python; allowed on a board: policies that are built in"

#: What a board's workloads and seeds decide, whatever a configuration says.
OF_THE_BOARD = ("workload", "seed")


def tables_of(config: Config) -> dict[str, Any]:
    """Return a configuration with every default, as tables.

    Raises
    ------
    InputError
        If it has a policy in Python: a board is run by people who do not know its author.
    """
    policies = named_in(config)
    if policies:
        raise InputError(f"{policies[0].about}: {_NO_PYTHON}")
    return tomllib.loads(config.to_toml())


def check_alone(board: Board, settings: Mapping[str, str]) -> None:
    """Refuse a policy in Python in a board's base, its workloads or a design with these settings.

    Nothing is loaded for it.

    Raises
    ------
    InputError
        With the key.
    """
    texts = [settings, *(load.settings for load in board.loads.values())]
    given = [(key, setting_value(text)) for one in texts for key, text in one.items()]
    for key, value in (*board.base.items(), *given):
        if found := _python(value, key):
            raise InputError(f"{found}: {_NO_PYTHON}")


def _python(value: Any, key: str) -> str | None:
    """Return the key of a policy in Python below a key; None if there is none."""
    if key.rpartition(".")[2] == "policy":
        return key
    if isinstance(value, list):
        return next(filter(None, (_python(one, key) for one in value)), None)
    if not isinstance(value, dict):
        return None
    if value.get("type") == "python":
        return key
    return next(filter(None, (_python(own, f"{key}.{name}") for name, own in value.items())), None)


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
