"""Lines over all dies, in lines for the terminal and rows for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.words import declared, units

if TYPE_CHECKING:
    from copyback.summary import Summary


def rows(summary: Summary) -> list[tuple[str, str]]:
    """Return what became of lines, and of a die that was lost."""
    return declared.rows(summary.lines) + of_lost_die(summary) if summary.lines else []


def of_lost_die(summary: Summary) -> list[tuple[str, str]]:
    """Return what became of a die that was lost; nothing if none was."""
    lost = summary.lost_die
    if lost is None:
        return []
    if lost.lost_at_s is None:
        return [("Die lost", "not before the end of the run")]
    done = "not by the end" if lost.rebuild_s is None else f"in {lost.rebuild_s:.3g} s"
    told = [
        ("Die lost", f"die {lost.die} at {lost.lost_at_s:.3g} s"),
        ("Rebuilt", f"{units.count(lost.pages_rebuilt)} pages, {done}"),
        ("Read from the others of their stripes", f"{units.count(lost.degraded_reads)} pages"),
    ]
    times = {"before": lost.before_us, "during": lost.during_us, "after": lost.after_us}
    tails = [
        f"{units.time_us(p99)} {when}"
        for when, of in times.items()
        if (p99 := of["p99"]) is not None
    ]
    if tails:
        told.append(("Reads p99 by the loss", ", ".join(tails)))
    return told + declared.rows(lost)


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the line of the terminal."""
    told = [f"{name.lower()} {value}" for name, value in rows(summary)]
    return [("Lines", " · ".join(told))] if told else []
