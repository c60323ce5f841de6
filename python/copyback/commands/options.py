"""Options that several commands have, and what is made of them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from copyback.commands import completing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback._core import Config

ConfigFile = Annotated[
    Path | None, typer.Argument(metavar="[CONFIG.toml]", help="The configuration.")
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Use a preset in place of a file.",
        autocompletion=completing.presets,
    ),
]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key; may be repeated.",
        autocompletion=completing.settings,
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of every random stream.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Simulations at once; else one a core.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, help="Drives of an array worked on at the same time; else one a core. Same result."
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Run no more at once than fit into this, such as 4GiB."),
]
DaskAddress = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Run on the workers of this Dask scheduler."),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Run each of them with so many seeds, from 1 on, or with a list of seeds such as 1,2.",
    ),
]
Workload = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Generate this preset's workload.",
        autocompletion=completing.workloads,
    ),
]
Trace = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Replay this trace as the workload.")
]
TraceFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format of the trace; else detected.",
        autocompletion=completing.formats,
    ),
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Skip damaged rows of the trace, and say how many.")
]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def settings_in(texts: list[str] | None) -> list[tuple[str, str]]:
    """Return the settings that ``--set`` gives, keys and values."""
    from copyback.inputs.configuration import parse_setting

    return [parse_setting(text) for text in texts or []]


def share(given: str | float) -> float:
    """Return a share, which is written ``25%`` or ``0.25``; a default is one already.

    >>> share("25%"), share("0.25")
    (0.25, 0.25)
    """
    text = str(given).strip()
    number = text.removesuffix("%")
    try:
        return float(number) / 100 if text.endswith("%") else float(number)
    except ValueError:
        raise typer.BadParameter(f"found {text}; allowed: a share such as 25% or 0.25") from None


def load(config: Path | None, preset_name: str | None, settings: list[tuple[str, str]]) -> Config:
    """Return the configuration of a file or preset, with settings laid over it."""
    from copyback.inputs import configuration

    return configuration.load(config, preset=preset_name, settings=settings)


def typed() -> str:
    """Return this command as one can type it again."""
    from copyback.process.streams import shown

    return shown(shlex.join(["copyback", *sys.argv[1:]]))


def status_of(faults: Sequence[Exception]) -> int:
    """Return the exit status of a command that could not do some of its work: 2 for bad input."""
    from copyback._core import InputError

    return 2 if all(isinstance(fault, InputError) for fault in faults) else 1
