"""Advice on a text that is no TOML, at the line of the fault."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tomllib

_PLACE = re.compile(r"(.*) \(at line (\d+), column (\d+)\)")
_WORD = re.compile(r"[\w\-.%+/:]+")


def told(name: object, text: str, fault: tomllib.TOMLDecodeError) -> str:
    r"""Return the line about a fault.

    >>> import tomllib
    >>> try:
    ...     tomllib.loads("a = 1\nb = fifo\n")
    ... except tomllib.TOMLDecodeError as fault:
    ...     print(told("x.toml", "a = 1\nb = fifo\n", fault))
    x.toml:2:5: found fifo without quotes; allowed: "fifo"
    """
    found = _PLACE.fullmatch(str(fault))
    if found is None:
        return f"{name}: {fault}"
    problem, number, column = found[1], int(found[2]), int(found[3])
    line = text.split("\n")[number - 1]
    behind = line.find("=") + 1
    words = [word for word in _WORD.finditer(line, behind) if word.start() < column <= word.end()]
    if not words or not behind:
        return f"{name}:{number}:{column}: {problem}"
    word = words[0][0]
    return f'{name}:{number}:{words[0].start() + 1}: found {word} without quotes; allowed: "{word}"'
