"""Does what is missing of a plan, and keeps it in the store of a directory."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from copyback._core import InputError, SimulationError
from copyback.inputs import policy_names
from copyback.policies import given
from copyback.process.checkout import commit
from copyback.process.scheduler import SchedulerLostError
from copyback.sweep.cluster import DaskBackend
from copyback.sweep.execute import Execution, Task
from copyback.sweep.inputs import unreadable
from copyback.sweep.local import LocalBackend
from copyback.sweep.store import Store
from copyback.sweep.work import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from copyback.sweep.execute import Backend
    from copyback.sweep.failures import Failures
    from copyback.sweep.memory import Share
    from copyback.sweep.plan import Plan, Run
    from copyback.sweep.where import Where


@dataclass(frozen=True)
class Completed:
    """A plan whose runs are done.

    Attributes
    ----------
    plan
        Without the runs that could not be done.
    store
        What holds them; this process holds it.
    reused
        Runs that were there before.
    """

    plan: Plan
    store: Store
    reused: int


@contextmanager
def completed(
    plan: Plan,
    directory: Path,
    where: Where,
    failures: Failures,
    *,
    command: str,
    on_progress: Callable[[float], None] = lambda _: None,
    kept: bool = True,
) -> Iterator[Completed]:
    """Do what is missing of a plan, and hold the store while what was found is written down.

    Parameters
    ----------
    directory
        The store's.
    failures
        Gathers the runs that cannot be done; those with unreadable inputs before the first run.
    on_progress
        Told how many runs there are so far, those of earlier sweeps included, and now and then what
        those under way come to.
    kept
        Whether the directory outlasts the process.

    Raises
    ------
    InputError, SimulationError
        If no run can be done, or what hands them out is lost.
    """
    configs = [run.config for run in plan.runs]
    with ExitStack() as stack:
        # Before the directory is made: nobody may answer, and the memory may not do.
        share = where.share(configs)
        cluster = stack.enter_context(DaskBackend(where.dask)) if where.dask is not None else None
        if cluster is not None:
            cluster.check(configs)
        store = Store(directory)
        each = {run.key: run for run in plan.runs}
        absent = [r for r in each.values() if not store.holds(r.key, r.config.to_toml())]
        missing = _readable(absent, failures)
        failures.check_some_left([run for run in plan.runs if run not in failures])
        stack.enter_context(store)
        there = len(each) - len(absent)
        on_progress(there)

        def keep(task: Task, files: Mapping[str, bytes]) -> None:
            nonlocal there
            try:
                each[task.key].check_unchanged()
            except InputError as fault:
                failures.add([(each[task.key], fault)])
                return
            store.add(task.key, files)
            there += 1
            on_progress(there)

        if missing:
            backend = cluster or stack.enter_context(LocalBackend(share.processes, store.states))
            try:
                _execute(
                    missing,
                    command,
                    share,
                    backend,
                    keep,
                    failures,
                    lambda under_way: on_progress(there + under_way),
                )
            except SchedulerLostError as lost:
                left = f"{there} of {len(each)} runs are done"
                raise SimulationError(
                    f"{lost}; {left}, {_what_now(directory, kept=kept)}"
                ) from None
        done = replace(plan, runs=tuple(run for run in plan.runs if run not in failures))
        failures.check_some_left(done.runs)
        yield Completed(done, store, len(each) - len(absent))


def _what_now(directory: Path, *, kept: bool) -> str:
    if kept:
        return f"and kept in {directory}: the same command goes on with the others"
    return "but not kept: with --out DIR the same command would go on with the others"


def _readable(runs: Sequence[Run], failures: Failures) -> list[Run]:
    """Return the runs whose inputs can be read to their end; the others have failed."""
    faults = unreadable(runs)
    failures.add([(run, faults[run.key]) for run in runs if run.key in faults])
    return [run for run in runs if run.key not in faults]


def _execute(
    runs: Sequence[Run],
    command: str,
    share: Share,
    backend: Backend,
    keep: Callable[[Task, Mapping[str, bytes]], None],
    failures: Failures,
    on_waiting: Callable[[float], None],
) -> None:
    by_key = {run.key: run for run in runs}
    made_by = commit()
    tasks = [
        Task(run.key, _job(run, command, share.memory, made_by), run.state_digest) for run in runs
    ]
    Execution(
        tasks,
        backend,
        keep,
        lambda task, fault: failures.add([(by_key[task.key], fault)]),
        on_waiting,
    ).run()


def _job(run: Run, command: str, memory: int | None, made_by: str | None) -> Job:
    policies = given.packed(policy_names.named_by(run.config).values())
    return Job(run.config.to_toml(), command, memory, made_by, policies=policies)
