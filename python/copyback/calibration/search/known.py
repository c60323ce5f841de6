"""Knowledge of the values that were fitted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from copyback.calibration.search.reach import intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.calibration.search.aim import Aim
    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.span import Span

#: Share of the range beyond which an interval says nothing.
WIDE = 0.8

#: Share of the range that counts as its end.
END = 0.02


#: Factor between the ends of an interval beyond which it is wide.
FACTOR = 2.0


class Verdict(StrEnum):
    """Verdict on how well a value is known."""

    FOUND = "determined"
    WIDE = "within a wide interval"
    TOGETHER = "only together with another"
    NO_EFFECT = "without effect"
    UNKNOWN = "not identifiable"
    AT_END = "at the end of its range"


@dataclass(frozen=True)
class Effect:
    """Effect of a key on the numbers that are fitted.

    Attributes
    ----------
    is_there
        Whether some number changes with the key.
    other
        Key that can take its place; None if there is none.
    """

    is_there: bool
    other: str | None


@dataclass(frozen=True)
class Fitted:
    """A key with its value.

    Attributes
    ----------
    start
        Value of the configuration.
    interval
        Least and greatest value that fit as well as the best.
    effect
        Effect of the key; None if it was not asked for.
    """

    span: Span
    start: float
    value: float
    interval: tuple[float, float]
    effect: Effect | None = None

    @property
    def verdict(self) -> Verdict:
        """Return how well the value is known."""
        if self.effect is not None and not self.effect.is_there:
            return Verdict.NO_EFFECT
        if self.effect is not None and self.effect.other is not None:
            return Verdict.TOGETHER
        low, high = map(self.span.place, self.interval)
        if high - low > WIDE:
            return Verdict.UNKNOWN
        place = self.span.place(self.value)
        if not END <= place <= 1.0 - END:
            return Verdict.AT_END
        is_wide = self.interval[1] > FACTOR * self.interval[0]
        return Verdict.WIDE if self.effect is not None and is_wide else Verdict.FOUND

    @property
    def words(self) -> str:
        """The verdict as people read it."""
        if self.verdict is Verdict.TOGETHER and self.effect is not None:
            return f"only together with {self.effect.other}"
        return self.verdict.value

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
    effects: Sequence[Effect] | None = None,
) -> list[Fitted]:
    """Return the keys with the values of the best evaluation.

    Parameters
    ----------
    effects
        Effect of each key; None if they were not asked for.
    """
    best = best_of(evaluations)
    known: Sequence[Effect | None] = [None] * len(spans) if effects is None else effects
    reached = intervals(spans, evaluations, aim)
    columns = zip(spans, start, best.values, reached, known, strict=True)
    return [Fitted(*column) for column in columns]


def best_of(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Return the evaluation of the least loss, the first of several."""
    return min(evaluations, key=lambda one: one.loss)
