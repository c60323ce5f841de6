"""Runs simulations wherever they can be run, each prepared device once, and those lost again."""

from __future__ import annotations

from collections import Counter, defaultdict
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from copyback._core import InputError, SimulationError
from copyback.process import stopping

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from copyback.sweep.work import Job

#: How often a simulation is begun whose worker has died.
MOST_ATTEMPTS = 4

#: Seconds after which those that run are asked how far they are, if none ends.
LOOK_EVERY_S = 1.0


class Backend(Protocol):
    """Backend on which simulations run.

    What it raises for a worker that has died is `BrokenExecutor`; if nothing can be run any more,
    `SchedulerLostError`.
    """

    def prepare(self, job: Job, digest: str) -> Future[Any]:
        """Prepare a device; the future's result is what `simulate` takes as `state`."""

    def simulate(self, job: Job, state: Any) -> Future[Any]:
        """Run a simulation; `state` is None, or what `prepare` gave."""

    def under_way(self) -> float:
        """Return how many simulations those that run now come to so far, as far as is known."""

    def forget(self, state: Any) -> None:
        """Give up a prepared device that nothing needs any more."""


@dataclass(frozen=True)
class Task:
    """A simulation to be done.

    Attributes
    ----------
    key
        Names it.
    state_digest
        Tasks with the same one start from the same prepared device.
    """

    key: str
    job: Job
    state_digest: str


#: What is awaited: the digest of a device or the place of a task.
_Awaited = str | int


class Execution:
    """The tasks of a sweep on their way.

    Parameters
    ----------
    tasks
        What is to be done.
    backend
        Where.
    on_done
        Given each task as it ends, and what its simulation gave.
    on_failed
        Given each task that a fault of its own ended, so that the others go on; without it, such a
        fault ends all.
    on_waiting
        Told now and then how many simulations those that run come to so far.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        backend: Backend,
        on_done: Callable[[Task, Any], None],
        on_failed: Callable[[Task, Exception], None] | None = None,
        on_waiting: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._tasks = tasks
        self._backend = backend
        self._on_done = on_done
        self._on_failed = on_failed
        self._on_waiting = on_waiting
        self._waiting: dict[Future[Any], _Awaited] = {}
        # To look at every future whenever one ends would cost more than the runs of a large sweep.
        self._ended: SimpleQueue[Future[Any]] = SimpleQueue()
        self._attempts: Counter[_Awaited] = Counter()
        self._states: dict[str, Any] = {}
        self._sharing: dict[str, list[int]] = defaultdict(list)
        for place, task in enumerate(tasks):
            self._sharing[task.state_digest].append(place)
        self._left = {digest: len(places) for digest, places in self._sharing.items()}

    def run(self) -> None:
        """Do all of it; what is no fault of a task, nor a lost worker, ends it."""
        for digest, places in self._sharing.items():
            self._submit(digest if len(places) > 1 else places[0])
        while self._waiting:
            stopping.check()
            try:
                future = self._ended.get(timeout=LOOK_EVERY_S)
            except Empty:
                self._on_waiting(self._backend.under_way())
                continue
            self._settle(future, self._waiting.pop(future))

    def _submit(self, awaited: _Awaited) -> None:
        self._attempts[awaited] += 1
        if isinstance(awaited, str):
            first = self._tasks[self._sharing[awaited][0]]
            future = self._backend.prepare(first.job, awaited)
        else:
            task = self._tasks[awaited]
            future = self._backend.simulate(task.job, self._states.get(task.state_digest))
        self._waiting[future] = awaited
        future.add_done_callback(self._ended.put)

    def _settle(self, future: Future[Any], awaited: _Awaited) -> None:
        try:
            given = future.result()
        except BrokenExecutor as lost:
            if self._attempts[awaited] >= MOST_ATTEMPTS:
                raise BrokenExecutor(
                    f"a run has ended its process {MOST_ATTEMPTS} times: {lost}"
                ) from None
            self._submit(awaited)
            return
        except (InputError, SimulationError) as fault:
            if self._on_failed is None:
                raise
            for task in self._needing(awaited):
                self._on_failed(task, fault)
                self._finish(task)
            return
        if isinstance(awaited, str):
            self._states[awaited] = given
            for place in self._sharing[awaited]:
                self._submit(place)
        else:
            self._on_done(self._tasks[awaited], given)
            self._finish(self._tasks[awaited])

    def _needing(self, awaited: _Awaited) -> list[Task]:
        """Return the tasks that cannot be done without what is awaited."""
        places = self._sharing[awaited] if isinstance(awaited, str) else [awaited]
        return [self._tasks[place] for place in places]

    def _finish(self, task: Task) -> None:
        self._left[task.state_digest] -= 1
        if self._left[task.state_digest] == 0 and task.state_digest in self._states:
            self._backend.forget(self._states.pop(task.state_digest))
