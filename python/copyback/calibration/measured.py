"""Traces with measured times: read through the core, cut into parts that the simulator replays."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from copyback._core import InputError, read_whole
from copyback.inputs import configuration
from copyback.simulation.simulate import settings_of
from copyback.trace import Workload, convert, trace_info

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from copyback._core import Config

#: The only format whose trace says when the host issued a request to the device.
_ISSUED = "nexus5"

#: Least number of measured requests to fit on, and to hold out.
LEAST_REQUESTS = 100

#: Nanoseconds in a second, and the digits of its decimals.
_NS, _NS_DIGITS = 1_000_000_000, 9


class Times(Enum):
    """Times of a trace that the simulated ones are compared with."""

    #: From the arrival at the host's queue to the completion.
    RESPONSE = "response"
    #: From the issue to the device to the completion: requests arrive when they were issued, and
    #: the wait for a place in the simulated device's queue does not count.
    SERVICE = "service"

    @classmethod
    def named(cls, name: str) -> Times:
        """Return the times of this name.

        Raises
        ------
        InputError
            If there are none.
        """
        try:
            return cls(name)
        except ValueError:
            allowed = " or ".join(times.value for times in cls)
            raise InputError(f"times: found {name!r}; expected {allowed}") from None


@dataclass(frozen=True)
class Source:
    """Trace and drive of a replay.

    Attributes
    ----------
    load
        Returns the configuration with these settings laid over it.
    overrides
        The user's own settings, which may shape the workload.
    """

    load: Callable[[list[tuple[str, str]]], Config]
    overrides: list[tuple[str, str]]
    format: str | None
    lenient: bool
    seed: int | None


@dataclass(frozen=True)
class MeasuredTrace:
    """A trace as the simulator replays it.

    Attributes
    ----------
    name
        The file that it was read from.
    config
        The configuration with the trace as its workload.
    path
        A Parquet trace of the same requests, as they are fitted to the device. The measured times
        are null where they cannot be compared.
    frame
        Its rows. ``arrival_ns`` counts from the first request.
    notes
        What the reader has to say.
    """

    name: str
    config: Config
    path: Path
    frame: pl.DataFrame
    notes: tuple[str, ...]

    @property
    def measured(self) -> int:
        """Requests with a measured time that can be compared."""
        return self.frame.height - self.frame["measured_response_ns"].null_count()

    def cut(self, held_out: float) -> int:
        """Return when the part that is held out begins, in ns after the first request.

        Parameters
        ----------
        held_out
            Its share of the requests with measured times, the last ones.

        Raises
        ------
        InputError
            If either part is left with too few requests.
        """
        arrivals = self.frame.filter(pl.col("measured_response_ns").is_not_null())["arrival_ns"]
        first = round(len(arrivals) * (1.0 - held_out))
        time = int(arrivals[first]) if first < len(arrivals) else int(arrivals[-1]) + 1
        before = int((arrivals < time).sum())
        if min(before, len(arrivals) - before) < LEAST_REQUESTS:
            raise InputError(
                f"{self.name}: {before} requests to fit on and {len(arrivals) - before} held out; "
                f"at least {LEAST_REQUESTS} of each are needed"
            )
        return time

    def before(self, time_ns: int, directory: Path) -> Path:
        """Write the requests that arrive before this time as a trace, and return where."""
        path = directory / "fitted.parquet"
        self.frame.filter(pl.col("arrival_ns") < time_ns).write_parquet(path)
        return path


def read(trace: Path | None, source: Source, times: Times, directory: Path) -> MeasuredTrace:
    """Read a trace with measured times, as the workload of a configuration shapes it.

    Parameters
    ----------
    trace
        The file; that of the configuration if None.
    source
        What it is replayed on.
    times
        Which of its times are meant.
    directory
        Where to put traces for the simulator.

    Raises
    ------
    InputError
        If it cannot be read, or holds no such times.
    """
    settings = settings_of(
        trace=trace,
        format_=source.format,
        lenient=source.lenient,
        seed=source.seed,
        overrides=source.overrides,
    )
    config = source.load(settings)
    workload = configuration.resolved(config)["workload"]
    _check(workload)
    name = workload["path"]
    fitted = config
    if times is Times.SERVICE:
        issued = _as_issued(Path(name), directory / f"issued-{Path(name).name}.parquet")
        path_setting = ("workload.path", configuration.to_toml(issued))
        fitted = source.load([*settings, path_setting, ("workload.format", "parquet")])
    path = directory / f"{Path(name).name}.parquet"
    notes = convert(
        Workload(fitted, unlimited=False), path, to=None, drop=(), on_progress=lambda _: None
    )
    frame = _comparable(pl.read_parquet(path))
    found = MeasuredTrace(name, config, path, frame, tuple(notes))
    if found.measured == 0:
        raise InputError(f"{name}: holds no measured times; nothing can be fitted to it")
    frame.write_parquet(path)
    return found


def measured_times(
    trace: Path, times: Times, format_: str | None, directory: Path, *, lenient: bool
) -> pl.DataFrame:
    """Read a trace with measured times as it is, without a device that it must fit.

    Parameters
    ----------
    directory
        Where to put traces on the way.

    Raises
    ------
    InputError
        If it cannot be read, or holds no such times.
    """
    source: Path = trace
    if times is Times.SERVICE:
        source, format_ = _as_issued(trace, directory / "issued.parquet"), "parquet"
    path = directory / "measured.parquet"
    workload = Workload.of(source, format_=format_, lenient=lenient, settings=[])
    convert(workload, path, to=None, drop=(), on_progress=lambda _: None)
    frame = _comparable(pl.read_parquet(path))
    if frame["measured_response_ns"].null_count() == frame.height:
        raise InputError(f"{trace}: holds no measured times")
    return frame


def _check(workload: Mapping[str, Any]) -> None:
    if workload["type"] != "trace":
        raise InputError("no trace: name a file with measured times with --trace")
    if "iodepth" in workload:
        raise InputError("workload.iodepth: a closed loop ignores the times of the trace")


def _comparable(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with arrivals from zero, and without times that mean nothing."""
    if "measured_response_ns" not in frame.columns:
        frame = frame.with_columns(measured_response_ns=pl.lit(None, pl.UInt64))
    measured = pl.col("measured_response_ns")
    meaningful = (measured > 0) & pl.col("operation").is_in(["read", "write"])
    return frame.select(
        arrival_ns=pl.col("arrival_ns") - pl.col("arrival_ns").min(),
        operation="operation",
        offset="offset",
        bytes="bytes",
        measured_response_ns=pl.when(meaningful).then(measured),
    )


