"""Statistics of a workload: a class for each table of ``copyback trace info --json``.

Generated from the schema that the simulator tells by ``make generated``; do not edit.
"""

from __future__ import annotations

from typing import Literal

from copyback.data.section import Section


class Curve(Section, kw_only=True):
    """A cumulative distribution."""

    share: list[float]
    """For each the share of values at or below it."""
    value: list[float]
    """Values, ascending."""


class CurveByKind(Section, kw_only=True):
    """One statistic for each kind of request that has it."""

    flush: Curve | None = None
    """Of flushes."""
    read: Curve | None = None
    """Of reads."""
    trim: Curve | None = None
    """Of trims."""
    write: Curve | None = None
    """Of writes."""


class Curves(Section, kw_only=True):
    """Cumulative distributions."""

    interarrival_us: Curve | None
    """Times between arrivals."""
    measured_response_us: CurveByKind
    """Response times that the trace holds."""
    overwrite_distance_bytes: Curve
    """Bytes written from one write of a page to the next, the first of them included."""
    size_bytes: CurveByKind
    """Sizes of requests."""


class TraceDevice(Section, kw_only=True):
    """A device of a trace."""

    device: int
    """Number of the device in the trace."""
    requests: int
    """Requests to it."""


class TraceDevices(Section, kw_only=True):
    """The devices of a trace."""

    busiest: list[TraceDevice]
    """The ten with the most requests, busiest first."""
    count: int
    """Number of devices in the trace."""


class FootprintStatistics(Section, kw_only=True):
    """The pages that requests touch."""

    page_bytes: int
    """Bytes of a page."""
    touched_pages: int
    """Pages that were read or written."""
    written_pages: int
    """Pages that were written."""


class TraceHandle(Section, kw_only=True):
    """Writes with a placement handle."""

    bytes: int
    """Bytes that were written with the handle."""
    handle: int
    """The handle."""
    requests: int
    """Writes with it."""


class IdleStatistics(Section, kw_only=True):
    """Gaps longer than a threshold."""

    gaps: int
    """Number of gaps that are longer than the threshold."""
    longer_than_s: float
    """The threshold, in seconds."""
    share: float | None
    """Share of the whole time that these gaps take, 0 to 1."""


class GapStatistics(Section, kw_only=True):
    """Times between arrivals."""

    coefficient_of_variation: float | None
    """Standard deviation in units of the mean; None if the mean is zero."""
    count: int
    """Number of values."""
    max: float
    """The greatest."""
    mean: float
    """Mean of the values."""
    min: float
    """The least."""
    p1: float
    """1st percentile."""
    p10: float
    """10th percentile."""
    p25: float
    """25th percentile."""
    p50: float
    """Median."""
    p75: float
    """75th percentile."""
    p90: float
    """90th percentile."""
    p95: float
    """95th percentile."""
    p99: float
    """99th percentile."""
    p99_9: float
    """99.9th percentile."""


class DistributionStatistics(Section, kw_only=True):
    """Distribution of a number: quantiles are at most 0.1% low, the rest is exact."""

    count: int
    """Number of values."""
    max: float
    """The greatest."""
    mean: float
    """Mean of the values."""
    min: float
    """The least."""
    p1: float
    """1st percentile."""
    p10: float
    """10th percentile."""
    p25: float
    """25th percentile."""
    p50: float
    """Median."""
    p75: float
    """75th percentile."""
    p90: float
    """90th percentile."""
    p95: float
    """95th percentile."""
    p99: float
    """99th percentile."""
    p99_9: float
    """99.9th percentile."""


class DistributionStatisticsByKind(Section, kw_only=True):
    """One statistic for each kind of request that has it."""

    flush: DistributionStatistics | None = None
    """Of flushes."""
    read: DistributionStatistics | None = None
    """Of reads."""
    trim: DistributionStatistics | None = None
    """Of trims."""
    write: DistributionStatistics | None = None
    """Of writes."""


class CommonSize(Section, kw_only=True):
    """A size and how often it occurs."""

    bytes: int
    """The size."""
    count: int
    """Requests that have it."""


