"""Bound of the write amplification in words and rows, for terminal and report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.summary import BoundRunSummary, Summary


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the bound in a line, and why there is none; nothing if none was asked for."""
    found = summary.bound
    if found is None:
        return []
    told = [
        f"{units.factor(run.write_amplification)} with {_named(run)}{_beside(summary, run)}"
        for run in found.runs
    ]
    told += [f"{'no more runs' if told else 'none'}: {sentence}" for sentence in found.refused]
    return [("Oracle's WA", line) for line in told[:1]] + [("", line) for line in told[1:]]


def _named(run: BoundRunSummary) -> str:
    return f"{run.classes} classes{', victims foreseen' if run.victims_foreseen else ''}"


def distance(summary: Summary, run: BoundRunSummary) -> float | None:
    """Return by what share the write amplification of a run lies above that of an oracle."""
    ours, theirs = summary.write_amplification, run.write_amplification
    return ours / theirs - 1.0 if ours and theirs else None


def distance_text(summary: Summary, run: BoundRunSummary) -> str:
    """Return how far a run lies above the oracle, or below it."""
    share = distance(summary, run)
    if share is None:
        return units.MISSING
    return f"{units.share(abs(share))} {'above' if share >= 0 else 'below'}"


def _beside(summary: Summary, run: BoundRunSummary) -> str:
    text = distance_text(summary, run)
    return "" if text == units.MISSING else f", this run is {text}"


def runs(summary: Summary) -> Iterator[tuple[str, str, str]]:
    """Yield each run of the oracle: what it is, its write amplification, this run's distance."""
    for run in summary.bound.runs if summary.bound else []:
        yield (
            f"Oracle, {_named(run)}",
            units.factor(run.write_amplification),
            distance_text(summary, run),
        )
