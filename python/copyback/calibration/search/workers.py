"""Workers that simulate a drive under loads: threads here, or those of a Dask scheduler."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from copyback._core import InputError, SimulationError
from copyback.process import cores
from copyback.process.scheduler import Scheduler, SchedulerLostError
from copyback.simulation.prepared import Folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from copyback.calibration.search.aim import Numbers
    from copyback.calibration.search.bench import Bench
    from copyback.sweep.where import Where

    #: Settings of a drive, and the load that it is put under.
    Asked = tuple[Sequence[tuple[str, str]], Any]

#: Numbers of a run, or why there is none.
Outcome: TypeAlias = "Numbers | InputError | SimulationError"


class Workers:
    """Workers that answer in the order in which they are asked.

    Parameters
    ----------
    submit
        Hands settings and a load to a worker.
    on_done
        Called after each simulation.
    """

    def __init__(
        self, submit: Callable[[Asked], Future[Outcome]], on_done: Callable[[], None]
    ) -> None:
        self._submit = submit
        self._on_done = on_done

    def simulate(self, asked: Iterable[Asked]) -> Iterator[Outcome]:
        """Yield what each run gives; all are begun at once.

        Raises
        ------
        SimulationError
            If workers die, or their scheduler is lost.
        """
        begun = [self._submit(one) for one in asked]
        for future in begun:
            future.add_done_callback(lambda _: self._on_done())
        return map(_outcome, begun)


def _outcome(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except (BrokenExecutor, SchedulerLostError) as lost:
        raise SimulationError(f"{lost}; with --out the same command goes on") from None


@contextmanager
def workers(where: Where, bench: Bench, on_done: Callable[[], None]) -> Iterator[Workers]:
    """Yield the workers of this machine, or those of a scheduler."""
    if where.dask is not None:
        with Scheduler(where.dask) as scheduler:
            yield Workers(partial(_hand_over, scheduler, bench), on_done)
        return
    with (
        TemporaryDirectory(prefix="copyback-calibrate-") as name,
        ThreadPoolExecutor(where.jobs or cores()) as pool,
    ):
        folder = Folder(Path(name))
        # Simulations release the GIL.
        yield Workers(lambda asked: pool.submit(attempt, bench, asked, folder), on_done)


def _hand_over(scheduler: Scheduler, bench: Bench, asked: Asked) -> Future[Outcome]:
    return scheduler.awaited(scheduler.submit(attempt_there, bench, asked, pure=False))


def attempt(bench: Bench, asked: Asked, folder: Folder) -> Outcome:
    """Return what a run gives, or why it gives nothing.

    Parameters
    ----------
    folder
        Where prepared drives are kept.
    """
    try:
        return bench.simulate(*asked, folder)
    except (InputError, SimulationError) as fault:
        return fault


def attempt_there(bench: Bench, asked: Asked) -> Outcome:
    """Return what a run gives on a worker of Dask, which keeps prepared drives as long as it is."""
    from distributed import get_worker

    return attempt(bench, asked, Folder(Path(get_worker().local_directory) / "copyback"))
