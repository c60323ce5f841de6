"""Reads the tables of an experiment file, and names the file and the key of what is wrong."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, TypeVar

from copyback import configuration
from copyback._core import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

T = TypeVar("T")

#: Dotted keys of a configuration and their values as TOML, in the order in which they are laid.
Settings = tuple[tuple[str, str], ...]

NAMES: dict[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


class Fields:
    """One table of a file, taken apart key by key.

    Parameters
    ----------
    table
        What the file holds there.
    path
        The file.
    place
        The dotted key of the table.
    """

    def __init__(self, table: Mapping[str, Any], path: Path, place: str = "") -> None:
        self._left = dict(table)
        self._path = path
        self._place = place
        self._taken: list[str] = []

    def fault(self, key: str, problem: str) -> InputError:
        """Return the error that says what is wrong with a key."""
        dotted = f"{self._place}.{key}" if self._place else key
        return InputError(f"{self._path}: {dotted}: {problem}")

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """Return a value that has to be of this kind; without a default it has to be there."""
        self._taken.append(key)
        if key not in self._left:
            if default is None:
                raise self.fault(key, f"missing; {NAMES[kind]} is needed")
            return default
        value = self._left.pop(key)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.fault(key, f"found {value!r}; {NAMES[kind]} is needed")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text."""
        return self.take(key, str, default)

    def optional_text(self, key: str) -> str | None:
        """Return a text, or None where there is none."""
        return self.take(key, str, "") or None

    def one_of(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """Return one of some words."""
        value = self.take(key, str, default)
        if value not in allowed:
            raise self.fault(key, f"found {value!r}; allowed: {', '.join(allowed)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, empty where there is none."""
        return self._list(key, str)

    def numbers(self, key: str, default: list[int]) -> tuple[int, ...]:
        """Return a list of whole numbers."""
        return self._list(key, int, default)

    def _list(self, key: str, kind: type[T], default: list[T] | None = None) -> tuple[T, ...]:
        values = self.take(key, list, default or [])
        if not all(isinstance(value, kind) for value in values):
            raise self.fault(key, f"found {values!r}; a list is needed, each {NAMES[kind]}")
        return tuple(values)

    def table(self, key: str) -> Fields:
        """Return a table, empty where there is none."""
        return Fields(self.take(key, dict, {}), self._path, self._dotted(key))

    def tables(self, key: str) -> list[Fields]:
        """Return a list of tables, empty where there is none."""
        values = self.take(key, list, [])
        for value in values:
            if not isinstance(value, dict):
                raise self.fault(key, f"found {value!r}; a list of tables is needed")
        return [
            Fields(value, self._path, f"{self._dotted(key)}[{index}]")
            for index, value in enumerate(values)
        ]

    def named_tables(self, key: str) -> dict[str, Fields]:
        """Return a table of tables, in the order of the file."""
        found = self.take(key, dict, {})
        return {name: self._inner(key, name, value) for name, value in found.items()}

    def _inner(self, key: str, name: str, value: Any) -> Fields:
        if not isinstance(value, dict):
            raise self.fault(f"{key}.{name}", f"found {value!r}; a table is needed")
        return Fields(value, self._path, f"{self._dotted(key)}.{name}")

    def _dotted(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key

    def settings(self, key: str) -> Settings:
        """Return a table of configuration keys and values."""
        return as_settings(self.take(key, dict, {}))

    def rest_as_settings(self) -> Settings:
        """Return all keys that are left as configuration keys."""
        left, self._left = self._left, {}
        return as_settings(left)

    def rest(self) -> dict[str, Any]:
        """Return all keys that are left."""
        left, self._left = self._left, {}
        return left

    def end(self) -> None:
        """Refuse keys that nobody asked for."""
        for key in self._left:
            close = difflib.get_close_matches(key, self._taken, n=1)
            hint = f"did you mean {close[0]}?" if close else f"allowed: {', '.join(self._taken)}"
            raise self.fault(key, f"unknown key; {hint}")


def as_settings(table: Mapping[str, Any]) -> Settings:
    """Return a table of dotted keys as settings."""
    return tuple((key, configuration.to_toml(value)) for key, value in table.items())
