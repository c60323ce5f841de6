"""``copyback report`` and ``copyback view``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated

import typer

from copyback._core import InputError


def report(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `run --out` or `compare --out` wrote.")
    ],
    runs: Annotated[
        bool, typer.Option("--runs", help="Of a comparison, the pages of all of its runs, too.")
    ] = False,
) -> None:
    """Render the report page of a finished run, or of a comparison, again."""
    from copyback.data import REPORT
    from copyback.data.destination import check_within
    from copyback.result import Result
    from copyback.sweep.store import WINNERS, is_sweep, run_directory

    check_within(directory / REPORT, directory)
    if is_sweep(directory):
        from copyback.sweep.comparison import Comparison

        check_within(directory / WINNERS, directory)
        found = Comparison.load(directory)
        for run in found.frame["run"] if runs else ():
            page = run_directory(directory, run) / REPORT
            check_within(page, directory)
            print(found.result(run).report(page))
        print(found.report())
    elif runs:
        raise InputError(f"{directory}: --runs is for a comparison, and this is a single run")
    else:
        print(Result.load(directory).report(directory / REPORT))


def view(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `run --out` or `compare --out` wrote.")
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes any that is free.")
    ] = 8000,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.py:CLASS",
            help="A policy in Python that runs may have that are done again, to see why requests "
            "were late; no others are run. May be repeated.",
        ),
    ] = None,
) -> None:
    """Serve the page of a run, or of a comparison, on this machine until Ctrl-C."""
    from copyback.report.view import view as serve

    def tell(address: str) -> None:
        print(f"{directory} at {address} (Ctrl-C ends it)", flush=True)

    serve(directory, port=port, browser=browser, policies=policy or [], tell=tell)
