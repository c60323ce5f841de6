"""Files of a tournament.

::

    DIR/tournament.json        what was found, in numbers
    DIR/tournament.md          who wins, in Markdown
    DIR/1-LOAD/whole/          the search of the whole space, as a study leaves it
    DIR/1-LOAD/1-SCHEME/       the search of a scheme
    DIR/1-LOAD/fresh/          runs with fresh seeds
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from copyback.data.outputs import make_parents, replace_file
from copyback.designer import files
from copyback.designer.runs import Runner
from copyback.designer.tournament import standing
from copyback.designer.tournament.contest import Ways, hold
from copyback.designer.tournament.tables import page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from copyback.designer.found import Found
    from copyback.designer.study import Study
    from copyback.designer.tournament.standing import Content
    from copyback.designer.tournament.tournament_file import TournamentFile
    from copyback.sweep.where import Where

NUMBERS, PAGE = "tournament.json", "tournament.md"
TITLE = "The tournament"

#: Directory of a workload.
_OF_LOAD = re.compile(r"[0-9]+-")


def check(directory: Path) -> None:
    """Refuse a directory that holds something other than a tournament.

    Raises
    ------
    InputError
        With what was found.
    """
    files.check_only(directory, _is_own, "a tournament")


def _is_own(name: str) -> bool:
    return name in (NUMBERS, PAGE) or _OF_LOAD.match(name) is not None


def carry_out(
    file: TournamentFile,
    directory: Path,
    where: Where,
    *,
    command: str,
    on_failed: Callable[[str, Exception], None],
    on_batch: Callable[[Runner, str, int], None],
) -> Content:
    """Run what is missing of a tournament, and write what it found into a directory.

    Parameters
    ----------
    on_failed
        Told a sentence on runs that cannot be done, and the fault.
    on_batch
        Told the runner of a search, what it has done, and of how many designs.
    """
    check(directory)

    def runner_of(study: Study, name: str) -> Runner:
        return Runner(study, directory / name / files.SWEEP, where, command, on_failed)

    def run(runner: Runner) -> Found:
        home = runner.directory.parent
        return files.carry_out(runner, home, lambda what, count: on_batch(runner, what, count))

    content = standing.content_of(file, hold(file, Ways(runner_of, run)))
    make_parents(directory)
    standing.write(content, directory / NUMBERS)
    replace_file(directory / PAGE, page(content, TITLE).encode())
    return content
