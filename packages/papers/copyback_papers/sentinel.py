"""The sentinel: a few cells of every paper, run again and compared with what is stored of them.

Results are deterministic, so a number that differs in any digit says that the model has changed,
and that every stored result is of an older one. The file has one row a cell; its columns after
the keys are measures. A row without numbers is a cell to add.
"""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from copyback._core import InputError
from copyback.data.outputs import replace_file
from copyback.sweep import plan as sweep
from copyback.sweep.axes import LOAD, POINT, SCHEME
from copyback.sweep.completion import completed
from copyback.sweep.dataset import dataset
from copyback.sweep.failures import Failures
from copyback_papers.catalogue import load_paper
from copyback_papers.plan import make_plan

if TYPE_CHECKING:
    from copyback.sweep.plan import Run
    from copyback.sweep.where import Where
    from copyback_papers.experiment import Experiment

FILE = "sentinel.csv"

#: The scale at which cells are run, with the first of its seeds.
SCALE = "quick"


class Key(NamedTuple):
    """A cell of a paper."""

    paper: str
    experiment: str
    workload: str
    point: str
    variant: str

    def __str__(self) -> str:
        return " / ".join(filter(None, self))


@dataclass(frozen=True)
class Sentinel:
    """Cells and their numbers, as text: every digit counts.

    Attributes
    ----------
    measures
        Keys of a summary.
    cells
        For each cell the text of each measure; empty where nothing is stored.
    """

    path: Path
    measures: tuple[str, ...]
    cells: dict[Key, tuple[str, ...]]


@dataclass(frozen=True)
class Moved:
    """A number that is not what is stored."""

    cell: Key
    measure: str
    stored: str
    now: str

    def __str__(self) -> str:
        return f"{self.cell}: {self.measure}: stored {self.stored or 'nothing'}, now {self.now}"


def load(path: Path) -> Sentinel:
    """Read the file.

    Raises
    ------
    InputError
        If it is no table of cells.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        header = tuple(next(rows, ()))
        if header[: len(Key._fields)] != Key._fields or len(header) == len(Key._fields):
            needed = ",".join(Key._fields)
            raise InputError(f"{path}: columns needed: {needed}, and at least one measure")
        measures = header[len(Key._fields) :]
        cells: dict[Key, tuple[str, ...]] = {}
        for row in rows:
            place = f"{path}:{rows.line_num}"
            if len(row) != len(header):
                raise InputError(f"{place}: found {len(row)} columns; {len(header)} are needed")
            key = Key(*row[: len(Key._fields)])
            if key in cells:
                raise InputError(f"{place}: {key}: is there already")
            cells[key] = tuple(row[len(Key._fields) :])
    return Sentinel(path, measures, cells)


def save(sentinel: Sentinel) -> None:
    """Write the file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*Key._fields, *sentinel.measures))
    writer.writerows((*key, *numbers) for key, numbers in sentinel.cells.items())
    replace_file(sentinel.path, text.getvalue().encode())


def run_again(sentinel: Sentinel, where: Where) -> Sentinel:
    """Return the cells with what they give now.

    Raises
    ------
    InputError
        If there is no such cell, or its measure.
    """
    runs = _runs(sentinel)
    plan = sweep.Plan((LOAD, POINT, SCHEME), tuple(runs.values()), ())
    with (
        tempfile.TemporaryDirectory() as directory,
        completed(
            plan,
            Path(directory) / "store",
            where,
            Failures(plan.runs, _refuse),
            command="copyback paper sentinel",
            kept=False,
        ) as done,
    ):
        frame = dataset(done.plan, done.store)
    for measure in sentinel.measures:
        if measure not in frame.columns:
            raise InputError(f"{sentinel.path}: no run has a number {measure!r}")
    numbers = zip(*(frame[measure].to_list() for measure in sentinel.measures), strict=True)
    texts = (tuple("" if one is None else repr(float(one)) for one in row) for row in numbers)
    return replace(sentinel, cells=dict(zip(runs, texts, strict=True)))


def _refuse(sentence: str, fault: Exception) -> None:
    """End with what is wrong with a run: of the cells none may be missing."""
    raise type(fault)(sentence) from None


def _runs(sentinel: Sentinel) -> dict[Key, Run]:
    """Return the run of each cell, in the file's order."""
    there: dict[Key, Run] = {}
    for name in dict.fromkeys(key.paper for key in sentinel.cells):
        paper = load_paper(name)
        for experiment in paper.everything:
            if any(
                (key.paper, key.experiment) == (name, experiment.name) for key in sentinel.cells
            ):
                there |= _of_experiment(name, experiment)
    for key in sentinel.cells:
        if key not in there:
            raise InputError(f"{sentinel.path}: no cell {key} at {SCALE} scale")
    return {key: there[key] for key in sentinel.cells}


def _of_experiment(paper: str, experiment: Experiment) -> dict[Key, Run]:
    """Return every cell of an experiment with its run under the first seed."""
    found: dict[Key, Run] = {}
    for run in make_plan(experiment, SCALE, None).sweep.runs:
        point = dict(run.point)
        key = Key(paper, experiment.name, point[LOAD], point[POINT], point[SCHEME])
        found.setdefault(key, run)
    return found


def moved(stored: Sentinel, now: Sentinel) -> list[Moved]:
    """Return what differs in any digit, in the order of the file."""
    return [
        Moved(cell, measure, old, new)
        for cell, numbers in stored.cells.items()
        for measure, old, new in zip(stored.measures, numbers, now.cells[cell], strict=True)
        if old != new
    ]
