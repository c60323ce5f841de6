"""What ``copyback compare`` prints: a table for each load, a row for each scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback import units
from copyback.describe import value_text
from copyback.sweep.axes import LOAD, SCHEME
from copyback.sweep.labels import labels_of, short_name
from copyback.sweep.schemes import Format
from copyback.sweep.winners import podium
from copyback.verdict import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from copyback.sweep.comparison import Comparison
    from copyback.sweep.intervals import Estimate
    from copyback.sweep.labels import Labels
    from copyback.sweep.schemes import Contest, Measure, Scheme, Setting

#: What does not fit into the terminal.
HIDDEN = {"p99.99"}


#: Schemes under a load up to which all are shown; beyond it the winners are.
MOST_SHOWN = 40


def tables(found: Comparison) -> list[RenderableType]:
    """Return a table for each load and flow: its schemes, or of very many the winners.

    Before them stands what should be known first of the numbers.
    """
    labels = labels_of(found.contests)
    pieces: list[RenderableType] = list(_remarks(found))
    for contest in (*found.contests, *found.flows):
        is_long = len(contest.schemes) > MOST_SHOWN
        pieces.append(_winners_table(contest, labels) if is_long else _table(contest))
    return pieces


def contest_text(contest: Contest) -> str:
    """Return whose requests a contest is about: its load and its flow, or nothing."""
    flow = contest.requests.flow
    load = setting_text(contest.load) if contest.load else ""
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


def finding_labels(scheme: Scheme) -> list[str]:
    """Return in a word or two each what should be known of a scheme's runs."""
    return [
        MEANINGS[key][0]
        if count == scheme.seeds
        else f"{MEANINGS[key][0]} ({count} of {scheme.seeds} seeds)"
        for key, count in scheme.findings.items()
    ]


def _remarks(found: Comparison) -> Iterator[RenderableType]:
    from rich.text import Text

    from copyback.console import facts_grid

    rows = remarks(found.contests)
    if rows:
        yield facts_grid(rows)
        yield Text("")


def setting_text(setting: Setting) -> str:
    """Return a setting as people read it: names, then the last part of each key and its value.

    >>> setting_text((("scheme", "PGC"), ("ssd.gc.victim", "fifo"), ("ssd.gc.width", "blind")))
    'PGC, victim fifo, width blind'
    """
    texts = [
        str(value) if key in (LOAD, SCHEME) else f"{key.rpartition('.')[2]} {value_text(value)}"
        for key, value in setting
        if value is not None
    ]
    return ", ".join(texts) or "as configured"


def _empty_table(contest: Contest) -> Table:
    from rich import box
    from rich.table import Table

    title = contest_text(contest) or None
    return Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_edge=False,
        title=title,
        title_justify="left",
        title_style="bold",
    )


def _winners_table(contest: Contest, labels: Labels) -> RenderableType:
    """Return who wins in each measure."""
    table = _empty_table(contest)
    table.add_column("Less is better", style="bold")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("level", justify="right", no_wrap=True)
    table.add_column("winner", overflow="fold")
    for measure in contest.requests.measures:
        first = podium(contest, measure)
        if first is not None:
            value = number(measure, first.leader.values[measure.label].mean)
            name = short_name(first.leader.setting, labels)
            table.add_row(measure.label, value, f"{len(first.level)}", name)
    table.caption = f"of {len(contest.schemes)} schemes"
    table.caption_justify = "left"
    return table


def _table(contest: Contest) -> RenderableType:
    table = _empty_table(contest)
    table.add_column("Scheme", style="bold", overflow="fold", min_width=16, max_width=40)
    shown = [measure for measure in contest.requests.measures if measure.label not in HIDDEN]
    for measure in shown:
        table.add_column(measure.label, justify="right", no_wrap=True)
    for scheme in contest.schemes:
        cells = [_cell(contest, scheme, measure) for measure in shown]
        table.add_row(_name(contest, scheme), *cells)
    return table


def _name(contest: Contest, scheme: Scheme) -> Text:
    from rich.text import Text

    name = Text(setting_text(scheme.setting))
    if scheme.is_baseline and len(contest.schemes) > 1:
        name.append("\nbaseline", style="dim not bold")
    for label in finding_labels(scheme):
        name.append(f"\n{label.lower()}", style="yellow not bold")
    return name


def _cell(contest: Contest, scheme: Scheme, measure: Measure) -> Text:
    from rich.text import Text

    value = scheme.values.get(measure.label)
    if value is None:
        return Text(units.MISSING)
    style = ""
    if scheme.setting in contest.best(measure):
        style = "green"
    elif scheme.setting in contest.worst(measure):
        style = "red"
    cell = Text(number(measure, value.mean), style=style)
    moved = scheme.changes.get(measure.label)
    if moved is not None:
        cell.append(f"\n{change_text(moved)}", style="" if moved.excludes_zero else "dim")
    return cell


def number(measure: Measure, value: float) -> str:
    """Return a value of a measure with its unit."""
    formats = {Format.TIME: units.time_us, Format.FACTOR: units.factor, Format.COUNT: units.count}
    return formats[measure.format](value)


def change_text(moved: Estimate) -> str:
    """Return a relative change and its uncertainty in per cent.

    >>> from copyback.sweep.intervals import Estimate
    >>> change_text(Estimate(-0.1234, 0.02)), change_text(Estimate(0.5, None))
    ('−12.3 ±2.0 %', '+50.0 %')
    """
    sign = "−" if moved.mean < 0 else "+"
    text = f"{sign}{_per_cent(abs(moved.mean))}"
    if moved.half_width is not None:
        text += f" ±{_per_cent(moved.half_width)}"
    return f"{text} %"


def _per_cent(share: float) -> str:
    per_cent = 100 * share
    return f"{per_cent:,.0f}" if per_cent >= 100 else f"{per_cent:.1f}"
