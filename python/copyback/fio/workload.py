"""Turns the jobs of a job file into a workload of a configuration."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from copyback import configuration
from copyback._core import InputError
from copyback.fio import values
from copyback.fio.jobfile import read_sections
from copyback.fio.options import ALIASES, MEANT, WITHOUT_EFFECT
from copyback.fio.sizes import mean_size, request_size
from copyback.fio.steadystate import stop_of_jobs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from copyback.fio.jobfile import Option, Section


ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class Direction:
    """What a value of ``rw`` asks for."""

    is_random: bool
    read_share: float | None
    trim_share: float = 0.0


#: By the value of ``rw``; a read share of None is said by ``rwmixread``.
_DIRECTIONS = {
    "read": Direction(False, 1.0),
    "write": Direction(False, 0.0),
    "trim": Direction(False, 0.0, 1.0),
    "rw": Direction(False, None),
    "readwrite": Direction(False, None),
    "randread": Direction(True, 1.0),
    "randwrite": Direction(True, 0.0),
    "randtrim": Direction(True, 0.0, 1.0),
    "randrw": Direction(True, None),
}


@dataclass(frozen=True)
class Job:
    """What a job file asks for.

    Attributes
    ----------
    workload
        The table ``workload`` of a configuration.
    seed
        The seed that it names; None if it names none.
    stop
        The table ``stop``; None if requests or times end the jobs.
    notes
        What is done otherwise than fio does it, and what has no effect.
    """

    workload: dict[str, Any]
    seed: int | None
    stop: dict[str, Any] | None
    notes: tuple[str, ...]


def settings_of_job(path: Path, capacity: int) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return the settings that put a job file in place of the workload, and what is to be told."""
    job = read_job_file(path, capacity)
    # A choice of another type replaces the whole; one of the same type would only be laid over it.
    settings = [
        ("workload", '{ type = "trace" }'),
        ("workload", configuration.to_toml(job.workload)),
    ]
    if job.stop is not None:
        settings.append(("stop", configuration.to_toml(job.stop)))
    if job.seed is not None:
        settings.append(("seed", str(job.seed)))
    return settings, job.notes


def read_job_file(path: Path, capacity: int) -> Job:
    """Read a job file.

    Parameters
    ----------
    path
        The file.
    capacity
        Of the device, in bytes: sizes in per cent are of it, and jobs without a size cover it.

    Raises
    ------
    InputError
        With the file, the line, the option, what was found and what is allowed.
    """
    faults: list[str] = []
    jobs: list[Reader] = []
    for section in read_sections(path):
        reader = Reader(section, capacity, path)
        faults += reader.unknown()
        jobs.append(reader)
    if faults:
        raise InputError("\n".join(faults))
    stop = stop_of_jobs(jobs)
    flows: list[dict[str, Any]] = []
    names: list[str] = []
    for job in jobs:
        flow, copies = job.flow(), job.whole("numjobs", 1, least=1)
        flows += [flow] * copies
        names += [job.section.name] * copies
    notes = list(dict.fromkeys(note for job in jobs for note in job.notes))
    idle = sorted({name for job in jobs for name in job.options if name in WITHOUT_EFFECT})
    if idle:
        notes.append(f"fio: without effect in a simulation: {', '.join(idle)}")
    seeds = [job.whole("randseed") for job in jobs if "randseed" in job.options]
    workload = flows[0] if len(flows) == 1 else {"type": "flows", "flows": flows, "names": names}
    return Job(workload, seeds[0] if seeds else None, stop, tuple(notes))


