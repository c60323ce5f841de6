"""Bounds of a search: a number that must stay within a bound, and the range of a key."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.sweep.answer import number
from copyback.sweep.page_numbers import quantity
from copyback.sweep.schemes import SHOWN, Format, Measure
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BOUND = re.compile(r"\s*([\w./]+)\s*(<=|>=|<|>)\s*(\S.*?)\s*")
_OF_OPERATION = re.compile(r"(read|write|flush|trim)\.(mean|max|p50|p90|p95|p99(?:\.99?)?)")
_WORDS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}
_TESTS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

NANOSECONDS, BYTES = "ns", "B"

#: In what the values of other kinds are.
_UNIT_OF = {"rate": "MT/s", "throughput": "MiB/s"}

#: What sizes are multiples of, from the coarsest on.
_ALIGNED = (4096, 512, 1)

#: From how many times the least value on a range is cut in equal factors, not in equal parts.
WIDE = 8


@dataclass(frozen=True)
class Bound:
    """A number of a result and where it must lie."""

    measure: Measure
    sign: str
    limit: float

    @property
    def is_upper(self) -> bool:
        """Whether small numbers hold it."""
        return self.sign.startswith("<")

    def holds(self, value: float) -> bool:
        """Whether a value lies within it."""
        return _TESTS[self.sign](value, self.limit)

    def __str__(self) -> str:
        return f"{self.measure.label} {_WORDS[self.sign]} {number(self.measure, self.limit)}"


def parse_bound(text: str, place: str = "--where") -> Bound:
    """Read ``p99.9<5ms``: a measure or a dotted key of the summary, a sign, and a number.

    Parameters
    ----------
    place
        What a fault names before the text.

    >>> str(parse_bound("p99.9 < 5ms")), str(parse_bound("throughput.iops >= 50000"))
    ('p99.9 below 5.00 ms', 'throughput.iops at least 50,000')
    >>> parse_bound("read.p99.9 < 1ms").measure.column
    'response_us.read.p99_9'
    """
    place = f"{place} {text}"
    found = _BOUND.fullmatch(text)
    amount = quantity(_plain(found[3])) if found else None
    if found is None or amount is None:
        raise InputError(f"{place}: NAME<NUMBER is needed, such as p99.9<5ms or WA<2.5")
    measure = measure_named(found[1], place)
    kind, value = amount
    if kind != "number" and (kind != "time" or measure.format is not Format.TIME):
        raise InputError(f"{place}: {measure.label} is not counted in such units")
    if kind == "number" and measure.format is Format.TIME:
        raise InputError(
            f"{place}: found {found[3]} without a unit; allowed: a time, such as {found[3]}ms"
        )
    return Bound(measure, found[2], value)


def measure_named(name: str, place: str) -> Measure:
    """Return the measure of a comparison, or the dotted key of the summary, that a name means.

    >>> measure_named("WA", "").column, measure_named("read.p99", "").column
    ('write_amplification', 'response_us.read.p99')

    Raises
    ------
    InputError
        If there is none, behind `place`.
    """
    known = {measure.label: measure for measure in SHOWN}
    measure = known.get(name) or _of_one_operation(name)
    if measure is not None:
        return measure
    if re.match(r"[a-z_]{2,}\.", name) is None and name != "write_amplification":
        near = get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise InputError(
            f"{place}: no number {name!r}; there are {', '.join(known)}, and the dotted keys "
            f"of summary.json{hint}"
        )
    is_time = re.search(r"_us(\.|$)", name) is not None
    return Measure(name, name, Format.TIME if is_time else Format.NUMBER)


def _of_one_operation(name: str) -> Measure | None:
    """Return the response time of one operation that a name such as ``read.p99.9`` means."""
    found = _OF_OPERATION.fullmatch(name)
    if found is None:
        return None
    operation, number = found.groups()
    column = f"response_us.{operation}.{number.replace('.', '_')}"
    return Measure(f"{operation} {number}", column, Format.TIME)


def _plain(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class Range:
    """A key and the values between which one is looked for.

    Attributes
    ----------
    least, most
        Times in nanoseconds, sizes in bytes.
    is_whole
        Whether all of them are whole numbers.
    unit
        What stands behind the number in a setting: ``"ns"`` of times, ``"B"`` of sizes, nothing of
        numbers, else what the user has written.
    wants_least
        Whether the least value that holds the bound is looked for, or the greatest.
    """

    key: str
    least: float
    most: float
    is_whole: bool
    unit: str
    wants_least: bool

    @property
    def is_wide(self) -> bool:
        """Whether it is cut in equal factors."""
        return self.least > 0 and self.most / self.least >= WIDE

    @property
    def step(self) -> int:
        """Number of which all values are multiples: 4 KiB, if the ends are sizes of pages."""
        if self.unit != BYTES:
            return 1
        return next(s for s in _ALIGNED if self.least % s == 0 == self.most % s)

    def text(self, value: float) -> str:
        """Return a value as a setting has it."""
        if self.unit == BYTES:
            return size_text(int(value))
        return f"{int(value) if self.is_whole else value}{self.unit}"

    def shown(self, value: float) -> str:
        """Return a value as people read it."""
        if self.unit == BYTES:
            return units.size(value)
        return units.time_us(value / 1e3) if self.unit == NANOSECONDS else self.text(value)

    def between(self, low: float, high: float, within: float) -> float | None:
        """Return the value in the middle; None if the two are close enough.

        Parameters
        ----------
        within
            Share of the range.
        """
        whole = self._way(self.most) - self._way(self.least)
        if (self._way(high) - self._way(low)) / whole <= within:
            return None
        middle = (self._way(low) + self._way(high)) / 2
        value = math.exp(middle) if self.is_wide else middle
        step = self._step(high - low)
        value = float(f"{round(value / step) * step:.12g}")
        return value if low < value < high else None

    def _step(self, span: float) -> float:
        """Return what values between two others are multiples of.

        Few digits, and those before the point: what is found is written into a configuration.
        """
        if self.unit == BYTES:
            return max(2.0 ** math.floor(math.log2(max(span / 20, 1))), self.step)
        return 1.0 if self.is_whole else 10 ** math.floor(math.log10(span / 20))

    def _way(self, value: float) -> float:
        return math.log(value) if self.is_wide else value


def parse_range(text: str, *, wants_least: bool) -> Range:
    """Read ``KEY=LOW..HIGH``.

    >>> parse_range("ssd.ftl.over_provisioning=0.1..0.4", wants_least=True).between(0.1, 0.4, 0)
    0.25
    >>> parse_range("ssd.ftl.over_provisioning=10%..40%", wants_least=True).between(0.1, 0.4, 0)
    0.25
    """
    option = "--least" if wants_least else "--most"
    key, _, values = text.partition("=")
    ends = [_number(end.strip()) for end in values.split("..")]
    if not key.strip() or len(ends) != 2 or None in map(quantity, ends):
        raise InputError(
            f"{option} {text}: KEY=LOW..HIGH is needed, such as ssd.ftl.over_provisioning=0.05..0.4"
        )
    least, most = ends
    return range_between(key.strip(), least, most, f"{option} {text}", wants_least=wants_least)


def range_between(
    key: str, least: float | str, most: float | str, place: str, *, wants_least: bool = True
) -> Range:
    """Return the values of a key between two that a user has given.

    >>> range_between("ssd.buffer.capacity", "1MiB", "1GiB", "").most
    1073741824.0

    Raises
    ------
    InputError
        If they are not two amounts of a kind, the lesser first; behind `place`.
    """
    (kind, low), (other, high) = (_amount(end, place) for end in (least, most))
    if kind != other:
        raise InputError(f"{place}: two numbers, times, sizes or rates are needed")
    if not low < high:
        raise InputError(f"{place}: the first value must be below the second")
    if kind == "time":
        return Range(key, low * 1e3, high * 1e3, True, NANOSECONDS, wants_least)
    if kind == "size":
        return Range(key, low, high, True, BYTES, wants_least)
    is_whole = all(re.fullmatch(r"[0-9_]+\s*[^\d%]*", str(end)) for end in (least, most))
    return Range(key, low, high, is_whole, _UNIT_OF.get(kind, ""), wants_least)


def _amount(value: float | str, place: str) -> tuple[str, float]:
    found = quantity(value)
    if found is None:
        raise InputError(f"{place}: found {value!r}; a number, time, size or rate is needed")
    return found


def size_text(size: int) -> str:
    """Return a number of bytes as a setting has it, exactly.

    >>> size_text(5376 * 1024), size_text(1 << 30), size_text(512)
    ('5376KiB', '1GiB', '512B')
    """
    for scale, name in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size and size % (1 << scale) == 0:
            return f"{size >> scale}{name}"
    return f"{size}B"


def _number(text: str) -> float | int | str:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def check_measure(measure: Measure, columns: Sequence[str]) -> None:
    """Refuse a number that no result has."""
    if measure.column not in columns:
        near = get_close_matches(measure.column, columns, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise InputError(f"--where: no result has {measure.column}{hint}")
