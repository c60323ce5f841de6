"""The command ``copyback compare``."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.process.streams import complain
from copyback.simulation.beforehand import announce
from copyback.sweep.axes import parse_axis
from copyback.sweep.comparison import run_plan
from copyback.sweep.design import Design
from copyback.sweep.plan import make_plan
from copyback.sweep.store import REPORT, RESULTS, WINNERS
from copyback.sweep.sweep_file import SweepFile, read_sweep
from copyback.sweep.tables import legend, tables
from copyback.words.console import counting_display, show

if TYPE_CHECKING:
    from copyback.sweep.comparison import Comparison
    from copyback.sweep.plan import Plan
    from copyback.sweep.where import Where

#: Columns of the tables where the output is no terminal.
WIDTH = 150


@dataclass(frozen=True)
class Request:
    """Request from the command line."""

    config: Path | None
    preset: str | None
    settings: list[tuple[str, str]]
    over: tuple[str, ...]
    sweep: Path | None
    quick: bool
    traces: Path | None
    seeds: tuple[int, ...]
    baseline: list[tuple[str, str]]
    skip_refused: bool
    where: Where
    out: Path | None
    quiet: bool
    command: str


def compare_and_show(request: Request) -> list[Exception]:
    """Run a sweep and print what it found; return the faults of runs that could not be done."""
    design, plan = _plan(request)
    announce(*(run.config for run in plan.runs))
    faults: list[Exception] = []

    def tell_failed(text: str, fault: Exception) -> None:
        faults.append(fault)
        complain(text)

    with ExitStack() as stack:
        home = request.out
        if home is None:
            temporary = TemporaryDirectory(prefix="copyback-sweep-")
            home = Path(stack.enter_context(temporary))
        with counting_display("Sweep", len(plan.runs), quiet=request.quiet) as tell:
            found = run_plan(
                plan,
                home,
                request.where,
                baseline=design.baseline,
                command=request.command,
                on_progress=tell,
                on_failed=tell_failed,
                kept=request.out is not None,
            )
    show(*tables(found), width_in_files=WIDTH)
    _conclude(found, request)
    return faults


def _plan(request: Request) -> tuple[Design, Plan]:
    file = _file(request)
    design = replace(
        file.design,
        grid=(*file.design.grid, *map(parse_axis, request.over)),
        seeds=request.seeds or file.design.seeds,
        baseline=(*file.design.baseline, *request.baseline),
    )
    points = design.points()
    if points == [()]:
        raise InputError(
            "nothing to compare: give --over KEY=A,B,C, --seeds N or a --sweep FILE with either"
        )
    # What the command line names takes the place of what the file does.
    names_base = request.config is not None or request.preset is not None
    plan = make_plan(
        request.config if names_base else file.config,
        points,
        preset=request.preset if names_base else file.preset,
        named=design.named,
        settings=[*file.settings, *request.settings],
        skip_refused=request.skip_refused or file.skip_refused,
    )
    return design, plan


def _file(request: Request) -> SweepFile:
    if request.sweep is not None:
        return read_sweep(request.sweep, quick=request.quick, traces=request.traces)
    if request.quick:
        raise InputError("--quick: is for a sweep file (--sweep) that says what it means")
    return SweepFile(Design())


def _conclude(found: Comparison, request: Request) -> None:
    below = legend((*found.contests, *found.flows))
    if below:
        print(f"\n{below}")
    for text in found.refused:
        print(f"Left out     {text}")
    for text in found.failed:
        print(f"Failed       {text}")
    if request.out is not None:
        again = f", {found.reused} of them from before" if found.reused else ""
        print(f"\nResults      {request.out / RESULTS} ({len(found.frame)} runs{again})")
        print(f"Winners      {request.out / WINNERS}")
        print(f"Report       {request.out / REPORT}")
