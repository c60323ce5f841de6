"""Set-ups of stored runs: the configuration of each cell, made again from its experiment's file.

Digests would not do: they change with every key that the program gains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback.sweep.axes import LOAD, POINT, SCHEME
from copyback_papers.measures import Cell
from copyback_papers.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from copyback_papers.found import Found

#: A configuration by its dotted keys.
Setup = dict[str, Any]

#: Keys that decide no more than what is recorded, or which of several seeds a run is.
ASIDE = ("seed", "audit", "metrics.")

#: Ends of keys that say how long a run is, or how large a drive it has: a scale changes them.
LENGTHS = (".requests", ".limit", ".duration", ".blocks_per_plane")


def of_cells(found: Found) -> dict[Cell, Setup]:
    """Return the set-up of each cell; without those of real traces, which may not be at hand."""
    plan = make_plan(found.experiment, found.scale, None, (0,))
    setups = {}
    for run in plan.sweep.runs:
        names = dict(run.point)
        cell = Cell(names[LOAD], names[POINT], names[SCHEME])
        setups[cell] = {
            key: value for key, value in flat(run.resolved) if not key.startswith(ASIDE)
        }
    return {cell: setup for cell, setup in setups.items() if cell in found.measures}


def flat(table: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of a table under its dotted key.

    >>> dict(flat({"ssd": {"gc": {"start": "at_once"}}, "weights": [1, 2]}))
    {'ssd.gc.start': 'at_once', 'weights.0': 1, 'weights.1': 2}
    """
    parts: Mapping[Any, Any] | None = None
    if isinstance(table, dict):
        parts = table
    elif isinstance(table, list):
        parts = dict(enumerate(table))
    if parts is None:
        yield key, table
        return
    for name, value in parts.items():
        yield from flat(value, f"{key}.{name}" if key else str(name))


def differences(one: Setup, other: Setup) -> list[str]:
    """Return the keys in which two set-ups differ, with both values.

    >>> differences({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4})
    ['b = 2 and 3', 'c = none and 4']
    """
    return [
        f"{key} = {one.get(key, 'none')} and {other.get(key, 'none')}"
        for key in sorted(one.keys() | other.keys())
        if one.get(key) != other.get(key)
    ]


def without_length(setup: Setup) -> frozenset[tuple[str, str]]:
    """Return what two set-ups have in common that differ in length or size of the drive only."""
    return frozenset((key, repr(one)) for key, one in setup.items() if not key.endswith(LENGTHS))


def is_as_long(one: Setup, other: Setup) -> bool:
    """Return whether one is nowhere shorter or smaller than the other, which has its other keys."""
    lengths = [key for key in other if key.endswith(LENGTHS)]
    return all(
        one.get(key) == other[key] or (_is_number(one.get(key)) and one[key] >= other[key])
        for key in lengths
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def part(setup: Setup, key: str) -> tuple[tuple[str, Any], ...]:
    """Return the values of a key: its own, or those of all keys below it."""
    return tuple((k, v) for k, v in setup.items() if k == key or k.startswith(f"{key}."))


def without(setup: Setup, key: str) -> frozenset[tuple[str, str]]:
    """Return everything of a set-up but a key."""
    aside = {name for name, _ in part(setup, key)}
    return frozenset((name, repr(value)) for name, value in setup.items() if name not in aside)
