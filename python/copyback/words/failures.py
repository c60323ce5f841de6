"""Incidents of an array, in words: failed drives, scrubs, and cuts of power."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.words import units

if TYPE_CHECKING:
    from copyback.summary import ArraySummary, FailureSummary, Summary

#: Failures that are told one by one.
MOST = 4


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return which drives failed, what was lost, what scrubs did, and what cuts left behind."""
    array = summary.array
    if array is None:
        return []
    return [*_failures(array), *_rebuilt(array), *_scrubs(array), *_torn(array)]


def _rebuilt(array: ArraySummary) -> list[tuple[str, str]]:
    """Return what was rebuilt of drives that were lost from the start; nothing if none was."""
    if array.failures or not array.rebuilt_bytes:
        return []
    missing = array.drives_missing
    left = f"{missing} missing at the end" if missing else "no drive is missing at the end"
    return [("Rebuild", f"{units.size(array.rebuilt_bytes)} rebuilt · {left}")]


def _scrubs(array: ArraySummary) -> list[tuple[str, str]]:
    """Return how many passes there were and what they read; nothing without scrubs."""
    if array.scrubs is None:
        return []
    scrubs = array.scrubs
    told = [f"{scrubs.completed} passes", f"{units.size(scrubs.read_bytes)} read"]
    if scrubs.cut_short:
        told.insert(1, f"{scrubs.cut_short} cut short by a missing drive")
    if array.repairs is not None:
        told.append(f"{array.repairs.made_up} unreadable commands reconstructed in all")
    return [("Scrubs", " · ".join(told))]


def _torn(array: ArraySummary) -> list[tuple[str, str]]:
    """Return what cuts of power left half written, and what was done about it."""
    found = array.consistency
    if found is None or not (found.torn_writes or found.resyncs or found.log_bytes):
        return []
    told = [f"{found.torn_writes} torn by cuts"]
    if found.torn_left:
        told.append(f"{found.torn_left} may disagree at the end")
    told.append(f"write hole {units.size(found.write_hole_bytes)}")
    if found.resync_read_bytes:
        longest = units.time_us(found.longest_resync_us)
        read = units.size(found.resync_read_bytes)
        told.append(f"{found.resyncs} resyncs, {read} read, {longest} at most")
    if found.log_bytes:
        told.append(f"{units.size(found.log_bytes)} of bitmaps or logs")
    return [("Torn writes", " · ".join(told))]


def _failures(array: ArraySummary) -> list[tuple[str, str]]:
    """Return which drives failed and what was lost; nothing if none did."""
    if not array.failures:
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
    cause = " (worn out)" if found.cause == "end_of_life" else ""
    text = f"drive {found.drive}{cause} at {units.time_us(found.at_us)}"
    if found.replaced_by is None:
        return f"{text}, not replaced"
    if found.rebuilt_us is None:
        return f"{text}, drive {found.replaced_by} in its place, not rebuilt by the end"
    took = units.time_us(found.rebuilt_us - found.at_us)
    return f"{text}, drive {found.replaced_by} in its place, rebuilt after {took}"
