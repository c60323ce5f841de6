"""Work of ``copyback paper run`` and ``copyback paper report``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from copyback._core import InputError
from copyback.sweep.completion import completed
from copyback.sweep.failures import Failures
from copyback.words.console import counting_display, show
from copyback_papers import found as findings
from copyback_papers import output, own_reading, terminal
from copyback_papers.catalogue import Paper, load_paper, select
from copyback_papers.found import Found, table_of
from copyback_papers.options import home_of
from copyback_papers.plan import make_plan
from copyback_papers.render import answers_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from copyback.sweep.where import Where


def run(
    paper: str,
    figure: str | None,
    scale: str,
    out: Path | None,
    seeds: Sequence[int],
    settings: Sequence[str],
    where: Where,
    traces: Path | None,
    *,
    quiet: bool,
) -> None:
    """Simulate a paper's figures, and leave tables, plots and pages.

    Parameters
    ----------
    settings
        A reading of one's own, run beside the joint one.
    """
    if traces is not None and not traces.is_dir():
        raise InputError(f"{traces}: no such directory")
    chosen = load_paper(paper)
    # Every configuration is checked before the first simulation.
    asked = select(chosen, figure)
    asked = own_reading.under(asked, settings) if settings else asked
    plans = [make_plan(one, scale, traces, tuple(seeds)) for one in asked]
    home = home_of(out, chosen, scale)
    for plan in plans:
        where.share([run.config for run in plan.sweep.runs])
        output.staging(plan.experiment, home)
    joint: Found | None = None
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
            if settings and not plan.experiment.reading:
                joint = found
            elif settings and joint is not None:
                _compare(joint, found)
            if done.reused:
                print(f"Used again   {done.reused} of {plan.simulations} simulations")
        for text in plan.skipped:
            print(f"Left out     {text}")
        print()
    _conclude(chosen, scale, home)


def report(paper: str, scale: str, out: Path | None) -> None:
    """Make tables, plots and pages again from the numbers of earlier runs."""
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
    experiment = found.experiment
    show(Text(f"{experiment.name}: {experiment.title}", style="bold"))
    asked = terminal.answers(answers_table([found]))
    if asked.rows:
        show(Text(), terminal.Fitted(asked))
    for figure in experiment.figures:
        table = table_of(found, figure)
        if table is not None and table.rows:
            show(Text(), terminal.Fitted(table, labels=len(table.header) - table.numbers))


def _compare(joint: Found, own: Found) -> None:
    """Print which verdicts another reading moves."""
    table = own_reading.moved(joint, own)
    if table.rows:
        show(Text(), terminal.Fitted(table))
    print(f"Moved        {own_reading.sentence(joint, own)}")


def _conclude(paper: Paper, scale: str, home: Path) -> None:
    """Write the page of everything that the directory holds, and say where it is."""
    output.write_paper(paper, output.load_results(paper, scale, home), home)
    print(f"Report       {home / output.PAGE_HTML}")
