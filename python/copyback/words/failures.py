"""Drives of an array that failed in the run, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.words import units

if TYPE_CHECKING:
    from copyback.summary import FailureSummary, Summary

#: Failures that are told one by one.
MOST = 4


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return which drives failed, who took their places, and what was lost; nothing if none did."""
    array = summary.array
    if array is None or not array.failures:
        return []
    told = [_failure(found) for found in array.failures[:MOST]]
    if len(array.failures) > MOST:
        told.append(f"{len(array.failures) - MOST} more")
    if array.rebuilt_bytes:
        # Else the write amplification beside it is a riddle.
        told.append(f"{units.size(array.rebuilt_bytes)} rebuilt, which are in the bytes to flash")
    lines = [("Failed drives", " · ".join(told))]
    if array.lost is not None:
        at, size = units.time_us(array.lost.at_us), units.size(array.lost.bytes)
        lines.append(("Data lost", f"{size} at {at}; no request entered after that"))
    return lines


def _failure(found: FailureSummary) -> str:
    """Return one failure, and what became of the place of the drive."""
    text = f"drive {found.drive} at {units.time_us(found.at_us)}"
    if found.replaced_by is None:
        return f"{text}, not replaced"
    if found.rebuilt_us is None:
        return f"{text}, drive {found.replaced_by} in its place, not rebuilt by the end"
    took = units.time_us(found.rebuilt_us - found.at_us)
    return f"{text}, drive {found.replaced_by} in its place, rebuilt after {took}"
