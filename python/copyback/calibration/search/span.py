"""Keys that are fitted to a load curve, and the ranges in which their values are sought."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from copyback._core import InputError, rate_bytes_per_s, size_bytes, time_ns
from copyback.inputs import configuration
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback._core import Config

#: Ranges of keys that are named without one.
RANGES = {
    "ssd.timing.read": "5us..200us",
    "ssd.timing.program": "50us..5ms",
    "ssd.timing.erase": "500us..20ms",
    "ssd.timing.transfer_rate": "100MB/s..4GB/s",
    "host.command_overhead": "500ns..50us",
    "host.command_slots": "8..1024",
    "host.low_watermark": "0.1..1",
    "ssd.buffer.capacity": "64KiB..64MiB",
    "ssd.ftl.over_provisioning": "0.05..0.4",
    "ssd.commands.suspend.program_pulse": "20us..1ms",
    "ssd.commands.suspend.erase_pulse": "50us..5ms",
}

#: Keys that are fitted if none is named.
USUAL = ("ssd.timing.read", "ssd.timing.program", "ssd.timing.erase", "host.command_overhead")

#: Sizes are multiples of this where the ends of their range are.
SECTOR = 4096

#: Factor between the ends of a range from which on whole numbers have a logarithmic scale.
DECADE = 10

#: Significant digits of a number that is no quantity.
DIGITS = 6


class Kind(Enum):
    """Kind of a value: a quantity with a unit, or a number."""

    TIME = auto()
    SIZE = auto()
    RATE = auto()
    WHOLE = auto()
    NUMBER = auto()

    @property
    def unit(self) -> str:
        """Unit in which values of a quantity are written."""
        return {Kind.TIME: "ns", Kind.SIZE: "B", Kind.RATE: "B/s"}.get(self, "")

    def shown(self, value: float) -> str:
        """Return a value as people read it."""
        match self:
            case Kind.TIME:
                return units.time_us(value / 1e3)
            case Kind.SIZE:
                return units.size(value)
            case Kind.RATE:
                return f"{units.rate(value)}B/s"
            case Kind.WHOLE:
                return units.count(value)
            case Kind.NUMBER:
                return units.decimal(value)


@dataclass(frozen=True)
class Span:
    """Range of a key.

    Attributes
    ----------
    least, most
        Ends of the range, in the unit of the kind.
    shares
        Of a list of times, one for each type of page: ratio of each to their mean, which is fitted.
        None of a single value.
    """

    key: str
    kind: Kind
    least: float
    most: float
    shares: tuple[float, ...] | None = None

    @property
    def is_counted(self) -> bool:
        """Whether values are whole numbers on a linear scale: those within a factor of ten."""
        return self.kind is Kind.WHOLE and self.most < DECADE * max(self.least, 1.0)

    @property
    def is_log(self) -> bool:
        """Whether the scale of the search is logarithmic."""
        return self.least > 0 and not self.is_counted

    def value(self, place: float) -> float:
        """Return the value at a place from 0 to 1, as exactly as it is written."""
        if self.is_log:
            value = self.least * (self.most / self.least) ** place
        else:
            value = self.least + (self.most - self.least) * place
        return self._rounded(min(max(value, self.least), self.most))

    def place(self, value: float) -> float:
        """Return where a value lies in the range, from 0 to 1 in the scale of the search."""
        if self.is_log:
            return math.log(value / self.least) / math.log(self.most / self.least)
        return (value - self.least) / (self.most - self.least)

    def setting(self, value: float) -> tuple[str, str]:
        """Return the setting that gives the key this value."""
        if self.shares is None:
            return self.key, self._written(value)
        return self.key, f"[{', '.join(self._written(value * share) for share in self.shares)}]"

    def start(self, tables: Mapping[str, Any]) -> float:
        """Return the configured value, moved into the range; its middle if there is none."""
        found = configured(tables, self.key)
        if isinstance(found, list):
            found = f"{sum(map(time_ns, found)) / len(found):.0f}ns"
        value = None
        if found is not None:
            with suppress(InputError):
                value = number_of(str(found), self.kind)
        if value is None:
            return self.value(0.5)
        return self._rounded(min(max(value, self.least), self.most))

    @property
    def shown(self) -> str:
        """Text for people: the key, and that it is a mean if it is one."""
        return self.key if self.shares is None else f"{self.key} (mean of {len(self.shares)})"

    @property
    def range(self) -> str:
        """The range as people read it."""
        return f"{self.kind.shown(self.least)} – {self.kind.shown(self.most)}"

    def _rounded(self, value: float) -> float:
        if self.kind is Kind.NUMBER:
            return float(f"{value:.{DIGITS}g}")
        are_sectors = self.least % SECTOR == 0 and self.most % SECTOR == 0
        step = SECTOR if self.kind is Kind.SIZE and are_sectors else 1
        return float(round(value / step) * step)

    def _written(self, value: float) -> str:
        if self.kind is Kind.NUMBER:
            return repr(value)
        text = f"{round(value)}{self.kind.unit}"
        return text if self.kind is Kind.WHOLE else f'"{text}"'


def spans(config: Config, asked: Sequence[str]) -> list[Span]:
    """Return the ranges of the keys to fit.

    Parameters
    ----------
    config
        The configuration, in which both ends of each range must be allowed.
    asked
        ``KEY`` or ``KEY=LOW..HIGH``; the usual keys if empty.

    Raises
    ------
    InputError
        If a key is named twice or unknown, or its range makes no sense.
    """
    tables = configuration.resolved(config)
    found = [_span(text, tables) for text in asked or USUAL]
    keys = [span.key for span in found]
    for span in found:
        if keys.count(span.key) > 1:
            raise InputError(f"--fit {span.key}: is named twice")
        for end in (span.least, span.most):
            _check(tables, span.setting(end))
    return found


def configured(tables: Mapping[str, Any], key: str) -> Any:
    """Return the value under a dotted key of a resolved configuration; None if there is none."""
    value: Any = tables
    for name in key.split("."):
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def number_of(text: str, kind: Kind) -> float | None:
    """Return a value of a kind as a number; None if it is a rate without a limit.

    Raises
    ------
    InputError
        If it is of another kind.
    """
    match kind:
        case Kind.TIME:
            return time_ns(text)
        case Kind.SIZE:
            return size_bytes(text)
        case Kind.RATE:
            return rate_bytes_per_s(text)
    try:
        value = int(text) if kind is Kind.WHOLE else float(text)
    except ValueError:
        raise InputError(f"found {text!r}; allowed: a number") from None
    if not math.isfinite(value):
        raise InputError(f"found {text!r}; allowed: a finite number")
    return value


def _check(tables: dict[str, Any], setting: tuple[str, str]) -> None:
    """Check the configuration with an end of a range."""
    try:
        configuration.read(tables, settings=[setting])
    except InputError as fault:
        raise InputError(str(fault).replace("--set ", "--fit ")) from None


def _span(text: str, tables: Mapping[str, Any]) -> Span:
    key, equals, ends = text.partition("=")
    key = key.strip()
    if not equals:
        if key not in RANGES:
            raise InputError(f"--fit {key}: has no range; allowed: {key}=LOW..HIGH")
        ends = RANGES[key]
    low, dots, high = (part.strip() for part in ends.partition(".."))
    if not dots:
        raise InputError(f"--fit {text}: found {ends!r}; allowed: LOW..HIGH, such as 20us..80us")
    there = configured(tables, key)
    kind = _kind(low, high, text)
    if isinstance(there, float) and kind is Kind.WHOLE:
        kind = Kind.NUMBER
    least, most = (number_of(end, kind) for end in (low, high))
    if least is None or most is None or least < 0 or least >= most:
        raise InputError(f"--fit {text}: found {low} to {high}; allowed: a low end below the high")
    return Span(key, kind, least, most, _shares(there))


def _shares(there: Any) -> tuple[float, ...] | None:
    if not isinstance(there, list):
        return None
    times = [time_ns(text) for text in there]
    return tuple(time * len(times) / sum(times) for time in times)


def _kind(low: str, high: str, text: str) -> Kind:
    """Return the first kind that both ends are of."""
    for kind in (Kind.WHOLE, Kind.NUMBER, Kind.TIME, Kind.SIZE, Kind.RATE):
        # A plain number is no size of bytes.
        with suppress(InputError):
            if all(_is_plain(end) == (not kind.unit) for end in (low, high)):
                number_of(low, kind)
                number_of(high, kind)
                return kind
    raise InputError(
        f"--fit {text}: found {low} and {high}; "
        "allowed: two times, sizes, rates or numbers, such as 20us..80us"
    )


def _is_plain(text: str) -> bool:
    return re.fullmatch(r"[-+.\deE]+", text) is not None
