"""Winners of a sweep: where which schemes win, by how much, and which choices decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.sweep.axes import SCHEME
from copyback.sweep.intervals import estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from copyback.sweep.intervals import Estimate
    from copyback.sweep.schemes import Contest, Measure, Scheme, Setting


@dataclass(frozen=True)
class Podium:
    """The first under one load, in one measure.

    Attributes
    ----------
    leader
        The scheme with the least mean.
    level
        Schemes that are, seed by seed, a multiple of it whose interval holds one.
    """

    leader: Scheme
    level: tuple[Scheme, ...]


@dataclass(frozen=True)
class Choice:
    """Effect of one key of the configuration on one measure, whatever the others are.

    Attributes
    ----------
    ratios
        For each of its values the geometric mean of the measure as a multiple of the first value's,
        over all combinations of the other keys and all loads that have every value.
    combinations
        How many there are.
    """

    key: str
    ratios: dict[Any, float]
    combinations: int

    @property
    def spread(self) -> float:
        """Ratio of the best value's mean to the worst value's."""
        return max(self.ratios.values()) / min(self.ratios.values())


def podium(contest: Contest, measure: Measure) -> Podium | None:
    """Return who is first in a measure; None if no scheme has it."""
    label = measure.label
    running = [scheme for scheme in contest.schemes if label in scheme.values]
    if not running:
        return None
    leader = min(running, key=lambda scheme: scheme.values[label].mean)
    level = [
        scheme
        for scheme in running
        if scheme is not leader and not _is_behind(scheme, leader, label)
    ]
    return Podium(leader, tuple(level))


def _is_behind(scheme: Scheme, leader: Scheme, label: str) -> bool:
    found = behind(scheme, leader, label)
    if found is None or found.half_width is None:
        return scheme.values[label].mean > leader.values[label].mean
    return found.mean > found.half_width


def behind(scheme: Scheme, leader: Scheme, label: str) -> Estimate | None:
    """Return the logarithm of how many times the leader's number a scheme's is, seed by seed.

    Of a ratio the logarithm is what spreads alike upwards and downwards: a scheme that is ten times
    the leader with one seed and a hundred times with another is behind, however far the two are
    apart.

    Returns
    -------
    Estimate or None
        None if no seed has both, or a number is not above zero.
    """
    own, first = scheme.by_seed.get(label, {}), leader.by_seed.get(label, {})
    shared = sorted(own.keys() & first.keys())
    if not shared or any(own[seed] <= 0 or first[seed] <= 0 for seed in shared):
        return None
    return estimate([math.log(own[seed] / first[seed]) for seed in shared])


def overall(contests: Sequence[Contest], measure: Measure) -> list[tuple[Setting, float]]:
    """Return the schemes that have a measure under every load, best first.

    Returns
    -------
    list of (Setting, float)
        With the geometric mean over the loads of the measure as a multiple of the leader's.
    """
    logs: dict[Setting, list[float]] = {}
    counted = [contest for contest in contests if _has_positive(contest, measure)]
    for contest in counted:
        means = _means(contest, measure)
        least = min(means.values())
        for setting, mean in means.items():
            logs.setdefault(setting, []).append(math.log(mean / least))
    whole = [
        (s, math.exp(math.fsum(own) / len(own)))
        for s, own in logs.items()
        if len(own) == len(counted)
    ]
    return sorted(whole, key=lambda pair: pair[1])


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
    ratios = {
        value: math.exp(_mean(math.log(block[value] / block[first]) for block in whole))
        for value in values
    }
    return Choice(key, ratios, len(whole))


def _blocks(contest: Contest, measure: Measure, key: str) -> list[dict[Any, float]]:
    """Return the means of schemes that differ in nothing but a key, by its value."""
    grouped: dict[Setting, dict[Any, float]] = {}
    for setting, mean in _means(contest, measure).items():
        own = dict(setting)
        own.pop(SCHEME, None)
        value = own.pop(key)
        if value is not None:
            grouped.setdefault(tuple(own.items()), {})[value] = mean
    return [block for block in grouped.values() if min(block.values()) > 0]


def _means(contest: Contest, measure: Measure) -> dict[Setting, float]:
    return {
        scheme.setting: scheme.values[measure.label].mean
        for scheme in contest.schemes
        if measure.label in scheme.values
    }


def _has_positive(contest: Contest, measure: Measure) -> bool:
    means = _means(contest, measure).values()
    return bool(means) and min(means) > 0


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return math.fsum(kept) / len(kept)
