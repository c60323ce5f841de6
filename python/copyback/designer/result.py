"""Result of a study, as ``copyback.design`` returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.designer import answer, files
from copyback.frame import Frame
from copyback.inputs.arguments import NUMBER, check
from copyback.sweep.axes import column
from copyback.sweep.ratios import Ratio
from copyback.sweep.tabular import Tabular

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from copyback.designer.found import Found


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
                    **ratio_columns(own.ratios[place] if own.ratios else own.because),
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


def ratio_columns(own: object) -> dict[str, Any]:
    """Return the columns of a ratio, or of the reason why there is none."""
    if isinstance(own, Ratio):
        return {"ratio": own.ratio, "low": own.low, "high": own.high, "because": None}
    return {"ratio": None, "low": None, "high": None, "because": None if own is None else str(own)}
