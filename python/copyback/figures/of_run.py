"""Figures of a run: response times, write amplification and dies."""

from __future__ import annotations

import math
from enum import StrEnum, auto
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback._core import InputError
from copyback.figures.canvas import COLOURS, Sheet, styled
from copyback.figures.scales import scaled
from copyback.report.heat import MOST_ROWS, Dies

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from copyback.result import Result

#: Parts that a run is drawn in, at most.
PARTS = 120

#: Names of dies beside a map, at most.
MOST_NAMES = 12

_OPERATIONS = ("all", "read", "write")


class RunFigure(StrEnum):
    """Figure of a run, by the name that its user gives."""

    RESPONSE = auto()
    TAIL = auto()
    TIME = auto()
    AMPLIFICATION = auto()
    DIES = auto()


def kinds(result: Result) -> list[RunFigure]:
    """Return the figures that a run has: no map of dies if it kept no such table."""
    has_dies = result.dies is not None and len(result.dies) > 0
    return [kind for kind in RunFigure if has_dies or kind is not RunFigure.DIES]


@styled()
def of_run(result: Result, kind: str = RunFigure.RESPONSE, width: float | None = None) -> Figure:
    """Return a figure of a run.

    Parameters
    ----------
    kind
        One of `kinds`.
    width
        Inches; else as wide as its panels need.

    Raises
    ------
    InputError
        If the run has no such figure; without matplotlib.
    """
    known = kinds(result)
    if kind not in known:
        raise InputError(f"figure: found {kind!r}; this run has: {', '.join(known)}")
    panels = _PANELS[RunFigure(kind)]
    made = Sheet.of(len(panels), width).canvas()
    for axis, draw in zip(made.axes, panels, strict=True):
        draw(axis, result)
    return made.figure


def _tail(axis: Axes, result: Result) -> None:
    """Draw distributions over counted nines: 1 is the 90th percentile, 2 the 99th."""
    table = result.distribution
    operations = np.asarray(table["operation"].to_list())
    drawn: list[float] = []
    most = 1
    for colour, operation in zip(COLOURS, _OPERATIONS, strict=False):
        chosen = operations == operation
        fraction = table["fraction"][chosen].to_numpy().astype(np.float64)
        inside = fraction < 1.0
        if not inside.any():
            continue
        nines = -np.log10(1.0 - fraction[inside])
        times = table["response_us"][chosen].to_numpy()[inside]
        axis.plot(nines, times, color=colour, label=operation, drawstyle="steps-pre")
        drawn += times.tolist()
        most = max(most, math.ceil(nines.max()))
    names = ["0", *(f"{100 - 10 ** (2 - n):.6g} %" for n in range(1, most + 1))]
    axis.set_xticks(range(most + 1), names, rotation=40 if most > 3 else 0)
    axis.set_xlabel("share of requests")
    _response(axis, drawn)


def _time(axis: Axes, result: Result) -> None:
    """Draw the greatest and the mean response time of parts of the run."""
    series = result.series
    starts, requests, means, most = (
        series[name].to_numpy().astype(np.float64)
        for name in ("start_s", "requests", "response_mean_us", "response_max_us")
    )
    served = requests > 0
    starts, requests, means, most = (it[served] for it in (starts, requests, means, most))
    axis.set_xlabel("simulated time (s)")
    if not len(starts):
        return
    first = _parts(len(starts))
    mean = np.add.reduceat(means * requests, first) / np.add.reduceat(requests, first)
    greatest = np.maximum.reduceat(most, first)
    axis.plot(starts[first], greatest, color=COLOURS[1], linewidth=1, label="max")
    axis.plot(starts[first], mean, color=COLOURS[0], label="mean")
    _response(axis, [*mean.tolist(), *greatest.tolist()])


def _response(axis: Axes, drawn: list[float]) -> None:
    axis.set_ylabel("response time")
    if drawn:
        scaled(axis.yaxis, drawn, is_time=True)
        axis.legend()


def _amplification(axis: Axes, result: Result) -> None:
    """Draw the write amplification of parts of the run, and from the start of the run on."""
    axis.set_xlabel("simulated time (s)")
    axis.set_ylabel("write amplification")
    series = result.series
    starts, host, media = (
        series[name].to_numpy().astype(np.float64)
        for name in ("start_s", "write_bytes", "media_bytes")
    )
    if not host.any():
        return
    first = _parts(len(starts))
    host, media = np.add.reduceat(host, first), np.add.reduceat(media, first)
    with np.errstate(invalid="ignore", divide="ignore"):
        lines = {"of each part": media / host, "from the start": media.cumsum() / host.cumsum()}
    drawn: list[float] = []
    for colour, (label, values) in zip((COLOURS[4], COLOURS[0]), lines.items(), strict=True):
        known = np.isfinite(values)
        axis.plot(starts[first][known], values[known], color=colour, label=label)
        drawn += values[known].tolist()
    scaled(axis.yaxis, drawn, is_time=False)
    axis.legend()


def _dies(axis: Axes, result: Result) -> None:
    """Draw the share of each interval that a die, or neighbours together, collected."""
    assert result.dies is not None
    found = Dies(result.dies)
    span = np.maximum(np.diff(found.edges), 1e-12) * 1e6
    shares = found.rows(found.collecting / span, MOST_ROWS)
    names = found.labels(MOST_ROWS)
    # A picture in the figure: thousands of cells as shapes are slow to open.
    mesh = axis.pcolormesh(
        found.edges, np.arange(len(names) + 1), 100 * shares, cmap="viridis", rasterized=True
    )
    each = -(-len(names) // MOST_NAMES)
    axis.set_yticks(np.arange(0, len(names), each) + 0.5, names[::each])
    axis.invert_yaxis()
    axis.grid(visible=False)
    axis.set_xlabel("simulated time (s)")
    axis.figure.colorbar(mesh, ax=axis, label="collecting (%)")


def _parts(intervals: int) -> NDArray[np.int64]:
    """Return where the parts of a run begin that are drawn as one, of so many intervals."""
    return np.unique(np.linspace(0, intervals, PARTS, endpoint=False).astype(np.int64))


_PANELS: dict[RunFigure, tuple[Callable[[Axes, Any], None], ...]] = {
    RunFigure.RESPONSE: (_tail, _time),
    RunFigure.TAIL: (_tail,),
    RunFigure.TIME: (_time,),
    RunFigure.AMPLIFICATION: (_amplification,),
    RunFigure.DIES: (_dies,),
}
