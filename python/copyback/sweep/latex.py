"""Table of a comparison for LaTeX: chosen columns, three significant digits, intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.sweep.answer import headline
from copyback.sweep.axes import LOAD, SCHEME
from copyback.sweep.labels import Names
from copyback.sweep.schemes import Format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from copyback.sweep.intervals import Estimate
    from copyback.sweep.schemes import Contest, Measure, Scheme

#: Significant digits of a number.
DIGITS = 3

#: Text of a cell without a value.
_MISSING = "--"

#: Microseconds of each unit that a column of times may have, the longest first.
_TIMES = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))

_MARKS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "µ": r"\textmu{}",
    "×": r"$\times$",
    "±": r"$\pm$",
    "−": r"$-$",
    "–": "--",
    "·": r"$\cdot$",
    "…": r"\dots{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}


@dataclass(frozen=True)
class Column:
    """A column: its heading, and the cell of each scheme, both as LaTeX."""

    heading: str
    alignment: str
    cell: Callable[[Contest, Scheme], str]


def latex(contests: Sequence[Contest], columns: Sequence[str] | None = None) -> str:
    """Return a table with a row for each scheme under each load.

    Parameters
    ----------
    columns
        Names of `allowed`; else `usual`.

    Raises
    ------
    InputError
        If there is no such column, or none at all.
    """
    names = Names(contests)
    chosen = [_column(name, contests, names) for name in _checked(contests, columns)]
    heading = " & ".join(column.heading for column in chosen)
    rows = [
        " & ".join(column.cell(contest, scheme) for column in chosen)
        for contest in contests
        for scheme in contest.schemes
    ]
    lines = [
        *_remarks(contests),
        f"\\begin{{tabular}}{{{''.join(column.alignment for column in chosen)}}}",
        "\\toprule",
        f"{heading} \\\\",
        "\\midrule",
        *(f"{row} \\\\" for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def allowed(contests: Sequence[Contest]) -> list[str]:
    """Return the names of all columns: schemes and loads, keys that vary, measures."""
    first = contests[0]
    keys = [key for key, _ in (*first.load, *first.schemes[0].setting)]
    labels = [measure.label for measure in first.requests.shown]
    return list(dict.fromkeys([SCHEME, LOAD, *keys, *labels]))


def usual(contests: Sequence[Contest]) -> list[str]:
    """Return the columns of a table for which none are chosen."""
    load = [LOAD] if len(contests) > 1 else []
    return [*load, SCHEME, *dict.fromkeys(["mean", headline(contests).label, "WA"])]


def escaped(text: str) -> str:
    r"""Return a text as LaTeX shows it.

    >>> escaped("50% of a_b")
    '50\\% of a\\_b'
    """
    return "".join(_MARKS.get(mark, mark) for mark in text)


def significant(value: float, half_width: float | None = None) -> str:
    r"""Return a number with three significant digits, and its interval to the same place.

    An interval that would be zero has one significant digit.

    >>> significant(1234.5), significant(0.05), significant(9.996), significant(0)
    ('1,230', '0.0500', '10.0', '0')
    >>> significant(58.349, 1.26), significant(3.38, 0.0042)
    ('58.3 $\\pm$ 1.3', '3.38 $\\pm$ 0.004')
    """
    place = _place(value, DIGITS)
    text = _rounded(value, place)
    if half_width is None:
        return text
    is_small = half_width > 0 and round(half_width, place) == 0
    half = _rounded(half_width, _place(half_width, 1) if is_small else place)
    return f"{text} $\\pm$ {half}"


def _place(value: float, digits: int) -> int:
    """Return how many decimals a number has with so many significant digits; below 0 for tens."""
    if value == 0:
        return 0
    # The exponent after rounding: 9.996 becomes 10.0.
    exponent = int(f"{abs(value):.{digits - 1}e}".partition("e")[2])
    return digits - 1 - exponent


def _rounded(value: float, place: int) -> str:
    return f"{round(value, place):,.{max(place, 0)}f}"


def _checked(contests: Sequence[Contest], columns: Sequence[str] | None) -> Sequence[str]:
    if columns is None:
        return usual(contests)
    known = allowed(contests)
    unknown = [name for name in columns if name not in known]
    if unknown or not columns:
        found = repr(unknown[0]) if unknown else "none"
        raise InputError(f"columns: found {found}; allowed: {', '.join(known)}")
    return columns


def _remarks(contests: Sequence[Contest]) -> Iterator[str]:
    yield "% needs \\usepackage{booktabs}"
    seeds = {scheme.seeds for contest in contests for scheme in contest.schemes}
    if max(seeds) > 1:
        counts = " or ".join(map(str, sorted(seeds)))
        yield f"% means over {counts} seeds; $\\pm$ is the half-width of the 95% interval"


def _column(name: str, contests: Sequence[Contest], names: Names) -> Column:
    measures = {measure.label: measure for measure in contests[0].requests.shown}
    if name in measures:
        return _of_measure(measures[name], contests)
    if name == SCHEME:
        return Column(name, "l", lambda _, scheme: escaped(names.of(scheme.setting)))
    if name == LOAD:
        return Column(name, "l", lambda contest, _: escaped(names.of(contest.load)))
    return Column(escaped(names.key(name)), "l", lambda *own: _value(name, names, *own))


def _value(key: str, names: Names, contest: Contest, scheme: Scheme) -> str:
    value = dict((*contest.load, *scheme.setting)).get(key)
    return _MISSING if value is None else escaped(names.value((key, value)))


def _of_measure(measure: Measure, contests: Sequence[Contest]) -> Column:
    """Return a column of numbers in one unit: the longest that leaves the greatest at least one."""
    greatest = max((abs(own.mean) for own in _means(measure, contests)), default=0.0) or 1.0
    scale, unit = 1.0, ""
    if measure.format is Format.TIME:
        scale, unit = next((own for own in _TIMES if greatest >= own[0]), _TIMES[-1])

    def cell(_: Contest, scheme: Scheme) -> str:
        found = scheme.values.get(measure.label)
        if found is None or not math.isfinite(found.mean):
            return _MISSING
        half = found.half_width
        return significant(found.mean / scale, None if half is None else half / scale)

    heading = f"{measure.label} ({unit})" if unit else measure.label
    return Column(escaped(heading), "r", cell)


def _means(measure: Measure, contests: Sequence[Contest]) -> Iterator[Estimate]:
    for contest in contests:
        for scheme in contest.schemes:
            if measure.label in scheme.values:
                yield scheme.values[measure.label]
