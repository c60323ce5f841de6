"""``copyback report`` and ``copyback view``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated, Any

import typer

from copyback._core import InputError

_FIGURE = "A figure in place of the page"
_TABLE = "A table in place of the page"


def _file(option: str, what: str, panel: str) -> Any:
    return typer.Option(option, metavar="FILE", help=what, rich_help_panel=panel)


def report(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `run`, `compare` or `design --out` wrote.")
    ],
    runs: Annotated[
        bool, typer.Option("--runs", help="Of a comparison, the pages of all of its runs, too.")
    ] = False,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Draw this figure, and no page. Of a run: response, tail, time, amplification, "
            "dies. Of a comparison: bars, curve, heat. Of a search: search, too.",
            rich_help_panel=_FIGURE,
        ),
    ] = None,
    svg: Annotated[Path | None, _file("--svg", "Write it as SVG.", _FIGURE)] = None,
    pdf: Annotated[Path | None, _file("--pdf", "Write it as PDF.", _FIGURE)] = None,
    png: Annotated[Path | None, _file("--png", "Write it as PNG.", _FIGURE)] = None,
    width: Annotated[
        float | None,
        typer.Option(
            metavar="INCHES",
            help="Width, such as 3.3 for a column; else what it needs.",
            rich_help_panel=_FIGURE,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What a comparison's figure shows, such as p99.9 or WA; else what the answer is "
            "about.",
            rich_help_panel=_FIGURE,
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="The key of a curve; given twice, those of a heat map: across, then up. Else "
            "those with most values.",
            rich_help_panel=_FIGURE,
        ),
    ] = None,
    latex: Annotated[
        Path | None,
        _file("--latex", "Write the schemes of a comparison as a LaTeX table.", _TABLE),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="Its columns: scheme, load, keys that vary, and measures such as p99.9.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
) -> None:
    """Render the page of a finished run or comparison again, or a figure or table for a paper."""
    from copyback.figures.canvas import Form

    given = {Form.SVG: svg, Form.PDF: pdf, Form.PNG: png}
    files = {form: path for form, path in given.items() if path is not None}
    of_figure = bool(files) or any(it is not None for it in (figure, width, measure, over))
    of_table = latex is not None or columns is not None
    if not of_figure and not of_table:
        _pages(directory, runs=runs)
        return
    if runs:
        raise InputError("--runs is for pages; allowed: --runs, or a figure or table")
    if of_table:
        _latex(directory, latex, columns)
    if of_figure:
        from copyback.figures.files import Wish, write_figure

        wish = Wish(figure, measure, tuple(over or ()), width)
        for path in write_figure(directory, wish, files):
            print(path)


def _latex(directory: Path, path: Path | None, columns: str | None) -> None:
    from copyback.figures.files import write_latex

    if path is None:
        raise InputError(f"--columns {columns}: needs --latex FILE")
    named = None if columns is None else [name.strip() for name in columns.split(",")]
    print(write_latex(directory, named, path))


def _pages(directory: Path, *, runs: bool) -> None:
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
        Path, typer.Argument(metavar="DIR", help="What `run`, `compare` or `design --out` wrote.")
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
    """Serve the page of a run, a comparison or a study on this machine until Ctrl-C."""
    from copyback.report.view import view as serve

    def tell(address: str) -> None:
        print(f"{directory} at {address} (Ctrl-C ends it)", flush=True)

    serve(directory, port=port, browser=browser, policies=policy or [], tell=tell)
