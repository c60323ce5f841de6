"""What ``copyback trace info`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback import console, units
from copyback.trace import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from copyback.trace import TraceInfo


def overview(info: TraceInfo) -> RenderableType:
    """Return the tables of one workload."""
    from rich.console import Group
    from rich.text import Text

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
    columns = ["requests", "bytes", "mean", "p10", "p50", "p90", "max", "sequential", "in streams"]
    table = console.numbers_table("Sizes", columns)
    for kind in describe.present(info):
        operation = info.operations[kind]
        size = operation.size_bytes
        if size is None:
            table.add_row(kind, units.count(operation["count"]))
            continue
        table.add_row(
            kind,
            units.count(operation["count"]),
            units.size(operation.bytes),
            *(units.size(round(size[key])) for key in ("mean", "p10", "p50", "p90", "max")),
            *describe.sequentiality(operation),
        )
    return table


def comparison(infos: Sequence[TraceInfo]) -> RenderableType:
    """Return a table with a row for each workload."""
    from rich.console import Group

    columns = [
        *("format", "requests", "seconds", "reads", "mean", "sectors", "touched", "written"),
        *("peak/mean", "idle > 1 s"),
    ]
    table = console.numbers_table("Workload", columns)
    for info in infos:
        second = next((rate for rate in info.rates or [] if rate["window_s"] == 1.0), {})
        idle = next((one for one in info.idle or [] if one["longer_than_s"] == 1.0), {})
        table.add_row(
            describe.name(info),
            info.format or units.MISSING,
            units.count(info.requests),
            units.MISSING if info.seconds is None else units.significant(info.seconds),
            units.share(info.read_share),
            units.size(None if info.mean_bytes is None else round(info.mean_bytes)),
            units.count(info.sectors),
            units.count(info.footprint.touched_pages),
            units.count(info.footprint.written_pages),
            units.decimal(second.get("peak_to_mean")),
            units.share(idle.get("share")),
        )
    notes = [("Note", note) for info in infos for note in info.notes]
    return Group(table, console.facts_grid(notes)) if notes else table
