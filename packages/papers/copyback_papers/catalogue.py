"""Finds papers and their experiments: those that ship, or a directory of one's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.inputs.tables import Table, hint, read
from copyback_papers.checks import wanted
from copyback_papers.experiment import Experiment, Reading
from copyback_papers.experiment_files import SHARED, read_experiment, read_toml
from copyback_papers.marks import Mark, Marks, marked
from copyback_papers.targets import Target, read_targets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHIPPED = Path(__file__).parent / "experiments"
PAPER = "paper.toml"
TARGETS = "targets.csv"


@dataclass(frozen=True)
class Paper:
    """A paper and what of it can be run.

    Attributes
    ----------
    name
        Name of its directory.
    summary
        What it is about, in a line.
    source
        Where it was published.
    unanswered
        Claims that no experiment answers, and why.
    reading
        The joint reading.
    marks
        Claims that are counted apart, or not at all.
    """

    name: str
    path: Path
    title: str
    summary: str
    source: str
    targets: tuple[Target, ...]
    experiments: tuple[Experiment, ...]
    unanswered: tuple[tuple[Target, str], ...]
    reading: Joint
    marks: Mapping[Target, Mark]

    @property
    def everything(self) -> tuple[Experiment, ...]:
        """All experiments, each followed by itself under other readings."""
        return tuple(one for e in self.experiments for one in (e, *e.readings))


class Joint(Reading, frozen=True):
    """The one reading of a paper under which all its claims are counted first."""

    name: str = "as its text says"


class _Unanswered(Table, frozen=True):
    target: dict[str, Any]
    reason: str


class _File(Marks, frozen=True, kw_only=True):
    """Content of ``paper.toml``."""

    title: str
    summary: str
    source: str
    unanswered: tuple[_Unanswered, ...] = ()
    reading: Joint = Joint(reason="")


def shipped() -> list[str]:
    """Return the names of the papers that come with the package."""
    return sorted(entry.name for entry in SHIPPED.iterdir() if (entry / PAPER).is_file())


def load_paper(name: str) -> Paper:
    """Return a paper by its name, or by the path of a directory that holds a ``paper.toml``.

    Raises
    ------
    InputError
        If there is none, or a file of it is wrong.
    """
    directory = SHIPPED / name
    if name not in shipped():
        directory = Path(name)
    if not (directory / PAPER).is_file():
        raise InputError(f"no paper {name!r}; {hint(name, shipped())}")
    own = directory / TARGETS
    targets = read_targets(own if own.is_file() else SHIPPED / TARGETS, directory.name)
    path = directory / PAPER
    file = read(read_toml(path), _File, path)
    files = (one for one in directory.glob("*.toml") if one.name not in {PAPER, SHARED})
    return Paper(
        name=directory.name,
        path=directory,
        title=file.title,
        summary=file.summary,
        source=file.source,
        targets=targets,
        experiments=tuple(
            read_experiment(one, targets, file.reading.set) for one in sorted(files, key=_natural)
        ),
        reading=file.reading,
        marks=marked(file, targets, path),
        unanswered=tuple(
            (wanted(one.target, targets, path, f"unanswered[{index}].target"), one.reason)
            for index, one in enumerate(file.unanswered)
        ),
    )


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sort 8a before 9, and 9 before 10; what is not a figure comes last."""
    parts = re.findall(r"\d+|\D+", path.stem)
    key = [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
    return key if path.stem[:1].isdigit() else [(10_000, path.stem)]


def select(paper: Paper, figure: str | None) -> Sequence[Experiment]:
    """Return the experiments that answer a figure: all, one by its name, or those that draw it.

    Each comes with its other readings; ``9@wide`` names one of these alone.

    Raises
    ------
    InputError
        If there is none.
    """
    if figure is None:
        return paper.everything
    under = [one for one in paper.everything if one.reading and one.name == figure]
    if under:
        return under
    named = [experiment for experiment in paper.experiments if experiment.name == figure]
    drawing = [
        experiment
        for experiment in paper.experiments
        if figure in {drawn.name for drawn in experiment.figures}
    ]
    parts = [e for e in paper.experiments if re.fullmatch(re.escape(figure) + "[a-z]", e.name)]
    found = named or drawing or parts
    if not found:
        raise InputError(
            f"{paper.name} has no figure {figure!r}; "
            + hint(figure, [experiment.name for experiment in paper.experiments])
        )
    return [one for experiment in found for one in (experiment, *experiment.readings)]
