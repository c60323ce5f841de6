"""Arguments of functions: one of another type is told in a line.

The line has the place (the function and the argument), what was found, and what is allowed.
"""

from __future__ import annotations

import operator
import os
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyback._core import InputError


class ArgumentError(InputError, TypeError):
    """An argument is of a type that the function does not take."""


@dataclass(frozen=True)
class Kind:
    """A kind of argument.

    Attributes
    ----------
    allowed
        In words.
    is_met
        Whether a value is one.
    """

    allowed: str
    is_met: Callable[[Any], bool]

    def or_none(self) -> Kind:
        """Return the kind whose values may be absent, too."""
        return Kind(f"{self.allowed}, or None", lambda it: it is None or self.is_met(it))


def _is_path(it: Any) -> bool:
    return isinstance(it, str) or (isinstance(it, os.PathLike) and isinstance(os.fspath(it), str))


def _is_whole(it: Any) -> bool:
    try:
        operator.index(it)
    except TypeError:
        return False
    return not _is_switch(it)


def _is_switch(it: Any) -> bool:
    return isinstance(it, bool) or type(it).__name__ in ("bool", "bool_")


def _is_share(it: Any) -> bool:
    return isinstance(it, float) or _is_whole(it)


def _is_list(it: Any) -> bool:
    return isinstance(it, Sequence) and not isinstance(it, str | bytes)


TEXT = Kind("a text", lambda it: isinstance(it, str))
PATH = Kind("a path, as a text or a pathlib.Path", _is_path)
CONFIG = Kind(
    "a path, or a dictionary of the shape of a configuration",
    lambda it: it is None or isinstance(it, Mapping) or _is_path(it),
)
KEYS = Kind("a dictionary by keys", lambda it: isinstance(it, Mapping) and all(map(_is_text, it)))
WHOLE = Kind("a whole number", _is_whole)
COUNT = Kind("a whole number above 0", lambda it: _is_whole(it) and it > 0)
SEEDS = Kind(
    "a whole number above 0, or a list of seeds",
    lambda it: (
        COUNT.is_met(it) or ((_is_list(it) or isinstance(it, range)) and all(map(_is_whole, it)))
    ),
)
NUMBER = Kind("a number", _is_share)
SWITCH = Kind("True or False", _is_switch)
TEXTS = Kind("a list of texts", lambda it: _is_list(it) and all(map(_is_text, it)))
TEXT_OR_TEXTS = Kind(
    "a text, or a list of one text or more",
    lambda it: _is_text(it) or (TEXTS.is_met(it) and len(it) > 0),
)
PATHS = Kind("a list of paths", lambda it: _is_list(it) and all(map(_is_path, it)))


def _is_text(it: Any) -> bool:
    return isinstance(it, str)


def check(function: str, **arguments: tuple[Any, Kind]) -> None:
    """Refuse arguments that are not of their kinds.

    Raises
    ------
    ArgumentError
        With a line for each.
    """
    wrong = [
        f"{function}(): {name}: found {_short(it)}; allowed: {kind.allowed}"
        for name, (it, kind) in arguments.items()
        if not kind.is_met(it)
    ]
    if wrong:
        raise ArgumentError("\n".join(wrong))


def path(function: str, it: Any, name: str = "path") -> Path:
    """Return an argument that names a file or directory.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    check(function, **{name: (it, PATH)})
    return Path(it)


def _short(it: Any) -> str:
    text = " ".join(reprlib.repr(it).split())
    return "None" if it is None else f"{text} ({type(it).__name__})"
