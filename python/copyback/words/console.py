"""Terminal output: progress on standard error, tables on standard output."""

from __future__ import annotations

import contextlib
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from copyback.summary import ResponseSummary
from copyback.words import (
    bound,
    classes,
    declared,
    describe,
    die_lines,
    endurance,
    failures,
    faults,
    power,
    steady,
    tail,
    units,
    verdict,
    waits,
)
from copyback.words.flows import Flow, flows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from rich.console import Console, RenderableType
    from rich.table import Table

    from copyback._core import Progress
    from copyback.result import Result
    from copyback.summary import Summary, ThroughputSummary

#: How far something has come.
DoneT = TypeVar("DoneT")

PHASES = {
    "precondition": "Preconditioning",
    "run": "Simulating",
    "read": "Reading",
    "write": "Converting",
}

#: Phases whose work is counted in requests, not in page operations.
BY_REQUEST = {"read", "write"}

#: Drives of an array that the terminal shows, classes of a placement, and flows.
MOST_DRIVES = 16
MOST_CLASSES = 16
MOST_FLOWS = 16

#: Columns of a progress bar that its facts leave: the phase, the share, and a bar of ten.
BESIDE_FACTS = 34

#: Seconds between lines of progress when standard error is not a terminal.
LINE_EVERY_S = 10.0


def work(progress: Progress) -> int:
    """Return what has been done: page operations, or requests where there are none."""
    return progress.requests if progress.phase in BY_REQUEST else progress.page_operations


