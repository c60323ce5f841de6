"""Axes of a sweep: a key of the configuration and the values that it takes."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.inputs import configuration
from copyback.inputs.layers import Layer, arranged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: One combination: keys and texts of values, in the order in which they are laid over the base.
Point = tuple[tuple[str, str], ...]

#: The settings that a name stands for: a key and one of its values, and before them the load if the
#: name stands for something else under it.
Named = dict[Point, Point]

#: Keys of a sweep whose values are names.
LOAD = "load"
POINT = "point"
SCHEME = "scheme"
NAMES = (LOAD, POINT, SCHEME)

#: Other keys of a sweep that are no keys of a configuration.
TRACE = "trace"
WORKLOAD = "workload"
SEED = "seed"

#: Keys that say what is done to a device, and not what the device does.
_LOAD_KEYS = (TRACE, WORKLOAD, "host.", "precondition.")

_OPENING = {"(": ")", "[": "]", "{": "}"}
_QUOTES = "\"'"


@dataclass(frozen=True)
class Axis:
    """A key and the texts of its values, as ``--set KEY=VALUE`` takes them."""

    key: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise InputError(f"{self.key}: a sweep over it needs at least one value")
        twice = [value for value in self.values if self.values.count(value) > 1]
        if twice:
            raise InputError(f"{self.key}: has the value {twice[0]} twice")


def parse_axis(text: str) -> Axis:
    """Read ``KEY=A,B,C`` of the command line.

    >>> parse_axis('ssd.gc.victim=greedy,{ type = "rga", d = 10 }').values
    ('greedy', '{ type = "rga", d = 10 }')
    """
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise InputError(f"--over {text}: KEY=A,B,C is needed, such as ssd.gc.victim=greedy,fifo")
    return Axis(key.strip(), tuple(_split(values)))


def axis_of(key: str, values: Any) -> Axis:
    """Return an axis over values of Python or TOML."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InputError(f"{key}: found {values!r}; a list of values is needed")
    return Axis(key, tuple(value_text(value, key) for value in values))


def value_text(value: Any, key: str) -> str:
    """Return a value of a key as a setting has it: a name without quotes, anything else as TOML."""
    return value if isinstance(value, str) else configuration.setting_text(key, value)


def _split(text: str) -> list[str]:
    """Cut at commas that are outside of brackets and quotes."""
    parts: list[str] = [""]
    closing: list[str] = []
    for character in text:
        if closing and character == closing[-1]:
            closing.pop()
        elif closing and closing[-1] in _QUOTES:
            pass
        elif character in _OPENING:
            closing.append(_OPENING[character])
        elif character in _QUOTES:
            closing.append(character)
        elif character == "," and not closing:
            parts.append("")
            continue
        parts[-1] += character
    return [part.strip() for part in parts]


def is_load(key: str) -> bool:
    """Whether a key says what is done to a device.

    >>> is_load("workload.requests"), is_load("ssd.gc.victim")
    (True, False)
    """
    return key == LOAD or key.startswith(_LOAD_KEYS)


def layers_of(point: Point, named: Mapping[Point, Point]) -> list[Layer]:
    """Return what a point lays over the configuration, arranged so that nothing is lost.

    Parameters
    ----------
    named
        The settings that names stand for.

    Raises
    ------
    InputError
        If one part of the point would replace another.
    """
    load = tuple(pair for pair in point if pair[0] == LOAD)
    rows = (named.get((*load, own), named.get((own,), (own,))) for own in point)
    return arranged([_layer(key, text) for row in rows for key, text in row])


def _layer(key: str, text: str) -> Layer:
    name = f"{key}={text}"
    if key == TRACE:
        return Layer(name, tuple(configuration.trace_settings(_unquoted(text), None)))
    if key == WORKLOAD and not text.startswith("{"):
        return Layer(name, tuple(configuration.workload_settings(_unquoted(text))))
    return Layer(name, ((key, text),))


def column(key: str, texts: Iterable[str | None]) -> list[Any]:
    """Return the values of a key as a column of results has them: all numbers, or all text.

    >>> column("a", ["0.1", "0.28"]), column("a", ["greedy", "{ d = 1 }", None])
    ([0.1, 0.28], ['greedy', '{ d = 1 }', None])
    >>> column("load", ["0.10"])
    ['0.10']
    """
    kept = list(texts)
    if key in NAMES:
        return kept
    values = [None if text is None else _scalar(text) for text in kept]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int | float) for value in known):
        is_whole = all(isinstance(value, int) for value in known)
        return [None if v is None else (v if is_whole else float(v)) for v in values]
    return [None if text is None else _unquoted(text) for text in kept]


def _scalar(text: str) -> int | float | str:
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else text


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES
    return text[1:-1] if is_quoted else text
