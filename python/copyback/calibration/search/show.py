"""Parameters of a fit in rows, for the terminal and the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from copyback.calibration.search.known import best_of
from copyback.words import units
from copyback.words.console import numbers_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Table

    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.known import Fitted

#: Columns of parameters after the first.
PARAMETERS = ["fitted", "from", "interval", "searched", ""]


def parameter_row(fitted: Fitted) -> list[str]:
    """Return key, value, value before, interval, range and verdict of a parameter."""
    shown = fitted.span.kind.shown
    low, high = fitted.interval
    return [
        fitted.span.shown,
        shown(fitted.value),
        shown(fitted.start),
        f"{shown(low)} – {shown(high)}",
        fitted.span.range,
        fitted.words,
    ]


def searched(evaluations: Sequence[Evaluation], what: str) -> list[tuple[str, str]]:
    """Return facts of a search: evaluations, loss, and how many failed.

    Parameters
    ----------
    what
        Name of the numbers that were fitted.
    """
    least = best_of(evaluations).loss
    off = units.significant(math.exp(least))
    loss = f"loss {least:.3f}, fitted {what} are off by a factor of {off}"
    lines = [("Search", f"{units.count(len(evaluations))} evaluations; {loss}")]
    failed = sum(one.found is None for one in evaluations)
    if failed:
        lines.append(("Failed", f"{units.count(failed)} evaluations could not be simulated"))
    return lines


def table(first: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of texts."""
    made = numbers_table(first, columns)
    for cells in rows:
        made.add_row(*map(Text, cells))
    return made
