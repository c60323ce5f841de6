"""The numbers behind the plots, thinned to what a screen can show."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.report import array, heat
from copyback.report.thinned import Thinned
from copyback.words import classes, describe
from copyback.words.flows import flows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from copyback.frame import Frame
    from copyback.result import Result

    Column = NDArray[np.float64]

#: Points of a distribution curve.
CURVE_POINTS = 480

#: Flows that have a curve, as many as there are colours.
MOST_FLOWS = 8

MIB = 1 << 20

# The column of the series that only paced collections have.
PACE = "gc_steps_charged"


def data(result: Result) -> dict[str, Any]:
    """Return everything that the page's script draws."""
    is_array = result.summary.devices is not None
    return {
        "cdf": distribution(result),
        "flows": flow_curves(result),
        "density": array.density(result) if is_array else {},
        "time": timeline(result),
        "flow_times": flow_times(result),
        "classes": held(result),
        "heat": heat.data(result),
        "late": kept_slowest(result),
    }


def kept_slowest(result: Result) -> list[list[float]]:
    """Return when each of the slowest requests ended, in seconds, and how long it took."""
    return [
        [(request["arrival_us"] + request["response_us"]) / 1e6, request["response_us"]]
        for request in result.slowest or []
    ]


def distribution(result: Result) -> dict[str, list[float | None]]:
    """Return response times over a tail axis.

    ``tail`` counts nines: 0 is the fastest request, 1 the 90th percentile, 2 the 99th, 3 the
    99.9th. The other keys hold the response time there, in microseconds, for each operation,
    simulated and as the trace holds it; a curve ends at its slowest request.
    """
    counts = {
        response.curve: int(response.times["count"])
        for response in describe.responses(result.summary)
    }
    return _curves(result, counts)


def flow_curves(result: Result) -> dict[str, Any]:
    """Return the response times of each flow over a tail axis, and what the flows are called."""
    several = flows(result)[:MOST_FLOWS]
    counts = {f"{flow.curves}all": int(flow.summary.response_us.all.count) for flow in several}
    curves = _curves(result, {curve: count for curve, count in counts.items() if count})
    if not curves:
        return {}
    drawn = [
        [flow.label, curves[f"{flow.curves}all"]]
        for flow in several
        if f"{flow.curves}all" in curves
    ]
    return {"tail": curves["tail"], "curves": drawn}


def _curves(result: Result, counts: Mapping[str, int]) -> dict[str, list[float | None]]:
    """Return curves over a tail axis by operation, of which each has so many requests."""
    curves: dict[str, tuple[Column, Column, int]] = {}
    table = result.distribution
    operations = np.asarray(table["operation"].to_list())
    values = table["response_us"].to_numpy()
    fractions = table["fraction"].to_numpy()
    for operation, count in counts.items():
        chosen = operations == operation
        if chosen.any():
            curves[operation] = values[chosen], fractions[chosen], count
    if not curves:
        return {}
    longest = max(math.log10(count) for *_, count in curves.values())
    tail = np.linspace(0.0, longest, CURVE_POINTS)
    columns: dict[str, list[float | None]] = {"tail": rounded(tail)}
    for operation, (times, shares, count) in curves.items():
        columns[operation] = rounded(at_tail(tail, times, shares, count))
    return columns


def at_tail(tail: Column, times: Column, shares: Column, count: int) -> Column:
    """Return the response time at each place of a tail axis; NaN beyond the slowest request.

    Parameters
    ----------
    times, shares
        A distribution: response times, and the share of requests that take no longer.
    count
        Requests.
    """
    index = np.minimum(np.searchsorted(shares, 1.0 - 10.0**-tail - 1e-12), len(times) - 1)
    points = times[index].astype(np.float64)
    points[tail > math.log10(count) + 1e-9] = np.nan
    return points


def timeline(result: Result) -> dict[str, Any]:
    """Return the time series, several intervals in one where there are too many."""
    table = result.series
    if not len(table):
        return {}
    source = _columns(table)
    rows = Thinned(source)
    total, mean, only_if, span = rows.total, rows.mean, rows.only_if, rows.span
    config = result.config
    dies, planes = max(describe.dies(config), 1), max(describe.planes(config), 1)
    host, media = total("write_bytes"), total("media_bytes")
    with np.errstate(invalid="ignore", divide="ignore"):
        amplification = media / host
        so_far = np.cumsum(media) / np.cumsum(host)
    columns = {
        "start": rows.starts,
        "mean": only_if(mean("response_mean_us", "requests"), "requests"),
        "max": only_if(rows.peak("response_max_us"), "requests"),
        "read_mean": only_if(mean("read_mean_us", "reads"), "reads"),
        "write_mean": only_if(mean("write_mean_us", "writes"), "writes"),
        # What the page needs to take several intervals together.
        "requests": total("requests"),
        "reads": total("reads"),
        "writes": total("writes"),
        "read_mib_s": total("read_bytes") / MIB / span,
        "write_mib_s": total("write_bytes") / MIB / span,
        "gc_share": 100.0 * total("gc_busy_us") / 1e6 / span / dies,
        "collections": total("collections"),
        "free_mean": total("free_blocks_total") / rows.intervals / planes,
        "free_min": rows.low("free_blocks_min"),
        "amplification": amplification,
        "amplification_so_far": so_far,
        "erases": total("erases"),
    }
    if PACE in source:
        with np.errstate(invalid="ignore", divide="ignore"):
            columns["pace"] = total(PACE) / total("host_programs")
        columns["throttled"] = total("throttled_writes")
    return {
        **{name: rounded(column) for name, column in columns.items()},
        "end": rows.end,
        "interval": median(span.tolist()),
    }


def flow_times(result: Result) -> list[dict[str, Any]]:
    """Return what each flow was served over time, in the rows of the timeline."""
    table = result.flows
    if table is None or not len(table):
        return []
    numbers = np.asarray(table["flow"].to_numpy())
    found = []
    for flow in flows(result)[:MOST_FLOWS]:
        own = numbers == flow.index
        rows = Thinned({name: column[own] for name, column in _columns(table).items()})
        size = rows.total("read_bytes") + rows.total("write_bytes")
        columns = {
            "requests": rows.total("requests"),
            "mean": rows.only_if(rows.mean("response_mean_us", "requests"), "requests"),
            "max": rows.only_if(rows.peak("response_max_us"), "requests"),
            "mib_s": size / MIB / rows.span,
        }
        named = {name: rounded(column) for name, column in columns.items()}
        found.append({"name": flow.label, **named})
    return found


def _columns(table: Frame) -> dict[str, Column]:
    return {name: np.asarray(table[name].to_numpy(), dtype=np.float64) for name in table.columns}


def held(result: Result) -> list[list[Any]]:
    """Return the blocks that each class holds over time, and those that are free.

    Each is a name and its column, in the rows of the timeline: the mean of what was held at the
    ends of the intervals that a row stands for.
    """
    bands = classes.bands(result)
    if not bands:
        return []
    groups = [(band.label, band.columns) for band in bands] + [("free", ["free_blocks_total"])]
    table = result.series
    rows = Thinned(_columns(table))

    def mean(columns: list[str]) -> Column:
        blocks = np.sum([table[name].to_numpy() for name in columns], axis=0, dtype=np.float64)
        return np.asarray(np.add.reduceat(blocks, rows.first) / rows.intervals)

    return [[label, rounded(mean(columns))] for label, columns in groups]


def rounded(column: Column, digits: int = 5) -> list[float | None]:
    """Return some significant digits, and None where there is no value."""
    return [
        float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in column.tolist()
    ]
