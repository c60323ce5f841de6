"""Files of figures and tables that are made from a directory, without a browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.data.destination import check_file
from copyback.data.outputs import replace_file
from copyback.figures import of_comparison, of_run
from copyback.figures.canvas import Form, content
from copyback.result import Result
from copyback.sweep.bisection import SEARCH, SearchResult
from copyback.sweep.comparison import Comparison
from copyback.sweep.store import described, is_sweep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Wish:
    """Figure that is asked for.

    Attributes
    ----------
    name
        The figure's; None if none is chosen yet.
    measure, over
        Of a comparison: what is drawn, and over which keys.
    width
        Inches.
    """

    name: str | None
    measure: str | None = None
    over: tuple[str, ...] = ()
    width: float | None = None


def write_figure(directory: Path, wish: Wish, files: Mapping[Form, Path]) -> list[Path]:
    """Draw a figure of a run or comparison and write it in each format that is asked for.

    Raises
    ------
    InputError
        If there is no such figure, or no file is named for it.
    """
    found = _loaded(directory)
    known = _kinds(found)
    names = ", ".join(known)
    if wish.name not in known:
        fault = " is needed" if wish.name is None else f": found {wish.name!r}"
        raise InputError(f"--figure{fault}; {directory} has: {names}")
    if not files:
        raise InputError(f"--figure {wish.name}: needs a file: --svg, --pdf or --png FILE")
    for path in files.values():
        check_file(path)
    figure = _drawn(found, wish.name, wish)
    return [replace_file(path, content(figure, form)) for form, path in files.items()]


def write_latex(directory: Path, columns: Sequence[str] | None, path: Path) -> Path:
    """Write the table of a comparison for LaTeX.

    Raises
    ------
    InputError
        If the directory holds a run, or the comparison has no such column.
    """
    if not is_sweep(directory):
        raise InputError(f"{directory}: --latex is for a comparison, and this is a single run")
    check_file(path)
    return replace_file(path, Comparison.load(directory).to_latex(columns).encode())


def _loaded(directory: Path) -> Result | Comparison | SearchResult:
    if not is_sweep(directory):
        return Result.load(directory)
    is_search = SEARCH in described(directory)
    return SearchResult.load(directory) if is_search else Comparison.load(directory)


def _kinds(found: Result | Comparison | SearchResult) -> list[str]:
    if isinstance(found, Result):
        return [*of_run.kinds(found)]
    if isinstance(found, SearchResult):
        return [SEARCH, *_kinds(found.comparison)]
    return [*of_comparison.kinds(found.contests)]


def _drawn(found: Result | Comparison | SearchResult, name: str, wish: Wish) -> Figure:
    if isinstance(found, SearchResult):
        if name != SEARCH:
            return _drawn(found.comparison, name, wish)
        _refuse_choices(wish, "the figure of a search is of its bound and key")
        return found.plot(width=wish.width)
    if isinstance(found, Comparison):
        return found.plot(wish.measure, kind=name, over=wish.over, width=wish.width)
    _refuse_choices(wish, "this is a single run")
    return found.plot(name, width=wish.width)


def _refuse_choices(wish: Wish, because: str) -> None:
    if wish.measure is not None or wish.over:
        option = "--over" if wish.over else "--measure"
        raise InputError(f"{option} is for a figure of a comparison, and {because}")
