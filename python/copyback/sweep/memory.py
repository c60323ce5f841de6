"""Keeps a sweep within the memory that it may use: fewer processes at once, and no run too large.

What a run needs is estimated from its configuration before anything starts, by what was measured
(docs/performance.md). A run that needs more all the same ends itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from copyback._core import InputError, size_bytes
from copyback.simulation.driver import peak_rss_mib
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback._core import Config

MIB = 1 << 20

#: What a process holds, libraries and results included, besides what its configuration asks for.
PROCESS = 128 * MIB

#: What the process that hands out the runs holds, with the one that is forked for them; and for
#: each run of the sweep.
COORDINATOR = 256 * MIB
COORDINATOR_PER_RUN = 32 << 10


def memory_of(text: str | None) -> int | None:
    """Return what ``--memory`` says in bytes.

    Raises
    ------
    InputError
        If it is no size.
    """
    try:
        return None if text is None else size_bytes(text)
    except InputError as fault:
        raise InputError(f"--memory: {fault}") from None


def estimate(config: Config) -> int:
    """Return how many bytes a process needs at most to run a configuration, its base included."""
    return PROCESS + config.memory_bytes


@dataclass(frozen=True)
class Share:
    """Share of memory that the processes of a sweep may use.

    Attributes
    ----------
    processes
        Simulations at once.
    memory
        Bytes that each may hold; no limit if None.
    """

    processes: int
    memory: int | None


def share_of(limit: int | None, configs: Sequence[Config], wanted: int) -> Share:
    """Return how many processes may run at once, each as large as the largest run.

    Parameters
    ----------
    limit
        Bytes for all processes of the sweep.
    configs
        Of all its runs.
    wanted
        How many processes there would be without a limit.

    Raises
    ------
    InputError
        If there is not room for one.
    """
    if limit is None:
        return Share(wanted, None)
    own = COORDINATOR + COORDINATOR_PER_RUN * len(configs)
    largest = max(map(estimate, configs), default=0)
    if own + largest > limit:
        raise InputError(
            f"--memory {units.size(limit)}: the largest run needs about {units.size(largest)}, and "
            f"the sweep itself {units.size(own)}; allowed: {units.size(own + largest)} or more"
        )
    processes = min(wanted, (limit - own) // largest)
    return Share(processes, (limit - own) // processes)


def check(limit: int | None) -> None:
    """End a run whose process holds more than it may.

    Raises
    ------
    InputError
        If it does.
    """
    if limit is not None and (found := held()) > limit:
        raise InputError(
            f"--memory: a run holds {units.size(found)}, more than was expected of it and than the "
            f"{units.size(limit)} of each process; run fewer at once (--jobs) or allow more"
        )


def held() -> int:
    """Return how many bytes of memory this process holds; where nobody knows, the most it has."""
    try:
        resident = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return int((peak_rss_mib() or 0) * MIB)
    import resource

    return resident * resource.getpagesize()
