"""Lifetime of drives in words, for terminal and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.words import units

if TYPE_CHECKING:
    from copyback.summary import EnduranceSummary, Summary

#: Erases of a block on average below which a run has worn the flash too little to tell much.
LEAST_ERASES = 1.0


def rows(summary: Summary) -> list[tuple[str, str]]:
    """Return what a run tells of endurance; nothing if no rated cycles are configured."""
    found = summary.endurance
    if found is None:
        return []
    a_day = f"{units.decimal(found.dwpd)} over {found.warranty_years:g} years"
    used = f"{units.decimal(found.percentage_used)} % of {units.count(found.rated_cycles)}"
    return [
        ("Terabytes written", terabytes(found)),
        ("Drive writes per day", a_day),
        ("At this load", at_this_load(found)),
        ("Rated cycles used", used),
        ("Most worn block", most_worn(found)),
        ("Erases of a block", erases(found)),
    ]


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the same in two lines."""
    told = dict(rows(summary))
    if not told:
        return []
    lasts = (
        f"{told['Terabytes written']} · {told['Drive writes per day']} (DWPD) · "
        f"{told['At this load']}"
    )
    wear = (
        f"{told['Rated cycles used']} cycles used · most worn block {told['Most worn block']} · "
        f"{told['Erases of a block']}"
    )
    return [("Endurance", lasts), ("Wear", wear)]


def terabytes(found: EnduranceSummary) -> str:
    """Return how much can be written, by write amplification and by erases."""
    text = f"{units.decimal(found.tbw)} TBW"
    if found.tbw_by_erases is not None:
        text += f" ({units.decimal(found.tbw_by_erases)} by erases)"
    return text


def at_this_load(found: EnduranceSummary) -> str:
    """Return how long drives last if the load stays as it was."""
    years = units.decimal(found.years_at_this_load)
    return f"{years} years at {units.decimal(found.dwpd_of_this_load)} drive writes per day"


def most_worn(found: EnduranceSummary) -> str:
    """Return how uneven wear is."""
    if found.most_worn_to_mean is None:
        return "never erased"
    return f"erased {units.factor(found.most_worn_to_mean)} × the mean"


def erases(found: EnduranceSummary) -> str:
    """Return by how much erasing all of that is known."""
    text = f"{units.decimal(found.erases_per_block)} erases a block in this run"
    return text if found.erases_per_block >= LEAST_ERASES else f"{text}, which is few"
