"""A comparison as a small piece of HTML, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback import report
from copyback.sweep.answer import answer, number, warnings
from copyback.sweep.contest_table import ratio_lines
from copyback.sweep.labels import Names
from copyback.sweep.ratios import compared
from copyback.sweep.schemes import SHOWN
from copyback.sweep.tables import RATIO, bends, contest_text, legend, remarks
from copyback.sweep.tails import tail_rows
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.sweep.schemes import Contest, Measure, Scheme, Setting

#: Schemes of a notebook's table.
MOST_ROWS = 20


def render_fragment(contests: Sequence[Contest], title: str = "") -> str:
    """Return the answer, what to know of it, and the schemes: of several loads their means.

    Parameters
    ----------
    title
        Stands before the answer.
    """
    names = Names(contests)
    settings = list(dict.fromkeys(s.setting for contest in contests for s in contest.schemes))
    is_one = len(contests) == 1
    caption = (
        contest_text(contests[0], names)
        if is_one
        else f"{RATIO.capitalize()} over {len(contests)} loads"
    )
    rows = [
        (names.of(own), _of_one(contests[0], own) if is_one else _of_all(contests, own))
        for own in settings[:MOST_ROWS]
    ]
    told = [*bends(contests, names), *warnings(contests, names), *remarks(contests)]
    return (
        report.environment()
        .get_template("comparison_fragment.html.j2")
        .render(
            title=title,
            answer=answer(contests, names),
            tails=tail_rows(contests, names),
            remarks=told,
            caption=caption,
            measures=[measure.label for measure in SHOWN],
            rows=rows,
            legend=legend(contests) if is_one else "",
            left_out=max(len(settings) - MOST_ROWS, 0),
        )
    )


def _of_one(contest: Contest, setting: Setting) -> list[str]:
    """Return a scheme's numbers under the only load, each with its change."""
    scheme = contest.by_setting[setting]
    return [_cell(scheme, measure) for measure in contest.requests.shown]


def _cell(scheme: Scheme, measure: Measure) -> str:
    value = scheme.values.get(measure.label)
    if value is None:
        return units.MISSING
    ratio = scheme.ratios.get(measure.label)
    text = number(measure, value.mean)
    return text if ratio is None else f"{text} ({', '.join(ratio_lines(ratio, together=True))})"


def _of_all(contests: Sequence[Contest], setting: Setting) -> list[str]:
    """Return what a scheme is to the baseline over all loads."""
    return [compared(contests, setting, None, measure.label).marked for measure in SHOWN]
