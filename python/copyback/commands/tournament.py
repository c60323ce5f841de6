"""``copyback tournament``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from copyback.commands.options import DaskAddress, Jobs, Memory, Quiet, typed


def tournament(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="TOURNAMENT.toml",
            help="A study as of copyback design, with the schemes that are compared ([schemes]) "
            "and what nobody can build ([bounds]).",
        ),
    ],
    jobs: Jobs = None,
    memory: Memory = None,
    dask: DaskAddress = None,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Keep runs and results here; a tournament that was stopped goes on from here.",
        ),
    ] = Path("out/tournament"),
    quiet: Quiet = False,
) -> None:
    """For each workload the best design of a space, and schemes: as published, and tuned."""
    from copyback.process.extras import need

    need("design", "copyback tournament")
    from copyback.designer.tournament.app import Request, hold_and_show
    from copyback.sweep.memory import memory_of
    from copyback.sweep.where import Where

    where = Where(jobs, dask, memory_of(memory))
    hold_and_show(Request(file, where, out, quiet, typed()))
