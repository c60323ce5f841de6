"""Runs the simulations of an experiment, several at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from copyback.driver import Driver
from copyback.papers import microscope
from copyback.summary_numbers import numbers_of
from copyback.sweep.execute import Execution, Task
from copyback.sweep.local import LocalBackend
from copyback.sweep.work import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from copyback.papers.plan import Run
    from copyback.sweep.where import Where


@dataclass(frozen=True)
class Measured:
    """What one simulation gave.

    Attributes
    ----------
    numbers
        Its summary, flat.
    table
        The table that the experiment draws from, if it draws from one.
    """

    numbers: dict[str, float | None]
    table: pa.Table | None


@dataclass(frozen=True)
class Outcome:
    """A simulation of an experiment, and what it gave."""

    run: Run
    measured: Measured


class Runner:
    """Runs simulations.

    Parameters
    ----------
    where
        How many at once, and with how much memory.
    table
        The table to keep of each run: ``"series"``, ``"distribution"``, ``"moments"`` or None.
    on_progress
        Told the number of simulations that have ended.
    """

    def __init__(
        self, where: Where, table: str | None, on_progress: Callable[[int], None] = lambda _: None
    ) -> None:
        self._where = where
        self._table = table
        self._on_progress = on_progress

    def run(self, runs: Sequence[Run]) -> list[Outcome]:
        """Run all, and return what they gave in the order of `runs`."""
        found: dict[str, Measured] = {}

        def keep(task: Task, measured: Measured) -> None:
            found[task.key] = measured
            self._on_progress(len(found))

        share = self._where.share([run.config for run in runs])
        tasks = [
            Task(
                str(index),
                Job(run.config.to_toml(), "copyback paper run", share.memory),
                run.config.state_digest,
            )
            for index, run in enumerate(runs)
        ]
        simulate = partial(measure, table=self._table)
        with (
            TemporaryDirectory(prefix="copyback-states-") as states,
            LocalBackend(share.processes, Path(states), simulate) as backend,
        ):
            Execution(tasks, backend, keep).run()
        return [Outcome(run, found[task.key]) for run, task in zip(runs, tasks, strict=True)]


def measure(job: Job, state: Path | None, *, table: str | None) -> Measured:
    """Run a simulation and return what an experiment needs of it."""
    driver = Driver(job.config(), state=state)
    result = driver.run_in_memory(job.command, on_progress=job.watch)
    kept = _kept(result, table)
    return Measured({**numbers_of(result.summary.to_dict()), **_least(kept, table)}, kept)


def _kept(result: Any, table: str | None) -> pa.Table | None:
    if table is None:
        return None
    kept: pa.Table = {
        "series": lambda: result.series,
        "distribution": lambda: result.distribution,
        "moments": lambda: microscope.moments(result),
    }[table]()
    return kept


def _least(table: pa.Table | None, name: str | None) -> dict[str, float | None]:
    """Return the least value of each column of a series, for rules about what never runs out."""
    import pyarrow.compute as pc

    if table is None or name != "series":
        return {}
    return {f"series.least.{key}": pc.min(table[key]).as_py() for key in table.column_names}
