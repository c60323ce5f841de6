"""Figures of results, drawn with matplotlib: what `plot` of a result, comparison or search gives.

Each is a `matplotlib.figure.Figure`: a notebook shows it, ``savefig`` writes it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback._core import InputError
from copyback.process.extras import needed
from copyback.sweep.answer import headline
from copyback.sweep.labels import Names, key_names
from copyback.sweep.schemes import Format, Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from copyback.result import Result
    from copyback.sweep.bisection import SearchResult
    from copyback.sweep.schemes import Contest, Scheme

#: Okabe and Ito's colours, told apart by colour-blind eyes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999")

#: Panels in a row, and at most.
IN_A_ROW, MOST_PANELS = 3, 12

#: Parts that a run is drawn in, at most.
PARTS = 120

#: Inches of a panel, of a bar, and of the longest figure.
WIDTH, HEIGHT, BAR, LONGEST = 5.0, 3.2, 0.28, 30.0

_OPERATIONS = ("all", "read", "write")


def of_result(result: Result) -> Figure:
    """Return response times of a run: their distribution towards the tail, and over time."""
    figure, (tail, time) = _figure(1, 2, HEIGHT)
    table = result.distribution
    operations = np.asarray(table["operation"].to_list())
    for colour, operation in zip(COLOURS, _OPERATIONS, strict=False):
        chosen = operations == operation
        if chosen.any():
            _tail(tail, table["fraction"][chosen], table["response_us"][chosen], colour, operation)
    tail.set_xlabel("share of requests")
    tail.legend(frameon=False)
    _over_time(time, result)
    time.set_xlabel("simulated time (s)")
    time.legend(frameon=False)
    for axis in (tail, time):
        axis.set_yscale("log")
        axis.set_ylabel("response time (µs)")
    return figure


def _over_time(axis: Axes, result: Result) -> None:
    """Draw the greatest and the mean response time of parts of the run."""
    series = result.series
    starts, requests, means, most = (
        series[name].to_numpy().astype(np.float64)
        for name in ("start_s", "requests", "response_mean_us", "response_max_us")
    )
    served = requests > 0
    starts, requests, means, most = (it[served] for it in (starts, requests, means, most))
    if not len(starts):
        return
    first = np.unique(np.linspace(0, len(starts), PARTS, endpoint=False).astype(np.int64))
    mean = np.add.reduceat(means * requests, first) / np.add.reduceat(requests, first)
    greatest = np.maximum.reduceat(most, first)
    axis.plot(starts[first], greatest, color=COLOURS[1], linewidth=1, label="max")
    axis.plot(starts[first], mean, color=COLOURS[0], label="mean")


def _tail(axis: Axes, shares: Any, times: Any, colour: str, label: str) -> None:
    """Draw a distribution over counted nines: 1 is the 90th percentile, 2 the 99th."""
    fraction: NDArray[np.float64] = shares.to_numpy().astype(np.float64)
    is_last = fraction >= 1.0
    nines = -np.log10(1.0 - fraction[~is_last])
    axis.plot(nines, times.to_numpy()[~is_last], color=colour, label=label, drawstyle="steps-pre")
    most = math.ceil(max(nines.max(initial=1.0), 1.0))
    axis.set_xticks(
        range(most + 1), ["0", *(f"{100 - 10 ** (2 - n):.6g} %" for n in range(1, most + 1))]
    )


def of_comparison(contests: Sequence[Contest], measure: str | None) -> Figure:
    """Return a measure of each scheme as bars, a panel a load, with 95% intervals over seeds.

    Each bar carries the scheme's ratio to the baseline.
    """
    chosen = _measure(contests, measure)
    shown = contests[:MOST_PANELS]
    names = Names(contests)
    columns = min(len(shown), IN_A_ROW)
    rows = math.ceil(len(shown) / columns)
    tallest = max(len(contest.schemes) for contest in shown)
    height = min(1.2 + BAR * tallest, LONGEST)
    figure, axes = _figure(rows, columns, height)
    for axis, contest in zip(axes, shown, strict=False):
        _bars(axis, contest, chosen, names)
    for axis in axes[len(shown) :]:
        axis.remove()
    if len(shown) < len(contests):
        figure.suptitle(f"the first {len(shown)} of {len(contests)} loads")
    return figure


def _measure(contests: Sequence[Contest], label: str | None) -> Measure:
    if label is None:
        return headline(contests)
    known = {measure.label: measure for measure in contests[0].requests.measures}
    if label not in known:
        raise InputError(f"plot(): measure: found {label!r}; allowed: {', '.join(known)}")
    return known[label]


def _bars(axis: Axes, contest: Contest, measure: Measure, names: Names) -> None:
    schemes = [scheme for scheme in contest.schemes if measure.label in scheme.values]
    labels = [names.of(scheme.setting) for scheme in schemes]
    colours = [COLOURS[0] if scheme.is_baseline else COLOURS[4] for scheme in schemes]
    places = range(len(schemes))
    means = [scheme.values[measure.label].mean for scheme in schemes]
    wide = [_half_width(scheme, measure) for scheme in schemes]
    bars = axis.barh(
        places, means, xerr=wide, color=colours, error_kw={"linewidth": 1, "capsize": 2}
    )
    ratios = [scheme.ratios.get(measure.label) for scheme in schemes]
    texts = ["" if one is None else one.marked for one in ratios]
    axis.bar_label(bars, texts, padding=3, fontsize="small")
    axis.margins(x=0.2)
    axis.set_yticks(places, labels)
    axis.invert_yaxis()
    axis.set_xlabel(_with_unit(measure))
    if contest.load:
        axis.set_title(names.of(contest.load), fontsize="medium")


def _half_width(scheme: Scheme, measure: Measure) -> float:
    return scheme.values[measure.label].half_width or 0.0


def _with_unit(measure: Measure) -> str:
    return f"{measure.label} (µs)" if measure.format is Format.TIME else measure.label


def of_search(found: SearchResult) -> Figure:
    """Return what was measured at each value, with the bound and the value that was found."""
    figure, (axis,) = _figure(1, 1, HEIGHT)
    values = [probe.value for probe in found.probes]
    means = [probe.measured.mean for probe in found.probes]
    wide = [probe.measured.half_width or 0.0 for probe in found.probes]
    axis.errorbar(values, means, yerr=wide, color=COLOURS[0], marker="o", capsize=2)
    axis.axhline(found.bound.limit, color=COLOURS[1], linestyle="--", label=str(found.bound))
    if found.value is not None:
        axis.axvline(
            found.value, color=COLOURS[2], linestyle=":", label=found.range.shown(found.value)
        )
    axis.set_xlabel(key_names([found.range.key])[found.range.key])
    axis.set_ylabel(_with_unit(found.bound.measure))
    axis.legend(frameon=False)
    return figure


def _figure(rows: int, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    needed("matplotlib", "plot()")
    import matplotlib.pyplot as plt

    size = (WIDTH * columns, min(height * rows, LONGEST))
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    # Whoever asked for it has it: a notebook shows it once.
    plt.close(figure)
    every = list(axes.flat)
    for axis in every:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
    return figure, every
