"""``copyback search``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated

import typer

from copyback.commands import completing
from copyback.commands.options import (
    ConfigFile,
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
    share,
    typed,
)


def search(
    config: ConfigFile = None,
    preset: Preset = None,
    setting: Setting = None,
    workload: Workload = None,
    trace: Trace = None,
    format_: TraceFormat = None,
    lenient: Lenient = False,
    least: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=LOW..HIGH",
            help="Find the least value of this key.",
            autocompletion=completing.keys,
        ),
    ] = None,
    most: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=LOW..HIGH",
            help="Find the greatest value of this key.",
            autocompletion=completing.keys,
        ),
    ] = None,
    where: Annotated[
        str,
        typer.Option(
            metavar="NAME<NUMBER",
            help="What must hold, such as p99.9<5ms, WA<2.5 or throughput.iops>50000.",
        ),
    ] = "",
    within: Annotated[
        float,
        typer.Option(
            metavar="SHARE", parser=share, help="How near to look, as a share of the range: 1%."
        ),
    ] = 0.01,
    seeds: Seeds = None,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: DaskAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep runs, results and page here."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Find the least or greatest value of a key that keeps a number within a bound."""
    from copyback.simulation.simulate import settings_of
    from copyback.sweep.bisection import Base
    from copyback.sweep.design import parse_seeds
    from copyback.sweep.memory import memory_of
    from copyback.sweep.search_app import Request, search_and_show
    from copyback.sweep.where import Where

    settings = settings_of(
        workload=workload,
        trace=trace,
        format_=format_,
        lenient=lenient,
        overrides=settings_in(setting),
    )
    search_and_show(
        Request(
            base=Base(config, preset, tuple(settings)),
            least=least,
            most=most,
            bound=where,
            within=within,
            seeds=parse_seeds(seeds) if seeds is not None else (),
            where=Where(jobs, dask, memory_of(memory)),
            out=out,
            quiet=quiet,
            command=typed(),
        )
    )
