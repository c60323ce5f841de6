"""The command ``copyback paper``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from copyback._core import InputError
from copyback.commands.options import Jobs, Memory, Quiet  # noqa: TC001 - Typer reads them
from copyback_papers import publishing
from copyback_papers.options import FigureName, Name, Out, ScaleName, Seeds, home_of

if TYPE_CHECKING:
    from copyback_papers.catalogue import Paper
    from copyback_papers.found import Found

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
    """Simulate a paper's figures, and leave tables, plots and pages in --out."""
    from copyback.sweep.completion import completed
    from copyback.sweep.failures import Failures
    from copyback.sweep.memory import memory_of
    from copyback.sweep.where import Where
    from copyback.words.console import counting_display
    from copyback_papers import found as findings
    from copyback_papers import output
    from copyback_papers.catalogue import load_paper, select
    from copyback_papers.plan import make_plan

    if traces is not None and not traces.is_dir():
        raise InputError(f"{traces}: no such directory")
    chosen = load_paper(paper)
    where = Where(jobs=jobs, memory=memory_of(memory))
    # Every configuration is checked before the first simulation.
    chosen_seeds = tuple(seeds or ())
    plans = [make_plan(one, scale, traces, chosen_seeds) for one in select(chosen, figure)]
    home = home_of(out, chosen, scale)
    for plan in plans:
        where.share([run.config for run in plan.sweep.runs])
        output.staging(plan.experiment, home)
    for plan in plans:
        if plan.sweep.runs:
            with (
                output.staging(plan.experiment, home) as staging,
                counting_display(plan.experiment.name, plan.simulations, quiet=quiet) as tell,
                completed(
                    plan.sweep,
                    home / output.STORE,
                    where,
                    Failures(plan.sweep.runs, plan.refuse),
                    command="copyback paper run",
                    on_progress=tell,
                ) as done,
            ):
                found = findings.of_runs(plan.experiment, plan.scale, done)
                output.write_experiment(chosen, found, staging.path)
                staging.publish()
            _tell(found)
            if done.reused:
                print(f"Used again   {done.reused} of {plan.simulations} simulations")
        for text in plan.skipped:
            print(f"Left out     {text}")
        print()
    _conclude(chosen, scale, home)


@app.command()
def report(
    paper: Name,
    scale: ScaleName = "quick",
    out: Out = None,
) -> None:
    """Make tables, plots and pages again from the numbers of earlier runs in --out."""
    from copyback_papers import output
    from copyback_papers.catalogue import load_paper

    chosen = load_paper(paper)
    home = home_of(out, chosen, scale)
    for experiment in chosen.everything:
        found = output.load_experiment(experiment, scale, home)
        if found is None:
            continue
        with output.staging(experiment, home) as staging:
            output.write_experiment(chosen, found, staging.path)
            staging.publish()
        _tell(found)
    _conclude(chosen, scale, home)


def _tell(found: Found) -> None:
    """Print what an experiment found."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from copyback.words.console import show
    from copyback_papers.found import table_of
    from copyback_papers.render import answers_table

    experiment = found.experiment
    tables = [answers_table([found])]
    tables += [t for figure in experiment.figures if (t := table_of(found, figure)) is not None]
    show(Text(f"{experiment.name}: {experiment.title}", style="bold"))
    for table in tables:
        if not table.rows:
            continue
        grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=table.title, title_justify="left")
        for cell in table.header:
            grid.add_column(cell, overflow="fold")
        for row in table.rows:
            grid.add_row(*map(Text, row))
        show(grid)


def _conclude(paper: Paper, scale: str, home: Path) -> None:
    """Write the page of everything that the directory holds, and say where it is."""
    from copyback_papers import output

    loaded = [output.load_experiment(experiment, scale, home) for experiment in paper.everything]
    found = [one for one in loaded if one is not None]
    if not found:
        raise InputError(
            f"{home}: holds no results of {paper.name}: `copyback paper run` makes them"
        )
    output.write_paper(paper, found, home)
    print(f"Report       {home / output.PAGE_HTML}")


for command, name in publishing.COMMANDS.items():
    app.command(name)(command)
