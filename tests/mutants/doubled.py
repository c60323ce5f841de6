"""Functions with their mutated bodies beside the original one, each behind its switch.

``{ if crate::mutant::is(7) { mutated } else { original } }``: every body is a block of the type
that the function returns, so that ``return`` and ``?`` mean what they did. Comments say where a
mutated body begins and ends, from which the place of a compiler's error leads to the mutant.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from mutants.rust_text import Lines, body, masked

if TYPE_CHECKING:
    from mutants.listed import Change

BEGINS = re.compile(r"//mutant (\d+) begins$")
ENDS = re.compile(r"//mutant (\d+) ends$")


def cannot_stand_beside(change: Change, others: list[Change]) -> str | None:
    """Return why a mutated body of this change cannot stand beside the original one, if so."""
    if not change.function:
        return "it is outside of functions"
    if "impl " in change.returns and not is_iterator(change):
        return "two bodies do not return the same `impl` type"
    within = [other.function for other in others if other.function and other.file == change.file]
    if any(inside(other, change.function) for other in within):
        return "a function within the function is changed, too"
    return None


def is_iterator(change: Change) -> bool:
    """Return whether bodies of several types can be returned as one iterator."""
    return re.match(r"-> impl (\w+)?Iterator\b", change.returns) is not None


def inside(
    inner: dict[str, dict[str, dict[str, int]]], outer: dict[str, dict[str, dict[str, int]]]
) -> bool:
    """Return whether a function stands within another one."""

    def at(function: dict[str, dict[str, dict[str, int]]], end: str) -> tuple[int, int]:
        return function["span"][end]["line"], function["span"][end]["column"]

    return at(outer, "start") < at(inner, "start") and at(inner, "end") < at(outer, "end")


def doubled(text: str, changes: dict[int, Change]) -> str:
    """Put the changes of one file, by their numbers, into its text."""
    mask, lines = masked(text), Lines(text)

    def function(pair: tuple[int, Change]) -> tuple[int, int]:
        span = pair[1].function["span"]
        return lines.place(span["start"]), lines.place(span["end"])

    for (start, end), pairs in groupby(
        sorted(changes.items(), key=lambda pair: (function(pair), pair[0]), reverse=True),
        key=function,
    ):
        opens, closes = body(mask, start, end)
        bodies = text[opens:closes]
        for number, change in pairs:
            at, past = lines.place(change.span["start"]), lines.place(change.span["end"])
            mutated = f"{text[opens:at]}{change.replacement}{text[past:closes]}"
            bodies = choice(number, mutated, bodies, is_iterator(change))
        text = f"{text[:opens]}{bodies}{text[closes:]}"
    return text


def choice(number: int, mutated: str, other: str, is_iterator: bool) -> str:
    """Return a body that is mutated if the switch says so."""
    if is_iterator:
        mutated = f"{{ crate::mutant::OneOf::Mutated({mutated}) }}"
        other = f"{{ crate::mutant::OneOf::Other({other}) }}"
    return (
        f"{{ if crate::mutant::is({number}) //mutant {number} begins\n"
        f"{mutated} //mutant {number} ends\nelse {other} }}"
    )


def blocks(text: str) -> dict[int, range]:
    """Return the lines, from 1, of every mutated body."""
    begins: dict[int, int] = {}
    found = {}
    for line, content in enumerate(text.split("\n"), 1):
        if begun := BEGINS.search(content):
            begins[int(begun[1])] = line
        if ended := ENDS.search(content):
            found[int(ended[1])] = range(begins[int(ended[1])], line + 1)
    return found
