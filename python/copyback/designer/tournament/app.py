"""The command ``copyback tournament``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from copyback.designer.tournament import files, tables
from copyback.designer.tournament.tournament_file import read_tournament
from copyback.process.streams import complain
from copyback.sweep.contest_table import empty_table
from copyback.words import units
from copyback.words.console import facts_grid, show

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import RenderableType
    from rich.table import Table

    from copyback.designer.runs import Runner
    from copyback.designer.tournament.standing import Content
    from copyback.sweep.where import Where

#: Columns of the tables where the output is no terminal.
WIDTH = 80


@dataclass(frozen=True)
class Request:
    """Request from the command line."""

    file: Path
    where: Where
    out: Path
    quiet: bool
    command: str


def hold_and_show(request: Request) -> None:
    """Hold a tournament, and print who wins under each workload."""
    content = files.carry_out(
        read_tournament(request.file),
        request.out,
        request.where,
        command=request.command,
        on_failed=lambda text, _: complain(text),
        on_batch=lambda *batch: None if request.quiet else _tell(*batch),
    )
    show(*overview(content), width_in_files=WIDTH)
    print(f"\nNumbers      {request.out / files.NUMBERS}")
    print(f"Winners      {request.out / files.PAGE}")


def _tell(runner: Runner, what: str, count: int) -> None:
    """Print how far a search is."""
    home = runner.directory.parent
    used = units.share(min(runner.spent / runner.study.budget, 1.0))
    print(
        f"copyback: tournament: {home.parent.name}/{home.name}: {units.count(count)} {what}, "
        f"{used} of the budget",
        file=sys.stderr,
        flush=True,
    )


def overview(content: Content) -> Iterator[RenderableType]:
    """Yield what is printed."""
    yield facts_grid(
        [
            (own.load, " ".join([tables.sentence(content, own), *tables.remarks(own)]))
            for own in content.contests
        ]
    )
    yield Text("")
    table = _rich(tables.overview(content), f"To the best {content.objectives[0].measure}")
    table.caption = f"{tables.cost(content)}; ? = not distinguishable from the best."
    table.caption_justify = "left"
    yield table


def _rich(own: tables.Table, title: str) -> Table:
    table = empty_table(title)
    for place, name in enumerate(own.header):
        table.add_column(name, style="bold" if place == 0 else None, overflow="fold")
    for row in own.rows:
        table.add_row(*row)
    return table
