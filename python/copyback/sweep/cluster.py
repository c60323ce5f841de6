"""Simulations on the workers of a Dask scheduler, which need share no disk with this machine."""

from __future__ import annotations

import logging
from concurrent.futures import BrokenExecutor, Future
from typing import TYPE_CHECKING, Any, Self

from copyback._core import InputError
from copyback.process.extras import needed
from copyback.sweep import work
from copyback.sweep.execute import BackendLostError
from copyback.sweep.memory import estimate
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback._core import Config
    from copyback.sweep.work import Job

_DASK_LOG = logging.getLogger("distributed.client")

#: Seconds to wait for a scheduler to answer.
PATIENCE_S = 10


class DaskBackend:
    """The workers of a scheduler.

    A device is prepared on one worker and sent to those that need it. Workers must have the same
    version of Copyback; traces must be at the same paths there.

    Parameters
    ----------
    address
        Of the scheduler, such as ``tcp://host:8786``.
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
        self._log_level = _DASK_LOG.level
        _DASK_LOG.setLevel(logging.CRITICAL)
        return self

    def __exit__(self, *_: object) -> None:
        # Closing the client drops what it has asked for.
        self._client.close()
        _DASK_LOG.setLevel(self._log_level)

    def check(self, configs: Sequence[Config]) -> None:
        """Refuse runs that are too large for a worker that is there.

        Raises
        ------
        InputError
            With the worker's limit and what the largest run needs.
        """
        largest = max(map(estimate, configs))
        for address, worker in self._client.scheduler_info()["workers"].items():
            limit, threads = worker["memory_limit"], worker["nthreads"]
            if limit and largest * threads > limit:
                raise InputError(
                    f"--dask: the largest run needs about {units.size(largest)}; the worker "
                    f"{address} has {units.size(limit)} for {threads} at once"
                )

    def prepare(self, job: Job, digest: str) -> Future[Any]:
        """Prepare a device on a worker, where it stays; nobody waits for that here."""
        ready: Future[Any] = Future()
        ready.set_result(
            self._client.submit(work.prepare_in_memory, job, key=f"copyback-state-{digest}")
        )
        return ready

    def simulate(self, job: Job, state: Any) -> Future[Mapping[str, bytes]]:
        """Run a simulation on a worker."""
        asked = self._client.submit(work.simulate_from_memory, job, state, pure=False)
        return _watched(asked, f"--dask {self._address}: the scheduler is lost")

    def under_way(self) -> float:
        """Return zero: workers tell nothing before they have ended."""
        return 0.0

    def forget(self, state: Any) -> None:
        """Let the workers drop a device."""
        state.release()


def _watched(asked: Any, lost: str) -> Future[Any]:
    """Return a future of the standard library for one of Dask's.

    Parameters
    ----------
    lost
        What to say if nobody is there to answer any more.
    """
    future: Future[Any] = Future()

    def settle(done: Any) -> None:
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        try:
            future.set_result(done.result())
        except KilledWorker as killed:
            future.set_exception(BrokenExecutor(str(killed)))
        except (FutureCancelledError, CommClosedError):
            future.set_exception(BackendLostError(lost))
        except BaseException as fault:  # the future must end, whatever happens
            future.set_exception(fault)

    asked.add_done_callback(settle)
    return future
