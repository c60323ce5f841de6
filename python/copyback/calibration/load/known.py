"""What is known of the values that were fitted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from copyback.calibration.load.reach import intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.calibration.load.aim import Aim
    from copyback.calibration.load.kept import Evaluation
    from copyback.calibration.load.span import Span

#: Share of the range beyond which an interval says nothing.
WIDE = 0.8

#: Share of the range that counts as its end.
END = 0.02


class Verdict(StrEnum):
    """How well a value is known."""

    FOUND = "determined"
    UNKNOWN = "not identifiable"
    AT_END = "at the end of its range"


@dataclass(frozen=True)
class Fitted:
    """A key with its value.

    Attributes
    ----------
    start
        Value of the configuration.
    interval
        Least and greatest value that fit as well as the best.
    """

    span: Span
    start: float
    value: float
    interval: tuple[float, float]

    @property
    def verdict(self) -> Verdict:
        """How well the value is known."""
        low, high = map(self.span.place, self.interval)
        if high - low > WIDE:
            return Verdict.UNKNOWN
        place = self.span.place(self.value)
        return Verdict.FOUND if END <= place <= 1.0 - END else Verdict.AT_END

    def to_dict(self) -> dict[str, Any]:
        """Return what ``load.json`` has of it."""
        return {
            "key": self.span.key,
            "unit": self.span.kind.unit,
            "shares": self.span.shares,
            "range": [self.span.least, self.span.most],
            "start": self.start,
            "value": self.value,
            "interval": list(self.interval),
            "verdict": self.verdict.value,
        }


def fitted(
    spans: Sequence[Span],
    start: Sequence[float],
    evaluations: Sequence[Evaluation],
    aim: Aim,
) -> list[Fitted]:
    """Return the keys with the values of the best evaluation."""
    best = best_of(evaluations)
    columns = zip(spans, start, best.values, intervals(spans, evaluations, aim), strict=True)
    return [Fitted(*column) for column in columns]


def best_of(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Return the evaluation of the least loss, the first of several."""
    return min(evaluations, key=lambda one: one.loss)