class _Rate:
    """Work a second and time left, smoothed over the last few seconds."""

    def __init__(self) -> None:
        self._phase = ""
        self._seen: list[tuple[float, float, int]] = []

    def update(self, progress: Progress) -> tuple[float | None, float | None]:
        now = time.monotonic()
        if progress.phase != self._phase:
            self._phase = progress.phase
            self._seen = []
        done = work(progress)
        self._seen.append((now, progress.fraction, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > 5.0:
            self._seen.pop(0)
        then, fraction, operations = self._seen[0]
        elapsed = now - then
        if elapsed < 0.2:
            return None, None
        rate = (done - operations) / elapsed
        speed = (progress.fraction - fraction) / elapsed
        left = (1.0 - progress.fraction) / speed if speed > 0 else None
        return rate, left


def _left(seconds: float) -> str:
    """Return the time left in whole seconds, and never none at all."""
    return units.time_s(seconds) if seconds >= 100 else f"{max(round(seconds), 1)} s"


def progress_display(*, quiet: bool) -> AbstractContextManager[Callable[[Progress], None]]:
    """Yield a function that shows progress: a bar, or a line now and then, or nothing.

    Parameters
    ----------
    quiet
        Show nothing.
    """
    return _display(_bar, _lines, quiet=quiet)


@contextlib.contextmanager
def _display(
    bar: Callable[[], AbstractContextManager[Callable[[DoneT], None]]],
    lines: Callable[[], Callable[[DoneT], None]],
    *,
    quiet: bool,
) -> Iterator[Callable[[DoneT], None]]:
    """Yield what shows progress: a bar in a terminal, lines in a file."""
    if quiet:
        yield lambda _: None
    elif sys.stderr is not None and sys.stderr.isatty():
        with bar() as show:
            yield show
    else:
        yield lines()


def _lines() -> Callable[[Progress], None]:
    rate = _Rate()
    last = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal last
        speed, left = rate.update(progress)
        if time.monotonic() - last < LINE_EVERY_S:
            return
        last = time.monotonic()
        facts = [f"{100 * progress.fraction:.0f} %"]
        if progress.phase == "run":
            facts.append(f"{units.time_s(progress.simulated_ns / 1e9)} simulated")
        if speed is not None:
            what = "requests" if progress.phase in BY_REQUEST else "page operations"
            facts.append(f"{units.rate(speed)} {what}/s")
        if left is not None:
            facts.append(f"{_left(left)} left")
        print(
            f"copyback: {PHASES.get(progress.phase, progress.phase).lower()}: {', '.join(facts)}",
            file=sys.stderr,
            flush=True,
        )

    return show


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress

    rate = _Rate()
    console = Console(stderr=True)
    with RichProgress(
        TextColumn("{task.description:<15}"),
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("[dim]{task.fields[facts]}"),
        console=console,
        transient=True,
        expand=True,
        refresh_per_second=10,
    ) as bars:
        task = bars.add_task("Starting", total=1.0, facts="")

        def show(progress: Progress) -> None:
            speed, left = rate.update(progress)
            # The estimate first: what a narrow terminal has no room for is left out at the end.
            facts = []
            if left is not None:
                facts.append(f"{_left(left):>4} left")
            if speed is not None:
                what = "requests" if progress.phase in BY_REQUEST else "page ops"
                facts.append(f"{units.rate(speed):>6} {what}/s")
            if progress.phase == "run":
                facts.append(f"{units.time_s(progress.simulated_ns / 1e9):>8} simulated")
            bars.update(
                task,
                completed=progress.fraction,
                description=PHASES.get(progress.phase, progress.phase),
                facts=fitting(facts, console.width - BESIDE_FACTS),
            )

        yield show


def fitting(facts: Sequence[str], width: int) -> str:
    """Return the first of some facts, as many as have room, and none in part.

    >>> fitting(["12 s left", "4.1 M page ops/s", "1.2 s simulated"], 30)
    '12 s left · 4.1 M page ops/s'
    """
    text = ""
    for fact in facts:
        longer = f"{text} · {fact}" if text else fact
        if len(longer) > width:
            break
        text = longer
    return text


def counting_display(
    name: str, total: int, *, quiet: bool
) -> AbstractContextManager[Callable[[float], None]]:
    """Yield a function that is told how many simulations of `total` are done.

    Those under way count in part.

    Parameters
    ----------
    quiet
        Show nothing.
    """
    bar, lines = partial(_counting_bar, name, total), partial(_counting_lines, name, total)
    return _display(bar, lines, quiet=quiet)


def _counting_lines(name: str, total: int) -> Callable[[float], None]:
    begun = last = time.monotonic()
    first: float | None = None

    def tell(done: float) -> None:
        nonlocal last, first
        if first is None:
            first = done
        now = time.monotonic()
        if now - last < LINE_EVERY_S:
            return
        last = now
        text = f"copyback: {name}: {int(done)} of {total} simulations"
        if done > first:
            text += f", {_left((now - begun) / (done - first) * (total - done))} left"
        print(text, file=sys.stderr, flush=True)

    return tell


@contextlib.contextmanager
def _counting_bar(name: str, total: int) -> Iterator[Callable[[float], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=Console(stderr=True), transient=True, expand=True) as bars:
        task = bars.add_task(name, total=total)
        yield lambda done: bars.update(task, completed=done)


def show(*renderables: RenderableType, width_in_files: int | None = None) -> None:
    """Print to standard output.

    Rich would end the process on a closed pipe and pads lines with spaces; this does neither.

    Parameters
    ----------
    *renderables
        What to print.
    width_in_files
        Columns where standard output is no terminal, in place of Rich's 80.
    """
    from rich.console import Console

    width = None if sys.stdout.isatty() else width_in_files
    console = Console(highlight=False, width=width)
    # Rather a line that is too long than a number without its last digits.
    anywhere = console.options.update(max_width=_ANY_WIDTH)
    for table in _tables(renderables):
        _keep_whole(table, console)
        console.width = max(console.width, console.measure(table, options=anywhere).minimum)
    with console.capture() as capture:
        console.print(*renderables, sep="\n")
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


#: Columns that are more than any table needs.
_ANY_WIDTH = 10_000


def _tables(renderables: Iterable[RenderableType]) -> Iterator[Table]:
    """Yield the tables among what is printed that have heads: others are labels and text."""
    from rich.console import Group
    from rich.table import Table

    for one in renderables:
        if isinstance(one, Table) and one.show_header:
            yield one
        elif isinstance(one, Group):
            yield from _tables(one.renderables)


def _keep_whole(table: Table, console: Console) -> None:
    """Make the columns that must not wrap as wide as their widest cell."""
    for column in table.columns:
        if column.no_wrap:
            cells = [column.header, *column.cells]
            widest = max(console.measure(cell).maximum for cell in cells)
            column.min_width = max(column.min_width or 0, widest)


#: Least number of steps a page that is printed to the digit; of fewer, most were in idle time.
LEAST_PACE = 0.001


def _pace(summary: Summary) -> list[tuple[str, str]]:
    pacing = summary.gc.pacing
    if pacing is None or pacing.steps_per_page is None:
        return []
    steps = pacing.steps_per_page
    told = f"under {LEAST_PACE}" if 0 < steps < LEAST_PACE else units.decimal(steps)
    rate = f"{told} steps of collections for each page of the host"
    return [("Pace", f"{rate} · {units.count(pacing.throttled)} writes waited for them")]


def _time_of(throughput: ThroughputSummary) -> str:
    """Return the time in which the requests came that were measured."""
    whole, measured = throughput.simulated_s, throughput.measured_s
    if measured is None or measured == whole:
        return units.time_s(whole)
    return f"{units.time_s(measured)} of {units.time_s(whole)}"


def overview(result: Result, *, told: Collection[str] = ()) -> RenderableType:
    """Return the short table that ``copyback run`` prints.

    Parameters
    ----------
    result
        The result.
    told
        Notes that the user has read before the run.
    """
    from rich.console import Group
    from rich.text import Text

    summary = result.summary
    config = result.config
    requests = summary.requests
    throughput = summary.throughput
    simulator = summary.simulator
    facts: list[tuple[str, str]] = [
        *([("Array", array)] if (array := describe.array(config)) is not None else []),
        ("Device", describe.device(config)),
        *([("Placement", placement)] if (placement := describe.placement(config)) else []),
        ("Collector", describe.collector(config)),
        (
            "Workload",
            f"{describe.workload(config)} · {units.count(requests['count'])} requests over "
            f"{_time_of(throughput)}",
        ),
    ]
    after: list[tuple[str, str]] = [
        *declared.line(summary.throughput),
        *declared.line(summary, "Writes"),
        *bound.facts(summary),
        *declared.line(summary.gc),
        *_pace(summary),
        *declared.line(summary.slc_cache),
        *die_lines.facts(summary),
        *declared.line(summary.placement),
        *waits.facts(summary),
        *endurance.facts(summary),
        *power.facts(summary),
        *faults.facts(summary),
        *failures.facts(summary),
        *steady.facts(summary, config),
        *declared.line(summary.mapping),
    ]
    if array is not None:
        after += [
            ("Bandwidth", describe.steadiness(summary)),
            ("Together", _together(result)),
        ]
    operations = simulator.page_operations_per_cpu_s
    speed: list[tuple[str, str]] = [
        (
            "Speed",
            f"{units.rate(operations)} page operations per CPU second · "
            f"{units.time_s(simulator.cpu_s)} CPU · "
            f"{units.decimal(simulator.peak_rss_mib)} MiB",
        )
    ]
    said = tail.sentence(summary)
    first = [("Tail", said)] if said else []
    first += [(found.label, found.text) for found in verdict.findings(summary)]
    pieces: list[RenderableType] = [
        *([facts_grid(first), Text("")] if first else []),
        facts_grid(facts),
        Text(""),
        _response_table(result),
        Text(""),
        facts_grid(after),
        Text(""),
    ]
    if placement is not None and (sorted_into := classes.rows(result)):
        pieces += [_classes_table(sorted_into), Text("")]
    if several := flows(result):
        pieces += [_flows_table(several), Text("")]
    if array is not None:
        pieces += [_drives_table(result), Text("")]
    means = describe.breakdowns(summary)
    if means:
        pieces += [_breakdown_table(means), Text("")]
    notes = [("Note", note) for note in summary.notes if note not in told]
    pieces.append(facts_grid(notes + speed))
    return Group(*pieces)


def facts_grid(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """Return labels and what they stand for, one row each."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", min_width=11, no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in rows:
        grid.add_row(label, value)
    return grid


def numbers_table(first: str, columns: Sequence[str]) -> Table:
    """Return an empty table of numbers; `first` heads the names of its rows."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column(first, style="bold", min_width=11, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _response_table(result: Result) -> RenderableType:
    heads = [head for head, _ in declared.columns(ResponseSummary)]
    table = numbers_table("Response", ["requests", *heads])
    for response in describe.responses(result.summary):
        times = response.times
        table.add_row(response.label, units.count(times["count"]), *declared.cells(times))
    return table


def _classes_table(rows: Sequence[classes.Row]) -> RenderableType:
    table = numbers_table("Class", ["takes", *(name for name, _ in classes.COLUMNS)])
    table.columns[0].min_width = 5
    for row in rows[:MOST_CLASSES]:
        table.add_row(row.label, row.takes, *row.cells)
    if len(rows) > MOST_CLASSES:
        table.caption = f"and {len(rows) - MOST_CLASSES} more, in summary.json and the report"
        table.caption_justify = "left"
    return table


def _flows_table(several: Sequence[Flow]) -> RenderableType:
    columns = ["requests", "mean", "p99", "max", "IOPS", "MiB/s", "WA", "GC"]
    table = numbers_table("Flow", columns)
    table.columns[0].min_width = 5
    table.columns[0].max_width = 20
    table.columns[0].no_wrap = False
    for flow in several[:MOST_FLOWS]:
        times, throughput = flow.summary.response_us.all, flow.summary.throughput
        # What should be known of it stands below its name, where no column has to give way.
        table.add_row(
            "\n".join([flow.name, *(found.label.lower() for found in flow.findings)]),
            units.count(times["count"]),
            *(units.time_us(times[key]) for key in ("mean", "p99", "max")),
            units.rate(throughput["iops"]),
            units.decimal(throughput["mib_per_s"]),
            flow.write_amplification,
            units.share(flow.gc_share),
        )
    if len(several) > MOST_FLOWS:
        table.caption = f"and {len(several) - MOST_FLOWS} more, in summary.json and the report"
        table.caption_justify = "left"
    return table


def _together(result: Result) -> str:
    """Return how many drives collected at the same time, and for what share of the time."""
    shown = [
        f"{label} {units.share(share)}"
        for label, share in describe.together(result.summary)
        if share >= 0.0005
    ]
    return f"drives collecting, share of time: {' · '.join(shown)}"


def _drives_table(result: Result) -> RenderableType:
    drives = describe.drives(result)
    is_rated = any(drive.years is not None for drive in drives)
    columns = ["commands", "mean", "p99", "max", "WA", "erases", "in GC", "last"]
    table = numbers_table("Drive", columns + (["years"] if is_rated else []))
    table.columns[0].min_width = 5
    for drive in drives[:MOST_DRIVES]:
        table.add_row(
            drive.label,
            units.count(drive.commands),
            *(units.time_us(drive.service[key]) for key in ("mean", "p99", "max")),
            units.factor(drive.write_amplification),
            units.count(drive.erases),
            units.share(drive.collecting),
            units.share(drive.ended_last),
            *([units.decimal(drive.years)] if is_rated else []),
        )
    if len(drives) > MOST_DRIVES:
        table.caption = f"and {len(drives) - MOST_DRIVES} more, in summary.json and the report"
        table.caption_justify = "left"
    return table


def _breakdown_table(means: dict[str, list[describe.Part]]) -> RenderableType:
    columns = []
    for operation in means:
        columns += [f"{operation} mean", "share"]
    table = numbers_table("Of which", columns)
    table.columns[0].min_width = 15
    by_key = {operation: {part.key: part for part in found} for operation, found in means.items()}
    labels = {part.key: part.label for found in means.values() for part in found}
    for key, label in labels.items():
        cells = []
        for found in by_key.values():
            part = found.get(key)
            if part is None or part.mean_us == 0:
                cells += [units.MISSING, ""]
            else:
                cells += [units.time_us(part.mean_us), units.share(part.share)]
        if any(cell not in {units.MISSING, ""} for cell in cells):
            table.add_row(label, *cells)
    return table
