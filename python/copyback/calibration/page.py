"""The page of a calibration: self-contained, opens offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback import __version__, report
from copyback.calibration import show
from copyback.calibration.errors import OPERATIONS, PREDICTORS
from copyback.report.plots import rounded
from copyback.trace.report import aligned
from copyback.trace.statistics import Curve

if TYPE_CHECKING:
    import polars as pl

    from copyback.calibration.result import Calibration

#: Points of a curve of shares.
_POINTS = 200

#: Most groups of requests of like measured times, and the fewest requests worth a group.
_GROUPS = 40
_GROUP = 20


def render(found: Calibration) -> str:
    """Return the page of a calibration."""
    rows = found.errors
    parts = _parts(found)
    return (
        report.environment()
        .get_template("calibration.html.j2")
        .render(
            title=f"Calibrated with {Path(found.trace).name}",
            version=__version__,
            facts=show.facts(found)[1:],
            parameters=[show.parameter_row(fitted) for fitted in found.fitted],
            predictors=list(PREDICTORS.values()),
            errors=[(name, show.error_rows(rows, key)) for key, (name, _) in show.MEASURES.items()],
            parts=parts,
            notes=found.notes,
            data=report.script_json({"parts": parts}),
            asset=report.asset,
        )
    )


def _parts(found: Calibration) -> list[dict[str, Any]]:
    """Return what the page's script draws; the part that was fitted comes last."""
    groups = found.predictions.group_by("part", "trace", maintain_order=True)
    by_part = sorted(groups, key=lambda group: group[0][0] == "fitted")
    return [
        {
            "id": f"part-{place}",
            "name": f"{str(part).capitalize()}: {trace}",
            "operations": {
                operation: _curves(of_kind)
                for operation in OPERATIONS
                if not (of_kind := rows.filter(rows["operation"] == operation)).is_empty()
            },
        }
        for place, ((part, trace), rows) in enumerate(by_part)
    ]


def _curves(rows: pl.DataFrame) -> dict[str, Any]:
    shares = np.linspace(0.0, 1.0, _POINTS)
    columns = {"measured": "measured_us", "simulated": "simulated_us", "linear": "linear_us"}
    curves = {
        name: Curve(
            value=np.quantile(values, shares, method="higher").tolist(), share=shares.tolist()
        )
        for name, column in columns.items()
        if (values := rows[column].drop_nulls().to_numpy()).size
    }
    return {"shares": aligned(curves), "against": _against(rows)}


def _against(rows: pl.DataFrame) -> dict[str, Any]:
    """Return quantiles of the simulated times of requests whose measured times are alike."""
    ordered = rows.sort("measured_us")
    measured = ordered["measured_us"].to_numpy()
    simulated = ordered["simulated_us"].to_numpy()
    count = max(1, min(_GROUPS, len(measured) // _GROUP))
    groups = np.array_split(np.arange(len(measured)), count)
    quantiles = {"p10": 0.1, "p50": 0.5, "p90": 0.9}
    middle = np.array([np.median(measured[group]) for group in groups])
    return {"measured": rounded(middle)} | {
        name: rounded(np.array([np.quantile(simulated[group], level) for group in groups]))
        for name, level in quantiles.items()
    }
