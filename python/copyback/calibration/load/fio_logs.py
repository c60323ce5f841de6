"""Load curves in a folder of fio's latency logs, beside the job file that fio has run."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.calibration.load import fio_log
from copyback.calibration.load.offered import RATE, clones, offered
from copyback.calibration.load.table import Pass
from copyback.fio.jobfile import read_sections

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from copyback.fio.jobfile import Section

#: Names of logs of completion latencies: a prefix, the number of the job unless jobs share the
#: log, and an ending of its own if fio has compressed it.
NAME = re.compile(r".*_clat(?:\.(\d+))?\.log(\.fz)?")


def passes(folder: Path, digest: hashlib._Hash) -> Iterator[tuple[float, Pass]]:
    """Yield the offered rate of each job that has one, and what its logs hold.

    Other jobs, such as one that fills the drive, are passed over, and it says so.

    Raises
    ------
    InputError
        If the folder has not one job file and a log of each job with a rate, or a log makes no
        sense.
    """
    job_file = _job_file(folder)
    logs = _logs(folder)
    last = 0
    for section in read_sections(job_file):
        place = f"{job_file}: job {section.name}"
        options = _options(section)
        digest.update(repr((section.name, options)).encode())
        numbers = range(last + 1, last + 1 + clones(options, place))
        last = numbers[-1]
        if RATE in options:
            entries = _entries([_log(logs, number, folder, place) for number in numbers], digest)
            yield offered(options, entries.done, place), _measured(entries, place)
        else:
            print(f"copyback: {place}: passed over, as it has no {RATE}", file=sys.stderr)
    if beyond := [logs[number] for number in sorted(logs) if not 1 <= number <= last]:
        raise InputError(
            f"{beyond[0]}: found the log of another job file; allowed: jobs 1 to {last}, those of "
            f"{job_file.name}"
        )


def _job_file(folder: Path) -> Path:
    found = [path for path in _files(folder) if path.suffix == ".fio"]
    if len(found) != 1:
        names = " and ".join(path.name for path in found) or "none"
        raise InputError(
            f"{folder}: found {names}; allowed: one job file (.fio), which names the rates of "
            "the logs"
        )
    return found[0]


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as fault:
        raise InputError(f"{folder}: {fault}") from fault


def _logs(folder: Path) -> dict[int, Path]:
    """Return the logs of a folder by the numbers of their jobs."""
    logs: dict[int, Path] = {}
    for path in _files(folder):
        if (named := NAME.fullmatch(path.name)) is None:
            continue
        if named[2]:
            raise InputError(f"{path}: found a compressed log; allowed: what --inflate-log gives")
        if named[1] is None:
            raise InputError(
                f"{path}: found a log that jobs share; allowed: one a job (per_job_logs=1)"
            )
        number = int(named[1])
        if number in logs:
            raise InputError(
                f"{path}: found job {number} in {logs[number].name}, too; allowed: the logs of "
                "one run"
            )
        logs[number] = path
    return logs


def _options(section: Section) -> dict[str, str]:
    return {name: option.text or "" for name, option in section.options.items()}


def _log(logs: Mapping[int, Path], number: int, folder: Path, place: str) -> Path:
    if number not in logs:
        raise InputError(
            f"{folder}: found no log of {place}; allowed: a file that ends in _clat.{number}.log"
        )
    return logs[number]


def _entries(paths: list[Path], digest: hashlib._Hash) -> fio_log.Entries:
    entries = fio_log.Entries()
    for path in paths:
        fio_log.read(path, entries, digest)
    if not entries.done:
        raise InputError(f"{paths[0]}: found no entry; allowed: one or more")
    return entries


def _measured(entries: fio_log.Entries, place: str) -> Pass:
    latencies = dict(entries.latencies())
    if (least := min(latencies[f"{name}_p50"] for name in entries.done)) < 1:
        raise InputError(
            f"{place}: found a median of {least:g} us in its logs; allowed: nanoseconds, as "
            "fio 3.0 and later write them"
        )
    return Pass(place, "", latencies, entries.achieved)
