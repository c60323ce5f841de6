"""Reads the traces of a sweep before its first run, so that a damaged one is told then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback._core import InputCheck, InputError
from copyback.inputs import configuration
from copyback.simulation.driver import Pace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from copyback._core import Config
    from copyback.sweep.plan import Run


def unreadable(runs: Iterable[Run]) -> dict[str, InputError]:
    """Return what is wrong with the inputs of runs, under the keys of those that it would end.

    Each workload is read once for each device that it is replayed on.
    """
    read: dict[str, InputError | None] = {}
    found = {}
    for run in runs:
        name = _name(run)
        if name not in read:
            read[name] = _fault(run.config)
        fault = read[name]
        if fault is not None:
            found[run.key] = fault
    return found


def _name(run: Run) -> str:
    """Return what runs share whose inputs are read alike."""
    resolved = run.resolved
    array = {key: resolved["array"][key] for key in ("layout", "devices")}
    ssd = resolved["ssd"]
    page_size = ssd["ftl"].get("mapping_unit", ssd["geometry"]["page_size"])
    reads = [resolved["workload"], array, page_size, run.config.capacity_bytes]
    return configuration.to_toml(reads)


def _fault(config: Config) -> InputError | None:
    pace = Pace()
    try:
        check = InputCheck(config)
        while not pace.advance(check):
            pass
    except InputError as fault:
        return fault
    return None