@dataclass
class Reader:
    """Reads the options of one job."""

    section: Section
    capacity: int
    path: Path
    notes: list[str] = field(default_factory=list)

    @property
    def options(self) -> dict[str, Option]:
        """The options by name, aliases resolved."""
        return {ALIASES.get(name, name): o for name, o in self.section.options.items()}

    def unknown(self) -> list[str]:
        """Return a line for each option that cannot be followed."""
        lines = []
        for name, option in self.options.items():
            if name in MEANT or name in WITHOUT_EFFECT:
                continue
            close = difflib.get_close_matches(name, MEANT, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            where = f"{self.path}:{option.line}: {name}"
            lines.append(f"{where}: this option of fio's is not supported{hint}")
        return lines

    def value(self, name: str, read: Callable[[str], ValueT], default: ValueT) -> ValueT:
        """Return what `read` makes of an option; faults get the place."""
        option = self.options.get(name)
        if option is None:
            return default
        try:
            return read(option.text or "")
        except InputError as fault:
            raise InputError(f"{self.path}:{option.line}: {name}: {fault}") from None

    def whole(self, name: str, default: int = 0, least: int = 0) -> int:
        """Return a whole number."""
        return self.value(name, lambda text: values.whole(text, least), default)

    def is_set(self, name: str) -> bool:
        """Whether a switch is there and on."""
        option = self.options.get(name)
        if option is None:
            return False
        try:
            return values.flag(option.text)
        except InputError as fault:
            raise InputError(f"{self.path}:{option.line}: {name}: {fault}") from None

    def fault(self, name: str, problem: str) -> InputError:
        """Return a fault of an option, with its place, or that of the job if it has none."""
        option = self.options.get(name)
        line = option.line if option else self.section.line
        return InputError(f"{self.path}:{line}: {name}: {problem}")

    def flow(self) -> dict[str, Any]:
        """Return the job as a flow of requests."""
        direction = self.value("rw", _direction, _DIRECTIONS["read"])
        offset = self.value("offset", self._extent, 0)
        size = self.value("size", self._extent, self.capacity - offset)
        if not 0 < size <= self.capacity - offset:
            left = f"{offset} + {size} bytes of a device of {self.capacity}"
            raise self.fault("size", f"found {left}; allowed: what fits into it")
        sizes = self.value("bssplit", request_size, self.value("bs", request_size, "4096B"))
        flow: dict[str, Any] = {
            "type": "synthetic",
            "requests": self._requests(size, sizes, direction),
            "request_size": sizes,
            "read_share": self._read_share(direction),
            "trim_share": direction.trim_share,
            "sequential_share": self._sequential_share(direction),
            "offset": offset / self.capacity,
            "footprint": size / self.capacity,
        }
        if "ba" in self.options:
            flow["alignment"] = f"{self.value('ba', values.size, 0)}B"
        if direction.is_random:
            flow["address"] = self.value("random_distribution", _address, {"type": "uniform"})
            if not self.is_set("norandommap") and flow["address"] == {"type": "uniform"}:
                self.notes.append(
                    "fio: random offsets may repeat, as with norandommap: fio's map of what has "
                    "been covered is not kept"
                )
        flow.update(self._arrivals())
        return flow

    def _extent(self, text: str) -> int:
        return values.size_or_share(text, self.capacity)

    def _requests(self, size: int, sizes: Any, direction: Direction) -> int | str:
        """Return how many requests the job makes; a steady state or its runtime may end it."""
        if "number_ios" in self.options:
            return self.whole("number_ios", least=1)
        share = self._read_share(direction)
        most = self.value("io_size", self._extent, size) * self.whole("loops", 1, least=1)
        by_size = max(round(most / mean_size(sizes, share)), 1)
        if "runtime" not in self.options:
            if self.is_set("time_based"):
                raise self.fault("time_based", "needs a runtime")
            return by_size
        rate = self._rate()
        if rate is None and "ss" in self.options:
            return "unlimited" if self.is_set("time_based") else by_size
        if rate is None:
            raise self.fault(
                "runtime",
                "how far a closed loop comes in a time is not known beforehand; allowed with "
                "rate_iops or ss; else say size, io_size or number_ios",
            )
        by_time = max(round(rate * self.value("runtime", values.seconds, 0.0)), 1)
        return by_time if self.is_set("time_based") else min(by_time, by_size)

    def _read_share(self, direction: Direction) -> float:
        if direction.read_share is not None:
            return direction.read_share
        if "rwmixwrite" in self.options and "rwmixread" not in self.options:
            return 1.0 - self.value("rwmixwrite", values.per_cent, 0.5)
        return self.value("rwmixread", values.per_cent, 0.5)

    def _sequential_share(self, direction: Direction) -> float:
        if not direction.is_random:
            return 1.0
        return 1.0 - self.value("percentage_random", values.per_cent, 1.0)

    def _rate(self) -> float | None:
        """Return requests a second, if they are set."""
        if "rate_iops" not in self.options:
            return None
        total = self.value("rate_iops", lambda text: sum(map(values.whole, text.split(","))), 0)
        if total == 0:
            raise self.fault("rate_iops", "found 0; allowed: more than 0")
        return total

    def _arrivals(self) -> dict[str, Any]:
        rate = self._rate()
        if rate is None:
            return {"iodepth": self.whole("iodepth", 1, least=1)}
        gap = f"{1e9 / rate:.0f}ns"
        process = self.value("rate_process", _process, "linear")
        if "iodepth" in self.options:
            self.notes.append(
                "fio: with rate_iops requests arrive at their times, however many are under way; "
                "iodepth does not hold them back"
            )
        return {
            "inter_arrival": {"type": "exponential", "mean": gap} if process == "poisson" else gap
        }


def _direction(text: str) -> Direction:
    if text not in _DIRECTIONS:
        raise InputError(f"found {text or 'nothing'}; allowed: {', '.join(_DIRECTIONS)}")
    return _DIRECTIONS[text]


def _process(text: str) -> str:
    if text not in {"linear", "poisson"}:
        raise InputError(f"found {text}; allowed: linear, poisson")
    return text


def _address(text: str) -> dict[str, Any]:
    """Return where random requests go.

    >>> _address("zipf:0.9"), _address("zoned:60/10:40/90")["pages"]
    ({'type': 'zipf', 'theta': 0.9}, [0.1, 0.9])
    """
    kind, _, parameters = text.partition(":")
    match kind:
        case "random" if not parameters:
            return {"type": "uniform"}
        case "zipf":
            return {"type": "zipf", **({"theta": values.real(parameters)} if parameters else {})}
        case "pareto":
            return {"type": "pareto", **({"h": values.real(parameters)} if parameters else {})}
        case "zoned" if parameters:
            zones = [zone.partition("/") for zone in parameters.split(":")]
            return {
                "type": "zoned",
                "requests": [values.per_cent(requests) for requests, _, _ in zones],
                "pages": [values.per_cent(pages) for _, _, pages in zones],
            }
    raise InputError(f"found {text}; allowed: random, zipf:theta, pareto:h, zoned:%/%:...")
