"""Scales of axes and colours: logarithmic where values differ by more than a factor of 10."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from copyback.figures.canvas import LETTER, LETTER_WIDTH, POINTS_AN_INCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axis import Axis
    from matplotlib.colors import Normalize
    from matplotlib.ticker import Locator

    from copyback.sweep.intervals import Estimate

#: Factor between the least and the greatest value beyond which a scale is logarithmic.
WIDE = 10.0

#: Factor up to which 2 and 5 of each decade have a tick, too.
FEW_DECADES = 1e3

#: Room beyond the last value, as a factor of a logarithmic axis and a share of a linear one.
_ROOM, _LINEAR_ROOM = 1.2, 0.05

_TIMES = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))


class Scale(StrEnum):
    """Scale of an axis, by matplotlib's names."""

    LINEAR = "linear"
    LOG = "log"
    #: Logarithmic from the least value above zero on, linear between that and zero.
    WITH_ZERO = "symlog"


def scale_of(values: Iterable[float]) -> Scale:
    """Return the scale that values need.

    >>> [str(scale_of(values)) for values in ([1, 10], [1, 10.1], [0, 1, 5], [0, 1, 50])]
    ['linear', 'log', 'linear', 'symlog']
    """
    every = list(values)
    positive = [value for value in every if value > 0]
    if not positive or min(every) < 0 or max(positive) <= WIDE * min(positive):
        return Scale.LINEAR
    return Scale.LOG if len(positive) == len(every) else Scale.WITH_ZERO


def ends_of(estimates: Iterable[Estimate]) -> list[float]:
    """Return both ends of each interval."""
    halves = [(own.mean, own.half_width or 0.0) for own in estimates]
    return [mean + sign * half for mean, half in halves for sign in (-1, 1)]


def scaled(
    axis: Axis,
    values: Sequence[float],
    ends: Sequence[float] = (),
    *,
    is_time: bool,
    inches: float | None = None,
) -> Scale:
    """Give an axis the scale of some values, limits that hold them and their intervals, and ticks.

    Parameters
    ----------
    values
        At least one.
    ends
        Ends of their intervals. The axis stops at a tenth of the least value above zero, and at
        zero if no value is below: what an interval has beyond is not drawn.
    is_time
        Whether the values are microseconds.
    inches
        Length of the axis if names of ticks stand side by side, not one above the other.
    """
    scale = scale_of(values)
    low, high = min(*values, *ends, values[0]), max(*values, *ends, values[0])
    if scale is Scale.LINEAR:
        low = 0.0 if min(values) >= 0 else low
        _limit(axis, low, high + _LINEAR_ROOM * (high - low or 1.0))
    else:
        least = min(value for value in values if value > 0)
        _logarithmic(axis, scale, least)
        low = max(low, least / WIDE) if scale is Scale.LOG else 0.0
        _limit(axis, low / _ROOM, high * _ROOM)
    _tick(axis, scale, time_text if is_time else plain_text, inches)
    return scale


def name_values(axis: Axis, names: Mapping[float, str], inches: float) -> Scale:
    """Give an axis of a key the scale of its values, and ticks at as many of them as have room.

    Parameters
    ----------
    names
        The values, at least one, and their texts.
    inches
        Length of the axis.
    """
    values = sorted(names)
    scale = scale_of(values)
    if scale is not Scale.LINEAR:
        _logarithmic(axis, scale, min(value for value in values if value > 0))
    places = [float(place) for place in axis.get_transform().transform(values)]
    an_inch = ((places[-1] - places[0]) or 1.0) / inches
    kept = with_room(places, [names[value] for value in values], an_inch)
    axis.set_ticks([values[own] for own in kept], [names[values[own]] for own in kept])
    axis.set_ticks([], minor=True)
    return scale


def with_room(places: Sequence[float], names: Sequence[str], an_inch: float) -> list[int]:
    """Return which names have room side by side, the first and the last before the others.

    Parameters
    ----------
    places
        Ascending.
    an_inch
        How far apart places are that are an inch apart.
    """
    kept: list[int] = []
    for own in dict.fromkeys((0, len(names) - 1, *range(len(names)))):
        if all(
            abs(places[own] - places[other]) >= _room(names[own], names[other]) * an_inch
            for other in kept
        ):
            kept.append(own)
    return sorted(kept)


def _room(first: str, second: str) -> float:
    """Return inches between the middles of two names that stand side by side."""
    return ((len(first) + len(second)) / 2 * LETTER_WIDTH + 0.8) * LETTER / POINTS_AN_INCH


def colours_of(values: Iterable[float]) -> Normalize:
    """Return what gives values their place among colours, on the scale that they need."""
    from matplotlib.colors import LogNorm, Normalize, SymLogNorm

    every = list(values)
    least, most = min(every), max(every)
    match scale_of(every):
        case Scale.LOG:
            return LogNorm(least, most)
        case Scale.WITH_ZERO:
            threshold = min(value for value in every if value > 0)
            return SymLogNorm(threshold, vmin=least, vmax=most)
        case Scale.LINEAR:
            return Normalize(least, most)


def time_text(us: float) -> str:
    """Return a time as a tick says it.

    >>> time_text(2500), time_text(1e6), time_text(0)
    ('2.5 ms', '1 s', '0')
    """
    for scale, unit in _TIMES:
        if abs(us) >= scale:
            return f"{us / scale:.4g} {unit}"
    return "0"


def _logarithmic(axis: Axis, scale: Scale, least: float) -> None:
    axes = axis.axes
    set_scale = axes.set_xscale if axis is axes.xaxis else axes.set_yscale
    if scale is Scale.WITH_ZERO:
        set_scale(scale, linthresh=least)
    else:
        set_scale(scale, nonpositive="clip")


def _limit(axis: Axis, low: float, high: float) -> None:
    axes = axis.axes
    if axis is axes.xaxis:
        axes.set_xlim(low, high)
    else:
        axes.set_ylim(low, high)


def _tick(axis: Axis, scale: Scale, text: Callable[[float], str], inches: float | None) -> None:
    """Put as many ticks on an axis as have room."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(NullFormatter())
    low, high = axis.get_view_interval()
    for locator in _locators(axis, scale, high / (low or high)):
        axis.set_major_locator(locator)
        if inches is None:
            return
        values = [float(v) for v in locator.tick_values(low, high) if low <= v <= high]
        places = [float(place) for place in axis.get_transform().transform([low, *values, high])]
        an_inch = (places[-1] - places[0]) / inches
        kept = with_room(places[1:-1], [text(value) for value in values], an_inch)
        if len(kept) == len(values):
            return
    axis.set_major_locator(FixedLocator([values[own] for own in kept]))


def _locators(axis: Axis, scale: Scale, span: float) -> list[Locator]:
    """Return what may place the ticks of an axis, the most ticks first."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    match scale:
        case Scale.LINEAR:
            return [MaxNLocator(most) for most in (5, 4, 3, 2)]
        case Scale.LOG:
            more = [LogLocator(subs=(1.0, 2.0, 5.0), numticks=9)] if span <= FEW_DECADES else []
            return [*more, LogLocator(numticks=9)]
        case Scale.WITH_ZERO:
            return [axis.get_major_locator()]


def plain_text(value: float) -> str:
    """Return a number as a tick says it.

    >>> plain_text(0.5), plain_text(20000.0)
    ('0.5', '20,000')
    """
    return f"{value:,.6g}" if abs(value) >= 1 else f"{value:.4g}"
