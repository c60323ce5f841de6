"""Result of a fit to a load curve, and its files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback import __version__
from copyback.calibration.load import judge
from copyback.calibration.load.judge import Region
from copyback.calibration.search import files
from copyback.calibration.search.known import best_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from copyback._core import Config
    from copyback.calibration.load.aim import CurveAim
    from copyback.calibration.load.judge import Cell
    from copyback.calibration.load.table import Curve
    from copyback.calibration.search.aim import Numbers
    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.known import Fitted

LOAD = "load.json"


@dataclass(frozen=True)
class Group:
    """Cells that are counted together."""

    name: str
    cells: list[Cell]

    @property
    def right(self) -> int:
        """Number of cells within their tolerance."""
        return sum(cell.is_right for cell in self.cells)

    @property
    def near(self) -> int:
        """Number of cells within 30%."""
        return sum(cell.is_near for cell in self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``load.json`` has of it."""
        return {
            "cells": self.name,
            "count": len(self.cells),
            "right": self.right,
            "near": self.near,
        }


@dataclass(frozen=True)
class LoadCalibration:
    """A finished fit to a load curve.

    Attributes
    ----------
    config
        The configuration with the fitted values, at the lowest rate.
    curve
        Load curve that was measured.
    aim
        Numbers that were fitted.
    seconds
        Simulated seconds of a rate.
    evaluations
        All that were tried.
    fitted
        The keys.
    numbers
        Simulated numbers at each rate.
    cells
        Measured beside simulated.
    """

    config: Config
    curve: Curve
    aim: CurveAim
    seconds: float
    evaluations: list[Evaluation]
    fitted: list[Fitted]
    numbers: dict[float, Numbers]
    cells: list[Cell]

    @property
    def config_toml(self) -> str:
        """The fitted configuration at the lowest rate, which :func:`copyback.run` takes."""
        return self.config.to_toml()

    @property
    def loss(self) -> float:
        """Loss of the best evaluation."""
        return best_of(self.evaluations).loss

    @property
    def groups(self) -> list[Group]:
        """Cells that were fitted, and those that were predicted by the part of the curve."""
        return grouped(self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``load.json`` holds."""
        return {
            "schema": 1,
            "version": __version__,
            "table": self.curve.name,
            "seconds": self.seconds,
            "used_rates": list(self.aim.rates),
            "saturation": self.aim.saturation,
            "highest_achieved": round(judge.highest(self.curve), 3),
            "evaluations": len(self.evaluations),
            "failed": sum(one.found is None for one in self.evaluations),
            "loss": round(self.loss, 6),
            "parameters": [fitted.to_dict() for fitted in self.fitted],
            "groups": [group.to_dict() for group in self.groups],
            "cells": [cell.to_dict() for cell in self.cells],
            "simulated": [{"rate": rate, **own} for rate, own in self.numbers.items()],
        }

    def to_json(self) -> str:
        """Return the text of ``load.json``."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"


def grouped(cells: Sequence[Cell]) -> list[Group]:
    """Return cells that were fitted, and those that were predicted by the part of the curve."""
    predicted = [cell for cell in cells if not cell.is_fitted]
    parts = [
        Group(f"predicted, {part}", [cell for cell in predicted if cell.region is part])
        for part in Region
    ]
    own = [cell for cell in cells if cell.is_fitted]
    every = [Group("fitted", own), Group("predicted", predicted), *parts]
    return [group for group in every if group.cells]


def check(directory: Path) -> None:
    """Check that a directory can hold the result.

    Raises
    ------
    InputError
        If it holds anything else, or cannot be written.
    """
    files.check(directory, LOAD)


def write(found: LoadCalibration, directory: Path) -> None:
    """Write the files of a result, each whole or not at all."""
    from copyback.calibration.load.page import render

    result = (LOAD, found.to_json())
    files.write(directory, fitted=found.config_toml, page=render(found), result=result)
