"""Simulations on the cores of this machine, a process each."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import replace
from itertools import count
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Self

from copyback.data.destination import naming
from copyback.sweep import work
from copyback.sweep.processes import cause_of_end, context

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from copyback.sweep.work import Job


class LocalBackend:
    """A pool of processes, replaced when one of them dies.

    Parameters
    ----------
    jobs
        Simulations at once.
    states
        Directory for prepared devices, and for results on their way.
    simulate
        What a worker does with a job and the device that it starts from, if any.
    """

    def __init__(
        self, jobs: int, states: Path, simulate: Callable[[Job, Path | None], Any] = work.simulate
    ) -> None:
        self._jobs = jobs
        self._states = states
        self._simulate = simulate
        self._numbers = count()
        self._reports: set[Path] = set()
        self._pool = self._new_pool()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if error is not None:
            # A simulation may have hours to go.
            for process in multiprocessing.active_children():
                process.terminate()
        self._pool.shutdown(cancel_futures=True)

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self._jobs, mp_context=context(), initializer=_begin_worker)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        with contextlib.suppress(RuntimeError):
            return self._pool.submit(function, *arguments)
        self._pool.shutdown(wait=False)
        self._pool = self._new_pool()
        return self._pool.submit(function, *arguments)

    def prepare(self, job: Job, digest: str) -> Future[Path]:
        """Prepare a device and save it."""
        path = self._states / f"{digest}.state"
        return _settled(self._submit(work.prepare, job, path), lambda: path)

    def simulate(self, job: Job, state: Path | None) -> Future[Any]:
        """Run a simulation."""
        # Not through the pool's pipe: a worker that is stopped while it writes to that would leave
        # half a message, and the pool would wait for the other half for ever.
        number = next(self._numbers)
        path, report = (self._states / f"{number}.{kind}" for kind in ("result", "progress"))
        self._reports.add(report)
        asked = self._submit(_into_file, path, self._simulate, replace(job, report=report), state)
        asked.add_done_callback(lambda _: self._reports.discard(report))
        return _settled(asked, lambda: _taken(path))

    def under_way(self) -> float:
        """Return how many simulations those that run now come to so far."""
        return sum(map(_reported, tuple(self._reports)))

    def forget(self, state: Path) -> None:
        """Remove a saved device."""
        state.unlink(missing_ok=True)


def _reported(path: Path) -> float:
    """Return the share of a simulation that is done; zero until its worker tells of it."""
    try:
        return float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0.0


def _into_file(path: Path, function: Callable[..., Any], *arguments: Any) -> None:
    content = pickle.dumps(function(*arguments))
    with naming(path):
        path.write_bytes(content)


def _taken(path: Path) -> Any:
    """Return what a worker has left in a file, which is not needed any more."""
    result = pickle.loads(path.read_bytes())
    path.unlink()
    return result


def _settled(asked: Future[Any], take: Callable[[], Any]) -> Future[Any]:
    """Return a future of what is taken once a worker is done; a lost one is told with its end."""
    future: Future[Any] = Future()

    def settle(done: Future[Any]) -> None:
        try:
            done.result()
            future.set_result(take())
        except BrokenExecutor:
            future.set_exception(BrokenExecutor(cause_of_end()))
        except BaseException as fault:  # the future must end, whatever happens
            future.set_exception(fault)

    asked.add_done_callback(settle)
    return future


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The cores are taken by simulations: Polars, imported later, shall not start a thread for each.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
