"""Load curves in fio's JSON: each job with a rate is a rate of the curve."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.calibration.load.offered import RATE, clones, offered
from copyback.calibration.load.table import QUANTILES, STATISTICS, Pass
from copyback.calibration.search.bench import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: Nanoseconds of a microsecond.
US = 1e3


def passes(path: Path, content: str) -> Iterator[tuple[float, Pass]]:
    """Yield the offered rate of each job that has one, and what was measured of it.

    Other jobs, such as one that fills the drive, are passed over, and it says so.

    Raises
    ------
    InputError
        If the file is not fio's JSON, or a job of it makes no sense.
    """
    for place, job, options in _jobs(path, content):
        if RATE not in options:
            print(f"copyback: {place}: passed over, as it has no {RATE}", file=sys.stderr)
            continue
        done = [name for name in OPERATIONS if job.get(name, {}).get("total_ios")]
        latencies = dict(_latencies(job, done, place))
        achieved = float(sum(job[name]["iops"] for name in done))
        yield _offered(options, done, place), Pass(place, "", latencies, achieved)


def _jobs(path: Path, content: str) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, str]]]:
    """Yield the place, the numbers and the options of each job."""
    try:
        found = json.loads(content)
        common = found.get("global options", {})
        for job in found["jobs"]:
            yield f"{path}: job {job['jobname']}", job, common | job.get("job options", {})
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as fault:
        raise InputError(
            f"{path}: found no jobs as fio writes them ({fault}); allowed: a table, or what fio "
            "--output-format=json leaves"
        ) from None


def _offered(options: Mapping[str, str], done: list[str], place: str) -> float:
    """Return the requests a second that a job asks for, whose clones are reported together."""
    if (number := clones(options, place)) > 1 and "group_reporting" not in options:
        raise InputError(
            f"{place}: numjobs: found {number} that are reported apart; allowed: "
            "group_reporting, or one"
        )
    return offered(options, done, place)


def _latencies(job: Mapping[str, Any], done: list[str], place: str) -> Iterator[tuple[str, float]]:
    """Yield metrics and microseconds from submission to completion."""
    for name in done:
        times = job[name].get("clat_ns", {})
        told = {float(key): value for key, value in times.get("percentile", {}).items()}
        if not told:
            raise InputError(f"{place}: {name}: found no percentiles of clat_ns; allowed: some")
        for statistic in (*STATISTICS, *QUANTILES):
            value = times["mean"] if statistic == "mean" else told.get(_percent(statistic))
            if value is not None:
                yield f"{name}_{statistic}", float(value) / US


def _percent(statistic: str) -> float:
    """Return what a percentile is called in fio's JSON.

    >>> _percent("p99_9")
    99.9
    """
    return float(statistic.removeprefix("p").replace("_", "."))
