"""Faults of the flash in words, for terminal and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.words import declared, units

if TYPE_CHECKING:
    from copyback.summary import FaultsSummary, RepairsSummary, Summary


def rows(summary: Summary) -> list[tuple[str, str]]:
    """Return what went wrong; nothing if the flash is perfect."""
    found = summary.faults
    if found is None:
        return []
    repairs = summary.array.repairs if summary.array is not None else None
    told = [
        *declared.rows(found),
        # An array with parity makes up what its drives cannot read.
        ("Read retries", retries(found, "host" if repairs is None else "array")),
    ]
    if repairs is not None:
        told.append(("Repairs", repaired(repairs)))
    if found.read_only_since_s is not None:
        told.append(("Read-only", read_only(summary, found)))
    return told


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the same in one line, with lines of their own for repairs and the end of a life."""
    told = dict(rows(summary))
    if not told:
        return []
    line = f"{told['Bad blocks']} · {told['Failures']} · {told['Read retries']}"
    others = [(name, told[name]) for name in ("Repairs", "Read-only") if name in told]
    return [("Faults", line), *others]


def retries(found: FaultsSummary, whose: str) -> str:
    """Return how many reads were retried, and how many in vain: of the host, or of its array."""
    retried = units.count(sum(found.read_retries))
    text = f"{retried} reads retried, {units.count(found.uncorrectable_reads)} uncorrectable"
    if found.failed_reads or found.pages_lost_in_moves:
        failed, lost = units.count(found.failed_reads), units.count(found.pages_lost_in_moves)
        text += f" ({failed} {whose} reads failed, {lost} pages lost in moves)"
    return text


def repaired(found: RepairsSummary) -> str:
    """Return how many reads of drives in vain the array made up, and what it could not."""
    text = f"{units.count(found.made_up)} reads of drives made up, {units.count(found.lost)} not"
    if found.unknown_rebuilt_bytes:
        text += f", {units.size(found.unknown_rebuilt_bytes)} rebuilt from what could not be read"
    return text


def read_only(summary: Summary, found: FaultsSummary) -> str:
    """Return when a drive became read-only, what had been written to it, and what it rejected."""
    text = f"since {units.time_s(found.read_only_since_s)}"
    endurance = summary.endurance
    if endurance is not None and endurance.measured_tbw is not None:
        written, predicted = units.decimal(endurance.measured_tbw), units.decimal(endurance.tbw)
        text += f", after {written} TB written ({predicted} TBW predicted)"
    rejected = found.rejected_writes + found.rejected_trims + found.rejected_flushes
    return f"{text}, {units.count(rejected)} requests rejected"
