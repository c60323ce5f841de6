"""A parameter of another simulator's file, and where it was written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from copyback._core import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")


@dataclass(frozen=True)
class Parameter:
    """A name and its text. What reads it says in a line what is wrong with it."""

    name: str
    text: str
    #: File and line.
    place: str

    def fault(self, allowed: str) -> InputError:
        """Return the line about a value that is not allowed."""
        return InputError(f"{self.place}: {self.name}: found {self.text!r}; allowed: {allowed}")

    def whole(self, least: int = 0, most: int = 2**63 - 1) -> int:
        """Return a whole number."""
        words = f"a whole number from {least} to {most}"
        if not self.text.isascii() or not self.text.removeprefix("+").isdigit():
            raise self.fault(words)
        if len(self.text) > 20 or not least <= int(self.text) <= most:
            raise self.fault(words)
        return int(self.text)

    def number(self, least: float = 0.0, most: float = math.inf) -> float:
        """Return a number."""
        words = f"a number from {least:g}" + ("" if math.isinf(most) else f" to {most:g}")
        try:
            value = float(self.text)
        except ValueError:
            raise self.fault(words) from None
        if not math.isfinite(value) or not least <= value <= most:
            raise self.fault(words)
        return value

    def one_of(self, meanings: Mapping[str, T]) -> T:
        """Return what a word means; words are written in capitals or not."""
        try:
            return meanings[self.text.upper()]
        except KeyError:
            raise self.fault(", ".join(meanings)) from None

    def switch(self) -> bool:
        """Return whether it is true."""
        return self.one_of({"TRUE": True, "FALSE": False})


class Parameters:
    """The parameters of a file. Each is taken once; what nobody takes is left over."""

    def __init__(self, found: Mapping[str, Parameter], path: str) -> None:
        self._found = dict(found)
        #: All that the file gives, by name.
        self.written = dict(found)
        self._path = path
        #: Parameters that the file leaves out, and what they are then.
        self.assumed: list[tuple[str, str]] = []

    def take(self, name: str) -> Parameter:
        """Return a parameter that must be there."""
        try:
            return self._found.pop(name)
        except KeyError:
            raise InputError(f"{self._path}: {name}: missing") from None

    def get(self, name: str, default: str) -> Parameter:
        """Return a parameter, or what the simulator takes if the file leaves it out."""
        if name in self._found:
            return self._found.pop(name)
        self.assumed.append((name, default))
        return Parameter(name, default, self._path)

    def maybe(self, name: str) -> Parameter | None:
        """Return a parameter, if it is there."""
        return self._found.pop(name, None)

    def rest(self) -> list[Parameter]:
        """Return what nobody has taken."""
        return list(self._found.values())
