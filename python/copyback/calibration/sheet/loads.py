"""Loads that the rows of a data sheet mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback._core import size_bytes
from copyback.calibration.search.bench import SERVED
from copyback.calibration.sheet.figures import SMALL, Measure, State
from copyback.calibration.sheet.table import MEAN, QUANTILES
from copyback.inputs import configuration
from copyback.sheet.sheet import LINKS

if TYPE_CHECKING:
    from copyback._core import Config
    from copyback.calibration.sheet.table import Row, Sheet

#: Requests of 4 KiB that are measured, and fewest of any size.
REQUESTS, FEWEST = 10_000, 2_000

#: Requests beyond a percentile, at least.
BEYOND = 20

#: Share of the drive that is written before writes are measured, and at least while they are.
SETTLED, MEASURED = 0.02, 0.01

#: Fillings of the buffer for writes that are written before, and at least while it is measured.
FILLINGS_BEFORE, FILLINGS = 2, 2

#: Share of the measured time that comes before it, at least.
RAMP = 0.1

#: Times that an SLC cache is filled before what is past it is measured.
PAST_CACHE = 1.5

#: Share of an SLC cache that is written while writes into it are measured, at most.
IN_CACHE = 0.5

#: Times as many requests as the drive of the sheet serves at which a run ends: its figure has
#: another unit.
TOO_FAST = 100

#: Overwrites of a drive in steady state, if the configuration has none.
OVERWRITES = 2.0


@dataclass(frozen=True)
class Drive:
    """Sizes of a drive that decide how long a row is simulated.

    Attributes
    ----------
    capacity, buffer, cache
        Bytes of the whole, of the buffer for writes, and of the SLC cache of an empty drive.
    depth
        Outstanding requests where a sheet does not say how many.
    overwrites
        Preparation of a drive in steady state.
    """

    capacity: float
    buffer: float
    cache: float
    depth: int
    overwrites: Any

    @classmethod
    def of(cls, config: Config) -> Drive:
        """Return the sizes of a configuration."""
        tables = configuration.resolved(config)
        interface = tables["host"]["interface"]
        kind = interface["type"] if isinstance(interface, dict) else interface
        overwrites = tables["precondition"].get("overwrites", OVERWRITES)
        return cls(
            capacity=config.capacity_bytes,
            buffer=_buffer(tables["ssd"].get("buffer")),
            cache=_cache(tables["ssd"]),
            depth=next(link.depth for link in LINKS.values() if link.config == kind),
            overwrites=overwrites or OVERWRITES,
        )


def _buffer(table: Any) -> float:
    capacity = table.get("capacity") if isinstance(table, dict) else None
    return float(size_bytes(capacity)) if isinstance(capacity, str) else 0.0


def _cache(ssd: dict[str, Any]) -> float:
    """Return the bytes of the SLC cache of an empty drive."""
    table, shape = ssd.get("slc_cache"), ssd["geometry"]
    if not isinstance(table, dict):
        return 0.0
    planes = shape["channels"] * shape["chips_per_channel"] * shape["dies_per_chip"]
    planes *= shape["planes_per_die"]
    blocks = sum(_blocks(table.get(part), shape["blocks_per_plane"]) for part in _PARTS)
    pages = shape["pages_per_block"] * table["bits"] // table["native_bits"]
    return float(planes * blocks * pages * size_bytes(shape["page_size"]))


#: Parts of an SLC cache: its own blocks, and those that are lent.
_PARTS = ("static", "dynamic")


def _blocks(part: Any, of_plane: int) -> float:
    if isinstance(part, dict):
        return float(part.get("blocks", 0))
    return float(part or 0.0) * of_plane


class SheetLoads:
    """Loads of the rows of a data sheet on a drive.

    Parameters
    ----------
    sheet
        The data sheet.
    drive
        The drive as it is configured.
    """

    statistics = (MEAN,)
    quantiles = QUANTILES

    def __init__(self, sheet: Sheet, drive: Drive) -> None:
        self._sheet = sheet
        self._drive = drive

    def iodepth(self, row: Row) -> int:
        """Return the outstanding requests of a row."""
        return row.iodepth or self._drive.depth

    def state(self, row: Row) -> State:
        """Return the state of the drive before a row: empty for what an SLC cache takes."""
        if row.state is not None:
            return row.state
        is_cached = self._drive.cache > 0 and row.figure.is_sequential and not row.read_share
        return State.EMPTY if is_cached else row.figure.state

    def per_second(self, row: Row) -> float:
        """Return the requests a second that a row promises."""
        match row.figure.measure:
            case Measure.RATE:
                return row.published * 1e6 / row.request_size
            case Measure.IOPS:
                return row.published
            case Measure.LATENCY:
                return self.iodepth(row) / row.published * 1e6

    def seconds(self, row: Row) -> tuple[float, float]:
        """Return the seconds before a row is measured, and those in which it is.

        They are those in which the drive of the sheet serves enough requests.
        """
        drive, rate = self._drive, self.per_second(row)
        requests = max(FEWEST, REQUESTS * SMALL / row.request_size)
        if row.statistic in QUANTILES:
            requests = max(requests, BEYOND / (1.0 - QUANTILES[row.statistic]))
        measured = requests / rate
        written = rate * row.request_size * (1.0 - row.read_share)
        if not written:
            return RAMP * measured, measured
        if self.state(row) is State.EMPTY:
            return self._into_cache(row, measured, written)
        if row.figure.measure is not Measure.LATENCY:
            least = max(MEASURED * drive.capacity, FILLINGS * drive.buffer)
            measured = max(measured, least / written)
        before = SETTLED * drive.capacity + FILLINGS_BEFORE * drive.buffer
        return max(RAMP * measured, before / written), measured

    def _into_cache(self, row: Row, measured: float, written: float) -> tuple[float, float]:
        """Return the seconds of writes to an empty drive: into its cache, or past it."""
        cache = self._drive.cache
        if row.figure.is_past_cache:
            return PAST_CACHE * cache / written, max(measured, MEASURED * cache / written)
        if cache:
            measured = min(measured, IN_CACHE * cache / written)
        return RAMP * measured, measured

    def workload(self, row: Row) -> dict[str, Any]:
        """Return the workload of a row: a closed loop over the whole drive."""
        ramp, measured = self.seconds(row)
        promised = (ramp + measured) * self.per_second(row)
        return {
            "type": "synthetic",
            "request_size": f"{row.request_size}B",
            "read_share": row.read_share,
            "sequential_share": 1.0 if row.figure.is_sequential else 0.0,
            "iodepth": self.iodepth(row),
            "footprint": 1.0,
            "requests": math.ceil(TOO_FAST * promised),
            "duration": f"{(ramp + measured) * 1e9:.0f}ns",
            "ramp": f"{ramp * 1e9:.0f}ns",
        }

    def setting(self, name: str) -> list[tuple[str, str]]:
        """Return the settings that put a drive under the load of a row."""
        row = self._sheet.at(name)
        state = self.state(row)
        fill = 0.0 if state is State.EMPTY else 1.0
        overwrites = self._drive.overwrites if state is State.STEADY else 0.0
        # A choice of another type replaces the whole; one of the same type would be laid over it.
        return [
            ("workload", '{ type = "trace" }'),
            ("workload", configuration.to_toml(self.workload(row))),
            ("precondition.fill", repr(fill)),
            ("precondition.overwrites", configuration.to_toml(overwrites)),
        ]

    def metric(self, row: Row) -> str:
        """Return the simulated number that a row is compared with."""
        if row.figure.measure is Measure.LATENCY:
            return f"{row.figure.operation}_{row.statistic}"
        return SERVED

    def value(self, row: Row, number: float) -> float:
        """Return a simulated number in the unit of a row's measure."""
        return number * row.request_size / 1e6 if row.figure.measure is Measure.RATE else number

    def number(self, row: Row) -> float:
        """Return what a simulated number must be to be as published."""
        return row.published / self.value(row, 1.0)
