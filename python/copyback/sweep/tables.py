"""What ``copyback compare`` prints: a table for each load, a row for each scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback import units
from copyback.describe import value_text
from copyback.sweep.axes import LOAD, SCHEME
from copyback.sweep.schemes import MEASURES, Format

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from copyback.sweep.comparison import Comparison
    from copyback.sweep.intervals import Estimate
    from copyback.sweep.schemes import Contest, Measure, Scheme, Setting

#: What fits into the terminal.
SHOWN = tuple(measure for measure in MEASURES if measure.label != "p99.99")


def tables(found: Comparison) -> list[RenderableType]:
    """Return a table for each load."""
    return [_table(contest) for contest in found.contests]


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


def _table(contest: Contest) -> RenderableType:
    from rich import box
    from rich.table import Table

    title = setting_text(contest.load) if contest.load else None
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_edge=False,
        title=title,
        title_justify="left",
        title_style="bold",
    )
    table.add_column("Scheme", style="bold", overflow="fold", min_width=16, max_width=40)
    for measure in SHOWN:
        table.add_column(measure.label, justify="right", no_wrap=True)
    for scheme in contest.schemes:
        cells = [_cell(contest, scheme, measure) for measure in SHOWN]
        table.add_row(_name(contest, scheme), *cells)
    return table


def _name(contest: Contest, scheme: Scheme) -> Text:
    from rich.text import Text

    name = Text(setting_text(scheme.setting))
    if scheme.is_baseline and len(contest.schemes) > 1:
        name.append("\nbaseline", style="dim not bold")
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
