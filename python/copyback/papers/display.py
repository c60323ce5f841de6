"""Progress of an experiment on standard error: a bar, or a line now and then."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

from copyback.console import LINE_EVERY_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from copyback.papers.plan import Plan


@contextlib.contextmanager
def progress(plan: Plan, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that is told how many simulations have ended."""
    total = len(plan.runs)
    if quiet:
        yield lambda _: None
    elif sys.stderr is not None and sys.stderr.isatty():
        with _bar(plan.experiment.name, total) as tell:
            yield tell
    else:
        yield _lines(plan.experiment.name, total)


def _lines(name: str, total: int) -> Callable[[int], None]:
    last = time.monotonic()

    def tell(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY_S:
            last = time.monotonic()
            text = f"copyback: {name}: {done} of {total} simulations"
            print(text, file=sys.stderr, flush=True)

    return tell


@contextlib.contextmanager
def _bar(name: str, total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, expand=True) as bars:
        task = bars.add_task(name, total=total)
        yield lambda done: bars.update(task, completed=done)
