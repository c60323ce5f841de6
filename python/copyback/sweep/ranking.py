"""Ranking of schemes in a measure: who may be ranked, in which order, and whether a seed decides.

A run that is overloaded or not settled gives numbers that depend on its length. Such a scheme is
ranked nowhere.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback.sweep.ratios import NoRatio, Ratio, compared, log_ratios, pairs_of
from copyback.sweep.schemes import Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from copyback.sweep.schemes import Contest, Measure, Scheme, Setting

#: Two schemes whose numbers are closer than this are not told apart by a warning.
ALIKE = 0.01

#: Findings of a run that keep its scheme out of every ranking, and what is said of it.
BARS = {"overload": "overloaded", "unsettled": "not settled"}

#: Finding that does so where the number depends on the backlog.
UNDECIDED = {"perhaps_overload": "too short to tell whether it keeps up"}


@dataclass(frozen=True)
class Ranking:
    """Schemes in the order of a measure over some loads.

    Attributes
    ----------
    order
        The schemes that can be ranked, the best first; empty if a run of them has zero.
    left_out
        Why each other scheme is not ranked, in words.
    has_zero
        Whether a run has zero, so that there is no order.
    """

    contests: Sequence[Contest]
    measure: Measure
    order: tuple[Setting, ...]
    left_out: Mapping[Setting, str]
    has_zero: bool = False

    def ratio(self, own: Setting, other: Setting) -> Ratio:
        """Return the ratio of two ranked schemes."""
        found = compared(self.contests, own, other, self.measure.label)
        assert isinstance(found, Ratio), "only schemes with ratios are ranked"
        return found

    def is_level(self, own: Setting, leader: Setting) -> bool:
        """Whether a scheme cannot be distinguished from the leader; with one seed, is equal."""
        found = self.ratio(own, leader)
        return found.may_be_one or found.ratio == 1

    @property
    def level(self) -> tuple[Setting, ...]:
        """The schemes that are not distinguishable from the first."""
        return tuple(own for own in self.order[1:] if self.is_level(own, self.order[0]))

    @property
    def spread(self) -> float:
        """Share by which the last differs from the first; zero of one scheme."""
        if not self.order:
            return 0.0
        return abs(self.ratio(self.order[-1], self.order[0]).ratio - 1)

    def ends(self) -> tuple[set[Setting], set[Setting]]:
        """Return the schemes that are best and those that are worst, unless all are alike."""
        if self.spread == 0:
            return set(), set()
        first, last = (
            {own for own in self.order if self.ratio(own, end).ratio == 1}
            for end in (self.order[0], self.order[-1])
        )
        return first, last


def rank(contests: Sequence[Contest], measure: Measure) -> Ranking:
    """Return the schemes that can be ranked under every load, the best first."""
    schemes = [scheme for contest in contests for scheme in contest.schemes]
    # Of those that are alike the baseline comes first.
    schemes.sort(key=lambda scheme: not scheme.is_baseline)
    settings = list(dict.fromkeys(scheme.setting for scheme in schemes))
    reasons = {own: _reason(contests, own, measure) for own in settings}
    able = [own for own in settings if not reasons[own]]
    left_out = {own: why for own, why in reasons.items() if why}
    kept = _with_shared_seeds(contests, able, measure)
    left_out |= {own: "no seed in common with others" for own in able if own not in kept}
    if any(_has_zero(contest, own, measure) for contest in contests for own in kept):
        return Ranking(contests, measure, (), left_out, has_zero=True)
    found = {own: compared(contests, own, kept[0], measure.label) for own in kept}
    ratios = {own: one.ratio for own, one in found.items() if isinstance(one, Ratio)}
    order = sorted(ratios, key=ratios.__getitem__, reverse=measure.more_is_better)
    return Ranking(contests, measure, tuple(order), left_out)


def _with_shared_seeds(
    contests: Sequence[Contest], able: Sequence[Setting], measure: Measure
) -> list[Setting]:
    """Return those that were all run with a seed under every load: each two have a ratio."""
    shared: set[int] = set()
    kept: list[Setting] = []
    for own in able:
        each = [set(contest.by_setting[own].by_seed[measure.label]) for contest in contests]
        seeds = set.intersection(*each, *([shared] if kept else []))
        if seeds:
            shared = seeds
            kept.append(own)
    return kept


def _has_zero(contest: Contest, own: Setting, measure: Measure) -> bool:
    return min(contest.by_setting[own].by_seed[measure.label].values()) <= 0


def _reason(contests: Sequence[Contest], own: Setting, measure: Measure) -> str:
    """Return why a scheme is not ranked; empty if it is."""
    schemes = [contest.by_setting.get(own) for contest in contests]
    there = [one for one in schemes if one is not None and measure.label in one.by_seed]
    told = [_under(there, key, word) for key, word in barring(measure).items()]
    if len(there) < len(contests):
        told.append("no number" if len(contests) == 1 else "not under every load")
    return ", ".join(filter(None, told))


def _under(schemes: Sequence[Scheme], key: str, word: str) -> str:
    """Return a finding and how much of a scheme it is about; empty if there is none."""
    found = [scheme for scheme in schemes if key in scheme.findings]
    if not found:
        return ""
    if len(schemes) > 1:
        return f"{word} under {len(found)} of {len(schemes)} loads"
    count, runs = found[0].findings[key], found[0].seeds
    return word if count == runs else f"{word} in {count} of {runs} runs"


def barring(measure: Measure) -> dict[str, str]:
    """Return the findings that keep a scheme out of the ranking in a measure, and their words."""
    depends = measure.format is Format.TIME or measure.more_is_better
    return {**BARS, **UNDECIDED} if depends else BARS


@dataclass(frozen=True)
class Swing:
    """A seed without which another scheme would be first under a load."""

    contest: Contest
    seed: int
    leader: Setting
    other: Setting


def swings(contests: Iterable[Contest], measure: Measure) -> list[Swing]:
    """Return for each load the seed that decides who is first, if there is one."""
    return [found for contest in contests if (found := _swing(contest, measure)) is not None]


def _swing(contest: Contest, measure: Measure) -> Swing | None:
    order = rank([contest], measure).order
    if len(order) < 2:
        return None
    leader = order[0]
    logs = {
        own: found
        for own in order
        if not isinstance(
            found := log_ratios(pairs_of([contest], own, leader, measure.label)), NoRatio
        )
    }
    seeds = set.intersection(*map(set, logs.values()))
    if len(seeds) < 2:
        return None
    everyone = _means(logs, seeds)
    for seed in sorted(seeds):
        without = _means(logs, seeds - {seed})
        first = min(without, key=without.__getitem__)
        if _gap(everyone, leader, first) > ALIKE and _gap(without, first, leader) > ALIKE:
            return Swing(contest, seed, leader, first)
    return None


def _means(logs: Mapping[Setting, Mapping[int, float]], seeds: set[int]) -> dict[Setting, float]:
    return {own: statistics.fmean(found[seed] for seed in seeds) for own, found in logs.items()}


def _gap(logs: Mapping[Setting, float], first: Setting, other: Setting) -> float:
    return logs[other] - logs[first]
