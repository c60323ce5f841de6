"""Statistics of a workload in words and rows, shared by the terminal and the page."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copyback.trace import TraceInfo
    from copyback.trace.statistics import DistributionStatistics, OperationStatistics

Row = tuple[str, str]

#: Placement handles that are told, the lowest numbers first.
HANDLES_TOLD = 8


def name(info: TraceInfo) -> str:
    """Return what the workload is called, without its folders."""
    return PurePath(info.source).name


def present(info: TraceInfo) -> dict[str, OperationStatistics]:
    """Return the kinds of requests that there are."""
    every = info.operations
    kinds = {"read": every.read, "write": every.write, "trim": every.trim, "flush": every.flush}
    return {kind: operation for kind, operation in kinds.items() if operation.count}


def workload(info: TraceInfo) -> list[Row]:
    """Return the key facts."""
    what = f"{name(info)} · {info.format}" if info.format else name(info)
    return [
        ("Workload", what),
        ("Requests", _requests(info)),
        ("Addresses", _addresses(info)),
        ("Footprint", _footprint(info)),
        *_handles(info),
    ]


def _handles(info: TraceInfo) -> list[Row]:
    """Return what is written with each placement handle, where any are named."""
    if not info.handles:
        return []
    told = info.handles[:HANDLES_TOLD]
    facts = [
        f"{handle.handle}: {units.size(handle.bytes)} in {units.count(handle.requests)} writes"
        for handle in told
    ]
    others = len(info.handles) - len(told)
    return [("Handles", " · ".join(facts + ([f"and {others} more"] if others else [])))]


def _requests(info: TraceInfo) -> str:
    facts = [units.count(info.requests)]
    if info.seconds is None:
        facts.append("a closed loop, without times")
    else:
        facts.append(f"over {units.time_s(info.seconds)}")
        if info.requests_per_s is not None:
            facts.append(f"{units.rate(info.requests_per_s)} a second")
    if info.read_share is not None and info.mean_bytes is not None:
        facts.append(f"{units.share(info.read_share)} reads")
        facts.append(f"{units.size(info.bytes)}, {units.size(info.mean_bytes)} each")
    return " · ".join(facts)


def _addresses(info: TraceInfo) -> str:
    facts = [f"up to {units.size(info.end_bytes)}", f"{units.count(info.sectors)} sectors"]
    devices = info.devices.count
    if devices > 1:
        facts.append(f"{units.count(devices)} devices over one another")
    return " · ".join(facts)


def _footprint(info: TraceInfo) -> str:
    touched, written = info.footprint.touched_pages, info.footprint.written_pages
    page = info.footprint.page_bytes
    return (
        f"{units.size(touched * page)} in {units.count(touched)} pages of {units.size(page)} · "
        f"{units.size(written * page)} written in {units.count(written)}"
    )


def sequentiality(operation: OperationStatistics) -> tuple[str, str]:
    """Return the shares that continue the last request, and one of the last 32."""
    return (
        units.share(operation.sequential_share),
        units.share(operation.sequential_share_of_streams),
    )


def overwrites(info: TraceInfo) -> list[Row]:
    """Return how often and how soon pages are written again."""
    told = info.overwrites
    if not told.page_writes:
        return []
    rows = [
        (
            "Overwrites",
            f"{units.share(told.share)} of {units.count(told.page_writes)} page writes",
        )
    ]
    distance = told.distance_bytes
    if distance is not None:
        marks = [
            f"p10 {units.size(round(distance.p10))}",
            f"median {units.size(round(distance.p50))}",
            f"p90 {units.size(round(distance.p90))}",
            f"p99 {units.size(round(distance.p99))}",
        ]
        rows.append(("Distance", f"{' · '.join(marks)} written between"))
    return rows


def arrivals(info: TraceInfo) -> list[Row]:
    """Return times between arrivals, bursts and idle times."""
    rows: list[Row] = []
    gaps = info.interarrival_us
    if gaps is not None:
        variation = gaps.coefficient_of_variation
        marks = [
            f"mean {units.time_us(gaps.mean)}",
            f"median {units.time_us(gaps.p50)}",
            f"p99 {units.time_us(gaps.p99)}",
            f"max {units.time_us(gaps.max)}",
            f"variation {units.decimal(variation)}",
        ]
        rows.append(("Interarrival", " · ".join(marks)))
    rates = info.rates or []
    marked = {
        "Peak to mean": [
            f"{units.decimal(rate.peak_to_mean)} ({_seconds(rate.window_s)})"
            for rate in rates
            if rate.peak_to_mean is not None
        ],
        "Dispersion": [
            f"{units.decimal(rate.index_of_dispersion)} ({_seconds(rate.window_s)})"
            for rate in rates
            if rate.index_of_dispersion is not None
        ],
        "Idle": [
            f"{units.share(gaps.share)} (> {_seconds(gaps.longer_than_s)})"
            for gaps in info.idle or []
            if gaps.share is not None
        ],
    }
    return rows + [(label, " · ".join(marks)) for label, marks in marked.items() if marks]


def _seconds(seconds: float) -> str:
    """Return one of the round times that windows and gaps have."""
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"


def measured(info: TraceInfo) -> list[Row]:
    """Return the response times that the trace holds."""
    rows: list[Row] = []
    measured: Mapping[str, DistributionStatistics] = dict(info.measured_response_us or {})
    for kind, times in measured.items():
        marks = [
            f"mean {units.time_us(times.mean)}",
            f"median {units.time_us(times.p50)}",
            f"p99 {units.time_us(times.p99)}",
            f"max {units.time_us(times.max)}",
        ]
        rows.append((f"Measured {kind}", " · ".join(marks)))
    return rows
