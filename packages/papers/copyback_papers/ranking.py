"""Rank correlation: whether ours orders the rows of a table as the paper does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback.inputs.tables import Table
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback_papers.answers import Answer

#: Two rows have always one order or the other.
LEAST_ROWS = 3


class Ranking(Table, frozen=True):
    """A table of a paper that is a ranking.

    Attributes
    ----------
    figure
        The table, as its claims name it: each of its rows is one.
    says
        What is ranked.
    """

    figure: str
    says: str


@dataclass(frozen=True)
class Ranked:
    """Agreement of our order with the paper's.

    Attributes
    ----------
    correlation
        Spearman's: 1 if the orders are the same, -1 if one is the other backwards.
    rows
        How many rows of the table have an answer.
    """

    ranking: Ranking
    correlation: float
    rows: int

    @property
    def ours(self) -> str:
        """The correlation as text."""
        return units.significant(self.correlation)


def ranked(ranking: Ranking, answers: Sequence[Answer]) -> Ranked | None:
    """Return how far the answers to the claims of a table are in their order; None of too few."""
    pairs = [
        (answer.check.target.value, answer.value)
        for answer in answers
        if answer.check.target is not None
        and answer.check.target.figure == ranking.figure
        and answer.check.target.value is not None
        and answer.value is not None
    ]
    if len(pairs) < LEAST_ROWS:
        return None
    return Ranked(ranking, spearman(pairs), len(pairs))


def spearman(pairs: Sequence[tuple[float, float]]) -> float:
    """Return Spearman's rank correlation.

    >>> spearman([(1.0, 10.0), (2.0, 30.0), (3.0, 20.0)])
    0.5
    """
    from scipy.stats import spearmanr

    return float(spearmanr([one for one, _ in pairs], [other for _, other in pairs]).statistic)
