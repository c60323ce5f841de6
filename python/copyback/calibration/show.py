"""Terminal output of a calibration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from copyback.calibration.certainty import Verdict
from copyback.calibration.errors import PREDICTORS
from copyback.words import units
from copyback.words.console import facts_grid, numbers_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType
    from rich.table import Table

    from copyback.calibration.result import Calibration, Fitted

#: The errors that are told, with how they are written.
MEASURES: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "typical": ("Typical error", units.share),
    "within_25": ("Within 25 %", units.share),
    "mean_ratio": ("Ratio of means", units.factor),
    "p50_ratio": ("Ratio of p50", units.factor),
    "p99_ratio": ("Ratio of p99", units.factor),
}


def overview(found: Calibration) -> RenderableType:
    """Return what ``copyback calibrate`` prints."""
    pieces: list[RenderableType] = [facts_grid(facts(found)), Text("")]
    if len(found.variants) > 1:
        pieces += [_variants_table(found), Text("")]
    pieces += [_models_table(found), Text(""), _parameters_table(found), Text("")]
    rows = found.errors
    for key in MEASURES:
        pieces += [_errors_table(rows, key), Text("")]
    pieces.append(facts_grid([("Note", note) for note in found.notes]))
    return Group(*pieces)


def facts(found: Calibration) -> list[tuple[str, str]]:
    """Return what was fitted to what."""
    parts = dict(found.predictions["part"].value_counts().iter_rows())
    lines = [
        ("Trace", Path(found.trace).name),
        ("Times", f"{found.times.value} times"),
        (
            "Fitted",
            f"{units.count(parts['fitted'])} requests of the first "
            f"{units.time_s(found.cut_ns / 1e9)}; the next {units.count(parts['held out'])} are "
            "held out",
        ),
    ]
    if "test" in parts:
        lines.append(("Test", f"{units.count(parts['test'])} requests of other traces"))
    if found.unmeasured:
        lines.append(("Without", f"{units.count(found.unmeasured)} requests have no such time"))
    if found.point:
        lines.append(("Device", ", ".join(f"{key}={text}" for key, text in found.point)))
    return lines


def verdict(fitted: Fitted) -> str:
    """Return how well a value is known, in a few words."""
    if fitted.certainty.verdict is Verdict.EXCHANGEABLE:
        return f"only together with {fitted.certainty.other}"
    return str(fitted.certainty.verdict.value)


def parameter_row(fitted: Fitted) -> list[str]:
    """Return key, value, value before, interval and verdict of a parameter."""
    shown = fitted.parameter.quantity.shown
    interval = fitted.certainty.interval
    return [
        fitted.parameter.shown,
        shown(fitted.value),
        shown(fitted.start),
        f"{shown(interval[0])} – {shown(interval[1])}" if interval else units.MISSING,
        verdict(fitted),
    ]


def error_rows(rows: list[dict[str, Any]], key: str) -> list[list[str]]:
    """Return a row for each trace, part and operation, with one measure of every predictor."""
    write = MEASURES[key][1]
    found: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        where = (row["operation"], row["part"], row["trace"] if row["part"] == "test" else "")
        name = f"{where[0]}, {where[1]} {where[2]}".rstrip()
        cells = found.setdefault(where, [name, units.count(row["requests"])])
        cells.append(write(row[key]))
    return list(found.values())


def _parameters_table(found: Calibration) -> Table:
    table = _table("Parameter", ["fitted", "from", "95 % interval"])
    table.add_column("")
    for fitted in found.fitted:
        table.add_row(*parameter_row(fitted))
    return table


def _models_table(found: Calibration) -> Table:
    table = _table("Model", ["score"])
    table.add_column("")
    for name, score in found.models:
        table.add_row(name, units.decimal(score), "chosen" if name == found.model else "")
    return table


def _variants_table(found: Calibration) -> Table:
    table = _table("Device", ["score"])
    for variant in sorted(found.variants, key=lambda one: one.score):
        name = ", ".join(f"{key}={text}" for key, text in variant.point)
        table.add_row(name, units.decimal(variant.score))
    return table


def _errors_table(rows: list[dict[str, Any]], key: str) -> Table:
    table = _table(MEASURES[key][0], ["requests", *PREDICTORS.values()])
    for cells in error_rows(rows, key):
        table.add_row(*cells)
    return table


def _table(first: str, columns: list[str]) -> Table:
    return numbers_table(first, columns)
