"""``copyback design``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated

import typer

from copyback.commands.options import DaskAddress, Jobs, Memory, Quiet, typed


def design(
    study: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY.toml",
            help="What is to be designed: workloads, space, objectives, constraints, budget.",
        ),
    ],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE|FILE.py:CLASS",
            help="Search without and with this setting or policy in Python, with equal budgets, "
            "and say what remains of its gain. May be repeated; several are one scheme.",
        ),
    ] = None,
    jobs: Jobs = None,
    memory: Memory = None,
    dask: DaskAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep runs, front and page here; a study that was stopped goes on from here.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Search all choices at once: the designs that none beats, and what each choice buys."""
    from copyback.process.extras import need

    need("design", "copyback design")
    from copyback.designer.app import Request, design_and_show
    from copyback.sweep.memory import memory_of
    from copyback.sweep.where import Where

    where = Where(jobs, dask, memory_of(memory))
    design_and_show(Request(study, tuple(against or ()), where, out, quiet, typed()))
