"""Files: each experiment's directory, and the page of the whole paper beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from copyback._core import InputError
from copyback.data.outputs import Staging, replace_file
from copyback_papers import found as findings
from copyback_papers import plots, region_plots, render

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from copyback_papers.catalogue import Paper
    from copyback_papers.experiment import Experiment
    from copyback_papers.found import Found

#: The directory of the sweep's store that the experiments of a paper share.
STORE = "store"
RESULTS = "results.parquet"
RESULTS_CSV = "results.csv"
#: What earlier versions left, too.
_DRAWN = "drawn.parquet"
PAGE = "report.md"
PAGE_HTML = "report.html"


def files_of(experiment: Experiment) -> frozenset[str]:
    """Return every file that an experiment's directory may hold."""
    pictures = {picture(figure.name) for figure in experiment.figures} | {REGIONS}
    return frozenset({RESULTS, RESULTS_CSV, PAGE, PAGE_HTML, _DRAWN} | pictures)


def picture(name: str) -> str:
    """Return the file name of a figure's drawing."""
    return f"figure-{name}.svg"


#: The drawing of all regions of an experiment.
REGIONS = "regions.svg"


def pictures_of(found: Found) -> list[str]:
    """Return the file names of an experiment's drawings."""
    names = [picture(figure.name) for figure in found.experiment.figures]
    return names + ([REGIONS] if region_plots.drawable(found) else [])


def staging(experiment: Experiment, out: Path) -> Staging:
    """Return the directory of an experiment under construction."""
    return Staging(out / experiment.name, files=files_of(experiment), marker=RESULTS)


def write_experiment(paper: Paper, found: Found, directory: Path) -> None:
    """Write everything of one experiment into a directory that exists."""
    # Opened here: Polars takes no name that is not UTF-8.
    with (directory / RESULTS).open("wb") as file:
        found.frame.write_parquet(file)
    _write(directory / RESULTS_CSV, found.frame.write_csv())
    _draw(found, directory)
    pictures = {found.experiment.name: pictures_of(found)}
    _write(directory / PAGE, render.markdown(paper, [found], pictures))
    _write(directory / PAGE_HTML, render.html(paper, [found], pictures))


def _draw(found: Found, directory: Path) -> None:
    for figure in found.experiment.figures:
        plots.draw(found, figure, directory / picture(figure.name))
    if region_plots.drawable(found):
        region_plots.draw(found, directory / REGIONS)


def write_paper(paper: Paper, found: Sequence[Found], out: Path) -> None:
    """Write the page of all experiments beside their directories."""
    pictures = {
        one.experiment.name: [f"{one.experiment.name}/{name}" for name in pictures_of(one)]
        for one in found
    }
    replace_file(out / PAGE, render.markdown(paper, found, pictures).encode())
    replace_file(out / PAGE_HTML, render.html(paper, found, pictures).encode())


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def load_experiment(experiment: Experiment, scale: str, out: Path) -> Found | None:
    """Return what an earlier run left of an experiment; None if it left nothing.

    Raises
    ------
    InputError
        If the rows are not those of the experiment.
    """
    path = out / experiment.name / RESULTS
    if not path.is_file():
        return None
    frame = pl.read_parquet(path.read_bytes())
    needed = {*findings.KEYS, findings.PER_PLANE, findings.SETTLED}
    missing = needed - set(frame.columns)
    if missing:
        raise InputError(f"{path}: has no column {min(missing)}; run {experiment.name} again")
    return findings.make(experiment, scale, frame, out / STORE)


def load_results(paper: Paper, scale: str, out: Path) -> list[Found]:
    """Return what earlier runs left of a paper.

    Raises
    ------
    InputError
        If they left nothing, or rows that are not those of its experiments.
    """
    loaded = [load_experiment(experiment, scale, out) for experiment in paper.everything]
    found = [one for one in loaded if one is not None]
    if not found:
        raise InputError(
            f"{out}: holds no results of {paper.name}: `copyback paper run` makes them"
        )
    return found
