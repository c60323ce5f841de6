"""Output of ``copyback compare``: the answer, and a table for each load with every scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.sweep.answer import answer, headline, number, warnings
from copyback.sweep.contest_table import ContestTable, empty_table
from copyback.sweep.knee import knees
from copyback.sweep.labels import Names
from copyback.sweep.ranking import rank
from copyback.sweep.ratios import MARK, NoRatio, compared
from copyback.sweep.schemes import SHOWN
from copyback.sweep.tails import tail_rows
from copyback.sweep.winners import podium
from copyback.words import units
from copyback.words.verdict import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from copyback.sweep.comparison import Comparison
    from copyback.sweep.schemes import Contest, Scheme

#: Schemes under a load up to which all are shown; beyond it the winners are.
MOST_SHOWN = 40

#: Knees that are told.
MOST_KNEES = 3

#: Name of what stands below a number.
RATIO = "ratio to the baseline, geometric mean"


def tables(found: Comparison) -> list[RenderableType]:
    """Return the answer, then a table for each load and flow: its schemes, or of many the winners.

    Before them stands what should be known first of the numbers.
    """
    from rich.text import Text

    names = Names(found.contests)
    pieces: list[RenderableType] = list(_first(found, names))
    if len(found.contests) > 1 and len(found.contests[0].schemes) in range(2, MOST_SHOWN + 1):
        pieces += [_together(found.contests, names), Text("")]
    each = (*found.contests, *found.flows)
    for contest in each:
        is_long = len(contest.schemes) > MOST_SHOWN
        title = contest_text(contest, names)
        pieces.append(
            _winners_table(contest, title, names)
            if is_long
            else ContestTable(contest, title, names, finding_labels)
        )
        if contest is not each[-1]:
            pieces.append(Text(""))
    return pieces


def contest_text(contest: Contest, names: Names) -> str:
    """Return whose requests a contest is about: its load and its flow, or nothing."""
    flow = contest.requests.flow
    load = names.of(contest.load) if contest.load else ""
    return ", ".join(filter(None, (load, "" if flow is None else f"flow {flow}")))


def remarks(contests: Sequence[Contest]) -> list[tuple[str, str]]:
    """Return what should be known first of the runs: a label, and of how many it means what."""
    schemes = [scheme for contest in contests for scheme in contest.schemes]
    counts = {key: sum(scheme.findings.get(key, 0) for scheme in schemes) for key in MEANINGS}
    runs = units.count(sum(scheme.seeds for scheme in schemes))
    return [
        (MEANINGS[key][0], f"{units.count(count)} of {runs} runs: {MEANINGS[key][1]}")
        for key, count in counts.items()
        if count
    ]


def legend(contests: Sequence[Contest]) -> str:
    """Return what stands below the numbers of tables; nothing where only numbers do."""
    ratios = [one for contest in contests for s in contest.schemes for one in s.ratios.values()]
    if not ratios:
        return ""
    seeds = max(scheme.seeds for contest in contests for scheme in contest.schemes)
    parts = [
        f"Means over {seeds} seeds. Below each: the {RATIO} of the seeds, and its 95% interval"
        if seeds > 1
        else "Below each number: the ratio to the baseline",
        *(
            [f"{MARK} = not distinguishable"]
            if any(one.marked != one.text for one in ratios)
            else []
        ),
        *(["no ratio = a run has zero"] if NoRatio.ZERO in ratios else []),
    ]
    return f"{'; '.join(parts)}."


def finding_labels(scheme: Scheme) -> list[str]:
    """Return in a word or two each what should be known of a scheme's runs."""
    return [
        MEANINGS[key][0]
        if count == scheme.seeds
        else f"{MEANINGS[key][0]} ({count} of {scheme.seeds} seeds)"
        for key, count in scheme.findings.items()
    ]


def bends(contests: Sequence[Contest], names: Names) -> list[tuple[str, str]]:
    """Return a label and a sentence for the first knees of the headline, and how many more."""
    told = knees(contests, headline(contests), names)
    more = f"; {len(told) - MOST_KNEES} more on the page" if len(told) > MOST_KNEES else ""
    return [("Knee", "; ".join(told[:MOST_KNEES]) + more)] if told else []


def _first(found: Comparison, names: Names) -> Iterator[RenderableType]:
    from rich.text import Text

    from copyback.words.console import facts_grid

    told = answer(found.contests, names)
    rows = [
        *tail_rows(found.contests, names),
        *([("Answer", told)] if told else []),
        *bends(found.contests, names),
        *warnings(found.contests, names),
        *remarks(found.contests),
    ]
    if rows:
        yield facts_grid(rows)
        yield Text("")


def _together(contests: Sequence[Contest], names: Names) -> RenderableType:
    """Return the ratios of the schemes to the baseline over all loads."""
    from rich.text import Text

    table = empty_table(f"All loads: {RATIO}")
    table.add_column("Scheme", style="bold", overflow="fold")
    for measure in SHOWN:
        table.add_column(measure.label, justify="right", no_wrap=True)
    left_out = rank(contests, headline(contests)).left_out
    for setting in dict.fromkeys(s.setting for contest in contests for s in contest.schemes):
        name = Text(names.of(setting))
        if setting in left_out:
            name.append(" · not ranked", style="yellow not bold")
        found = [compared(contests, setting, None, measure.label) for measure in SHOWN]
        table.add_row(name, *(one.marked for one in found))
    return table


def _winners_table(contest: Contest, title: str, names: Names) -> RenderableType:
    """Return who wins in each measure."""
    table = empty_table(title)
    table.add_column("Less is better", style="bold")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("level", justify="right", no_wrap=True)
    table.add_column("winner", overflow="fold")
    for measure in contest.requests.measures:
        first = podium(contest, measure)
        if first is None:
            table.add_row(measure.label, units.MISSING, units.MISSING, "no winner")
            continue
        value = number(measure, first.leader.values[measure.label].mean)
        name = names.short(first.leader.setting)
        table.add_row(measure.label, value, f"{len(first.level)}", name)
    table.caption = f"of {len(contest.schemes)} schemes"
    table.caption_justify = "left"
    return table
