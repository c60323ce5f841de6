"""The page of a fit to a load curve: self-contained, opens offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback import __version__, report
from copyback.calibration.load import show
from copyback.calibration.search.bench import SERVED
from copyback.calibration.search.show import PARAMETERS, parameter_row

if TYPE_CHECKING:
    from copyback.calibration.load.result import LoadCalibration


def render(found: LoadCalibration) -> str:
    """Return the page of a fit."""
    parameters = [parameter_row(one) for one in found.fitted]
    figures = [_figure(found, metric) for metric in found.curve.metrics]
    if any(rate.achieved is not None for rate in found.curve.rates):
        figures.append(_served(found))
    return (
        report.environment()
        .get_template("load.html.j2")
        .render(
            title=f"Fitted to {Path(found.curve.name).name}",
            version=__version__,
            facts=show.facts(found)[1:],
            tables=[
                ("Fitted parameters", "Parameter", PARAMETERS, parameters),
                ("Cells that are right", "Cells", show.GROUPS, show.group_rows(found)),
                (
                    "Measured beside simulated",
                    "Requests a second",
                    show.cell_columns(found.cells),
                    show.cell_rows(found.cells),
                ),
            ],
            hint=show.HINT,
            figures=figures,
            data=report.script_json({"figures": figures}),
            asset=report.asset,
        )
    )


def _figure(found: LoadCalibration, metric: str) -> dict[str, Any]:
    """Return the curves of a latency: a point a rate at which it was measured."""
    values = [(rate.offered, rate.latencies(metric)) for rate in found.curve.rates]
    return _curves(found, metric, values)


def _served(found: LoadCalibration) -> dict[str, Any]:
    """Return the curves of the rates that were served."""
    values = [(rate.offered, rate.served) for rate in found.curve.rates]
    return _curves(found, SERVED, values)


def _curves(
    found: LoadCalibration, metric: str, values: list[tuple[float, list[float]]]
) -> dict[str, Any]:
    known = [(offered, own) for offered, own in values if own]
    rates = [offered for offered, _ in known]
    simulated = [found.numbers[offered].get(metric) for offered in rates]
    fitted = [metric != SERVED and offered in found.aim.rates for offered in rates]
    return {
        "id": f"figure-{metric}",
        "name": show.named(metric),
        "is_time": metric != SERVED,
        "rates": rates,
        "least": [min(own) for _, own in known],
        "measured": [sum(own) / len(own) for _, own in known],
        "most": [max(own) for _, own in known],
        "simulated": simulated,
        "fitted": [one if own else None for one, own in zip(simulated, fitted, strict=True)],
    }
