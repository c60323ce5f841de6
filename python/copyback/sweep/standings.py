"""The page ``winners.md`` of a sweep: who wins where, how far others are, and what decides."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from copyback.sweep.answer import number
from copyback.sweep.axes import LOAD, SCHEME
from copyback.sweep.labels import Names
from copyback.sweep.schemes import MEASURES
from copyback.sweep.tables import remarks
from copyback.sweep.winners import behind, choices, overall, podium
from copyback.words.markdown import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        header = ("load", "winner", measure.label, "level with it", *named)
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
        "*Level* with the winner are those whose numbers are, seed by seed, a multiple of its "
        "with a 95% interval that holds one"
        if seeds > 1
        else "There is one seed and so no interval: the least number wins"
    )
    return (
        f"{schemes} schemes under {loads}, {seeds} seeds. {told}. The columns on the right are "
        "named schemes, the baseline first: how many times the winner's number theirs is."
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
    first = podium(contest, measure)
    if first is None:
        return None
    shown = {_column(s): s for s in contest.schemes if s.is_baseline or _given(s) is not None}
    value = number(measure, first.leader.values[measure.label].mean)
    return (
        names.of(contest.load) if contest.load else "all",
        names.short(first.leader.setting),
        value,
        _level(first, contest, names),
        *(_multiple(contest, measure, shown.get(name)) for name in named),
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


def _multiple(contest: Contest, measure: Measure, scheme: Scheme | None) -> str:
    first = podium(contest, measure)
    if scheme is None or first is None:
        return "–"
    found = behind(scheme, first.leader, measure.label)
    return "–" if found is None else times(math.exp(found.mean))


def times(ratio: float) -> str:
    """Return a multiple with three digits.

    >>> times(1.0), times(12.34), times(123.4)
    ('1.00×', '12.3×', '123×')
    """
    digits = 2 if ratio < 10 else 1 if ratio < 100 else 0
    return f"{ratio:,.{digits}f}×"


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
        "Geometric mean over the loads of the number as a multiple of the load's winner's, and the "
        "place among all schemes that were run under every load."
    )
    return f"{text}\n\n{markdown_table(('scheme', *(m.label for m in ranked)), rows)}"


def _place(pairs: Sequence[tuple[Setting, float]], setting: Setting) -> str:
    for place, (own, ratio) in enumerate(pairs, start=1):
        if own == setting:
            return f"{times(ratio)} ({place}.)"
    return "–"


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
        "Geometric mean of the number as a multiple of that of the key's first value, other "
        "choices and load alike, over all combinations that exist with every value of the key."
    )
    return f"{text}\n\n{markdown_table(('key', 'value', *(m.label for m in found)), rows)}"


def _ratio(choice: Choice | None, value: Any) -> str:
    return "–" if choice is None or value not in choice.ratios else times(choice.ratios[value])
