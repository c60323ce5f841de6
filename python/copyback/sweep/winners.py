"""Winners of a sweep: where which schemes win, by how much, and which choices decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.sweep.axes import SCHEME
from copyback.sweep.ranking import barring, rank
from copyback.sweep.ratios import Ratio, ratio_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.sweep.ranking import Ranking
    from copyback.sweep.schemes import Contest, Measure, Scheme, Setting


@dataclass(frozen=True)
class Podium:
    """First under one load, in one measure.

    Attributes
    ----------
    leader
        The ranked scheme with the least number.
    level
        Schemes that are not distinguishable from it.
    """

    ranking: Ranking
    leader: Scheme
    level: tuple[Scheme, ...]


@dataclass(frozen=True)
class Choice:
    """Effect of one key of the configuration on one measure, whatever the others are.

    Attributes
    ----------
    ratios
        For each of its values the ratio of the measure to that of the first value, over all
        combinations of the other keys and all loads that have every value.
    combinations
        How many there are.
    """

    key: str
    ratios: dict[Any, Ratio]
    combinations: int

    @property
    def spread(self) -> float:
        """Ratio of the worst value to the best."""
        own = [found.ratio for found in self.ratios.values()]
        return max(own) / min(own)


def podium(contest: Contest, measure: Measure) -> Podium | None:
    """Return who is first in a measure; None if no scheme can be ranked in it."""
    ranking = rank([contest], measure)
    if not ranking.order:
        return None
    level = tuple(contest.by_setting[own] for own in ranking.level)
    return Podium(ranking, contest.by_setting[ranking.order[0]], level)


def overall(contests: Sequence[Contest], measure: Measure) -> list[tuple[Setting, Ratio]]:
    """Return the schemes that can be ranked under every load, best first.

    Returns
    -------
    list of (Setting, Ratio)
        Each with its ratio to the winner of each load, over all loads.
    """
    firsts = [podium(contest, measure) for contest in contests]
    label = measure.label
    found = {
        own: ratio_of(
            [
                (contest.by_setting[own].by_seed[label], first.leader.by_seed[label])
                for contest, first in zip(contests, firsts, strict=True)
                if first is not None
            ]
        )
        for own in rank(contests, measure).order
    }
    return [(own, ratio) for own, ratio in found.items() if isinstance(ratio, Ratio)]


def choices(contests: Sequence[Contest], measure: Measure) -> list[Choice]:
    """Return what each key does in a measure, the one that does most first."""
    settings = [dict(scheme.setting) for contest in contests for scheme in contest.schemes]
    keys = dict.fromkeys(key for setting in settings for key in setting if key != SCHEME)
    found = [_choice(contests, measure, key) for key in keys]
    return sorted(filter(None, found), key=lambda choice: -choice.spread)


def _choice(contests: Sequence[Contest], measure: Measure, key: str) -> Choice | None:
    blocks = [block for contest in contests for block in _blocks(contest, measure, key)]
    values = list(dict.fromkeys(value for block in blocks for value in block))
    whole = [block for block in blocks if len(block) == len(values)]
    if len(values) < 2 or not whole:
        return None
    first = values[0]
    found = {value: ratio_of([(own[value], own[first]) for own in whole]) for value in values}
    ratios = {value: one for value, one in found.items() if isinstance(one, Ratio)}
    return Choice(key, ratios, len(whole)) if len(ratios) == len(values) else None


def _blocks(contest: Contest, measure: Measure, key: str) -> list[dict[Any, dict[int, float]]]:
    """Return the numbers of schemes that differ in nothing but a key, by its value and seed."""
    grouped: dict[Setting, dict[Any, dict[int, float]]] = {}
    for scheme in contest.schemes:
        own = dict(scheme.setting)
        own.pop(SCHEME, None)
        value = own.pop(key)
        numbers = scheme.by_seed.get(measure.label)
        if value is not None and numbers and not barring(measure).keys() & scheme.findings.keys():
            grouped.setdefault(tuple(own.items()), {})[value] = numbers
    return [block for block in grouped.values() if all(map(_is_positive, block.values()))]


def _is_positive(numbers: dict[int, float]) -> bool:
    return min(numbers.values()) > 0
