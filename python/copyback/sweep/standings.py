"""The page ``winners.md`` of a sweep: who wins where, how far others are, and what decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback.sweep.answer import number
from copyback.sweep.axes import LOAD, SCHEME
from copyback.sweep.labels import Names
from copyback.sweep.ranking import rank
from copyback.sweep.schemes import MEASURES
from copyback.sweep.tables import remarks
from copyback.sweep.winners import choices, overall, podium
from copyback.words import units
from copyback.words.markdown import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from copyback.sweep.ratios import Ratio
    from copyback.sweep.schemes import Contest, Measure, Scheme, Setting
    from copyback.sweep.winners import Choice, Podium


def standings(contests: Sequence[Contest], title: str = "Winners", level: int = 1) -> str:
    """Return the page, in Markdown.

    Parameters
    ----------
    level
        Of its heading: 2 makes it a section of a larger page.
    """
    names = Names(contests)
    named = _named(contests)
    seeds = max(scheme.seeds for contest in contests for scheme in contest.schemes)
    heading, below = "#" * level, "#" * (level + 1)
    parts = [f"{heading} {title}", _preface(contests, seeds)]
    parts += [f"**{label}.** {text}." for label, text in remarks(contests)]
    for measure in MEASURES:
        rows = [_row(contest, measure, named, names) for contest in contests]
        header = ("load", "winner", measure.label, "level with it", "not ranked", *named)
        table = markdown_table(header, [row for row in rows if row])
        parts += [f"{below} {title}: {measure.label}", table]
    if len(contests) > 1:
        parts += [f"{below} {title}: all loads together", _overall(contests, names)]
    parts += [f"{below} {title}: what each choice does", _choices(contests, names)]
    return "\n\n".join(parts) + "\n"


def _preface(contests: Sequence[Contest], seeds: int) -> str:
    schemes = max(len(contest.schemes) for contest in contests)
    loads = "one load" if len(contests) == 1 else f"{len(contests)} loads"
    told = (
        "*Level* with the winner are those that are not distinguishable from it: the 95% interval "
        "of their ratio to it holds 1"
        if seeds > 1
        else "There is one seed and so no interval: the least number wins"
    )
    return (
        f"{schemes} schemes under {loads}, {seeds} seeds. {told}. A scheme whose runs are "
        "overloaded, not settled or, for times, too short to tell is *not ranked*. The columns on "
        "the right are named schemes, the baseline first: the ratio of their number to the "
        "winner's, the geometric mean over the seeds."
    )


def _named(contests: Sequence[Contest]) -> dict[str, None]:
    """Return the names of schemes that have one, the baseline first."""
    schemes = [scheme for contest in contests for scheme in contest.schemes]
    schemes.sort(key=lambda scheme: not scheme.is_baseline)
    return dict.fromkeys(
        _column(scheme) for scheme in schemes if scheme.is_baseline or _given(scheme) is not None
    )


def _column(scheme: Scheme) -> str:
    return _given(scheme) or "baseline"


def _given(scheme: Scheme) -> str | None:
    name = dict(scheme.setting).get(SCHEME)
    return None if name is None else str(name)


def _row(
    contest: Contest, measure: Measure, named: Iterable[str], names: Names
) -> tuple[str, ...] | None:
    if not any(measure.label in scheme.values for scheme in contest.schemes):
        return None
    load = names.of(contest.load) if contest.load else "all"
    ranking = rank([contest], measure)
    out = units.count(len(ranking.left_out))
    first = podium(contest, measure)
    if first is None:
        why = "no winner: a run has zero" if ranking.has_zero else "no winner"
        return (load, why, units.MISSING, units.MISSING, out, *(units.MISSING for _ in named))
    shown = {_column(s): s for s in contest.schemes if s.is_baseline or _given(s) is not None}
    return (
        load,
        names.short(first.leader.setting),
        number(measure, first.leader.values[measure.label].mean),
        _level(first, contest, names),
        out,
        *(_ratio_to(first, shown.get(name)) for name in named),
    )


def _level(first: Podium, contest: Contest, names: Names) -> str:
    """Return how many are level with the winner, and what they all have in common with it."""
    if not first.level:
        return "nobody"
    together = [dict(scheme.setting) for scheme in (first.leader, *first.level)]
    everyone = [dict(scheme.setting) for scheme in contest.schemes]
    common = [
        names.choice((key, value))
        for key, value in first.leader.setting
        if key not in (SCHEME, LOAD)
        and value is not None
        and all(own[key] == value for own in together)
        and any(other[key] not in (value, None) for other in everyone)
    ]
    return f"{len(first.level)}{', all ' + ' · '.join(common) if common else ''}"


def _ratio_to(first: Podium, scheme: Scheme | None) -> str:
    """Return the ratio of a scheme to the winner; a dash if it is not ranked."""
    ranking = first.ranking
    if scheme is None or scheme.setting not in ranking.order:
        return units.MISSING
    return ranking.ratio(scheme.setting, first.leader.setting).marked


def _overall(contests: Sequence[Contest], names: Names) -> str:
    """Return the best scheme of each measure and the named ones, with their places."""
    ranked = {measure: overall(contests, measure) for measure in MEASURES}
    firsts = [pairs[0][0] for pairs in ranked.values() if pairs]
    named = [
        scheme.setting
        for scheme in contests[0].schemes
        if scheme.is_baseline or _given(scheme) is not None
    ]
    rows = []
    for setting in dict.fromkeys([*firsts, *named]):
        cells = [_place(pairs, setting) for pairs in ranked.values()]
        rows.append((names.short(setting), *cells))
    text = (
        "The ratio of the number to that of each load's winner, the geometric mean over the loads, "
        "and the place among the schemes that are ranked under every load."
    )
    return f"{text}\n\n{markdown_table(('scheme', *(m.label for m in ranked)), rows)}"


def _place(pairs: Sequence[tuple[Setting, Ratio]], setting: Setting) -> str:
    for place, (own, ratio) in enumerate(pairs, start=1):
        if own == setting:
            return f"{ratio.text} ({place}.)"
    return units.MISSING


def _choices(contests: Sequence[Contest], names: Names) -> str:
    """Return for each key its values' means as multiples of its first value's."""
    found = {measure: {c.key: c for c in choices(contests, measure)} for measure in MEASURES}
    order = {key: choice for by_key in found.values() for key, choice in by_key.items()}
    rows = [
        (
            f"`{key}`",
            names.value((key, value)),
            *(_ratio(by_key.get(key), value) for by_key in found.values()),
        )
        for key, choice in order.items()
        for value in choice.ratios
    ]
    text = (
        "The ratio of the number to that with the key's first value, other choices and load alike: "
        "the geometric mean over all combinations that are ranked with every value of the key."
    )
    return f"{text}\n\n{markdown_table(('key', 'value', *(m.label for m in found)), rows)}"


def _ratio(choice: Choice | None, value: Any) -> str:
    known = {} if choice is None else choice.ratios
    return known[value].marked if value in known else units.MISSING
