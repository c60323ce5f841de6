"""Whether a simulated load curve is the one that was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from copyback.calibration.search.bench import SERVED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.calibration.load.aim import CurveAim
    from copyback.calibration.load.table import Curve, Rate
    from copyback.calibration.search.aim import Numbers

#: How far off a cell may be: a latency, a p99.9, and the rate at saturation.
LATENCY, TAIL, SATURATION = 0.15, 0.20, 0.05

#: A wider tolerance that cells are counted with, too.
WIDE = 0.30

#: A rate is below the knee up to this share of the highest that was achieved.
KNEE = 0.9

#: A rate is beyond saturation where less than this share of it was achieved.
KEPT_UP = 0.97


class Region(StrEnum):
    """Part of a load curve."""

    BELOW = "below the knee"
    KNEE = "at the knee"
    BEYOND = "beyond saturation"


@dataclass(frozen=True)
class Cell:
    """Metric that was measured and simulated at a rate.

    Attributes
    ----------
    rates
        Offered rates; beyond saturation all of them are one cell.
    band
        Least and greatest of what the passes measured.
    measured
        Mean over rates and passes.
    """

    metric: str
    rates: tuple[float, ...]
    region: Region
    band: tuple[float, float]
    measured: float
    simulated: float | None
    is_fitted: bool

    @property
    def tolerance(self) -> float:
        """Return how far off the cell may be: as stated, or as far as passes lie apart."""
        stated = TAIL if self.metric.endswith("p99_9") else LATENCY
        if self.metric == SERVED:
            stated = SATURATION
        return max(stated, self.band[1] / self.band[0] - 1.0)

    @property
    def error(self) -> float | None:
        """The simulated value over the measured one, less one; None if there is none."""
        return None if self.simulated is None else self.simulated / self.measured - 1.0

    @property
    def is_right(self) -> bool:
        """Whether the cell is within its tolerance."""
        return self.is_within(self.tolerance)

    @property
    def is_near(self) -> bool:
        """Whether the cell is within 30%, or within its tolerance where that is wider."""
        return self.is_within(max(WIDE, self.tolerance))

    def is_within(self, tolerance: float) -> bool:
        """Return whether simulated over measured, or the inverse, is at most one and this."""
        if self.simulated is None or self.simulated <= 0:
            return False
        return abs(math.log(self.simulated / self.measured)) <= math.log1p(tolerance)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``load.json`` has of it."""
        return {
            "metric": self.metric,
            "rates": list(self.rates),
            "region": self.region.value,
            "measured": round(self.measured, 3),
            "band": list(self.band),
            "simulated": None if self.simulated is None else round(self.simulated, 3),
            "tolerance": round(self.tolerance, 4),
            "fitted": self.is_fitted,
            "right": self.is_right,
            "near": self.is_near,
        }


def highest(curve: Curve) -> float:
    """Return the highest rate that was achieved; the highest offered if none was measured."""
    achieved = [rate.achieved for rate in curve.rates if rate.achieved is not None]
    return max(achieved, default=curve.rates[-1].offered)


def region(rate: Rate, curve: Curve) -> Region:
    """Return where a rate lies on the curve; without achieved rates all lie below the knee."""
    achieved = rate.achieved
    if achieved is None:
        return Region.BELOW
    if achieved < KEPT_UP * rate.offered:
        return Region.BEYOND
    return Region.BELOW if rate.offered <= KNEE * highest(curve) else Region.KNEE


def usual_rates(curve: Curve) -> tuple[float, ...]:
    """Return the rates that are fitted if none is named: the lowest, and one at half load."""
    half = highest(curve) / 2
    nearest = min(curve.rates, key=lambda rate: abs(rate.offered - half))
    return tuple(sorted({curve.rates[0].offered, nearest.offered}))


def cells(curve: Curve, aim: CurveAim, found: Mapping[float, Numbers]) -> list[Cell]:
    """Judge a curve: a cell a metric and rate, and one a metric of all rates beyond saturation."""
    beyond = [rate for rate in curve.rates if region(rate, curve) is Region.BEYOND]
    groups = [[rate] for rate in curve.rates if rate not in beyond]
    made = []
    for group in [*groups, *([beyond] if beyond else [])]:
        for metric in curve.metrics:
            values = [rate.latencies(metric) for rate in group]
            made += _cell(metric, group, values, curve, aim, found)
    if beyond and aim.saturation is None:
        made += _cell(SERVED, beyond, [rate.served for rate in beyond], curve, aim, found)
    return made


def _cell(
    metric: str,
    group: list[Rate],
    values: list[list[float]],
    curve: Curve,
    aim: CurveAim,
    found: Mapping[float, Numbers],
) -> list[Cell]:
    """Return the cell of rates; none if the metric was not measured there."""
    pairs = [pair for pair in zip(group, values, strict=True) if pair[1]]
    if not pairs:
        return []
    simulated = [found[rate.offered].get(metric) for rate, _ in pairs]
    known = [value for value in simulated if value is not None]
    return [
        Cell(
            metric=metric,
            rates=tuple(rate.offered for rate, _ in pairs),
            region=region(group[0], curve),
            band=_band([own for _, own in pairs]),
            measured=_mean([_mean(own) for _, own in pairs]),
            simulated=_mean(known) if len(known) == len(pairs) else None,
            is_fitted=metric != SERVED and any(rate.offered in aim.rates for rate, _ in pairs),
        )
    ]


def _band(values: list[list[float]]) -> tuple[float, float]:
    """Return the ends of the passes: of one rate, or means over rates of passes in their order."""
    if len(values) == 1:
        return min(values[0]), max(values[0])
    passes = min(map(len, values))
    means = [_mean([own[place] for own in values]) for place in range(passes)]
    return min(means), max(means)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
