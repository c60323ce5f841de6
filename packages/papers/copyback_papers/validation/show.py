"""Output of ``copyback validate``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from copyback_papers.validation.compare import Compared, Verdict
    from copyback_papers.validation.drives import DriveVerdict

#: A row of another simulator that is so close agrees, though the two are not the same.
CLOSE = 0.05
NAMES = {
    "count": "count",
    "mean_us": "mean",
    "p99_us": "p99",
    "p99_9_us": "p99.9",
    "page_reads": "page reads",
    "page_programs": "page programs",
    "erases": "erases",
}


def name_of(number: Compared) -> str:
    """Return what a number is called in a table, with its unit."""
    kind, _, what = number.what.rpartition(": ")
    unit = " (us)" if what.endswith("_us") else ""
    return f"{kind} {NAMES[what]}{unit}".strip()


def lines(verdict: Verdict) -> Iterator[str]:
    """Return the lines of a row: theirs, ours, the difference and why."""
    row = verdict.row
    yield f"{row.name}: {found(verdict)}"
    header = f"  {'':24} {'theirs':>14} {'ours':>14} {'difference':>11}"
    if row.explained is not None:
        header += f" {'predicted':>11} {'their rules':>14} {'from theirs':>11}"
    yield header
    for number in verdict.numbers:
        line = f"  {name_of(number):24} {told(number, number.theirs):>14} "
        line += f"{told(number, number.ours):>14} {share(number.off()):>11}"
        off = number.explained_off()
        if off is not None and number.explained is not None:
            line += f" {share(number.predicted_off()):>11}"
            line += f" {told(number, number.explained):>14} {share(off):>11}"
        yield line
    if row.counts_only:
        yield f"  responses are not compared: {row.cause}"
    elif row.cause:
        yield f"  why: {row.cause}"


def found(verdict: Verdict) -> str:
    """Return what a row comes to, in a phrase."""
    row = verdict.row
    if row.explained is None:
        verb = "agrees" if verdict.agrees() else "DIFFERS, not"
        return f"{verb} within {row.within:.4%} of {row.peer}"
    if not verdict.agrees():
        return f"DIFFERS from {row.peer}, not within {row.within:.2%} of what its cause predicts"
    if abs(verdict.worst().off()) <= CLOSE:
        return f"agrees within {CLOSE:.2%} of {row.peer}, as predicted"
    return f"differs from {row.peer} as its cause predicts, within {row.within:.2%}"


def told(number: Compared, value: float) -> str:
    """Return a value: times to the nanosecond, counts whole."""
    return f"{value:,.3f}" if number.what.endswith("_us") else f"{value:,.0f}"


def share(off: float) -> str:
    """Return a difference in percent."""
    return "0" if off == 0 else f"{off:+.3%}"


def conclusion(verdicts: Sequence[Verdict | DriveVerdict]) -> str:
    """Return what all rows come to."""
    agree = sum(verdict.agrees() for verdict in verdicts)
    same = sum(verdict.is_same() for verdict in verdicts)
    return (
        f"{agree} of {len(verdicts)} rows agree within their bounds; in {same} of them every "
        "number is the same."
    )


def progress(done: int, count: int, name: str) -> None:
    """Say on standard error which row is run."""
    sys.stderr.write(f"{done} of {count}: {name}\n")
    sys.stderr.flush()
