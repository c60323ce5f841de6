"""``copyback validate``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from copyback.commands.options import Quiet  # noqa: TC001 - Typer reads it

if TYPE_CHECKING:
    from collections.abc import Iterable

    from copyback_papers.validation.compare import Verdict
    from copyback_papers.validation.drives import DriveRow, DriveVerdict
    from copyback_papers.validation.stored import Row


def validate(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Only rows whose name, feature, geometry or peer holds this, such as MQSim or "
            "2x2x1x2; may be repeated.",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name the rows and run none.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print only the result, as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run what other simulators have run, and print theirs, ours, the difference and why.

    Theirs are stored numbers: of MQSim, and of a second model with time that was written from the
    documentation alone. Where MQSim differs, that model, run with its rules and with ours, predicts
    by how much. Others are of drives (--only "measured drives"). The exit status is 1 if a number
    is not within its row's bound of that, or, of a drive, if ours is not what is stored.
    """
    from copyback_papers.validation import drives
    from copyback_papers.validation.show import conclusion, progress
    from copyback_papers.validation.stored import chosen, rows

    wanted = chosen([*rows(), *drives.rows()], only or [])
    if list_:
        for row in wanted:
            print(f"{row.name} ({row.peer}, within {row.within:.3%})")
        return
    verdicts = []
    for done, row in enumerate(wanted, 1):
        if not quiet and not json_:
            progress(done, len(wanted), row.name)
        verdicts.append(judged(row))
        if not json_:
            print("\n".join(lines_of(verdicts[-1])))
    if json_:
        print(json.dumps([as_json(verdict) for verdict in verdicts], indent=1))
    else:
        print(conclusion(verdicts))
    if not all(verdict.agrees() for verdict in verdicts):
        raise typer.Exit(1)


def judged(row: Row | DriveRow) -> Verdict | DriveVerdict:
    """Run a row, and put theirs beside ours."""
    from copyback_papers.validation import compare, drives, ours

    if isinstance(row, drives.DriveRow):
        return drives.run(row)
    return compare.compare(row, ours.run(row))


def lines_of(verdict: Verdict | DriveVerdict) -> Iterable[str]:
    """Return the lines of a row."""
    from copyback_papers.validation import drives, show

    return verdict.lines() if isinstance(verdict, drives.DriveVerdict) else show.lines(verdict)


def as_json(verdict: Verdict | DriveVerdict) -> dict[str, object]:
    """Return a row's result for a program."""
    from copyback_papers.validation import drives

    if isinstance(verdict, drives.DriveVerdict):
        return verdict.to_dict()
    numbers = [
        {
            "what": number.what,
            "theirs": number.theirs,
            "ours": number.ours,
            "predicted": number.predicted(),
            "by_their_rules": number.explained,
            "by_our_rules": number.without,
        }
        for number in verdict.numbers
    ]
    row = verdict.row
    return {
        "name": row.name,
        "peer": row.peer,
        "within": row.within,
        "agrees": verdict.agrees(),
        "cause": row.cause,
        "provenance": row.provenance,
        "numbers": numbers,
    }
