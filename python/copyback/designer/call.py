"""The function ``copyback.design``."""

from __future__ import annotations

import shutil
import warnings
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from copyback.designer import answer, files
from copyback.designer.runs import Runner
from copyback.designer.study_file import read_study, study_of
from copyback.frame import Frame
from copyback.inputs.arguments import CONFIG, COUNT, NUMBER, PATH, TEXT, check
from copyback.inputs.arguments import path as argument_path
from copyback.sweep.axes import column
from copyback.sweep.memory import memory_of
from copyback.sweep.ratios import Ratio
from copyback.sweep.tabular import Tabular
from copyback.sweep.where import Where

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from copyback.designer.found import Found
    from copyback.designer.study import Study


@dataclass(frozen=True, repr=False, eq=False)
class DesignResult(Tabular):
    """Result of a study. As a table it is the front.

    Attributes
    ----------
    directory
        Directory with all runs, the front as configurations, the numbers, and the page
        (``report.html``).
    """

    _found: Found
    directory: Path

    def sentence(self) -> str:
        """Return the answer: how many designs were run, the front, and the chosen design."""
        return answer.sentence(self._found)

    @property
    def front(self) -> Frame:
        """The designs that no other design beats in every objective.

        A row for each, by the first objective: its number on the front, its choices (null where it
        has none), its score in each objective, the ratio of that to the score of the base, and
        whether it is the chosen design.
        """
        found, points = self._found, self._found.points
        choices = [dict(own.design.point) for own in points]
        columns: dict[str, Any] = {"design": list(range(1, len(points) + 1))}
        for key in dict.fromkeys(key.key for key in found.study.space.keys):
            columns[key] = column(key, [own.get(key) for own in choices])
        for place, one in enumerate(found.study.objectives):
            label = one.measure.label
            ratios = [own.ratio(found.base, place) for own in points]
            columns[label] = [own.score(place) for own in points]
            columns[f"{label}, to the base"] = [
                ratio.ratio if isinstance(ratio, Ratio) else None for ratio in ratios
            ]
        columns["chosen"] = [own == found.chosen for own in points]
        return Frame(columns)

    @property
    def importance(self) -> Frame:
        """Shares of the differences in the space that choices explain.

        A row for each objective and choice: the share that it explains (Sobol's total index), the
        ends of its interval, the share that it explains alone, and whether it explains more than
        random numbers do.
        """
        return Frame.of_rows(
            [
                {
                    "objective": one.label,
                    "choice": own.name,
                    "explains": own.total.mean,
                    "low": own.total.low,
                    "high": own.total.high,
                    "alone": own.alone.mean,
                    "seen": own.is_found,
                }
                for one in self._found.importance
                for own in one.explained
            ]
        )

    @property
    def ablation(self) -> Frame:
        """Numbers of the chosen design with one choice back to the base.

        A row for each choice and objective: the ratio to the chosen design and the ends of its
        interval over the seeds, or why there is none; and whether the constraints hold.
        """
        return Frame.of_rows(
            [
                {
                    "choice": own.key,
                    "objective": one.measure.label,
                    **_ratio(own.ratios[place] if own.ratios else own.because),
                    "feasible": own.is_feasible,
                }
                for own in self._found.ablation
                for place, one in enumerate(self._found.study.objectives)
            ]
        )

    @property
    def configurations(self) -> list[str]:
        """The designs of the front as configurations (TOML), under the first workload."""
        front = self.directory / files.FRONT
        names = (f"{place}.toml" for place in range(1, len(self._found.points) + 1))
        return [(front / name).read_text(encoding="utf-8") for name in names]

    def plot(self, *, width: float | None = None) -> Figure:
        """Draw the front in two objectives, with all designs that were tried and the base.

        Parameters
        ----------
        width
            Inches; else as wide as it needs.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it.

        Raises
        ------
        InputError
            Without matplotlib.
        """
        from copyback.figures.of_design import of_design

        check("DesignResult.plot", width=(width, NUMBER.or_none()))
        return of_design(self._found, width)

    def _rows(self) -> Frame:
        return self.front

    def __repr__(self) -> str:
        from copyback.sweep.shown import in_lines

        designs = f"{len(self._found.points)} of {len(self._found.searched.tried)} designs"
        return in_lines(f"DesignResult({designs})", self.sentence())

    def _repr_html_(self) -> str:
        from copyback.designer.page import render_fragment

        return render_fragment(self._found)


def _ratio(own: object) -> dict[str, Any]:
    if isinstance(own, Ratio):
        return {"ratio": own.ratio, "low": own.low, "high": own.high, "because": None}
    return {"ratio": None, "low": None, "high": None, "because": None if own is None else str(own)}


def design(
    study: Mapping[str, Any] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    memory: str | None = None,
) -> DesignResult:
    """Search all choices at once: the designs that none beats, and what each choice buys.

    It is ``copyback design`` as a function, and needs the extra ``design``.

    Parameters
    ----------
    study
        A study file, or a dictionary of the same shape. Paths in a dictionary are relative to the
        current directory.
    out
        Directory for the runs, the front and the page; a study that was stopped goes on from
        there. Else it is temporary, and goes with the result.
    jobs, dask, memory
        As of :func:`compare`.

    Returns
    -------
    DesignResult

    Raises
    ------
    InputError
        If the study is at fault, or the base cannot be run.

    Examples
    --------
    >>> import copyback
    >>> found = copyback.design("examples/design/study.toml")   # doctest: +SKIP
    >>> found.front.to_polars()                                 # doctest: +SKIP
    """
    check(
        "design",
        study=(study, CONFIG),
        out=(out, PATH.or_none()),
        jobs=(jobs, COUNT.or_none()),
        dask=(dask, TEXT.or_none()),
        memory=(memory, TEXT.or_none()),
    )
    asked = _read(study)
    directory = Path(mkdtemp(prefix="copyback-design-")) if out is None else Path(out)
    with ExitStack() as unless_kept:
        if out is None:
            unless_kept.callback(shutil.rmtree, directory, ignore_errors=True)
        files.check(directory)
        found = _found(asked, directory, Where(jobs, dask, memory_of(memory)))
        # No local name: what has run the study may keep this frame, and the directory with it.
        return _kept_by(DesignResult(found, directory), unless_kept)


def _kept_by(result: DesignResult, home: ExitStack) -> DesignResult:
    """Return a result with which what it keeps goes."""
    weakref.finalize(result, home.pop_all().close)
    return result


def _read(study: Mapping[str, Any] | str | os.PathLike[str]) -> Study:
    if isinstance(study, Mapping):
        return study_of(dict(study), Path())
    return read_study(argument_path("design", study, "study"))


def _found(study: Study, directory: Path, where: Where) -> Found:
    runner = Runner(
        study,
        directory / files.SWEEP,
        where,
        "copyback.design()",
        lambda text, _: warnings.warn(text, stacklevel=2),
    )
    return files.carry_out(runner, directory, lambda *_: None)
