"""Runs the simulations of an experiment, several at once.

A simulation releases the interpreter's lock, so threads are enough to keep every core busy. Runs
whose prepared device is the same start from one that is prepared once and saved.
"""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from copyback.outputs import RowKeeper
from copyback.papers import measures, microscope
from copyback.simulate import Driver, save_state

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from copyback._core import Progress
    from copyback.papers.plan import Run


@dataclass(frozen=True)
class Outcome:
    """What one simulation gave.

    Attributes
    ----------
    numbers
        Its summary, flat.
    table
        The table that the experiment draws from, if it draws from one.
    """

    run: Run
    numbers: dict[str, float | None]
    table: pa.Table | None


#: Numbers that depend on the machine, or name the run and not what it did.
_LEFT_OUT = ("simulator.", "schema", "seed")


class _StoppedError(Exception):
    """Another thread asked to stop."""


class Runner:
    """Runs simulations.

    Parameters
    ----------
    jobs
        How many at once.
    table
        The table to keep of each run: ``"series"``, ``"distribution"``, ``"moments"`` or None.
    on_progress
        Told the number of simulations that have ended.
    """

    def __init__(
        self, jobs: int, table: str | None, on_progress: Callable[[int], None] = lambda _: None
    ) -> None:
        self._jobs = jobs
        self._table = table
        self._on_progress = on_progress
        self._stop = threading.Event()

    def run(self, runs: Sequence[Run]) -> list[Outcome]:
        """Run all, and return what they gave in the order of `runs`."""
        with TemporaryDirectory(prefix="copyback-states-") as directory:
            pool = ThreadPoolExecutor(self._jobs)
            try:
                return self._run(runs, pool, Path(directory))
            finally:
                self._stop.set()
                pool.shutdown(cancel_futures=True)

    def _run(self, runs: Sequence[Run], pool: ThreadPoolExecutor, directory: Path) -> list[Outcome]:
        shared = Counter(run.config.state_digest for run in runs)
        groups: dict[str, list[int]] = {}
        for index, run in enumerate(runs):
            groups.setdefault(run.config.state_digest, []).append(index)
        waiting: dict[Future[Any], int | str] = {}
        for digest, indices in groups.items():
            if len(indices) == 1:
                waiting[pool.submit(self._simulate, runs[indices[0]], None)] = indices[0]
            else:
                path = directory / f"{digest}.state"
                waiting[pool.submit(self._prepare, runs[indices[0]], path)] = digest
        found: dict[int, Outcome] = {}
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                what = waiting.pop(future)
                if isinstance(what, str):
                    path = future.result()
                    for index in groups[what]:
                        waiting[pool.submit(self._simulate, runs[index], path)] = index
                    continue
                found[what] = future.result()
                self._on_progress(len(found))
                self._forget(runs[what], shared, directory)
        return [found[index] for index in range(len(runs))]

    @staticmethod
    def _forget(run: Run, left: Counter[str], directory: Path) -> None:
        """Remove a saved device after its last run."""
        digest = run.config.state_digest
        left[digest] -= 1
        if left[digest] == 0:
            (directory / f"{digest}.state").unlink(missing_ok=True)

    def _check(self, _: Progress) -> None:
        if self._stop.is_set():
            raise _StoppedError

    def _prepare(self, run: Run, path: Path) -> Path:
        return save_state(run.config, path, on_progress=self._check)

    def _simulate(self, run: Run, state: Path | None) -> Outcome:
        if self._stop.is_set():
            raise _StoppedError
        driver = Driver(run.config, state=state)
        rows = {table: RowKeeper() for table in driver.row_tables}
        on_rows = {table: kept.add for table, kept in rows.items()}
        driver.run(on_progress=self._check, on_rows=on_rows)
        tables = {table: kept.table() for table, kept in rows.items()}
        result = driver.result("copyback paper run", tables)
        summary = result.summary.to_dict()
        flat = measures.flatten(summary)
        numbers = {key: value for key, value in flat if not key.startswith(_LEFT_OUT)}
        for made in (measures.array_measures, measures.collection_measures, measures.idle_measures):
            numbers.update(made(summary))
        kept = _kept(result, self._table)
        return Outcome(run, {**numbers, **_least(kept, self._table)}, kept)


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
