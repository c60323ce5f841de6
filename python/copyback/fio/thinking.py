"""Pauses of a job: ``thinktime`` and its family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.fio import values

if TYPE_CHECKING:
    from copyback.fio.reader import Reader

#: Options that say when a pause is due.
_RULES = ("thinktime_blocks", "thinktime_blocks_type", "thinktime_iotime")


def thinktime(job: Reader, pace: dict[str, Any]) -> dict[str, Any]:
    """Return the pauses of a job whose requests arrive by the keys `pace`."""
    time = job.value("thinktime", _microseconds, 0)
    if not time:
        unused = [name for name in _RULES if name in job.options]
        if unused:
            job.notes.append(f"fio: without thinktime, no effect of {', '.join(unused)}")
        return {}
    if "iodepth" not in pace:
        raise job.fault(
            "thinktime", "found with io_submit_mode=offload and a rate; allowed: inline"
        )
    pause: dict[str, Any] = {"type": "pause", "time": f"{time}ns"}
    if "thinktime_blocks" in job.options:
        pause["blocks"] = job.whole("thinktime_blocks", least=1)
    if "thinktime_blocks_type" in job.options:
        pause["blocks_type"] = job.value("thinktime_blocks_type", _type, "complete")
    iotime = job.seconds("thinktime_iotime")
    if iotime:
        pause["iotime"] = f"{round(iotime * 1e9)}ns"
    return {"thinktime": pause}


def _microseconds(text: str) -> int:
    """Return a time in nanoseconds; a number alone is in microseconds.

    >>> _microseconds("5"), _microseconds("3ms")
    (5000, 3000000)
    """
    return round(values.seconds(text, "us") * 1e9)


def _type(text: str) -> str:
    if text not in {"complete", "issue"}:
        raise InputError(f"found {text or 'nothing'}; allowed: complete, issue")
    return text
