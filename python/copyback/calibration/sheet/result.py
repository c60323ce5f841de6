"""Result of a fit to a data sheet, and its files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback import __version__
from copyback.calibration.search import files
from copyback.calibration.search.known import best_of
from copyback.calibration.sheet import judge

if TYPE_CHECKING:
    from pathlib import Path

    from copyback._core import Config
    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.known import Fitted
    from copyback.calibration.sheet.judge import Cell
    from copyback.calibration.sheet.table import Sheet

RESULT = "sheet.json"


@dataclass(frozen=True)
class SheetCalibration:
    """A finished fit to a data sheet.

    Attributes
    ----------
    config
        The configuration with the fitted values and its own workload.
    sheet
        The data sheet.
    evaluations
        All that were tried.
    fitted
        The keys.
    cells
        Figures of the sheet beside those that were simulated.
    """

    config: Config
    sheet: Sheet
    evaluations: list[Evaluation]
    fitted: list[Fitted]
    cells: list[Cell]

    @property
    def config_toml(self) -> str:
        """The fitted configuration, which :func:`copyback.run` takes."""
        return self.config.to_toml()

    @property
    def loss(self) -> float:
        """Loss of the best evaluation: mean error of the logarithm of a fitted row."""
        return best_of(self.evaluations).loss

    @property
    def groups(self) -> list[judge.Group]:
        """Rows that were fitted, and those that were predicted."""
        return judge.groups(self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``sheet.json`` holds."""
        return {
            "schema": 1,
            "version": __version__,
            "sheet": self.sheet.name,
            "source": self.sheet.source,
            "used_rows": [cell.row.name for cell in self.cells if cell.is_fitted],
            "evaluations": len(self.evaluations),
            "failed": sum(one.found is None for one in self.evaluations),
            "loss": round(self.loss, 6),
            "parameters": [self._parameter(fitted) for fitted in self.fitted],
            "groups": [group.to_dict() for group in self.groups],
            "rows": [cell.to_dict() for cell in self.cells],
        }

    def to_json(self) -> str:
        """Return the text of ``sheet.json``."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"

    def _parameter(self, fitted: Fitted) -> dict[str, Any]:
        other = None if fitted.effect is None else fitted.effect.other
        return {**fitted.to_dict(), "together_with": other}


def check(directory: Path) -> None:
    """Check that a directory can hold the result.

    Raises
    ------
    InputError
        If it holds anything else, or cannot be written.
    """
    files.check(directory, RESULT)


def write(found: SheetCalibration, directory: Path) -> None:
    """Write the files of a result, each whole or not at all."""
    from copyback.calibration.sheet.page import render

    result = (RESULT, found.to_json())
    files.write(directory, fitted=found.config_toml, page=render(found), result=result)
