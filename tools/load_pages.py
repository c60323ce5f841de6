"""Write what is stored of drives under load as a page: tables, and curves on one figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from drive_loads import COLUMNS
from matplotlib.figure import Figure

from copyback.calibration.load.judge import Region
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

#: Metrics of the figure and of the counts, and their colours (Okabe and Ito).
METRICS = tuple(COLUMNS.values())
COLOURS = {"p50": "#009e73", "p99": "#0072b2", "p99_9": "#d55e00"}

Cell = dict[str, Any]

#: A number in sequence differs from the one alone by more than this factor, or does not.
FAR = 1.05


def page(stored: Mapping[str, Any]) -> str:
    """Return what is generated of docs/drives/loads.md."""
    drives = stored["drives"]
    pieces = [
        _answer(drives),
        f"Simulated at commit {', '.join(dict.fromkeys(one['commit'] for one in drives))}.",
        "\n".join(_summary(drives)),
        "![Latency over load, measured and simulated](../images/drives/loads.svg)",
        "Dots and bands: measured, the mean and the spread of passes and specimens. "
        "Lines: simulated. The grey line is the load that was fitted.",
        "In the tables, simulated over measured microseconds. In brackets what was fitted, bold "
        "what is off by more than 30%.",
    ]
    for drive in drives:
        pieces.append(f"## {drive['drive']}")
        pieces.append("\n".join(_parameters(drive)))
        pieces.append("\n".join(_cells(drive)))
        if "sequence" in drive:
            pieces.append(_sequence(drive))
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def table(cells: Sequence[Cell]) -> list[str]:
    """Return a row a rate of these cells, as pages of single drives show it."""
    return _cells({"cells": cells})


def predicted(drive: Mapping[str, Any]) -> list[Cell]:
    """Return the cells of a drive that were not fitted: latencies, and the rate at saturation."""
    counted = (*METRICS, "per_s")
    return [cell for cell in drive["cells"] if cell["metric"] in counted and not cell["fitted"]]


def count(drives: Sequence[Mapping[str, Any]], what: str) -> int:
    """Return how many predicted cells are ``right`` or ``near``."""
    return sum(bool(cell[what]) for drive in drives for cell in predicted(drive))


def _answer(drives: Sequence[Mapping[str, Any]]) -> str:
    cells = sum(len(predicted(drive)) for drive in drives)
    return (
        f"**Of {cells} numbers that were not fitted, {count(drives, 'near')} are predicted within "
        f"30% and {count(drives, 'right')} within their tolerance**: 15% for medians and p99, "
        "20% for p99.9, 5% for the rate at saturation, or the spread of the measurement if that "
        "is wider."
    )


def _summary(drives: Sequence[Mapping[str, Any]]) -> list[str]:
    heads = " | ".join(f"{region}: within 30%" for region in Region)
    lines = [
        f"| drive | fitted to | predicted within 30% | within tolerance | {heads} |",
        "| --- | --- | ---: | ---: |" + " ---: |" * len(Region),
    ]
    for drive in drives:
        cells = predicted(drive)
        told = [_near(cells), f"{count([drive], 'right')} of {len(cells)}"]
        told += [_near([cell for cell in cells if cell["region"] == region]) for region in Region]
        lines.append(f"| {drive['drive']} | {_fitted(drive)} | {' | '.join(told)} |")
    return lines


def _near(cells: Sequence[Cell]) -> str:
    return f"{sum(bool(cell['near']) for cell in cells)} of {len(cells)}" if cells else ""


def _fitted(drive: Mapping[str, Any]) -> str:
    """Return what a drive was fitted to."""
    if drive["as_drive"]:
        return f"nothing: `{drive['as_drive']}` with its own spare"
    (rate,) = drive["used_rates"]
    saturation = f"{drive['saturation'] / 1000:,.1f} k writes a second ({drive['source']})"
    return f"{rate / 1000:,.0f} k requests a second; {saturation}"


def _parameters(drive: Mapping[str, Any]) -> list[str]:
    if not drive["parameters"]:
        return []
    lines = ["| parameter | fitted | from | to | |", "| --- | ---: | ---: | ---: | --- |"]
    for one in drive["parameters"]:
        low, high = one["interval"]
        told = " | ".join(_value(one, value) for value in (one["value"], low, high))
        lines.append(f"| `{one['key']}` | {told} | {one['verdict']} |")
    since = drive.get("since", {})
    lines += [
        f"| `{key}` | {value} | | | set by hand after the fit |" for key, value in since.items()
    ]
    if since:
        lines += ["", f"Fitted at commit {drive['fitted_at']}, and simulated again since."]
    return lines


def _value(parameter: Mapping[str, Any], value: float) -> str:
    if parameter["unit"] == "ns":
        return units.time_us(value / 1000)
    return f"{value:,.0f} B" if parameter["unit"] == "B" else f"{value:.3g}"


def _cells(drive: Mapping[str, Any]) -> list[str]:
    """Return a row a rate: simulated over measured microseconds."""
    heads = [_head(metric) for metric in METRICS]
    lines = [
        f"| requests a second | {' | '.join(heads)} |",
        "| ---: |" + " ---: |" * len(METRICS),
    ]
    rows: dict[tuple[float, ...], dict[str, Cell]] = {}
    for cell in drive["cells"]:
        rows.setdefault(tuple(cell["rates"]), {})[cell["metric"]] = cell
    for rates, own in rows.items():
        name = f"{rates[0]:,.0f}" if len(rates) == 1 else "beyond saturation"
        told = " | ".join(_told(own[metric]) if metric in own else "" for metric in METRICS)
        lines.append(f"| {name} | {told} |")
    return lines


def _sequence(drive: Mapping[str, Any]) -> str:
    """Return how far numbers in sequence lie from those of each rate alone."""
    alone = {one["rate"]: one for one in drive["simulated"]}
    factors = {
        (one["rate"], metric): math.exp(abs(math.log(one[metric] / alone[one["rate"]][metric])))
        for one in drive["sequence"]["rates"]
        for metric in METRICS
    }
    (rate, metric), most = max(factors.items(), key=lambda pair: pair[1])
    far = sum(factor > FAR for factor in factors.values())
    return (
        f"One rate after the other, from high to low, as the drive was measured, {far} of "
        f"{len(factors)} numbers differ by more than {FAR - 1:.0%} from those of each rate alone. "
        f"The greatest difference is {most - 1:.0%} ({_head(metric)} at {rate:,.0f} requests a "
        "second)."
    )


def _head(metric: str) -> str:
    return metric.replace("_", " ").replace("p99 9", "p99.9")


def _told(cell: Cell) -> str:
    numbers = f"{cell['simulated']:,.0f} / {cell['measured']:,.0f}"
    if cell["fitted"]:
        return f"({numbers})"
    return numbers if cell["near"] else f"**{numbers}**"


def draw(stored: Mapping[str, Any], path: Path) -> None:
    """Draw measured and simulated curves of each drive, reads above writes."""
    with mpl.rc_context({"svg.hashsalt": "copyback", "font.size": 9}):
        drives = stored["drives"]
        figure = Figure(figsize=(3.2 * len(drives), 6.2), layout="constrained")
        grid = figure.subplots(2, len(drives), squeeze=False, sharey=True, sharex="col")
        for column, drive in enumerate(drives):
            for row, operation in enumerate(("read", "write")):
                _curves(grid[row][column], drive, operation)
            grid[0][column].set_title(drive["drive"], fontsize="small")
            grid[1][column].set_xlabel("offered, k requests/s")
        grid[0][0].set_ylabel("read latency, us")
        grid[1][0].set_ylabel("write latency, us")
        grid[0][0].legend(fontsize="x-small")
        figure.savefig(path, metadata={"Date": None})


def _curves(axes: Axes, drive: Mapping[str, Any], operation: str) -> None:
    for statistic, colour in COLOURS.items():
        metric = f"{operation}_{statistic}"
        cells = list(_points(drive, metric))
        x = [rate / 1000 for rate, _ in cells]
        axes.fill_between(
            x,
            [cell["band"][0] for _, cell in cells],
            [cell["band"][1] for _, cell in cells],
            color=colour,
            alpha=0.25,
            linewidth=0,
        )
        axes.plot(x, [cell["measured"] for _, cell in cells], "o", color=colour, markersize=3)
        shown = [one for one in drive["simulated"] if one["rate"] <= 1000 * max(x)]
        axes.plot(
            [one["rate"] / 1000 for one in shown],
            [one[metric] for one in shown],
            color=colour,
            label=statistic.replace("_", "."),
        )
    for rate in drive.get("used_rates", ()):
        axes.axvline(rate / 1000, color="0.8", zorder=0)
    axes.set_yscale("log")


def _points(drive: Mapping[str, Any], metric: str) -> Iterator[tuple[float, Cell]]:
    """Yield rates and cells; of those beyond saturation, which are one cell, the lowest rate."""
    for cell in drive["cells"]:
        if cell["metric"] == metric:
            yield min(cell["rates"]), cell
