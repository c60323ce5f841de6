"""Facts on the drive in a served drive's log: only there does it give the same response times.

Every run asks this of its trace, so nothing that is slow to import is needed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._core import InputError, TableReader
from copyback.inputs.configuration import resolved

if TYPE_CHECKING:
    from copyback._core import Config

#: The key under which the facts stand in the file.
KEY = "copyback.serve"


def facts(path: Path) -> dict[str, Any] | None:
    """Return what a log says of its drive; None if the file is no log."""
    # What is read from a pipe is gone for the run.
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            if file.read(4) != b"PAR1":
                return None
        found = dict(TableReader(path, 1).notes()).get(KEY)
    except (OSError, InputError):
        # Whoever reads the trace says what is wrong with it.
        return None
    return None if found is None else json.loads(found)


def trace_of(config: Config) -> Path | None:
    """Return the file that a configuration replays, if its workload is one trace."""
    workload = resolved(config).get("workload", {})
    path = workload.get("path")
    return Path(path) if workload.get("type") == "trace" and isinstance(path, str) else None


def replayed(config: Config) -> list[tuple[str, str]]:
    """Return settings that a replay of a served drive needs; none for other runs.

    The power of a drive that was cut on command is cut again at the same times.

    Raises
    ------
    InputError
        If the trace is such a log, and the drive or its start state is another.
    """
    path = trace_of(config)
    found = facts(path) if path is not None else None
    if found is None:
        return []
    if found["drive"] == config.drive_digest:
        return _cuts(config, found)
    raise InputError(
        f"{path}: the log of a drive with the digest {found['drive'][:12]} and the seed "
        f"{found['seed']}; this one has {config.drive_digest[:12]} and {config.seed}, and would "
        "answer otherwise. Give the configuration that was served. To ask another drive for the "
        "same, `copyback compare --over trace=FILE` takes the log, and `copyback trace convert` "
        "makes a plain trace of it"
    )


def _cuts(config: Config, found: dict[str, Any]) -> list[tuple[str, str]]:
    planned = resolved(config)["ssd"].get("power", {}).get("cuts")
    times = [f"'{cut['at_ns']}ns'" for cut in found.get("cuts", [])]
    if planned != "on_command" or not times:
        return []
    return [("ssd.power.cuts", f"{{ type = 'at', times = [{', '.join(times)}] }}")]


def caveat(path: Path) -> str | None:
    """Return what is to be kept in mind when other drives replay a log; None if it is none."""
    found = facts(path)
    if found is None:
        return None
    cuts = len(found.get("cuts", []))
    return (
        f"{path} is the log of a served drive: its requests come when they came then, whatever the "
        "drive; a program would have asked later of a slower one"
    ) + (f"; its cuts of power ({cuts}) are left out where they were on command" if cuts else "")
