"""Client of a Dask scheduler, whose workers need share no disk with this machine."""

from __future__ import annotations

import logging
from concurrent.futures import BrokenExecutor, Future
from typing import TYPE_CHECKING, Any, Self

from copyback._core import InputError
from copyback.process.extras import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Logs that Dask gives a level of their own; its others, and Tornado's, inherit one from these.
_DASK_LOGS = [
    logging.getLogger(name)
    for name in (
        "distributed",
        "distributed.client",
        "distributed.gc",
        "tornado",
        "tornado.application",
    )
]

#: Seconds to wait for a scheduler to answer.
PATIENCE_S = 10


class SchedulerLostError(Exception):
    """Loss of the scheduler: what was asked for will not be answered."""


class Scheduler:
    """Scheduler that functions are handed to.

    Parameters
    ----------
    address
        Such as ``tcp://host:8786``.

    Raises
    ------
    InputError
        If none answers there.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        distributed = needed("distributed", "--dask")
        try:
            self._client: Any = distributed.Client(
                address, timeout=PATIENCE_S, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as fault:
            reason = str(fault).splitlines()[0] if str(fault) else "no answer"
            raise InputError(f"--dask {address}: no scheduler answers there: {reason}") from None

    def __enter__(self) -> Self:
        # What it has to say about a lost scheduler, in many lines, we say in one.
        self._levels = [log.level for log in _DASK_LOGS]
        for log in _DASK_LOGS:
            log.setLevel(logging.CRITICAL)
        return self

    def __exit__(self, fault: type[BaseException] | None, *_: object) -> None:
        # Closing the client drops what it has asked for.
        self._client.close()
        if fault is not None:
            # Its threads may still find that the scheduler is lost.
            return
        for log, level in zip(_DASK_LOGS, self._levels, strict=True):
            log.setLevel(level)

    def workers(self) -> Mapping[str, Any]:
        """Return what the scheduler knows of each worker, by its address."""
        known: Mapping[str, Any] = self._client.scheduler_info()["workers"]
        return known

    def submit(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Hand a function to a worker; what comes back stays there until it is awaited."""
        return self._client.submit(function, *arguments, **options)

    def awaited(self, asked: Any) -> Future[Any]:
        """Return a future of the standard library for what was handed in.

        It raises `BrokenExecutor` if workers die with it, and `SchedulerLostError` if nobody is
        there to answer any more.
        """
        future: Future[Any] = Future()

        def settle(done: Any) -> None:
            from distributed import KilledWorker
            from distributed.client import FutureCancelledError
            from distributed.comm.core import CommClosedError

            try:
                future.set_result(self._fetched(done))
            except KilledWorker as killed:
                future.set_exception(BrokenExecutor(str(killed)))
            except (FutureCancelledError, CommClosedError):
                future.set_exception(self._lost())
            except BaseException as fault:  # the future must end, whatever happens
                future.set_exception(fault)

        asked.add_done_callback(settle)
        return future

    def _fetched(self, done: Any) -> Any:
        """Return a result that is ready, however long it takes to come here.

        A client that is closed meanwhile answers nobody, and says nothing: who waits without a
        limit waits for good, and keeps Python from ending.
        """
        limit_s = PATIENCE_S
        while self._client.status not in ("closing", "closed"):
            try:
                return done.result(timeout=limit_s)
            except TimeoutError:
                if done.status == "error":
                    raise
            limit_s *= 2
        raise self._lost()

    def _lost(self) -> SchedulerLostError:
        return SchedulerLostError(f"--dask {self._address}: the scheduler is lost")
