"""Figure of a search: what each value gave, the bound, and the value that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.figures.canvas import COLOURS, Sheet, styled
from copyback.figures.scales import ends_of, name_values, scaled
from copyback.sweep.labels import key_names
from copyback.sweep.schemes import Format

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from copyback.sweep.bisection import SearchResult


@styled()
def of_search(found: SearchResult, width: float | None = None) -> Figure:
    """Return the curve of a search, with 95% intervals over the seeds."""
    sheet = Sheet.of(1, width)
    made = sheet.canvas()
    axis = made.axes[0]
    measure = found.bound.measure
    values = [probe.value for probe in found.probes]
    means = [probe.measured.mean for probe in found.probes]
    wide = [probe.measured.half_width or 0.0 for probe in found.probes]
    ends = ends_of(probe.measured for probe in found.probes)
    scaled(axis.yaxis, [*means, found.bound.limit], ends, is_time=measure.format is Format.TIME)
    axis.errorbar(values, means, yerr=wide, color=COLOURS[0], marker="o", capsize=2)
    axis.axhline(found.bound.limit, color=COLOURS[1], linestyle="--", label=str(found.bound))
    if found.value is not None:
        name = found.range.shown(found.value)
        axis.axvline(found.value, color=COLOURS[2], linestyle=":", label=name)
    name_values(axis.xaxis, {value: found.range.shown(value) for value in values}, sheet.inside)
    axis.set_xlabel(key_names([found.range.key])[found.range.key])
    axis.set_ylabel(measure.label)
    made.legend()
    return made.figure
