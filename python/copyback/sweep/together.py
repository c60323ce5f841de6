"""All loads at once: what schemes are to the baseline, seed by seed, and whether one seed decides.

The mean of multiples is the geometric one, over loads as over seeds: it does not depend on which
scheme is the baseline.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback.sweep.intervals import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from copyback.sweep.schemes import Contest, Scheme, Setting

#: Two schemes whose numbers are closer than this are not told apart by a warning.
ALIKE = 0.01


@dataclass(frozen=True)
class Multiple:
    """Ratio of a scheme's number to another's.

    Attributes
    ----------
    ratio
        The geometric mean.
    low, high
        Ends of its interval; None with fewer than two seeds.
    """

    ratio: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, logs: Sequence[float]) -> Multiple:
        """Return it from logarithms, one a seed."""
        found: Estimate = estimate(logs)
        if found.half_width is None:
            return cls(math.exp(found.mean), None, None)
        low, high = found.mean - found.half_width, found.mean + found.half_width
        return cls(math.exp(found.mean), _exp(low), _exp(high))

    @property
    def may_be_one(self) -> bool:
        """Whether the two may be alike."""
        return self.low is not None and self.high is not None and self.low <= 1 <= self.high


def _exp(value: float) -> float:
    """Return e to a power, infinite where it is too large for a number."""
    return math.exp(value) if value < 700 else math.inf


@dataclass(frozen=True)
class Swing:
    """A seed without which another scheme would be first under a load."""

    contest: Contest
    seed: int
    leader: Setting
    other: Setting


def log_ratios(
    contests: Iterable[Contest], own: Setting, other: Setting | None, label: str
) -> dict[int, float]:
    """Return for each seed the mean over the loads of log(own number / other's number).

    Parameters
    ----------
    other
        None is the baseline of each load.

    Returns
    -------
    dict
        Empty if one of the two lacks a load, or a number is not above zero; else of the seeds that
        both have under every load.
    """
    each: list[dict[int, float]] = []
    for contest in contests:
        mine, theirs = _scheme(contest, own), _scheme(contest, other)
        if mine is None or theirs is None:
            return {}
        above, below = mine.by_seed.get(label, {}), theirs.by_seed.get(label, {})
        shared = above.keys() & below.keys()
        if any(above[seed] <= 0 or below[seed] <= 0 for seed in shared):
            return {}
        each.append({seed: math.log(above[seed] / below[seed]) for seed in shared})
    seeds = set.intersection(*map(set, each)) if each else set()
    return {seed: statistics.fmean(one[seed] for one in each) for seed in sorted(seeds)}


def multiple(
    contests: Iterable[Contest], own: Setting, other: Setting | None, label: str
) -> Multiple | None:
    """Return what a scheme is to another over some loads; None if that cannot be said."""
    logs = log_ratios(contests, own, other, label)
    return Multiple.of(list(logs.values())) if logs else None


def ranking(contests: Sequence[Contest], label: str) -> list[tuple[Setting, Multiple]]:
    """Return the schemes as multiples of the baseline over all loads, the least first."""
    schemes = [scheme for contest in contests for scheme in contest.schemes]
    # Of those that are alike the baseline comes first.
    schemes.sort(key=lambda scheme: not scheme.is_baseline)
    settings = dict.fromkeys(scheme.setting for scheme in schemes)
    found = ((own, multiple(contests, own, None, label)) for own in settings)
    known = [(own, one) for own, one in found if one is not None]
    return sorted(known, key=lambda pair: pair[1].ratio)


def swings(contests: Iterable[Contest], label: str) -> list[Swing]:
    """Return for each load the seed that decides who is first, if there is one."""
    return [found for contest in contests if (found := _swing(contest, label)) is not None]


def _swing(contest: Contest, label: str) -> Swing | None:
    logs = {
        own: found
        for own in (scheme.setting for scheme in contest.schemes)
        if (found := log_ratios([contest], own, None, label))
    }
    seeds = set.intersection(*map(set, logs.values())) if logs else set()
    if len(seeds) < 2 or len(logs) < 2:
        return None
    everyone = {own: statistics.fmean(found[seed] for seed in seeds) for own, found in logs.items()}
    leader = min(everyone, key=everyone.__getitem__)
    for seed in sorted(seeds):
        kept = seeds - {seed}
        without = {own: statistics.fmean(found[s] for s in kept) for own, found in logs.items()}
        first = min(without, key=without.__getitem__)
        if _gap(everyone, leader, first) > ALIKE and _gap(without, first, leader) > ALIKE:
            return Swing(contest, seed, leader, first)
    return None


def _gap(logs: Mapping[Setting, float], first: Setting, other: Setting) -> float:
    return logs[other] - logs[first]


def _scheme(contest: Contest, setting: Setting | None) -> Scheme | None:
    return contest.baseline if setting is None else contest.by_setting.get(setting)