class OperationStatistics(Section, kw_only=True):
    """Statistics of the requests of one kind."""

    bytes: int
    """Sum of their lengths, in bytes."""
    common_sizes: list[CommonSize]
    """The most common sizes, most common first."""
    count: int
    """Number of requests."""
    sequential_share: float | None
    """Share that starts where the one before it ended."""
    sequential_share_of_streams: float | None
    """Share that starts where one of the 32 before it ended."""
    size_bytes: DistributionStatistics | None
    """Distribution of their lengths, in bytes."""


class Operations(Section, kw_only=True):
    """Statistics of each kind of request."""

    flush: OperationStatistics
    """Flushes."""
    read: OperationStatistics
    """Reads."""
    trim: OperationStatistics
    """Trims."""
    write: OperationStatistics
    """Writes."""


class OverwriteStatistics(Section, kw_only=True):
    """Overwrites: how often and how soon pages are written again."""

    distance_bytes: DistributionStatistics | None
    """Bytes written from one write of a page to the next, the first of them included."""
    page_writes: int
    """Writes of pages."""
    share: float | None
    """Share of them to pages that were written before."""


class RateStatistics(Section, kw_only=True):
    """Arrivals in windows of one width. Only windows that have ended count."""

    index_of_dispersion: float | None
    """Variance over mean: one if arrivals are independent."""
    mean: float | None
    """Arrivals in one, on average."""
    peak: int | None
    """Arrivals in the fullest."""
    peak_to_mean: float | None
    """The fullest as a multiple of the mean."""
    window_s: float
    """Width of a window, in seconds."""
    windows: int
    """Number of windows that have ended."""


class SeriesStatistics(Section, kw_only=True):
    """The workload over time: a number for each interval."""

    interval: float
    """Width of an interval, in units of `unit`."""
    read_bytes: list[int]
    """Bytes that these read."""
    reads: list[int]
    """Reads among them."""
    requests: list[int]
    """Requests of all kinds."""
    touched_pages: list[int]
    """Pages touched since the start."""
    unit: Literal["s", "requests"]
    """Seconds, or requests if these have no times."""
    write_bytes: list[int]
    """Bytes that others wrote."""
    written_pages: list[int]
    """Pages written since the start."""


class TraceStatistics(Section, kw_only=True):
    """Statistics of a workload.

    Sizes are in bytes, times in the unit that the key names. What can't be known of so few
    requests, or without arrival times, is None.
    """

    bytes: int
    """Bytes read and written."""
    curves: Curves
    """Cumulative distributions, for plots."""
    devices: TraceDevices
    """The devices that they are to."""
    end_bytes: int
    """First byte beyond the highest request."""
    footprint: FootprintStatistics
    """The pages that they touch."""
    format: str | None
    """The trace's format; None of what is generated."""
    handles: list[TraceHandle] | None = None
    """Writes by placement handle, in the order of the handles; missing where none is named."""
    idle: list[IdleStatistics] | None
    """Gaps longer than some thresholds, the lowest first."""
    interarrival_us: GapStatistics | None
    """Times between arrivals, in microseconds."""
    mean_bytes: float | None
    """Bytes of a read or a write, on average."""
    measured_response_us: DistributionStatisticsByKind | None
    """The response times that the trace holds, in microseconds, by kind."""
    notes: list[str]
    """Notes for the user about the trace."""
    operations: Operations
    """The requests by kind."""
    overwrites: OverwriteStatistics
    """Overwrites: how often and how soon pages are written again."""
    rates: list[RateStatistics] | None
    """Arrivals in windows, the shortest first."""
    read_share: float | None
    """Share of reads among reads and writes."""
    requests: int
    """Requests in all."""
    requests_per_s: float | None
    """Requests a second over that time."""
    schema: int
    """Version of this form."""
    seconds: float | None
    """From the first arrival to the last."""
    sectors: int
    """Sectors of 512 bytes up to there."""
    series: SeriesStatistics
    """The workload over time."""
    source: str
    """The trace's name, or what kind of workload it is."""
    timed: bool
    """Whether the requests have times; those of a closed loop have none."""
    version: str
    """Version of the simulator."""
