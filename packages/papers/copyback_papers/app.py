"""The command ``copyback paper``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated

import typer

from copyback.commands.options import Jobs, Memory, Quiet, Setting  # noqa: TC001 - Typer reads them
from copyback_papers import publishing
from copyback_papers.options import (  # noqa: TC001 - Typer reads them
    FigureName,
    Name,
    Out,
    ScaleName,
    Seeds,
)

app = typer.Typer(help="Run the experiments of the papers beside what the papers claim.")


@app.command("list")
def list_() -> None:
    """List the papers and what of them can be run."""
    from rich.table import Table
    from rich.text import Text

    from copyback.words.console import show
    from copyback_papers.catalogue import load_paper, shipped

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for paper in map(load_paper, shipped()):
        grid.add_row(Text(paper.name, style="bold"), Text(paper.summary))
        for experiment in paper.everything:
            grid.add_row(Text(f"  {experiment.name}"), Text(experiment.title))
    show(grid)


@app.command()
def run(
    paper: Name,
    figure: FigureName = None,
    scale: ScaleName = "quick",
    out: Out = None,
    seeds: Seeds = None,
    set_: Setting = None,
    jobs: Jobs = None,
    memory: Memory = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            envvar="COPYBACK_TRACES",
            help="Directory of real traces, run beside what stands for them.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Simulate a paper's figures, and leave tables, plots and pages in --out.

    With --set, simulate them under a reading of your own, too, and say which verdicts move.
    """
    from copyback.sweep.memory import memory_of
    from copyback.sweep.where import Where
    from copyback_papers import work

    where = Where(jobs=jobs, memory=memory_of(memory))
    work.run(paper, figure, scale, out, seeds or (), set_ or (), where, traces, quiet=quiet)


@app.command()
def report(
    paper: Name,
    scale: ScaleName = "quick",
    out: Out = None,
) -> None:
    """Make tables, plots and pages again from the numbers of earlier runs in --out."""
    from copyback_papers import work

    work.report(paper, scale, out)


for command, name in publishing.COMMANDS.items():
    app.command(name)(command)
