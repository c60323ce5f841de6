"""Answer of a comparison, in a sentence or two, and what to know before one believes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.sweep.ranking import ALIKE, rank, swings
from copyback.sweep.schemes import MEASURES, Format
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.sweep.labels import Names
    from copyback.sweep.ranking import Ranking
    from copyback.sweep.schemes import Contest, Measure, Setting

_BY_LABEL = {measure.label: measure for measure in MEASURES}

#: Requests of a run from which a tenth of a per cent of them are enough to compare by.
ENOUGH_FOR_P99_9 = 10_000

#: Schemes that are named when they are level with the first.
MOST_NAMED = 2

#: Schemes that are named when they are not ranked.
MOST_LEFT_OUT = 4

_LONG = {"WA": "write amplification", "mean": "mean response time"}


def headline(contests: Sequence[Contest]) -> Measure:
    """Return the measure that the answer is about: the last percentile that the runs can tell."""
    counts = [n for contest in contests for s in contest.schemes for n in s.runs.values()]
    return _BY_LABEL["p99.9" if min(counts, default=0) >= ENOUGH_FOR_P99_9 else "p99"]


def answer(contests: Sequence[Contest], names: Names) -> str:
    """Return who is first, by how much, who is in what else one would look at, and who is left out.

    Nobody is first who is not ranked: see `ranking`.
    """
    measure = headline(contests)
    if max(len(contest.schemes) for contest in contests) < 2:
        return _alone(contests, measure, names)
    ranking = rank(contests, measure)
    return " ".join([*_ranked(ranking, names), *_left_out(ranking.left_out, names)])


def _ranked(ranking: Ranking, names: Names) -> list[str]:
    """Return sentences on the schemes that can be ranked."""
    label, order = ranking.measure.label, ranking.order
    if ranking.has_zero:
        return [f"No winner: in a run {label} is zero, of which there is no geometric mean."]
    if not order:
        return [f"No winner: no scheme can be ranked by {label}."]
    leader = order[0]
    if len(order) == 1:
        value = "" if len(ranking.contests) > 1 else f": {label} {_value(ranking)}"
        return [f"No winner: only {_name(leader, names)} can be ranked{value}."]
    if ranking.spread == 0:
        which = "ranked" if ranking.left_out else ""
        return [f"All {len(order)} {which} schemes have the same {label}.".replace("  ", " ")]
    level = _level(ranking, names)
    # Where another was named last, "it" would be that.
    is_clear = not level and leader != _baseline(ranking)
    it = "It" if is_clear else _name(leader, names)
    return [_first(ranking, names), *level, *_rest(ranking, it, names)]


def _baseline(ranking: Ranking) -> Setting | None:
    """Return the baseline; None if it is another under another load."""
    found = {contest.baseline.setting for contest in ranking.contests}
    return found.pop() if len(found) == 1 else None


def _left_out(reasons: Mapping[Setting, str], names: Names) -> list[str]:
    """Return which schemes are not ranked, and why."""
    if not reasons:
        return []
    told = [f"{_name(own, names)} ({why})" for own, why in reasons.items()]
    more = len(told) - MOST_LEFT_OUT
    others = f", and {units.count(more)} more" if more > 0 else ""
    return [f"Not ranked: {', '.join(told[:MOST_LEFT_OUT])}{others}."]


def warnings(contests: Sequence[Contest], names: Names) -> list[tuple[str, str]]:
    """Return a label and a sentence for each reason to doubt who is first."""
    if max(len(contest.schemes) for contest in contests) < 2:
        return []
    return [*_baseline_warning(contests), *_seed_warning(contests, names)]


def _baseline_warning(contests: Sequence[Contest]) -> list[tuple[str, str]]:
    """Return that multiples say little, if those of an overloaded baseline they are."""
    overloaded = sum(
        scheme.is_baseline and "overload" in scheme.findings
        for contest in contests
        for scheme in contest.schemes
    )
    if not overloaded:
        return []
    under = f" under {overloaded} of {len(contests)} loads" if len(contests) > 1 else ""
    return [
        (
            "Baseline",
            f"it is overloaded{under}, so that how far others are from it depends on the length "
            "of the run; --baseline KEY=VALUE chooses another",
        )
    ]


def _seed_warning(contests: Sequence[Contest], names: Names) -> list[tuple[str, str]]:
    """Return that there is one seed only, or that one decides."""
    if _seeds(contests) < 2:
        return [
            (
                "One seed",
                "there is no interval, and whether other seeds would show the same differences is "
                "not known; --seeds 5 tells",
            )
        ]
    measure = headline(contests)
    found = swings(contests, measure)
    if not found:
        return []
    first = found[0]
    under = f" under {names.of(first.contest.load)}" if first.contest.load else ""
    more = f"; so it is under {len(found) - 1} more of the loads" if len(found) > 1 else ""
    return [
        (
            "One seed decides",
            f"without seed {first.seed}, {_name(first.other, names)} would have the least "
            f"{measure.label}{under}, and not {_name(first.leader, names)}{more}",
        )
    ]


def _alone(contests: Sequence[Contest], measure: Measure, names: Names) -> str:
    """Return what the only scheme gives."""
    means = {
        contest.load: own.mean
        for contest in contests
        for scheme in contest.schemes
        if (own := scheme.values.get(measure.label)) is not None
    }
    if not means:
        return ""
    least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    told = number(measure, means[least])
    if len(means) == 1:
        return f"The {measure.label} is {told}{_over_seeds(contests)}."
    return (
        f"The {measure.label} goes from {told} ({names.of(least)}) to "
        f"{number(measure, means[most])} ({names.of(most)})."
    )


def _first(ranking: Ranking, names: Names) -> str:
    """Return who has the least of a measure, and how far another is from it."""
    leader, second, *_ = ranking.order
    base, loads = _baseline(ranking), len(ranking.contests)
    over = f" over the {loads} loads" if loads > 1 else ""
    value = "" if over else f": {_value(ranking)}"
    has = f"has the least {ranking.measure.label}{over}{value}"
    if base is not None and leader != base and base in ranking.order:
        told = ranking.ratio(leader, base).sentence
        return f"{_name(leader, names)} {has}, {told} against the baseline, {_name(base, names)}."
    told = f"the next is {_name(second, names)}, {ranking.ratio(second, leader).sentence}"
    who = f"The baseline, {_name(base, names)}," if leader == base else _name(leader, names)
    return f"{who} {has}; {told}."


def _level(ranking: Ranking, names: Names) -> list[str]:
    """Return a sentence on those that may be as good as the first."""
    level = ranking.level
    if not level:
        return []
    if _seeds(ranking.contests) < 2:
        return [f"{' and '.join(_name(own, names) for own in level[:MOST_NAMED])} has as much."]
    if len(level) == len(ranking.order) - 1:
        return ["With these seeds no other is distinguishable from it."]
    if len(level) > MOST_NAMED:
        return [f"{len(level)} others are not distinguishable from it with these seeds."]
    told = " and ".join(_name(own, names) for own in level)
    verb = "is" if len(level) == 1 else "are"
    return [f"{told} {verb} not distinguishable from it with these seeds."]


def _rest(ranking: Ranking, it: str, names: Names) -> list[str]:
    """Return sentences on the other measures in which schemes differ: who is first there.

    `it` is what they call the leader.
    """
    leader, base = ranking.order[0], _baseline(ranking)
    also: list[str] = []
    level: list[str] = []
    others: dict[Setting, list[str]] = {}
    for label, long in _LONG.items():
        other = rank(ranking.contests, _BY_LABEL[label])
        if len(other.order) < 2 or other.spread <= ALIKE:
            continue
        first = other.order[0]
        if leader in other.order and other.ratio(leader, first).ratio == 1:
            also.append(long)
            continue
        if leader in other.level:
            level.append(long)
            continue
        if len(ranking.contests) == 1:
            told = _value(other)
        elif base is not None and base in other.order:
            told = f"{other.ratio(first, base).text} against the baseline"
        else:
            continue
        others.setdefault(first, []).append(f"{long} ({told})")
    return [
        *([f"{it} is first in {' and '.join(also)}, too."] if also else []),
        *(
            [f"{it} is not distinguishable from the first in {' and '.join(level)}."]
            if level
            else []
        ),
        *(
            f"{_name(own, names)} has the least {' and '.join(told)}."
            for own, told in others.items()
        ),
    ]


def _name(setting: Setting, names: Names) -> str:
    """Return a name that cannot be taken for two."""
    name = names.of(setting)
    return f"“{name}”" if ", " in name else name


def _value(ranking: Ranking) -> str:
    """Return the number of the first under the only load."""
    scheme = ranking.contests[0].by_setting[ranking.order[0]]
    return number(ranking.measure, scheme.values[ranking.measure.label].mean)


def number(measure: Measure, value: float) -> str:
    """Return a value of a measure with its unit."""
    formats = {
        Format.TIME: units.time_us,
        Format.FACTOR: units.factor,
        Format.COUNT: units.count,
        Format.NUMBER: units.decimal,
    }
    return formats[measure.format](value)


def _seeds(contests: Sequence[Contest]) -> int:
    return max(scheme.seeds for contest in contests for scheme in contest.schemes)


def _over_seeds(contests: Sequence[Contest]) -> str:
    seeds = _seeds(contests)
    return f", the mean over {seeds} seeds" if seeds > 1 else ""
