"""The table of one load in the terminal: at any width with every column and every digit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback.sweep.answer import number
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text

    from copyback.sweep.intervals import Estimate
    from copyback.sweep.labels import Names
    from copyback.sweep.schemes import Contest, Measure, Scheme

#: Columns of names beside numbers; where there are fewer, a name has a line of its own.
LEAST_BESIDE, MOST_BESIDE = 16, 32


def empty_table(title: str) -> Table:
    """Return a table without columns."""
    from rich import box
    from rich.table import Table

    return Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_edge=False,
        title=title or None,
        title_justify="left",
        title_style="bold",
    )


@dataclass(frozen=True)
class ContestTable:
    """Schemes under a load: names beside their numbers if there is room, else above them.

    Attributes
    ----------
    notes
        Returns what should be known of a scheme, in a word or two each.
    """

    contest: Contest
    title: str
    names: Names
    notes: Callable[[Scheme], list[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Show it in the width there is."""
        del console
        longest = max(len(self.names.of(scheme.setting)) for scheme in self.contest.schemes)
        named = max(min(longest, MOST_BESIDE), LEAST_BESIDE)
        rows = self._rows(together=True)
        if named + sum(width + 2 for width in self._widths(rows)) <= options.max_width:
            yield self._beside(named, rows)
        else:
            yield from self._stacked(options.max_width)

    @property
    def _measures(self) -> tuple[Measure, ...]:
        return self.contest.requests.shown

    def _rows(self, *, together: bool) -> list[list[list[Text]]]:
        """Return for each scheme and measure the lines of a cell."""
        return [
            [self._cell(scheme, measure, together=together) for measure in self._measures]
            for scheme in self.contest.schemes
        ]

    def _widths(self, rows: Sequence[Sequence[Sequence[Text]]]) -> list[int]:
        return [
            max(len(measure.label), *(len(line) for row in rows for line in row[place]))
            for place, measure in enumerate(self._measures)
        ]

    def _beside(self, named: int, rows: Sequence[Sequence[Sequence[Text]]]) -> Table:
        table = empty_table(self.title)
        table.add_column("Scheme", style="bold", overflow="fold", min_width=named, max_width=40)
        for measure in self._measures:
            table.add_column(measure.label, justify="right", no_wrap=True)
        for scheme, row in zip(self.contest.schemes, rows, strict=True):
            table.add_row(self._name(scheme, "\n"), *map(_joined, row))
        return table

    def _stacked(self, width: int) -> Iterator[Text]:
        """Yield lines of which none is wider than `width` but for names, which fold."""
        from rich.text import Text

        if self.title:
            yield Text(self.title, style="bold")
        rows = self._rows(together=False)
        widths = self._widths(rows)
        chunks = _chunks(widths, width)
        heads = [Text(measure.label) for measure in self._measures]
        if len(chunks) == 1:
            head = _line(heads, widths, chunks[0], width)
            yield head
            yield Text("─" * len(head))
        for scheme, row in zip(self.contest.schemes, rows, strict=True):
            yield self._name(scheme, " · ")
            for chunk in chunks:
                if len(chunks) > 1:
                    yield _line(heads, widths, chunk, width)
                for depth in range(max(len(row[place]) for place in chunk)):
                    line = [lines[depth] if depth < len(lines) else Text() for lines in row]
                    yield _line(line, widths, chunk, width)

    def _name(self, scheme: Scheme, separator: str) -> Text:
        from rich.text import Text

        name = Text(self.names.of(scheme.setting), style="bold")
        if scheme.is_baseline and len(self.contest.schemes) > 1:
            name.append(f"{separator}baseline", style="dim not bold")
        for label in self.notes(scheme):
            name.append(f"{separator}{label.lower()}", style="yellow not bold")
        return name

    def _cell(self, scheme: Scheme, measure: Measure, *, together: bool) -> list[Text]:
        """Return the lines of a cell: the value, and the change with its uncertainty."""
        from rich.text import Text

        value = scheme.values.get(measure.label)
        if value is None:
            return [Text(units.MISSING)]
        style = ""
        if scheme.setting in self.contest.best(measure):
            style = "green"
        elif scheme.setting in self.contest.worst(measure):
            style = "red"
        lines = [Text(number(measure, value.mean), style=style)]
        moved = scheme.changes.get(measure.label)
        if moved is not None:
            sure = "" if moved.excludes_zero else "dim"
            texts = [change_text(moved)] if together else change_lines(moved)
            lines += [Text(text, style=sure) for text in texts]
        return lines


def _joined(lines: Sequence[Text]) -> Text:
    from rich.text import Text

    return Text("\n").join(lines)


def _chunks(widths: Sequence[int], width: int) -> list[list[int]]:
    """Return the places of columns, as many together as fit side by side.

    >>> _chunks([7, 7, 7], 80), _chunks([7, 7, 7], 17)
    ([[0, 1, 2]], [[0, 1], [2]])
    """
    chunks: list[list[int]] = [[]]
    for place, own in enumerate(widths):
        if chunks[-1] and sum(widths[p] + 1 for p in chunks[-1]) + own + 1 > width:
            chunks.append([])
        chunks[-1].append(place)
    return chunks


def _line(cells: Sequence[Text], widths: Sequence[int], chunk: Sequence[int], width: int) -> Text:
    """Return some cells side by side, spread over the line."""
    from rich.text import Text

    gap = max((width - sum(widths[place] for place in chunk)) // len(chunk), 1)
    line = Text(no_wrap=True, overflow="ignore")
    for place in chunk:
        line.append(" " * (min(gap, 6) + widths[place] - len(cells[place])))
        line.append_text(cells[place])
    return line


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


def change_lines(moved: Estimate) -> list[str]:
    """Return the change, and below it its uncertainty.

    >>> from copyback.sweep.intervals import Estimate
    >>> change_lines(Estimate(-0.1234, 0.02))
    ['−12.3 %', '±2.0 %']
    """
    change, _, more = change_text(moved).partition(" ±")
    return [f"{change} %", f"±{more}"] if more else [change]


def _per_cent(share: float) -> str:
    per_cent = 100 * share
    return f"{per_cent:,.0f}" if per_cent >= 100 else f"{per_cent:.1f}"
