"""Simulations on the workers of a Dask scheduler, which need share no disk with this machine."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Self

from copyback._core import InputError
from copyback.process.scheduler import Scheduler
from copyback.sweep import work
from copyback.sweep.memory import estimate
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback._core import Config
    from copyback.sweep.work import Job


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
        self._scheduler = Scheduler(address)

    def __enter__(self) -> Self:
        self._scheduler.__enter__()
        return self

    def __exit__(self, fault: type[BaseException] | None, *rest: object) -> None:
        self._scheduler.__exit__(fault, *rest)

    def check(self, configs: Sequence[Config]) -> None:
        """Refuse runs that are too large for a worker that is there.

        Raises
        ------
        InputError
            With the worker's limit and what the largest run needs.
        """
        largest = max(map(estimate, configs))
        for address, worker in self._scheduler.workers().items():
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
            self._scheduler.submit(work.prepare_in_memory, job, key=f"copyback-state-{digest}")
        )
        return ready

    def simulate(self, job: Job, state: Any) -> Future[Mapping[str, bytes]]:
        """Run a simulation on a worker."""
        asked = self._scheduler.submit(work.simulate_from_memory, job, state, pure=False)
        return self._scheduler.awaited(asked)

    def under_way(self) -> float:
        """Return zero: workers tell nothing before they have ended."""
        return 0.0

    def forget(self, state: Any) -> None:
        """Let the workers drop a device."""
        state.release()
