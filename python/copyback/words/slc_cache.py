"""Use of an SLC cache, in lines for the terminal and rows for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.words import units

if TYPE_CHECKING:
    from copyback.summary import Summary


def rows(summary: Summary) -> list[tuple[str, str]]:
    """Return what became of the host's pages in the cache; nothing if the drive has none."""
    found = summary.slc_cache
    if found is None:
        return []
    return [
        ("Written to the SLC cache", units.size(found.written_bytes)),
        ("Written past it", units.size(found.past_bytes)),
        ("Folded", units.size(found.folded_bytes)),
        ("Died in it", units.size(found.dead_bytes)),
        (
            "Free in it at the end",
            f"{units.size(found.free_bytes)} of {units.size(found.capacity_bytes)}",
        ),
    ]


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the line of the terminal."""
    found = summary.slc_cache
    if found is None:
        return []
    told = [
        f"{units.size(found.written_bytes)} written to it",
        f"{units.size(found.past_bytes)} past it",
        f"{units.size(found.folded_bytes)} folded",
        f"{units.size(found.dead_bytes)} died in it",
        f"{units.size(found.free_bytes)} of {units.size(found.capacity_bytes)} free at the end",
    ]
    return [("SLC cache", " · ".join(told))]
