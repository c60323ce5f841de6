"""Terminal output of pairs of traces of which one predicts the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from copyback.words import units
from copyback.words.console import numbers_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from copyback.calibration.floor import Row

#: What predictors are called.
NAMES = {
    "simulated": "simulated",
    "drawn": "drawn by size",
    "linear": "linear in size",
    "by_size": "by size class",
    "constant": "constant",
}

#: What of a row is told, and what that is called.
MEASURES = {
    "p50_ratio": "Ratio of p50",
    "p99_ratio": "Ratio of p99",
    "score": "Quantile score",
}


def table_rows(rows: Sequence[Row], measure: str) -> list[list[str]]:
    """Return a row for each pair and operation with one measure of every predictor."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        key = (row.fitted, row.predicted, row.operation)
        cells = found.setdefault(key, [*key, units.count(row.requests)])
        cells.append(units.factor(getattr(row, measure)))
    return list(found.values())


def predictors_of(rows: Sequence[Row]) -> list[str]:
    """Return the names of the predictors, in the order of the rows."""
    return [NAMES[one] for one in dict.fromkeys(row.predictor for row in rows)]


def overview(rows: Sequence[Row]) -> RenderableType:
    """Return the tables of a terminal, one for each measure."""
    pieces: list[RenderableType] = []
    for measure, name in MEASURES.items():
        table = numbers_table(name, ["requests", *predictors_of(rows)])
        for fitted, predicted, operation, *cells in table_rows(rows, measure):
            table.add_row(f"{fitted} → {predicted}, {operation}", *cells)
        pieces += [table, Text("")]
    return Group(*pieces[:-1])