def _as_issued(trace: Path, path: Path) -> Path:
    """Write a trace whose requests arrive when they were issued to the device."""
    found = trace_info(trace).format
    if found != _ISSUED:
        raise InputError(
            f"{trace}: --times service: found format {found}; only {_ISSUED} says when requests "
            "were issued"
        )
    rows = [line.split() for line in _lines(trace) if line.strip()]
    sector, sectors, _, kind, _, _, issued, completed = zip(*rows, strict=True)
    table = pl.DataFrame(
        {
            "arrival_ns": [_ns(text) for text in issued],
            "operation": ["write" if int(text) & 1 else "read" for text in kind],
            "offset": [512 * int(text) for text in sector],
            "bytes": [512 * int(text) for text in sectors],
            "completed_ns": [_ns(text) for text in completed],
        }
    )
    measured = (pl.col("completed_ns") - pl.col("arrival_ns")).alias("measured_response_ns")
    table.with_columns(measured).drop("completed_ns").sort("arrival_ns").write_parquet(path)
    return path


def _lines(trace: Path) -> list[bytes]:
    try:
        return read_whole(trace).splitlines()
    except OSError as fault:
        raise InputError(f"{trace}: {fault}") from None


def _ns(seconds: bytes) -> int:
    """Return seconds as nanoseconds, exactly.

    >>> _ns(b"1398396860.1680657")
    1398396860168065700
    """
    whole, _, decimals = seconds.decode("ascii").partition(".")
    return int(whole) * _NS + int(decimals[:_NS_DIGITS].ljust(_NS_DIGITS, "0"))
