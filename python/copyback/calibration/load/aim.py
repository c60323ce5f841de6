"""Numbers of a load curve that are fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.calibration.search.aim import Aim, Target
from copyback.calibration.search.bench import WRITTEN

if TYPE_CHECKING:
    from copyback.calibration.load.table import Curve


class CurveAim(Aim):
    """Numbers of a load curve that are fitted: latencies at some rates, and saturation.

    Each fitted rate counts the same, and so does saturation.

    Parameters
    ----------
    curve
        Load curve that was measured.
    rates
        Offered rates whose latencies are fitted.
    saturation
        Writes a second at the highest rate of the table; None if none is given.
    """

    def __init__(self, curve: Curve, rates: tuple[float, ...], saturation: float | None) -> None:
        self.rates = rates
        self.saturation = saturation
        targets = [
            Target(offered, metric, min(measured), max(measured))
            for offered in rates
            for metric in curve.at(offered).metrics
            for measured in (curve.at(offered).latencies(metric),)
        ]
        if saturation is not None:
            targets.append(Target(curve.rates[-1].offered, WRITTEN, saturation, saturation))
        super().__init__(targets, [(one.place, one.metric == WRITTEN) for one in targets])
