"""``copyback compare``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from copyback._core import InputError
from copyback.commands import completing
from copyback.commands.options import (
    DaskAddress,
    Jobs,
    Lenient,
    Memory,
    Preset,
    Quiet,
    Seeds,
    Setting,
    Trace,
    TraceFormat,
    Workload,
    settings_in,
    status_of,
    typed,
)


def compare(
    context: typer.Context,
    config: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[CONFIG.toml | RUN RUN...]",
            help="The configuration; or directories of finished runs, which are compared as they "
            "are.",
        ),
    ] = None,
    preset: Preset = None,
    setting: Setting = None,
    workload: Workload = None,
    trace: Trace = None,
    format_: TraceFormat = None,
    lenient: Lenient = False,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=A,B,C",
            help="Run with each of these values; may be repeated for every combination. "
            "trace=FILE,FILE and workload=NAME,NAME replace the workload.",
            autocompletion=completing.axes,
        ),
    ] = None,
    sweep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What varies: a grid, a list, random draws, named schemes, seeds."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="The quick version that the sweep file describes.")
    ] = False,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the sweep file's traces are; else they are relative to it."
        ),
    ] = None,
    seeds: Seeds = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="What the others are compared with; else the first scheme."
        ),
    ] = None,
    skip_refused: Annotated[
        bool,
        typer.Option("--skip-refused", help="Leave out combinations that make no sense."),
    ] = False,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: DaskAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep runs and results here; a sweep that was stopped goes on from here.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run every combination of some settings, and compare the schemes among them.

    Two or more directories of finished runs are compared without running anything.
    """
    from copyback.simulation.simulate import settings_of
    from copyback.sweep.app import WIDTH, Request, compare_and_show
    from copyback.sweep.design import parse_seeds
    from copyback.sweep.finished import compare_and_show as compare_finished
    from copyback.sweep.memory import memory_of
    from copyback.sweep.where import Where

    finished = _finished(config or [])
    if finished:
        _check_alone(context)
        compare_finished(finished, WIDTH)
        return
    _caution(over or [])
    faults = compare_and_show(
        Request(
            config=config[0] if config else None,
            preset=preset,
            settings=settings_of(
                workload=workload,
                trace=trace,
                format_=format_,
                lenient=lenient,
                overrides=settings_in(setting),
            ),
            over=tuple(over or ()),
            sweep=sweep,
            quick=quick,
            traces=traces,
            seeds=parse_seeds(seeds) if seeds is not None else (),
            baseline=settings_in(baseline),
            skip_refused=skip_refused,
            where=Where(jobs, dask, memory_of(memory)),
            out=out,
            quiet=quiet,
            command=typed(),
        )
    )
    if faults:
        raise typer.Exit(status_of(faults))


def _finished(paths: list[Path]) -> list[Path]:
    """Return the finished runs that are named; none if it is a configuration."""
    runs = [path for path in paths if path.is_dir()]
    if len(paths) < 2 and not runs:
        return []
    if len(paths) < 2:
        raise InputError(
            f"{paths[0]}: found one directory; allowed: two or more finished runs, or a "
            "configuration file"
        )
    return paths


def _check_alone(context: typer.Context) -> None:
    """Refuse options beside finished runs, which are not run again."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        is_given = source is not None and source.name == "COMMANDLINE"
        if name not in ("config", "quiet") and is_given:
            raise InputError(
                f"{parameter.opts[0]}: found beside finished runs, which are compared as they are; "
                "allowed: no option but --quiet"
            )


def _caution(over: list[str]) -> None:
    """Say what is to be kept in mind of traces that are logs of served drives."""
    from copyback.serve.facts import caveat

    for key, _, values in (axis.partition("=") for axis in over):
        for path in values.split(",") if key.strip() == "trace" else ():
            if said := caveat(Path(path.strip().strip("\"'"))):
                print(f"copyback: {said}", file=sys.stderr)
