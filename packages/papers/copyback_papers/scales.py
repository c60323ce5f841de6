"""Does a small drive point the way that the paper's does? Signs of effects at both scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback_papers.agreement import POINTS
from copyback_papers.answers import effect_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copyback_papers.answers import Answer
    from copyback_papers.found import Found

#: The share of rows of which the signs must be the same, for quick scale to be of use.
LEAST_SHARE = 0.95


@dataclass(frozen=True)
class Signs:
    """Count of rows that have an effect of the same sign at quick and at full scale."""

    same: int
    rows: int

    def __str__(self) -> str:
        text = f"Quick scale agrees with full scale in sign on {self.same} of {self.rows} rows"
        if self.same >= LEAST_SHARE * self.rows:
            return f"{text}."
        return f"**{text}: it is for trying the machinery, not for answers.**"


def signs(quick: Mapping[str, Found], full: Mapping[str, Found]) -> Signs | None:
    """Compare all effects that were found at both scales; None if there are none."""
    pairs = [
        (_effects(quick[name].answers)[check], effect)
        for name in quick
        if name in full
        for check, effect in _effects(full[name].answers).items()
        if check in _effects(quick[name].answers)
    ]
    if not pairs:
        return None
    return Signs(sum(is_same(*pair) for pair in pairs), len(pairs))


def _effects(answers: tuple[Answer, ...]) -> dict[object, float]:
    """Return the effects among the answers: reductions and ratios, not times and counts."""
    return {
        answer.check: effect_of(answer.check, answer.value)
        for answer in answers
        if answer.value is not None and not answer.check.has_unit
    }


def is_same(one: float, other: float) -> bool:
    """Return whether two effects point one way; those below two points point none.

    >>> is_same(0.3, 0.1), is_same(0.01, -0.01), is_same(0.01, 0.3)
    (True, True, False)
    """
    small = [abs(effect) < POINTS for effect in (one, other)]
    return all(small) or (not any(small) and one * other > 0)
