"""When jobs start, how long they last, and which of their requests are measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.fio import values

if TYPE_CHECKING:
    from copyback.fio.reader import Reader


class Order:
    """Flows that the next job waits for: those before the last stonewall, and those it names."""

    def __init__(self) -> None:
        self._flows: dict[str, list[int]] = {}
        self._wall: list[int] = []
        self._count = 0

    def awaited(self, job: Reader) -> list[int]:
        """Return the numbers of the flows that must have ended before a job starts."""
        if job.is_set("stonewall"):
            self._wall = list(range(self._count))
        return sorted({*self._wall, *self._named(job)})

    def _named(self, job: Reader) -> list[int]:
        name = job.text("wait_for")
        if name is None:
            return []
        if name not in self._flows:
            known = ", ".join(self._flows) or "none, as no job comes before this one"
            raise job.fault("wait_for", f"found {name}; allowed: a job before this one: {known}")
        return self._flows[name]

    def add(self, job: Reader, clones: int) -> None:
        """Note that a job has this many flows, which come next."""
        flows = range(self._count, self._count + clones)
        self._flows.setdefault(job.section.name, []).extend(flows)
        self._count += clones


def times(job: Reader, awaited: list[int]) -> dict[str, Any]:
    """Return the keys of a workload that say when it runs and what of it is measured."""
    keys: dict[str, Any] = {}
    delay, ramp, runtime = (
        job.value(name, _time_ns, 0) for name in ("startdelay", "ramp_time", "runtime")
    )
    if delay:
        keys["starts_at"] = f"{delay}ns"
    if awaited:
        keys["starts_after"] = awaited
    if ramp:
        keys["ramp"] = f"{ramp}ns"
        if not runtime or not job.is_set("time_based"):
            job.notes.append("fio: the size of a job counts what it does in its ramp_time, too")
    # A steady state has rounds in place of a runtime.
    if runtime and "ss" not in job.options:
        keys["duration"] = f"{ramp + runtime}ns"
    return keys


def is_endless(job: Reader) -> bool:
    """Whether a job goes on until its time is over, or a steady state ends it."""
    if not job.is_set("time_based"):
        return False
    if job.seconds("runtime"):
        return True
    job.notes.append("fio: time_based without a runtime has no effect, in fio as here")
    return False


def _time_ns(text: str) -> int:
    if text.startswith("-"):
        raise InputError(f"found {text}; allowed: a time that is not negative, such as 60 or 5m")
    if "-" in text:
        raise InputError(f"found {text}; a range is drawn at random: allowed: one time")
    return round(values.seconds(text) * 1e9)
