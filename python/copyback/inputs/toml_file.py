"""Reads files in TOML."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, TypeVar

from copyback._core import InputError
from copyback.inputs import configuration, toml_fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")


def table(path: Path, text: str) -> dict[str, Any]:
    """Return the table in the text of a file.

    Raises
    ------
    InputError
        With the file, the line, what was found and what is allowed.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise InputError(toml_fault.told(path, text, fault)) from None


def read(path: Path, make: Callable[[dict[str, Any]], T]) -> T:
    """Return what is made of the table that a file holds.

    Raises
    ------
    InputError
        As :func:`table`, or with the file before each fault that ``make`` tells.
    """
    found = table(path, configuration.read_text(path))
    try:
        return make(found)
    except InputError as fault:
        raise InputError("\n".join(f"{path}: {line}" for line in str(fault).split("\n"))) from None
