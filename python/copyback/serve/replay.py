"""A log of a served drive run again: only on the same drive are its response times the same."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback._core import Config, InputError
from copyback.serve import log

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from copyback.frame import Frame


def trace_of(config: Config) -> Path | None:
    """Return the file that a configuration replays, if its workload is one trace."""
    workload = tomllib.loads(config.to_toml()).get("workload", {})
    path = workload.get("path")
    return Path(path) if workload.get("type") == "trace" and isinstance(path, str) else None


def check(config: Config) -> None:
    """Refuse to replay the log of a served drive on another one.

    Raises
    ------
    InputError
        If the trace is such a log, and the drive or its start state is another.
    """
    path = trace_of(config)
    found = log.facts(path) if path is not None else None
    if found is None or found["drive"] == config.drive_digest:
        return
    raise InputError(
        f"{path}: the log of a drive with the digest {found['drive'][:12]} and the seed "
        f"{found['seed']}; this one has {config.drive_digest[:12]} and {config.seed}, and would "
        "answer otherwise. Give the configuration that was served. To ask another drive for the "
        "same, `copyback compare --over trace=FILE` takes the log, and `copyback trace convert` "
        "makes a plain trace of it"
    )


def caveat(path: Path) -> str | None:
    """Return what is to be kept in mind when other drives replay a log; None if it is none."""
    if log.facts(path) is None:
        return None
    return (
        f"{path} is the log of a served drive: its requests come when they came then, whatever the "
        "drive; a program would have asked later of a slower one"
    )


def differing(live: Frame, again: Frame) -> int:
    """Return how many response times of a replay differ from those of the log.

    Parameters
    ----------
    live
        The log.
    again
        The requests of the run that replayed it.
    """
    ours, theirs = _in_order(live), _in_order(again)
    if len(ours[0]) != len(theirs[0]):
        return abs(len(ours[0]) - len(theirs[0]))
    same = np.ones(len(ours[0]), bool)
    for one, other in zip(ours, theirs, strict=True):
        same &= one == other
    return int((~same).sum())


def _in_order(table: Frame) -> list[NDArray[Any]]:
    columns = [
        np.asarray(table[name].values, np.uint64)
        for name in ("arrival_ns", "operation", "offset", "bytes", "response_ns")
    ]
    order = np.lexsort(columns[::-1])
    return [column[order] for column in columns]
