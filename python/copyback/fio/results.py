"""A result in the layout of fio's JSON (``--output-format=json+``), for the tools that read that.

Each of several flows is a job; a workload of one is one job. Times count from a request's arrival
to its end, so submission takes none (``slat_ns``), and ``clat_ns`` and ``lat_ns`` are the same.
Nothing of the machine that runs the simulation is in it. What is not simulated is under
``copyback notes``, a key that fio does not have.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback._core import size_bytes, time_ns
from copyback.data.outputs import replace_file
from copyback.fio.steadystate import steadystate
from copyback.inputs.arguments import path as argument_path
from copyback.words import describe
from copyback.words.flows import flows

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from copyback.result import Result
    from copyback.summary import FlowSummary, ResponseSummary, Summary

#: What fio lists if not told otherwise.
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)

#: Ends of the intervals of fio's coarse histograms, each in the next interval; the last of one
#: histogram begins the next.
_BOUNDS_NS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_BOUNDS_MS = (*_BOUNDS_NS, 2000)

#: Keys of `io_bytes` in the summary, by direction.
_DIRECTIONS = ("read", "write", "trim")

#: What fio says of latencies that there are none of.
_NOTHING = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}


def fio_json(result: Result) -> dict[str, Any]:
    """Return a result as fio reports one.

    Returns
    -------
    dict
        What ``json.dumps`` makes a file of that reads like fio's.
    """
    return {
        "fio version": f"copyback-{result.summary.version}",
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "",
        # A steady state is that of all jobs together.
        "jobs": [_job(work, result) | steadystate(result) for work in _works(result)],
        "disk_util": [],
        "copyback notes": result.summary.notes,
    }


@dataclass(frozen=True)
class _Work:
    """Source of a job: the whole of a run, or one of its flows.

    Attributes
    ----------
    config
        Its table of the configuration.
    summary
        Its numbers.
    flow
        Its place among several flows; None of the whole.
    curves
        What its operations in the distribution begin with.
    """

    name: str
    config: Mapping[str, Any]
    summary: Summary | FlowSummary
    flow: int | None = None
    curves: str = ""

    @property
    def runtime_s(self) -> float:
        """Seconds in which requests were measured: without ramps and late starts."""
        throughput = self.summary.throughput
        measured = throughput.measured_s
        return throughput.simulated_s if measured is None else measured


def _works(result: Result) -> list[_Work]:
    several = [
        _Work(
            flow.name if flow.summary.name else f"flow {flow.name}",
            flow.config,
            flow.summary,
            flow.index,
            flow.curves,
        )
        for flow in flows(result)
    ]
    whole = _Work(describe.title(result), result.config["workload"], result.summary)
    return several or [whole]


def _job(work: _Work, result: Result) -> dict[str, Any]:
    curves = _curves(work, result)
    runtime_ms = round(work.runtime_s * 1e3)
    samples = _Samples(work, result)
    return {
        "jobname": work.name,
        "groupid": 0,
        "error": 0,
        "eta": 0,
        "elapsed": round(runtime_ms / 1e3),
        "job options": {"name": work.name, **_options(work.config)},
        **{
            direction: _direction(work, direction, curves) | samples.spread(direction)
            for direction in _DIRECTIONS
        },
        "sync": _sync(work, curves.get("flush")),
        "job_runtime": runtime_ms,
        # Tools look these up, whatever they hold.
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        **_coarse([curves[name] for name in _DIRECTIONS if name in curves]),
    }


def write_fio_json(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write a result as fio's JSON, whole or not at all."""
    return replace_file(
        argument_path("write_fio_json", path),
        (json.dumps(fio_json(result), indent=2) + "\n").encode(),
    )


