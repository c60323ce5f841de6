"""The page of plots that ``copyback trace info --report`` writes: self-contained, opens offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from copyback import report
from copyback.trace import describe
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copyback.trace import TraceInfo
    from copyback.trace.statistics import Curve

MIB = 1 << 20


def render(info: TraceInfo) -> str:
    """Return the page of a workload."""
    return (
        report.environment()
        .get_template("trace.html.j2")
        .render(
            title=describe.name(info),
            version=info.version,
            facts=describe.workload(info)[1:],
            cards=_cards(info),
            operations=_operations(info),
            rows=describe.arrivals(info) + describe.overwrites(info),
            measured=describe.measured(info),
            notes=info.notes,
            data_timed=info.timed,
            data=report.script_json(data(info)),
            asset=report.asset,
        )
    )


def data(info: TraceInfo) -> dict[str, Any]:
    """Return everything that the page's script draws."""
    curves = info.curves
    gaps, distances = curves.interarrival_us, curves.overwrite_distance_bytes
    return {
        "timed": info.timed,
        "sizes": aligned(dict(curves.size_bytes)),
        "gaps": aligned({"all": gaps}) if gaps is not None else None,
        "distances": aligned({"write": distances}),
        "measured": aligned(dict(curves.measured_response_us)),
        "series": _series(info),
    }


def aligned(curves: Mapping[str, Curve]) -> dict[str, list[float]]:
    """Return several curves over one axis, which is logarithmic: zero counts with the least."""
    found = {
        kind: (np.asarray(curve.value), np.asarray(curve.share))
        for kind, curve in curves.items()
        if curve.value
    }
    values = [values for values, _ in found.values()]
    axis = np.unique(np.concatenate(values)) if values else np.empty(0)
    axis = axis[axis > 0]
    columns = {"x": _rounded(axis)}
    for kind, (values_of, shares) in found.items():
        index = np.searchsorted(values_of, axis, side="right") - 1
        columns[kind] = _rounded(np.where(index >= 0, shares[np.maximum(index, 0)], 0.0))
    return columns


def _series(info: TraceInfo) -> dict[str, Any]:
    series, page = info.series, info.footprint.page_bytes
    width = series.interval
    count = len(series.requests)

    def rate(column: list[int], scale: float = 1.0) -> list[float]:
        return _rounded(np.asarray(column, dtype=np.float64) / scale / width)

    return {
        "place": _rounded(np.arange(count) * width),
        "end": count * width,
        "requests_s": rate(series.requests),
        "reads_s": rate(series.reads),
        "read_mib_s": rate(series.read_bytes, MIB),
        "write_mib_s": rate(series.write_bytes, MIB),
        "touched": [pages * page for pages in series.touched_pages],
        "written": [pages * page for pages in series.written_pages],
    }


def _rounded(column: Any) -> list[float]:
    """Return six significant digits."""
    return [float(f"{value:.6g}") for value in column.tolist()]


def _operations(info: TraceInfo) -> list[list[str]]:
    rows = []
    for kind, operation in describe.present(info).items():
        size = operation.size_bytes
        row = [kind, units.count(operation.count)]
        if size is not None:
            row.append(units.size(operation.bytes))
            shown = (size.mean, size.p10, size.p50, size.p90, size.max)
            row += [units.size(round(number)) for number in shown]
            row += describe.sequentiality(operation)
        rows.append(row)
    return rows


def _cards(info: TraceInfo) -> list[dict[str, str]]:
    def card(label: str, value: str, note: str) -> dict[str, str]:
        number, _, unit = value.partition(" ")
        return {"label": label, "number": number, "unit": unit, "note": note}

    page = info.footprint.page_bytes
    peaks = [rate.peak_to_mean for rate in info.rates or [] if rate.window_s == 1.0]
    idle = [gaps.share for gaps in info.idle or [] if gaps.longer_than_s == 1.0]
    return [
        card("Requests", units.rate(info.requests), f"{units.rate(info.requests_per_s)} a second"),
        card("Duration", units.time_s(info.seconds), "first to last arrival"),
        card("Reads", units.share(info.read_share), f"{units.size(info.bytes)} in all"),
        card(
            "Footprint",
            units.size(info.footprint.touched_pages * page),
            f"{units.size(info.footprint.written_pages * page)} written",
        ),
        card(
            "Peak to mean",
            units.decimal(peaks[0] if peaks else None),
            "in windows of 1 s",
        ),
        card("Idle", units.share(idle[0] if idle else None), "in gaps over 1 s"),
    ]
