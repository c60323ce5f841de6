"""Reads tables of a file into classes, and says in a line what is wrong with one."""

from __future__ import annotations

import difflib
import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import inspect

from copyback._core import InputError
from copyback.inputs import typed
from copyback.inputs.configuration import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

T = TypeVar("T")

#: For each type of a value what it is called, and what it is in Python.
KINDS: dict[type[inspect.Type], tuple[str, type]] = {
    inspect.StrType: ("a text", str),
    inspect.IntType: ("a whole number", int),
    inspect.FloatType: ("a number", float),
    inspect.BoolType: ("true or false", bool),
    inspect.DictType: ("a table", dict),
    inspect.StructType: ("a table", dict),
    inspect.VarTupleType: ("a list", list),
}


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of a file. What it refuses by itself is a ValueError that begins with the key."""


def read(found: Any, kind: type[T], path: Path | None = None, place: str = "") -> T:
    """Return what a file holds as what it has to be.

    Parameters
    ----------
    path
        The file; None if who calls names it.
    place
        The dotted key of what is found; empty of the whole file.

    Raises
    ------
    InputError
        With the place, what was found and what is allowed.
    """
    try:
        return typed.convert(found, kind)
    except msgspec.ValidationError as fault:
        problem, _, steps = str(fault).partition(" - at `$")
        node = inspect.type_info(kind)
        for step in re.findall(r"\w+|\.{3}", steps):
            key = _misfit(found, node) if step == "..." else int(step) if step.isdigit() else step
            found, node = found[key], _inner(node, step)
            place += f"[{key}]" if isinstance(key, int) else f".{key}"
        key, words = _explained(problem, found, node)
        dotted = ".".join(filter(None, (place.removeprefix("."), key)))
        raise InputError(": ".join(filter(None, (str(path or ""), dotted, words)))) from None


def read_json(path: Path, kind: type[T]) -> T:
    """Return what a file in JSON holds as what it has to be.

    Raises
    ------
    InputError
        With the file, the place, what was found and what is allowed.
    """
    try:
        found = json.loads(read_text(path))
    except json.JSONDecodeError as fault:
        raise InputError(f"{path}: not JSON: {fault}") from None
    return read(found, kind, path)


def _inner(node: inspect.Type, step: str) -> inspect.Type:
    """Return the type of what a step leads to; None is no type that anything must have."""
    if isinstance(node, inspect.StructType):
        node = next(field.type for field in node.fields if field.encode_name == step)
    elif isinstance(node, inspect.DictType):
        node = node.value_type
    elif isinstance(node, inspect.VarTupleType):
        node = node.item_type
    if isinstance(node, inspect.UnionType):
        node = next(one for one in node.types if not isinstance(one, inspect.NoneType))
    return node


def _misfit(found: dict[str, Any], node: inspect.Type) -> str:
    """Return the key of the value that is not of the type that all have to be of."""
    assert isinstance(node, inspect.DictType)
    _, kind = KINDS[type(node.value_type)]
    return next(key for key, value in found.items() if not isinstance(value, kind))


def _explained(problem: str, found: Any, node: inspect.Type) -> tuple[str, str]:
    """Return a key of the table at fault, if it is one, and what is wrong."""
    if name := re.fullmatch(r"Object (missing required|contains unknown) field `(.*)`", problem):
        key = name[2]
        if name[1].startswith("missing"):
            return key, f"missing; {_needed(_inner(node, key))} is needed"
        assert isinstance(node, inspect.StructType)
        return key, f"unknown key; {hint(key, [field.encode_name for field in node.fields])}"
    if isinstance(node, inspect.LiteralType):
        return "", f"found {found!r}; allowed: {', '.join(map(str, node.values))}"
    if problem.startswith("Expected "):
        return "", f"found {found!r}; {_needed(node)} is needed"
    key, _, words = problem.partition(": ")
    return key, words


def _needed(node: inspect.Type) -> str:
    if isinstance(node, inspect.LiteralType):
        return f"one of {', '.join(map(str, node.values))}"
    least = f" from {node.ge}" if isinstance(node, inspect.IntType) and node.ge is not None else ""
    empty = " that is not empty" if getattr(node, "min_length", None) else ""
    return KINDS[type(node)][0] + least + empty


def hint(name: str, known: Iterable[str]) -> str:
    """Return which known name may be meant, or all of them.

    >>> hint("short", ["shorter", "seeds"]), hint("x", ["shorter", "seeds"])
    ('did you mean shorter?', 'allowed: shorter, seeds')
    """
    close = difflib.get_close_matches(name, known := list(known), n=1)
    return f"did you mean {close[0]}?" if close else f"allowed: {', '.join(known)}"
