"""The classes of a placement, in words and rows, for terminal and report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.words import units
from copyback.words.describe import placement_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.result import Result
    from copyback.summary import ClassSummary, Summary


@dataclass(frozen=True)
class Row:
    """One class: its name, whose pages it takes, and what became of its blocks."""

    label: str
    takes: str
    found: ClassSummary

    @property
    def cells(self) -> list[str]:
        """Numbers, in the order of `COLUMNS`."""
        found = self.found
        return [
            units.rate(found.blocks_filled),
            units.rate(found.victims),
            units.share(found.valid_share),
            units.factor(found.added_page_write_amplification),
            units.rate(found.block_life_pages),
            units.rate(found.page_life_pages),
        ]


#: What `Row.cells` holds: a short name, and what it means.
COLUMNS = (
    ("filled", "blocks filled"),
    ("victims", "blocks collected"),
    ("valid", "share of their pages that was valid when they were chosen"),
    ("adds", "pages of these that were moved, for each page that the host wrote"),
    ("block life", "pages that the host wrote while a block was in use, until it was chosen"),
    ("page life", "pages that the host wrote while a page that it overwrote or trimmed was there"),
)


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


def costs(summary: Summary) -> list[tuple[str, str]]:
    """Return the memory that a placement takes, and pages that found no block of their class."""
    placement = summary.placement
    if placement is None:
        return []
    told = []
    if placement.state_bytes:
        told.append(("Kept about pages", units.size(placement.state_bytes)))
    if placement.diverted_pages:
        told.append(("Pages put elsewhere", units.count(placement.diverted_pages)))
    return told


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the same in one line; nothing if there is nothing to tell."""
    told = " · ".join(f"{label.lower()}: {value}" for label, value in costs(summary))
    return [("Classes", told)] if told else []


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
