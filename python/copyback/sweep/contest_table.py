"""The table of one load in the terminal: at any width with every column and every digit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from copyback.sweep.answer import number
from copyback.sweep.ranking import rank
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text

    from copyback.sweep.labels import Names
    from copyback.sweep.ratios import NoRatio, Ratio
    from copyback.sweep.schemes import Contest, Measure, Scheme, Setting

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
        for together in (True, False):
            rows = self._rows(together=together)
            if named + sum(width + 2 for width in self._widths(rows)) <= options.max_width:
                yield self._beside(named, rows)
                return
        yield from self._stacked(options.max_width)

    @property
    def _measures(self) -> tuple[Measure, ...]:
        return self.contest.requests.shown

    @cached_property
    def _ends(self) -> dict[Measure, tuple[set[Setting], set[Setting]]]:
        """The best and the worst schemes of each measure."""
        return {measure: rank([self.contest], measure).ends() for measure in self._measures}

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
        """Return the lines of a cell: the value, and the ratio with its interval."""
        from rich.text import Text

        value = scheme.values.get(measure.label)
        if value is None:
            return [Text(units.MISSING)]
        best, worst = self._ends[measure]
        style = "green" if scheme.setting in best else "red" if scheme.setting in worst else ""
        lines = [Text(number(measure, value.mean), style=style)]
        ratio = scheme.ratios.get(measure.label)
        if ratio is not None:
            sure = "" if ratio.marked == ratio.text else "dim"
            lines += [Text(text, style=sure) for text in ratio_lines(ratio, together=together)]
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


def ratio_lines(found: Ratio | NoRatio, *, together: bool) -> list[str]:
    """Return a ratio, and below it its interval: in one line, or an end in each.

    >>> from copyback.sweep.ratios import Ratio
    >>> ratio_lines(Ratio(0.877, 0.85, 0.9), together=True)
    ['−12.3 %', '−15.0 to −10.0 %']
    >>> ratio_lines(Ratio(5.6, 0.9, 30.0), together=False)
    ['5.60×?', '−10.0 % to', '30.0×']
    """
    if found.ends is None:
        return [found.marked]
    low, high = found.ends
    return [found.marked, *([f"{low} to {high}"] if together else [f"{low} to", high])]
