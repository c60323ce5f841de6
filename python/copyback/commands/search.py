"""``copyback search``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated

import typer

from copyback import completing
from copyback.commands.options import (
    ConfigFile,
    DaskAddress,
    Jobs,
    Memory,
    Preset,
    Quiet,
    Seeds,
    Setting,
    settings_in,
    typed,
)


def search(
    config: ConfigFile = None,
    preset: Preset = None,
    setting: Setting = None,
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
        float, typer.Option(metavar="SHARE", help="How near to look, as a share of the range.")
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
    from copyback.sweep.bisection import Base
    from copyback.sweep.memory import memory_of
    from copyback.sweep.search_app import Request, search_and_show
    from copyback.sweep.where import Where

    search_and_show(
        Request(
            base=Base(config, preset, tuple(settings_in(setting))),
            least=least,
            most=most,
            bound=where,
            within=within,
            seeds=seeds,
            where=Where(jobs, dask, memory_of(memory)),
            out=out,
            quiet=quiet,
            command=typed(),
        )
    )
