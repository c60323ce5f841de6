"""The classes of a placement, in words and rows, for terminal and report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.summary import ClassSummary
from copyback.words import declared
from copyback.words.describe import placement_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.result import Result


@dataclass(frozen=True)
class Row:
    """One class: its name, whose pages it takes, and what became of its blocks."""

    label: str
    takes: str
    found: ClassSummary

    @property
    def cells(self) -> list[str]:
        """Numbers, in the order of `COLUMNS`."""
        return declared.cells(self.found)


#: What `Row.cells` holds: a short name, and what it means.
COLUMNS = declared.columns(ClassSummary)


def rows(result: Result) -> list[Row]:
    """Return the classes of the placement; none if it has one only."""
    placement = result.summary.placement
    if placement is None:
        return []
    names = labels(result.config, placement.classes)
    return [
        Row(label, _takes(found), found)
        for label, found in zip(names, placement.classes, strict=True)
    ]


def labels(config: Mapping[str, Any], classes: Sequence[ClassSummary]) -> list[str]:
    """Return what classes are called: what they hold where that is known, else their numbers."""
    kind = placement_name(config).partition(" ")[0]
    if kind == "host_and_gc_apart":
        return ["host", "moved"]
    if kind != "by_hint":
        return [str(number) for number in range(len(classes))]
    handles = [found for found in classes if found.takes_host]
    moved = len(classes) - len(handles)
    names = ["moved"] if moved == 1 else [f"moved {number}" for number in range(moved)]
    return [f"handle {number}" for number in range(len(handles))] + names


def _takes(found: ClassSummary) -> str:
    if found.takes_host and found.takes_moved:
        return "both"
    return "host" if found.takes_host else "moved"


@dataclass(frozen=True)
class Band:
    """Neighbouring classes that are drawn as one, and their columns of the time series."""

    label: str
    columns: list[str]


#: Classes that have a colour each; of more, neighbours are drawn together.
MOST_BANDS = 8


def bands(result: Result) -> list[Band]:
    """Return the classes as they are drawn; none of a result whose series does not have them."""
    names = [row.label for row in rows(result)]
    columns = [f"class_{number}_blocks" for number in range(len(names))]
    if not names or not set(columns) <= set(result.series.columns):
        return []
    width = -(-len(names) // MOST_BANDS)
    firsts = range(0, len(names), width)
    groups = [slice(first, min(first + width, len(names))) for first in firsts]
    return [Band(_joined(names[group]), columns[group]) for group in groups]


def _joined(names: list[str]) -> str:
    """Return a name for neighbours.

    >>> _joined(["2"]), _joined(["2", "3", "4"])
    ('2', '2 to 4')
    """
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