def _options(load: Mapping[str, Any]) -> dict[str, str]:
    """Return those options of fio's for the workload that tools tell runs apart by."""
    if load["type"] != "synthetic":
        return {}
    is_random = load["sequential_share"] < 1
    reads = load["read_share"]
    kind = {1.0: "read", 0.0: "trim" if load["trim_share"] == 1 else "write"}.get(reads, "rw")
    options = {"rw": f"rand{kind}" if is_random else kind, "numjobs": "1"}
    if kind == "rw":
        options["rwmixread"] = f"{100 * reads:g}"
    if isinstance(load["request_size"], str):
        bytes_ = size_bytes(load["request_size"])
        options["bs"] = f"{bytes_ // 1024}k" if bytes_ % 1024 == 0 else str(bytes_)
    if load.get("iodepth") is not None:
        options["iodepth"] = str(load["iodepth"])
    limits = load.get("rate")
    if isinstance(limits, dict) and limits["type"] == "by_operation":
        told = [_iops(limits[name]) for name in ("read", "write")]
        if any(told):
            options["rate_iops"] = ",".join(told)
    return options


def _iops(limit: Mapping[str, Any] | str) -> str:
    """Return a limit in requests a second as fio has it; nothing if it is none, or of bytes."""
    if isinstance(limit, str) or limit["type"] != "requests":
        return ""
    gap = limit["gap"]
    return str(round(1e9 / time_ns(gap["mean"] if isinstance(gap, dict) else gap)))


class _Curve:
    """A distribution: response times in ns, and how many requests took just so long."""

    def __init__(
        self, times_us: NDArray[np.float64], shares: NDArray[np.float64], total: int
    ) -> None:
        self.times_ns = np.rint(times_us * 1e3).astype(np.int64)
        self.upto = np.rint(shares * total).astype(np.int64)
        self.counts = np.diff(self.upto, prepend=0)
        self.total = total

    def percentile(self, per_cent: float) -> int:
        """Return the time that so many per cent of the requests do not exceed."""
        wanted = np.ceil(per_cent / 100 * self.total - 1e-9)
        place = np.searchsorted(self.upto, wanted)
        return int(self.times_ns[min(int(place), len(self.times_ns) - 1)])

    def bins(self) -> dict[str, int]:
        """Return how many requests took just so long."""
        there = self.counts > 0
        pairs = zip(self.times_ns[there].tolist(), self.counts[there].tolist(), strict=True)
        return {str(time): count for time, count in pairs}

    def between(self, least_ns: int, below_ns: float) -> int:
        """Return how many requests took at least one time and less than the other."""
        chosen = (self.times_ns >= least_ns) & (self.times_ns < below_ns)
        return int(self.counts[chosen].sum())


def _curves(work: _Work, result: Result) -> dict[str, _Curve]:
    table = result.distribution
    operations = np.asarray(table["operation"].to_list())
    times, shares = table["response_us"].to_numpy(), table["fraction"].to_numpy()
    found = {}
    for operation in ("all", "read", "write", "trim", "flush"):
        of_class = work.summary.response_us.get(operation)
        total = of_class.count if of_class else 0
        chosen = operations == f"{work.curves}{operation}"
        if total and chosen.any():
            found[operation] = _Curve(times[chosen], shares[chosen], total)
    return found


def _direction(work: _Work, direction: str, curves: Mapping[str, _Curve]) -> dict[str, Any]:
    """Return what fio has for reads, writes or trims."""
    requests, runtime_s = work.summary.requests, work.runtime_s
    io_bytes = requests.get(f"{direction}_bytes", 0)
    total = requests.get(f"{direction}s", 0)
    per_second = (lambda number: number / runtime_s) if runtime_s else (lambda _: 0.0)
    curve = curves.get(direction)
    times = work.summary.response_us.get(direction)
    latency = _NOTHING if curve is None else _latency(times, curve.total)
    completion = dict(latency)
    if curve is not None:
        completion["percentile"] = {f"{p:.6f}": curve.percentile(p) for p in PERCENTILES}
        completion["bins"] = curve.bins()
    return {
        "io_bytes": io_bytes,
        "io_kbytes": io_bytes // 1024,
        "bw_bytes": round(per_second(io_bytes)),
        "bw": round(per_second(io_bytes) / 1024),
        "iops": round(per_second(total), 6),
        "runtime": round(runtime_s * 1e3),
        "total_ios": total,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _NOTHING,
        "clat_ns": completion,
        "lat_ns": latency,
    }


