"""Rate of a job: ``iodepth`` at once, ``rate`` and ``rate_iops`` at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.fio import values
from copyback.fio.engines import DEFAULT
from copyback.fio.sizes import mean_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback.fio.directions import Direction
    from copyback.fio.reader import Reader

#: More requests cannot be under way.
_MOST_DEPTH = (1 << 32) - 1

#: Of reads, writes and trims.
_OPERATIONS = ("reads", "writes", "trims")


@dataclass(frozen=True)
class _Rate:
    """Most that one operation is asked for: requests or bytes a second."""

    per_second: float
    in_bytes: bool


def pace(job: Reader, asked: Direction, read_share: float, sizes: Any) -> dict[str, Any]:
    """Return the keys of a workload that say when requests arrive."""
    limits = _limits(job, asked, read_share)
    is_poisson = job.value("rate_process", _process, "linear") == "poisson"
    offload = job.value("io_submit_mode", _submit_mode, "inline") == "offload"
    means = [_mean(sizes, is_read=is_read) for is_read in (True, False)]
    if limits and offload:
        return _open_loop(job, limits, means, is_poisson=is_poisson)
    keys: dict[str, Any] = {"iodepth": _iodepth(job)}
    if not limits:
        return keys
    read, other = limits.get("reads"), limits.get("writes", limits.get("trims"))
    parts = [
        _limit(rate, mean, is_poisson=is_poisson)
        for rate, mean in zip((read, other), means, strict=True)
        if rate is not None
    ]
    keys["rate"] = (
        parts[0]
        if len(parts) == 1
        else {"type": "by_operation", "read": parts[0], "write": parts[1]}
    )
    return keys


def _iodepth(job: Reader) -> int:
    depth = job.whole("iodepth", 1, least=1)
    if depth == 1:
        return depth
    if depth > _MOST_DEPTH:
        raise job.fault("iodepth", f"found {depth}; allowed: at most {_MOST_DEPTH}")
    if job.engine.one_at_a_time:
        engine = job.text("ioengine") or f"{DEFAULT} (as none is named)"
        job.notes.append(f"fio: ioengine={engine} has one request under way, whatever iodepth says")
        return 1
    return depth


def _limits(job: Reader, asked: Direction, read_share: float) -> dict[str, _Rate]:
    """Return the limit of each operation that the job has; none, or of all of them."""
    names = [name for name in ("rate", "rate_iops") if name in job.options]
    if not names:
        return {}
    if len(names) == 2:
        raise job.fault("rate_iops", "found rate too; allowed: one of both")
    name = names[0]
    read: Callable[[str], float] = values.size if name == "rate" else values.whole
    unlimited: tuple[float | None, ...] = (None, None, None)
    rates = job.value(name, lambda text: _by_operation(text, read), unlimited)
    has = (read_share > 0, read_share < 1 and not asked.trim_share, asked.trim_share > 0)
    used = {
        operation: rate
        for operation, rate, there in zip(_OPERATIONS, rates, has, strict=True)
        if there
    }
    limited = {
        operation: _Rate(rate, name == "rate")
        for operation, rate in used.items()
        if rate is not None
    }
    if limited and len(limited) < len(used):
        free = next(operation for operation in used if operation not in limited)
        raise job.fault(
            name, f"found no limit for {free}; allowed: one for each operation, or none"
        )
    return limited


def _by_operation(text: str, read: Callable[[str], float]) -> tuple[float | None, ...]:
    """Return limits of reads, writes and trims; what is missing behind the last is that one.

    >>> _by_operation("100,", values.size)
    (100, None, None)
    """
    parts = text.split(",")
    if len(parts) > 3:
        raise InputError(f"found {text}; allowed: rates of reads, writes and trims")
    rates = [read(part) if part.strip() else None for part in parts]
    if 0 in rates:
        raise InputError("found 0; allowed: more than 0")
    return tuple(rates + rates[-1:] * (3 - len(rates)))


def _mean(sizes: Any, *, is_read: bool) -> float:
    return mean_size(sizes, 1.0 if is_read else 0.0)


def _gap_ns(rate: _Rate, mean: float) -> float:
    return 1e9 * (mean if rate.in_bytes else 1.0) / rate.per_second


def _limit(rate: _Rate, mean: float, *, is_poisson: bool) -> dict[str, Any]:
    if rate.in_bytes and not is_poisson:
        return {"type": "bytes", "per_second": f"{rate.per_second:.0f}B/s"}
    return {"type": "requests", "gap": _gap(_gap_ns(rate, mean), is_poisson=is_poisson)}


def _gap(ns: float, *, is_poisson: bool) -> Any:
    return {"type": "exponential", "mean": f"{ns:.0f}ns"} if is_poisson else f"{ns:.0f}ns"


def _open_loop(
    job: Reader, limits: dict[str, _Rate], means: list[float], *, is_poisson: bool
) -> dict[str, Any]:
    """Return arrivals at their times, however many requests are under way."""
    mean_of = dict(zip(_OPERATIONS, (means[0], means[1], means[1]), strict=True))
    a_second = {name: 1e9 / _gap_ns(rate, mean_of[name]) for name, rate in limits.items()}
    total = sum(a_second.values())
    job.notes.append(
        "fio: with io_submit_mode=offload requests arrive at their times, however many are under "
        "way; iodepth does not hold them back"
    )
    keys: dict[str, Any] = {"inter_arrival": _gap(1e9 / total, is_poisson=is_poisson)}
    if len(a_second) > 1:
        keys["read_share"] = a_second["reads"] / total
    return keys


def _process(text: str) -> str:
    if text not in {"linear", "poisson"}:
        raise InputError(f"found {text}; allowed: linear, poisson")
    return text


def _submit_mode(text: str) -> str:
    if text not in {"inline", "offload"}:
        raise InputError(f"found {text}; allowed: inline, offload")
    return text
