"""The command ``copyback design``."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from copyback.designer import against, files
from copyback.designer.runs import Runner
from copyback.designer.scheme import scheme_of
from copyback.designer.study_file import read_study
from copyback.designer.terminal import comparison, overview
from copyback.process.streams import complain
from copyback.words import units
from copyback.words.console import show

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback.designer.found import Found
    from copyback.designer.study import Study
    from copyback.sweep.where import Where

#: Columns of the tables where the output is no terminal.
WIDTH = 80


@dataclass(frozen=True)
class Request:
    """Request from the command line.

    Attributes
    ----------
    against
        Settings and policies whose gain is asked for together; none of a study alone.
    """

    study: Path
    against: tuple[str, ...]
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
        if request.against:
            _against(study, home, request)
        else:
            _alone(study, home, request)


def _alone(study: Study, home: Path, request: Request) -> None:
    files.check(home)
    found = _run(_runner(study, home, request), home, request)
    show(*overview(found), width_in_files=WIDTH)
    if request.out is not None:
        print(f"\nFront        {home / files.FRONT} ({units.count(len(found.points))} designs)")
        print(f"Results      {home / files.TABLE}")
        print(f"Report       {home / files.REPORT}")


def _against(study: Study, home: Path, request: Request) -> None:
    against.check(home)
    own = against.investigate_both(
        scheme_of(request.against, "--against"),
        study,
        lambda one, name: _runner(one, home / name, request),
        lambda runner: _run(runner, runner.directory.parent, request),
    )
    against.write(own, home)
    show(*comparison(own), width_in_files=WIDTH)
    if request.out is not None:
        print(f"\nResult       {home / against.AGAINST}")
        for name in (against.WITHOUT, against.WITH):
            print(f"Report       {home / name / files.REPORT}")


def _runner(study: Study, home: Path, request: Request) -> Runner:
    """Return the runner of a study in a directory."""
    return Runner(
        study, home / files.SWEEP, request.where, request.command, lambda text, _: complain(text)
    )


def _run(runner: Runner, home: Path, request: Request) -> Found:
    """Run a study, tell how far it is, and write what it found into a directory."""
    return files.carry_out(runner, home, _progress(runner, quiet=request.quiet))


def _progress(runner: Runner, *, quiet: bool) -> Callable[[str, int], None]:
    def show_batch(what: str, count: int) -> None:
        if not quiet:
            used = units.share(min(runner.spent / runner.study.budget, 1.0))
            print(
                f"copyback: design: {units.count(count)} {what}, {used} of the budget",
                file=sys.stderr,
                flush=True,
            )

    return show_batch
