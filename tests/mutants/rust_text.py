"""Where things stand in Rust text: enough to find a function's body, no more."""

from __future__ import annotations

import re

#: Comments, strings and characters, in which braces mean nothing. A lifetime is no character.
SILENT = re.compile(
    r"""
    //[^\n]*
    | /\*.*?\*/
    | b?r(?P<hashes>\#*)".*?"(?P=hashes)
    | b?"(?:\\.|[^"\\])*"
    | b?'(?:\\u\{[^}]*\}|\\x..|\\.|[^'\\])'
    """,
    re.VERBOSE | re.DOTALL,
)
CLOSES = {"(": ")", "[": "]", "{": "}"}


def masked(text: str) -> str:
    """Blank out what is silent; every other character keeps its place."""
    return SILENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def body(mask: str, start: int, end: int) -> tuple[int, int]:
    """Return where the body of the function between ``start`` and ``end`` stands, with braces."""
    at = start
    while mask[at] != "{":
        at = closed(mask, at) if mask[at] in CLOSES else at + 1
        if at >= end:
            raise ValueError(f"no body in {mask[start:end]!r}")
    return at, closed(mask, at)


def closed(mask: str, start: int) -> int:
    """Return where what opens at ``start`` has closed."""
    waits = [CLOSES[mask[start]]]
    at = start
    while waits:
        at += 1
        if mask[at] in CLOSES:
            waits.append(CLOSES[mask[at]])
        elif mask[at] == waits[-1]:
            waits.pop()
    return at + 1


class Lines:
    """From lines and columns, both from 1, to places in the text."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def place(self, at: dict[str, int]) -> int:
        """Return the place of a line and a column."""
        return self.starts[at["line"] - 1] + at["column"] - 1
