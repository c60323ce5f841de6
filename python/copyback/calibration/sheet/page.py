"""The page of a fit to a data sheet: self-contained, opens offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from copyback import __version__, report
from copyback.calibration.search.show import PARAMETERS, parameter_row
from copyback.calibration.sheet import show

if TYPE_CHECKING:
    from copyback.calibration.sheet.result import SheetCalibration


def render(found: SheetCalibration) -> str:
    """Return the page of a fit."""
    parameters = [parameter_row(one) for one in found.fitted]
    cells = [show.cell_row(cell) for cell in found.cells]
    return (
        report.environment()
        .get_template("sheet.html.j2")
        .render(
            title=f"Fitted to {Path(found.sheet.name).name}",
            version=__version__,
            facts=show.facts(found)[1:],
            tables=[
                ("Fitted parameters", "Parameter", PARAMETERS, parameters),
                ("Rows that are near", "Rows", show.GROUPS, show.group_rows(found)),
                ("Measured beside simulated", "Row", show.ROWS, cells),
            ],
            hint="A row is off by simulated over published, less one.",
            data=report.script_json({}),
            asset=report.asset,
        )
    )
