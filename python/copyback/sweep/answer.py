"""Answer of a comparison, in a sentence or two, and what to know before one believes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.sweep.schemes import MEASURES, Format
from copyback.sweep.together import ALIKE, multiple, ranking, swings
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.sweep.labels import Names
    from copyback.sweep.schemes import Contest, Measure, Setting
    from copyback.sweep.together import Multiple

_BY_LABEL = {measure.label: measure for measure in MEASURES}

#: Requests of a run from which a tenth of a per cent of them are enough to compare by.
ENOUGH_FOR_P99_9 = 10_000

#: A scheme that is so little behind the first is as good.
SAME = 0.001

#: Schemes that are named when they are level with the first.
MOST_NAMED = 2

_LONG = {"WA": "write amplification", "mean": "mean response time"}


def headline(contests: Sequence[Contest]) -> Measure:
    """Return the measure that the answer is about: the last percentile that the runs can tell."""
    counts = [n for contest in contests for s in contest.schemes for n in s.runs.values()]
    return _BY_LABEL["p99.9" if min(counts, default=0) >= ENOUGH_FOR_P99_9 else "p99"]


def answer(contests: Sequence[Contest], names: Names) -> str:
    """Return who is first, by how much, and who is in what else one would look at."""
    measure = headline(contests)
    ranked = ranking(contests, measure.label)
    if len(ranked) < 2:
        return _alone(contests, measure, names)
    if all(one.ratio == 1 for _, one in ranked):
        return f"All {len(ranked)} schemes have the same {measure.label}."
    first = _first(contests, measure, ranked, names)
    level = _level(contests, measure, ranked, names)
    leader = ranked[0][0]
    # Where another was named last, "it" would be that.
    is_clear = not level and leader != contests[0].baseline.setting
    it = "It" if is_clear else _name(leader, names)
    return " ".join([first, *level, *_rest(contests, leader, it, names)])


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
                "whether these differences are there with other seeds, too, is not known; "
                "--seeds 5 tells",
            )
        ]
    measure = headline(contests)
    found = swings(contests, measure.label)
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


def _first(
    contests: Sequence[Contest],
    measure: Measure,
    ranked: Sequence[tuple[Setting, Multiple]],
    names: Names,
) -> str:
    """Return who has the least of a measure, and how far another is from it."""
    leader, ratio = ranked[0]
    base = contests[0].baseline.setting
    over = f" over the {len(contests)} loads" if len(contests) > 1 else ""
    value = "" if over else f": {_value(contests[0], leader, measure.label)}"
    has = f"has the least {measure.label}{over}{value}"
    if leader != base:
        than = f"than the baseline, {_name(base, names)}"
        return f"{_name(leader, names)} {has}, {_amount(ratio)} {than}."
    second = ranked[1][0]
    behind = multiple(contests, second, leader, measure.label)
    told = f"; the next, {_name(second, names)}, has {_amount(behind)}" if behind else ""
    return f"The baseline, {_name(base, names)}, {has}{told}."


def _level(
    contests: Sequence[Contest],
    measure: Measure,
    ranked: Sequence[tuple[Setting, Multiple]],
    names: Names,
) -> list[str]:
    """Return a sentence on those that may be as good as the first."""
    leader = ranked[0][0]
    level = [own for own, _ in ranked[1:] if _is_level(contests, own, leader, measure)]
    if not level:
        return []
    if len(level) == len(ranked) - 1:
        return ["With these seeds no other can be told from it."]
    if len(level) > MOST_NAMED:
        return [f"{len(level)} others cannot be told from it with these seeds."]
    told = " and ".join(_name(own, names) for own in level)
    return [f"{told} cannot be told from it with these seeds."]


def _is_level(contests: Sequence[Contest], own: Setting, leader: Setting, measure: Measure) -> bool:
    found = multiple(contests, own, leader, measure.label)
    return found is not None and (found.may_be_one or found.ratio - 1 <= SAME)


def _rest(contests: Sequence[Contest], leader: Setting, it: str, names: Names) -> list[str]:
    """Return sentences on the other measures in which schemes differ: who is first there.

    `it` is what they call the leader.
    """
    also: list[str] = []
    others: dict[Setting, list[str]] = {}
    for label, long in _LONG.items():
        ranked = ranking(contests, label)
        if len(ranked) < 2 or ranked[-1][1].ratio - ranked[0][1].ratio <= ALIKE:
            continue
        first, ratio = ranked[0]
        if first == leader or _is_level(contests, leader, first, _BY_LABEL[label]):
            also.append(long)
            continue
        than = f"{change(ratio.ratio)} than the baseline"
        told = than if len(contests) > 1 else _value(contests[0], first, label)
        others.setdefault(first, []).append(f"{long} ({told})")
    return [
        *([f"{it} is first in {' and '.join(also)}, too."] if also else []),
        *(
            f"{_name(own, names)} has the least {' and '.join(told)}."
            for own, told in others.items()
        ),
    ]


def _name(setting: Setting, names: Names) -> str:
    """Return a name that cannot be taken for two."""
    name = names.of(setting)
    return f"“{name}”" if ", " in name else name


def _value(contest: Contest, setting: Setting, label: str) -> str:
    return number(_BY_LABEL[label], contest.by_setting[setting].values[label].mean)


def _amount(found: Multiple) -> str:
    """Return a multiple as a change, with its interval."""
    if found.low is None or found.high is None:
        return change(found.ratio)
    ends = [change(found.low), change(found.high)]
    if found.high < 1:
        ends = [ends[1].removesuffix(" % less"), ends[0].removesuffix(" less")]
    elif 1 < found.low <= found.high < 2:
        ends = [ends[0].removesuffix(" % more"), ends[1].removesuffix(" more")]
    return f"{change(found.ratio)} (95% interval: {' to '.join(ends)})"


def change(ratio: float) -> str:
    """Return a multiple as people say it.

    >>> change(0.059), change(1.12), change(3.44), change(1.0)
    ('94.1 % less', '12.0 % more', '3.44 times as much', 'as much')
    """
    if ratio == 1:
        return "as much"  # of others, never of the first
    if ratio < 1:
        return f"{100 * (1 - ratio):.1f} % less"
    return f"{100 * (ratio - 1):.1f} % more" if ratio < 2 else f"{ratio:.3g} times as much"


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
