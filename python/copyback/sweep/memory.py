"""Keeps a sweep within the memory that it may use: fewer processes at once, and no run too large.

What a run needs is estimated from its configuration before anything starts, by what was measured
(docs/performance.md). A run that needs more all the same ends itself.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback import units
from copyback._core import InputError
from copyback.driver import peak_rss_mib

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback._core import Config

MIB = 1 << 20

#: What a process holds, libraries and results included, besides what grows with the drive.
PROCESS = 128 * MIB

#: For each physical page: the drive, and its saved state on the way to or from a file. Measured are
#: 7 to 15.
PER_PAGE = 16

#: What an audited run keeps of each besides. Measured are 36.
AUDIT_PER_PAGE = 40

#: For each request of a run that keeps a row of each, on its way to the sweep. Measured are 98.
PER_REQUEST_ROW = 128

#: What the process that hands out the runs holds, and for each run of the sweep.
COORDINATOR = 256 * MIB
COORDINATOR_PER_RUN = 32 << 10

_COUNTS = (
    "channels",
    "chips_per_channel",
    "dies_per_chip",
    "planes_per_die",
    "blocks_per_plane",
    "pages_per_block",
)


def memory_of(text: str | None) -> int | None:
    """Return what ``--memory`` says in bytes.

    Raises
    ------
    InputError
        If it is no size.
    """
    try:
        return None if text is None else units.parse_size(text)
    except ValueError as fault:
        raise InputError(f"--memory: {fault}") from None


def estimate(config: Config) -> int:
    """Return how many bytes a process needs at most to run a configuration, its base included."""
    resolved: dict[str, Any] = tomllib.loads(config.to_toml())
    geometry = resolved["ssd"]["geometry"]
    pages: int = math.prod(geometry[count] for count in _COUNTS) * resolved["array"]["devices"]
    per_page = PER_PAGE + (AUDIT_PER_PAGE if resolved["audit"] else 0)
    rows = _requests(resolved["workload"]) if config.keeps_requests else 0
    return PROCESS + per_page * pages + PER_REQUEST_ROW * rows


def _requests(workload: Mapping[str, Any]) -> int:
    """Return how many requests a workload has, as far as its configuration says."""
    flows = workload.get("flows", [workload])
    return sum(flow.get("requests", flow.get("limit", 0)) for flow in flows)


@dataclass(frozen=True)
class Share:
    """What the processes of a sweep may use.

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
