"""The command ``copyback design``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from copyback.design import against, files
from copyback.design.found import investigate
from copyback.design.runs import Runner
from copyback.design.study_file import read_study
from copyback.design.terminal import comparison, overview
from copyback.process.streams import complain
from copyback.words import units
from copyback.words.console import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback.design.found import Found
    from copyback.design.study import Study
    from copyback.sweep.where import Where

#: Columns of the tables where the output is no terminal.
WIDTH = 80


@dataclass(frozen=True)
class Request:
    """Request from the command line.

    Attributes
    ----------
    against
        A policy whose gain is asked for; None of a study alone.
    """

    study: Path
    against: str | None
    where: Where
    out: Path | None
    quiet: bool
    command: str


def design_and_show(request: Request) -> None:
    """Run a study, or one without and one with a policy, and print what was found."""
    study = read_study(request.study)
    with ExitStack() as stack:
        home = request.out
        if home is None:
            home = Path(stack.enter_context(TemporaryDirectory(prefix="copyback-design-")))
        if request.against is None:
            _alone(study, home, request)
        else:
            _against(study, home, request, request.against)


def _alone(study: Study, home: Path, request: Request) -> None:
    files.check(home)
    found, _ = _run(study, home, request)
    show(*overview(found), width_in_files=WIDTH)
    if request.out is not None:
        print(f"\nFront        {home / files.FRONT} ({units.count(len(found.points))} designs)")
        print(f"Results      {home / files.TABLE}")
        print(f"Report       {home / files.REPORT}")


def _against(study: Study, home: Path, request: Request, policy: str) -> None:
    against.check(home)
    own = against.investigate_both(policy, study, lambda one, name: _run(one, home / name, request))
    against.write(own, home)
    show(*comparison(own), width_in_files=WIDTH)
    if request.out is not None:
        print(f"\nResult       {home / against.AGAINST}")
        for name in (against.WITHOUT, against.WITH):
            print(f"Report       {home / name / files.REPORT}")


def _run(study: Study, home: Path, request: Request) -> tuple[Found, Runner]:
    """Run a study in a directory, and write there what it found."""
    runner = Runner(
        study, home / files.SWEEP, request.where, request.command, lambda text, _: complain(text)
    )
    found = investigate(study, runner, _progress(study, runner, quiet=request.quiet))
    files.write(found, runner, home)
    runner.finish()
    return found, runner


def _progress(study: Study, runner: Runner, *, quiet: bool) -> Callable[[str, int], None]:
    def show_batch(what: str, count: int) -> None:
        if not quiet:
            used = units.share(min(runner.spent / study.budget, 1.0))
            print(
                f"copyback: design: {units.count(count)} {what}, {used} of the budget",
                file=sys.stderr,
                flush=True,
            )

    return show_batch
