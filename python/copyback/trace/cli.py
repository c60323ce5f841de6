"""``copyback trace``: what is in a trace, and one written in another format."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated

import typer

from copyback._core import InputError
from copyback.commands import completing
from copyback.commands.options import (  # noqa: TC001 - Typer reads them
    Lenient,
    Quiet,
    TraceFormat,
)

app = typer.Typer(help="Look into traces, and convert them.")

#: Columns of the table of several workloads, where the output is no terminal.
TABLE_WIDTH = 120

Source = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE]...",
        help="Traces, - for standard input, or configurations (.toml) with a workload.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The workload of a preset in place of a file.",
        autocompletion=completing.all_presets,
    ),
]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        autocompletion=completing.settings,
        metavar="KEY=VALUE",
        help="Set a key, such as workload.limit=1000; may be repeated.",
    ),
]


@app.command()
def info(
    source: Source = None,
    preset: Preset = None,
    format_: TraceFormat = None,
    lenient: Lenient = False,
    setting: Setting = None,
    json_: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write a page of plots.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Say what is in a trace or workload; of several, a table with a row each.

    Counts, sizes, arrivals, bursts and idle times, sequentiality, footprint and overwrites.
    """
    from copyback.data.destination import check_file
    from copyback.inputs.configuration import parse_setting
    from copyback.trace import Workload, survey
    from copyback.trace.console import comparison, overview
    from copyback.words.console import progress_display, show

    sources: list[str | None] = [*(source or [])] or [None]
    if sources == [None] and preset is None:
        raise InputError("no trace: name a file, - for standard input, or --preset")
    if report is not None:
        if len(sources) > 1:
            raise InputError(f"--report shows one trace; found {len(sources)}")
        check_file(report)
    settings = [parse_setting(text) for text in setting or []]
    workloads = [
        Workload.of(name, preset=preset, format_=format_, lenient=lenient, settings=settings)
        for name in sources
    ]
    with progress_display(quiet=quiet or json_) as tell:
        infos = [survey(workload, on_progress=tell) for workload in workloads]
    if report is not None:
        infos[0].report(report)
    if json_:
        told = [one.to_dict() for one in infos]
        print(json.dumps(told[0] if len(told) == 1 else told, indent=2, ensure_ascii=False))
        return
    if len(infos) == 1:
        show(overview(infos[0]))
    else:
        show(comparison(infos), width_in_files=TABLE_WIDTH)
    if report is not None:
        print(f"\nReport        {report}")


@app.command()
def convert(
    source: Annotated[
        str,
        typer.Argument(metavar="IN", help="A trace, - for standard input, or a configuration."),
    ],
    output: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write, such as x.msr.gz or x.parquet")
    ],
    format_: TraceFormat = None,
    lenient: Lenient = False,
    to: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="Format to write; else the extension of OUT."),
    ] = None,
    setting: Setting = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Leave out trim or flush where OUT cannot hold it."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write a trace in another format, or a generated workload as a trace.

    What the format cannot hold is refused or told. OUT appears whole or not at all.
    """
    from copyback.data.destination import written
    from copyback.inputs.configuration import parse_setting
    from copyback.trace import Workload
    from copyback.trace import convert as run
    from copyback.words.console import progress_display

    settings = [parse_setting(text) for text in setting or []]
    workload = Workload.of(source, format_=format_, lenient=lenient, settings=settings)
    with progress_display(quiet=quiet) as tell:
        notes = run(workload, output, to=to, drop=tuple(drop or ()), on_progress=tell)
    for note in notes:
        print(f"copyback: note: {note}", file=sys.stderr)
    if not quiet:
        print(f"Wrote {written(output)}")


@app.command()
def floor(
    source: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Traces of one device, with measured times."),
    ],
    format_: TraceFormat = None,
    lenient: Lenient = False,
    times: Annotated[
        str,
        typer.Option(
            metavar="response|service",
            help="Times from arrival to completion, or from the issue to the device, which only "
            "traces of the format nexus5 tell.",
        ),
    ] = "response",
    halves: Annotated[
        bool, typer.Option("--halves", help="Predict the halves of each trace by one another, too.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say how well the measured times of each trace predict those of each other.

    That is the floor of a calibration: no model of the device is needed for it.
    """
    from copyback.process.extras import need

    need("calibrate", "copyback trace floor")
    from copyback.calibration.floor import floor as run
    from copyback.calibration.show_pairs import overview
    from copyback.words.console import show

    found = run(source, times=times, format=format_, lenient=lenient, halves=halves)
    if json_:
        sys.stdout.write(found.to_json())
        return
    show(overview(found.rows), width_in_files=TABLE_WIDTH)
