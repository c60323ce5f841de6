"""Estimate of a run before it begins: what this machine cannot hold is refused."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from copyback._core import Config, InputError
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The estimate is what a run needs at most; a half of it is needed whatever the run does.
CERTAIN = 0.5

#: Blocks of a plane below which a smaller drive is no stand-in for a larger one.
FEWEST_BLOCKS = 64

#: Share of what a run needs, at least, that is less where blocks are fewer.
SHRINKS = 0.95

#: Where Linux says how much memory a container may use: control groups, version 2 and version 1.
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

#: Columns of `/proc/self/statm`: the address space, and data with the stack.
_SIZE, _DATA = 0, 5


def check_memory(config: Config, *, there_is: int | None = None) -> None:
    """Refuse a run that this machine has no room for.

    Parameters
    ----------
    config
        What is to be run.
    there_is
        Bytes of memory; those of this machine if not given.

    Raises
    ------
    InputError
        If it has no room for the run.
    """
    room = there_is if there_is is not None else memory_of_machine()
    needed = config.memory_bytes
    if room is not None and needed * CERTAIN > room:
        raise InputError(
            f"ssd.geometry: a run of this needs about {units.size(needed)} of memory; "
            f"allowed: what fits into the {units.size(room)} that this process may use"
            + "".join(f"; {way}" for way in _ways_out(config, room))
        )


def _ways_out(config: Config, room: int) -> Iterator[str]:
    """Yield what may be run in place of a drive that is too large: coarser maps, fewer blocks."""
    tables = json.loads(config.to_json())
    if tables["ssd"]["ftl"].pop("mapping_unit", None) is not None:
        with suppress(InputError):
            needed = Config.load(json=json.dumps(tables)).memory_bytes
            page = tables["ssd"]["geometry"]["page_size"]
            yield (
                f"without ssd.ftl.mapping_unit, so that pages of {page} are mapped, it needs about "
                f"{units.size(needed)}"
            )
    blocks = tables["ssd"]["geometry"]["blocks_per_plane"]
    fewer = int(SHRINKS * blocks * room / config.memory_bytes)
    if fewer >= FEWEST_BLOCKS:
        yield (
            f"with ssd.geometry.blocks_per_plane = {fewer} it fits, a drive 1/{blocks / fewer:.3g} "
            "as large with as many dies"
        )


def announcements(config: Config, *, there_is: int | None = None) -> list[str]:
    """Return what the user should know before a run that takes long or much memory: a line each.

    What this machine cannot hold at all is for :func:`check_memory` to say.
    """
    room = there_is if there_is is not None else memory_of_machine()
    told = [config.announcement] if config.announcement is not None else []
    if room is not None and room < config.memory_bytes <= room / CERTAIN:
        told.append(
            f"ssd.geometry: this run needs up to {units.size(config.memory_bytes)} of memory, and "
            f"this process may use {units.size(room)}"
        )
    return told


def announce(*configs: Config) -> None:
    """Print on standard error what the user should know before these runs, each line once."""
    lines = dict.fromkeys(line for config in configs for line in announcements(config))
    for line in lines:
        print(f"copyback: {line}", file=sys.stderr)


def memory_of_machine() -> int | None:
    """Return how many bytes of memory this process may still use; None where nobody knows."""
    known = [limit for limit in map(_limit, LIMITS) if limit is not None]
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min([*known, *_left_of_limits()], default=None)


def _left_of_limits() -> Iterator[int]:
    """Yield what each limit of this process (`ulimit -v`, `ulimit -d`) leaves, in bytes."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    for kind, column in ((resource.RLIMIT_AS, _SIZE), (resource.RLIMIT_DATA, _DATA)):
        most, _ = resource.getrlimit(kind)
        if most != resource.RLIM_INFINITY:
            yield max(most - _used(column), 0)


def _used(column: int) -> int:
    """Return how many bytes this process has mapped; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[column]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _limit(path: str) -> int | None:
    try:
        text = Path(path).read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
