"""Figures of data sheets, and the load that each is measured under.

Their names are the options of ``copyback init``; those of figures that it does not take follow
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING

from copyback.sheet import quantity
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback.sheet.quantity import Quantity

#: Bytes of a small request and of a large one, and requests that large ones have outstanding.
SMALL, LARGE, DEEP = 4096, 131072, 32

#: Share of reads of mixed requests.
MIXED = 0.7


class State(StrEnum):
    """State of a drive before a figure is measured."""

    EMPTY = "empty"
    FILLED = "filled"
    STEADY = "steady"


class Measure(Enum):
    """Quantity that a figure is."""

    RATE = "MB/s"
    IOPS = "IOPS"
    LATENCY = "µs"

    @property
    def read(self) -> Callable[[str], Quantity]:
        """Reader of its text: bytes a second, requests a second, or nanoseconds."""
        readers = {Measure.RATE: quantity.rate, Measure.IOPS: quantity.iops}
        return readers.get(self, quantity.time)

    def shown(self, value: float | None) -> str:
        """Return a value in its unit as people read it."""
        if value is None:
            return units.MISSING
        if self is Measure.LATENCY:
            return units.time_us(value)
        return f"{units.count(float(f'{value:.3g}'))} {self.value}"


@dataclass(frozen=True)
class Figure:
    """Figure of a data sheet.

    Attributes
    ----------
    read_share
        Share of requests that read.
    request_size
        Bytes of a request.
    iodepth
        Outstanding requests; None if as many as the queue of the interface takes.
    is_past_cache
        Whether it is measured once an SLC cache is full.
    """

    measure: Measure
    read_share: float
    is_sequential: bool
    request_size: int
    iodepth: int | None
    state: State
    is_past_cache: bool = False

    @property
    def operation(self) -> str:
        """Operation whose latency the figure is."""
        return "read" if self.read_share > 0.0 else "write"

    @property
    def has_shares(self) -> bool:
        """Whether a row may say another share of reads."""
        return not self.is_sequential and (
            self.measure is Measure.LATENCY or 0.0 < self.read_share < 1.0
        )


def _rate(read_share: float, *, is_past_cache: bool = False) -> Figure:
    return Figure(
        Measure.RATE,
        read_share,
        is_sequential=True,
        request_size=LARGE,
        iodepth=DEEP,
        state=State.FILLED,
        is_past_cache=is_past_cache,
    )


def _random(read_share: float, state: State) -> Figure:
    return Figure(
        Measure.IOPS,
        read_share,
        is_sequential=False,
        request_size=SMALL,
        iodepth=None,
        state=state,
    )


def _alone(read_share: float, state: State, *, is_sequential: bool = False) -> Figure:
    return Figure(Measure.LATENCY, read_share, is_sequential, SMALL, 1, state)


FIGURES = {
    "sequential-read": _rate(1.0),
    "sequential-write": _rate(0.0),
    "sustained-write": _rate(0.0, is_past_cache=True),
    "random-read": _random(1.0, State.FILLED),
    "random-write": _random(0.0, State.STEADY),
    "mixed": _random(MIXED, State.STEADY),
    "read-latency": _alone(1.0, State.FILLED),
    "write-latency": _alone(0.0, State.STEADY),
    "sequential-read-latency": _alone(1.0, State.FILLED, is_sequential=True),
    "sequential-write-latency": _alone(0.0, State.FILLED, is_sequential=True),
}
