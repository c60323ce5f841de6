"""Does a run of a sweep once more, to see what its slowest requests waited for.

A sweep keeps no such thing, as it would take time and room in every run of it. A run has the same
results each time, so it can be had later, of the one run that somebody asks about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback import data as names
from copyback.data.destination import check_within
from copyback.inputs import configuration
from copyback.result import Result
from copyback.simulation.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from copyback._core import Progress

#: Where in a run's directory the run that was done again lies.
WHY = "why"

#: Requests that are told of.
SLOWEST = 16

CHANGED = (
    "Done again, this run gives other response times than in the comparison: its trace, the file "
    "of its policy or the simulator has changed since."
)


def keeps_slowest(run: Path) -> bool:
    """Return whether a run of the sweep has kept its slowest requests itself."""
    return (run / names.SLOWEST).is_file()


def again(
    run: Path,
    *,
    policies: Collection[str] = (),
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Path:
    """Do the run in a directory once more and return the page that says why requests were late.

    Parameters
    ----------
    run
        The directory of a run.
    policies
        Policies in Python that the user names; no others are run.
    on_progress
        Told after each slice.

    Raises
    ------
    InputError
        If the run's files cannot be read, or the run cannot be done any more; if it has a policy
        in Python that the user has not named.
    """
    before = Result.load(run)
    setting = ("metrics.slowest", str(SLOWEST))
    check_within(run / WHY, run)
    config = configuration.load(run / names.CONFIG, settings=[setting], policies=policies)
    command = f"copyback run config.toml --set {setting[0]}={setting[1]}"
    result = Driver(config).run_in_memory(command, on_progress=on_progress)
    if result.summary.response_us != before.summary.response_us:
        result.summary.notes.append(CHANGED)
    return result.save(run / WHY) / names.REPORT
