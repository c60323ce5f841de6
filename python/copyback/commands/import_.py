"""``copyback import``."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import Annotated

import typer

from copyback.importers import Simulator, import_configuration


def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="MQSim's ssdconfig.xml, or SSDsim's page.parameters."),
    ],
    workload: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Take over the load of MQSim's workload.xml, too."),
    ] = None,
    scenario: Annotated[
        int, typer.Option(metavar="N", min=1, help="Which scenario of that file, counted from 1.")
    ] = 1,
    simulator: Annotated[
        Simulator | None, typer.Option("--from", help="Whose file it is; else detected.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(metavar="CONFIG.toml", help="Write this file; else standard output."),
    ] = None,
) -> None:
    """Make a configuration of what another simulator is configured with.

    What is approximated and what could not be carried over is told on standard error, and stands
    at the top of the configuration.
    """
    from copyback.data.destination import check_file, staged_file, written
    from copyback.process.streams import shown

    if to is not None:
        check_file(to)
    draft = import_configuration(
        file,
        simulator=simulator,
        workload=workload,
        scenario=scenario,
        directory=None if to is None else to.parent,
    )
    text = draft.to_toml()
    if to is None:
        sys.stdout.write(text)
    else:
        with staged_file(to) as staged:
            staged.write_text(text, encoding="utf-8")
    sys.stdout.flush()
    carried = len(draft.sources)
    lines = [f"{carried} keys carried over from {draft.origin}", *draft.report()]
    if to is not None:
        lines.append(f"saved {written(to)}")
    print("\n".join(f"copyback: {shown(line)}" for line in lines), file=sys.stderr)
