"""Cuts of power in words, for terminal and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.words import declared, units

if TYPE_CHECKING:
    from copyback.summary import Summary


def rows(summary: Summary) -> list[tuple[str, str]]:
    """Return what a run tells of cuts of power; nothing if none are configured."""
    found = summary.power_loss
    if found is None:
        return []
    cuts = units.count(found.cuts)
    if found.cuts_in_recovery:
        cuts += f", {units.count(found.cuts_in_recovery)} of them during a recovery"
    recovery = found.recovery_ms
    mean, longest = units.time_s(recovery.mean / 1e3), units.time_s(recovery.max / 1e3)
    return [
        ("Cuts of power", cuts),
        ("Time of a recovery", f"{mean} mean · {longest} at most"),
        *declared.rows(found),
    ]


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the same in a line."""
    told = dict(rows(summary))
    if not told:
        return []
    paired = told.get("Durable pages lost with them")
    text = (
        f"cuts: {told['Cuts of power']} · recovery {told['Time of a recovery']} · "
        f"{told['Torn pages']} torn pages · lost: {told['Buffered pages lost']} buffered pages, "
        f"{told['Durable pages lost']} durable ones"
    ) + ("" if paired is None else f", {paired} that shared cells with torn ones")
    return [("Power", text)]
