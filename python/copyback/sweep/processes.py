"""Processes that simulate: they do not import the program that has started them.

`multiprocessing` has each new process run the program's file again, up to its
``if __name__ == "__main__"``. A script without that line would start its sweep once more in every
process; one that is read from standard input, or typed, has no file at all. A simulation needs
nothing of the program: policies that it defines come with the job (`copyback.policies.given`).
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import multiprocessing.spawn
import signal
import weakref
from typing import TYPE_CHECKING, Any

from copyback import process

if TYPE_CHECKING:
    from collections.abc import Iterable
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

#: How the names of these processes begin.
NAME = "copyback-simulation"

#: What tells a process which program it is to import.
_OF_THE_PROGRAM = ("init_main_from_name", "init_main_from_path")

_told_to_all = multiprocessing.spawn.get_preparation_data


def _told(name: str) -> dict[str, Any]:
    """Return what a new process is told: as ever, but for ours, which get no program."""
    told = _told_to_all(name)
    if not name.startswith(NAME):
        return told
    return {key: value for key, value in told.items() if key not in _OF_THE_PROGRAM}


# The standard library has no switch for it. Processes of other names are told what they were.
multiprocessing.spawn.get_preparation_data = _told


#: Those that have been started, as long as anybody has them.
_STARTED: weakref.WeakSet[BaseProcess] = weakref.WeakSet()


class _Spawned(multiprocessing.context.SpawnProcess):
    """A process that is started anew."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.name = f"{NAME}-{self.name}"
        _STARTED.add(self)


class _Forked(multiprocessing.context.ForkServerProcess):
    """A process that is forked from one that has imported what it needs."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        _STARTED.add(self)


class _SpawnContext(multiprocessing.context.SpawnContext):
    Process = _Spawned


class _ForkContext(multiprocessing.context.ForkServerContext):
    Process = _Forked


def cause_of_end() -> str:
    """Return how the processes have ended that nobody has asked to."""
    codes = {code for process in tuple(_STARTED) if (code := process.exitcode) is not None}
    return ", ".join(_told_of_end(sorted(codes - {0, -signal.SIGTERM}))) or "for no known reason"


def _told_of_end(codes: Iterable[int]) -> Iterable[str]:
    for code in codes:
        if code == -signal.SIGKILL:
            yield "SIGKILL, as from a machine that is short of memory; run fewer at once"
        elif code < 0:
            yield signal.Signals(-code).name
        else:
            yield f"exit status {code}"


def context() -> BaseContext:
    """Return what starts processes: not forks of this one, whose threads may hold locks.

    The command line has a process that has imported what simulations need, and is forked for each.
    Other programs would have theirs forked from it, too.
    """
    is_possible = "forkserver" in multiprocessing.get_all_start_methods()
    if not (is_possible and process.is_command_line()):
        return _SpawnContext()
    forking = _ForkContext()
    forking.set_forkserver_preload(["copyback.sweep.preloaded"])
    return forking
