"""Output of ``copyback trace info``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from copyback.trace import describe
from copyback.words import console, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from copyback.trace import TraceInfo


def overview(info: TraceInfo) -> RenderableType:
    """Return the tables of one workload."""
    rest = describe.arrivals(info) + describe.overwrites(info) + describe.measured(info)
    rest += [("Note", note) for note in info.notes]
    pieces: list[RenderableType] = [
        console.facts_grid(describe.workload(info)),
        Text(""),
        _operations(info),
    ]
    if rest:
        pieces += [Text(""), console.facts_grid(rest)]
    return Group(*pieces)


def _operations(info: TraceInfo) -> RenderableType:
    columns = ["requests", "bytes", "mean", "median", "p90", "max", "runs", "streams"]
    table = console.numbers_table("Sizes", columns)
    table.columns[0].min_width = max(map(len, info.operations))
    for kind, operation in describe.present(info).items():
        size = operation.size_bytes
        if size is None:
            table.add_row(kind, units.count(operation.count))
            continue
        table.add_row(
            kind,
            units.count(operation.count),
            units.size(operation.bytes),
            *(units.size(round(number)) for number in (size.mean, size.p50, size.p90, size.max)),
            *describe.sequentiality(operation),
        )
    return table


def _about(number: int) -> str:
    """Return a count: as it is if it is short."""
    return units.count(number) if number < 10_000 else units.rate(number)


def comparison(infos: Sequence[TraceInfo]) -> RenderableType:
    """Return a table with a row for each workload."""
    columns = ["format", "requests", "time", "reads", "mean", "sectors", "touched", "written"]
    table = console.numbers_table("Workload", columns)
    table.columns[0].no_wrap = False
    table.columns[0].overflow = "fold"
    for info in infos:
        table.add_row(
            describe.name(info),
            info.format or units.MISSING,
            _about(info.requests),
            units.time_s(info.seconds),
            units.share(info.read_share),
            units.size(None if info.mean_bytes is None else round(info.mean_bytes)),
            _about(info.sectors),
            _about(info.footprint.touched_pages),
            _about(info.footprint.written_pages),
        )
    notes = [("Note", note) for info in infos for note in info.notes]
    return Group(table, console.facts_grid(notes)) if notes else table
