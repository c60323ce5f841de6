"""The command ``copyback paper``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from copyback._core import InputError
from copyback.commands.options import Jobs, Memory, Quiet  # noqa: TC001 - Typer reads them

if TYPE_CHECKING:
    from copyback.papers.catalogue import Paper
    from copyback.papers.found import Found

app = typer.Typer(help="Run the experiments of the papers beside what the papers claim.")

Name = Annotated[
    str, typer.Argument(metavar="PAPER", help="A paper, or a directory with a paper.toml.")
]
FigureName = Annotated[
    str | None, typer.Argument(metavar="[FIGURE]", help="One figure or question; else all.")
]
ScaleName = Annotated[
    Literal["quick", "full"],
    typer.Option(help="quick: a small drive, a minute or two; full: the paper's drive."),
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where to leave results; else out/PAPER-SCALE.")
]


@app.command("list")
def list_() -> None:
    """List the papers and what of them can be run."""
    from rich.table import Table
    from rich.text import Text

    from copyback.console import show
    from copyback.papers.catalogue import load_paper, shipped

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
    from copyback.console import counting_display
    from copyback.papers import found as findings
    from copyback.papers import output, plots
    from copyback.papers.catalogue import load_paper, select
    from copyback.papers.plan import make_plan
    from copyback.sweep.completion import completed
    from copyback.sweep.failures import Failures
    from copyback.sweep.memory import memory_of
    from copyback.sweep.where import Where

    if traces is not None and not traces.is_dir():
        raise InputError(f"{traces}: no such directory")
    chosen = load_paper(paper)
    where = Where(jobs=jobs, memory=memory_of(memory))
    # Every configuration is checked before the first simulation.
    plans = [make_plan(experiment, scale, traces) for experiment in select(chosen, figure)]
    home = _home(out, chosen, scale)
    for plan in plans:
        where.share([run.config for run in plan.sweep.runs])
        output.staging(plan.experiment, home)
    if not plots.available():
        print(f"copyback: {plots.MISSING}", file=sys.stderr)
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
    from copyback.papers import output
    from copyback.papers.catalogue import load_paper

    chosen = load_paper(paper)
    home = _home(out, chosen, scale)
    for experiment in chosen.everything:
        found = output.load_experiment(experiment, scale, home)
        if found is None:
            continue
        with output.staging(experiment, home) as staging:
            output.write_experiment(chosen, found, staging.path)
            staging.publish()
        _tell(found)
    _conclude(chosen, scale, home)


#: The pages of the repository, and what they are made of.
Docs = Annotated[Path, typer.Option(metavar="DIR", help="Where templates and results are.")]


@app.command()
def publish(
    paper: Name,
    scale: ScaleName = "quick",
    out: Out = None,
    docs: Docs = Path("docs/reproduction"),
) -> None:
    """Store the results of runs in --out, and write the pages of all papers from what is stored."""
    from copyback.papers import output, pages, plots, stored
    from copyback.papers.catalogue import load_paper

    chosen = load_paper(paper)
    home = _home(out, chosen, scale)
    results = stored.load(docs / pages.RESULTS, chosen)
    for experiment in chosen.everything:
        found = output.load_experiment(experiment, scale, home)
        if found is None:
            continue
        stored.store(results, found)
        for name in pages.pictures(docs, chosen.name, experiment.name):
            figure = next(one for one in experiment.figures if one.name == name)
            plots.draw(found, figure, pages.picture_path(docs, chosen.name, name))
        print(f"Stored       {experiment.name}")
    stored.save(docs / pages.RESULTS, chosen, results)
    _write_pages(docs, docs.parent)


@app.command("pages")
def pages_(
    docs: Docs = Path("docs/reproduction"),
    to: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write below it; else beside --docs.")
    ] = None,
) -> None:
    """Write the pages of all papers again from stored results alone."""
    _write_pages(docs, docs.parent if to is None else to)


def _write_pages(docs: Path, to: Path) -> None:
    from copyback.outputs import replace_file
    from copyback.papers import pages

    for name, text in pages.render(docs).items():
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
        print(f"Page         {path}")


def _home(out: Path | None, paper: Paper, scale: str) -> Path:
    return out if out is not None else Path("out") / f"{paper.name}-{scale}"


def _tell(found: Found) -> None:
    """Print what an experiment found."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from copyback.console import show
    from copyback.papers.found import table_of
    from copyback.papers.render import answers_table

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
    from copyback.papers import output

    loaded = [output.load_experiment(experiment, scale, home) for experiment in paper.everything]
    found = [one for one in loaded if one is not None]
    if not found:
        raise InputError(
            f"{home}: holds no results of {paper.name}: `copyback paper run` makes them"
        )
    output.write_paper(paper, found, home)
    print(f"Report       {home / output.PAGE_HTML}")
