"""The command ``copyback search``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.text import Text

from copyback.process.streams import complain
from copyback.sweep.answer import number
from copyback.sweep.bisection import chosen_range, run_search
from copyback.sweep.bounds import parse_bound
from copyback.sweep.store import REPORT, RESULTS
from copyback.words import units
from copyback.words.console import facts_grid, numbers_table, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from copyback.sweep.bisection import Base, SearchResult
    from copyback.sweep.where import Where

#: Values on either side of the one that was found that the terminal shows.
AROUND = 3


@dataclass(frozen=True)
class Request:
    """Request from the command line."""

    base: Base
    least: str | None
    most: str | None
    bound: str
    within: float
    seeds: tuple[int, ...]
    where: Where
    out: Path | None
    quiet: bool
    command: str


def search_and_show(request: Request) -> None:
    """Search, and print what was found and the runs around it."""
    wanted, bound = chosen_range(request.least, request.most), parse_bound(request.bound)

    def tell(values: Sequence[float]) -> None:
        if not request.quiet:
            print(
                f"copyback: search: {len(values)} values, the last {wanted.shown(values[-1])}",
                file=sys.stderr,
                flush=True,
            )

    with ExitStack() as stack:
        home = request.out
        if home is None:
            home = Path(stack.enter_context(TemporaryDirectory(prefix="copyback-search-")))
        found = run_search(
            request.base,
            wanted,
            bound,
            home,
            request.where,
            seeds=request.seeds,
            within=request.within,
            command=request.command,
            on_failed=lambda text, _: complain(text),
            on_round=tell,
            kept=request.out is not None,
        )
    show(facts_grid([("Answer", found.sentence())]), Text(""), _around(found), width_in_files=120)
    print(f"\n{units.count(len(found.probes))} values were run.")
    if request.out is not None:
        print(f"Results      {request.out / RESULTS}")
        print(f"Report       {request.out / REPORT}")


def _around(found: SearchResult) -> RenderableType:
    """Return the values next to the one that was found."""
    bound = found.bound
    table = numbers_table(found.range.key, [bound.measure.label, "95% interval", str(bound)])
    place = next((i for i, p in enumerate(found.probes) if p.value == found.value), 0)
    for probe in found.probes[max(place - AROUND, 0) : place + AROUND + 1]:
        own = probe.measured
        half = own.half_width
        table.add_row(
            found.range.shown(probe.value),
            number(bound.measure, own.mean),
            units.MISSING if half is None else f"± {number(bound.measure, half)}",
            "holds" if bound.holds(own.mean) else "no",
            style="bold" if probe.value == found.value else None,
        )
    return table