def _sync(work: _Work, curve: _Curve | None) -> dict[str, Any]:
    """Return what fio has for fsync and fdatasync, whose data the drive flushes."""
    latency: dict[str, Any] = dict(_NOTHING)
    if curve is not None:
        latency = _latency(work.summary.response_us["flush"], curve.total)
        latency["percentile"] = {f"{p:.6f}": curve.percentile(p) for p in PERCENTILES}
    return {"total_ios": work.summary.requests.flushes, "lat_ns": latency}


def _latency(times: ResponseSummary, total: int) -> dict[str, Any]:
    return {
        "min": round((times.min or 0.0) * 1e3),
        "max": round((times.max or 0.0) * 1e3),
        "mean": round((times.mean or 0.0) * 1e3, 6),
        "stddev": round((times.stddev or 0.0) * 1e3, 6),
        "N": total,
    }


class _Samples:
    """Variation of bandwidth (KiB/s) and requests a second over the intervals of the series."""

    def __init__(self, work: _Work, result: Result) -> None:
        table = result.series
        if work.flow is not None and result.flows is not None:
            table = result.flows.filter(result.flows["flow"] == work.flow)
        ends = table["end_s"].to_numpy()
        starts = table["start_s"].to_numpy()
        throughput = work.summary.throughput
        begin = throughput.measured_from_s or 0.0
        # A job has no samples in its ramp, nor after its end.
        used = (ends > starts) & (starts >= begin) & (starts < throughput.simulated_s)
        self._spans = (ends - starts)[used]
        self._columns = {
            name: table[name].to_numpy()[used]
            for name in ("reads", "writes", "read_bytes", "write_bytes")
        }

    def spread(self, direction: str) -> dict[str, Any]:
        """Return the samples of a direction; there are none of trims."""
        count, total = self._columns.get(f"{direction}s"), self._columns.get(f"{direction}_bytes")
        none = np.empty(0)
        bandwidth = none if total is None else total / self._spans / 1024
        iops = none if count is None else count / self._spans
        return {
            **_spread("bw", bandwidth, "dev"),
            "bw_agg": 100.0 if bandwidth.size else 0.0,
            **_spread("iops", iops, "stddev"),
        }


def _spread(name: str, values: NDArray[np.float64], deviation: str) -> dict[str, Any]:
    there = values.size > 0
    return {
        f"{name}_min": int(values.min()) if there else 0,
        f"{name}_max": int(values.max()) if there else 0,
        f"{name}_mean": round(float(values.mean()), 6) if there else 0.0,
        f"{name}_{deviation}": round(float(values.std()), 6) if there else 0.0,
        f"{name}_samples": int(values.size),
    }


def _coarse(curves: Sequence[_Curve]) -> dict[str, dict[str, float]]:
    """Return fio's three coarse histograms of reads, writes and trims together, in per cent."""
    total = sum(curve.total for curve in curves)

    def share(least_ns: int, below_ns: float) -> float:
        count = sum(curve.between(least_ns, below_ns) for curve in curves)
        return round(100.0 * count / total, 6) if total else 0.0

    histograms: dict[str, dict[str, float]] = {}
    least = 0
    for name, unit, bounds in (
        ("latency_ns", 1, _BOUNDS_NS),
        ("latency_us", 1_000, _BOUNDS_NS),
        ("latency_ms", 1_000_000, _BOUNDS_MS),
    ):
        ends = [bound * unit for bound in bounds]
        starts = [least, *ends[:-1]]
        histograms[name] = {
            str(bound): share(start, end)
            for bound, start, end in zip(bounds, starts, ends, strict=True)
        }
        least = ends[-1]
    histograms["latency_ms"][">=2000"] = share(least, math.inf)
    return histograms
