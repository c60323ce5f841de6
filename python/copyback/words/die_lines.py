"""Lines over all dies, in lines for the terminal and rows for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.words import units

if TYPE_CHECKING:
    from copyback.summary import ParitySummary, Summary


def rows(summary: Summary) -> list[tuple[str, str]]:
    """Return how many lines were collected, and how full of valid pages; nothing without lines."""
    found = summary.lines
    if found is None:
        return []
    told = [
        ("Lines opened", units.count(found.opened)),
        ("Lines collected", units.count(found.collected)),
    ]
    if found.valid_share is not None:
        told.append(("Valid of a line collected", units.share(found.valid_share)))
    if found.borrowed_pages:
        told.append(("Pages in a line of another class", units.count(found.borrowed_pages)))
    if (parity := found.parity) is not None:
        told.append(("Parity programmed", f"{units.count(parity.programs)} pages"))
        if (without := parity.write_amplification_without) is not None:
            told.append(("Write amplification without parity", f"{without:.2f}"))
        told += [(name, f"{units.count(pages)} pages") for name, pages in made_up(parity) if pages]
    return told + of_lost_die(summary)


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
    if lost.pages_lost:
        told.append(("Pages that are lost", units.count(lost.pages_lost)))
    if lost.unprotected_lines:
        told.append(("Lines without parity", units.count(lost.unprotected_lines)))
    return told


def made_up(parity: ParitySummary) -> list[tuple[str, int]]:
    """Return why pages were made up from the others of their stripes, and how many."""
    return [
        ("Read around collections", parity.reads_around),
        ("Made up, as they could not be corrected", parity.reads_rebuilt),
        ("Lost, as they could not be made up either", parity.reads_lost),
        ("Made up for a move, as they could not be corrected", parity.moves_rebuilt),
    ]


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the line of the terminal."""
    told = [f"{name.lower()} {value}" for name, value in rows(summary)]
    return [("Lines", " · ".join(told))] if told else []
