"""The placement handles that a job writes through: ``dataplacement`` and its like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.fio import values
from copyback.inputs.configuration import resolved

if TYPE_CHECKING:
    from copyback._core import Config
    from copyback.fio.files import Stretch
    from copyback.fio.reader import Reader

#: Handles are numbers below this.
LIMIT = 1 << 16

#: A list of handles and a scheme have at most so many.
MOST_LISTED, MOST_RANGES = 128, 4096

_SELECTIONS = {"roundrobin": "in_turn", "random": "random", "scheme": "by_address"}
_OPTIONS = ("plids", "plid_select", "dp_scheme")


def handles_of(config: Config) -> int | None:
    """Return how many handles the drive of a configuration has; None if it goes by none."""
    placement = resolved(config)["ssd"]["ftl"]["placement"]
    # One without parameters is written as its name alone.
    return placement.get("handles") if isinstance(placement, dict) else None


def placement(job: Reader, stretch: Stretch, drive: int | None) -> dict[str, Any]:
    """Return the key ``handles`` of a job's flow; nothing, if the job places no data.

    Parameters
    ----------
    job
        The job.
    stretch
        Where its offsets begin on the drive.
    drive
        How many handles the drive has; None if it goes by none.
    """
    kind = _kind(job)
    if kind is None:
        unused = [name for name in _OPTIONS if name in job.options]
        if unused:
            job.notes.append(f"fio: without dataplacement, no effect of {', '.join(unused)}")
        return {}
    if drive is None:
        job.notes.append(
            "fio: the drive goes by no placement handles: ssd.ftl.placement is not by_hint"
        )
    selection = job.value("plid_select", _selection, "in_turn")
    if selection == "by_address":
        return {"handles": _by_address(job, stretch)}
    listed = job.value("plids", _listed, list(range(drive or 1)))
    if kind == "streams" and "plids" not in job.options:
        raise job.fault("dataplacement", "found streams; allowed: with plids")
    if drive is not None and kind == "fdp" and max(listed) >= drive:
        problem = f"found {max(listed)}; allowed: 0 to {drive - 1} on this drive"
        raise job.fault("plids", problem)
    return {"handles": {"type": selection, "handles": listed}}


def through_the_first(flows: list[dict[str, Any]]) -> None:
    """Let jobs beside such as place data, which do not do so themselves, write through handle 0."""
    if any("handles" in flow for flow in flows):
        for flow in flows:
            flow.setdefault("handles", {"type": "in_turn", "handles": [0]})


def _kind(job: Reader) -> str | None:
    """Return which directive writes carry: of fdp, streams, or none."""
    kind = job.value("dataplacement", _directive, None)
    if kind is None and "dataplacement" not in job.options and job.is_set("fdp"):
        return "fdp"
    return kind


def _directive(text: str) -> str | None:
    if text not in {"none", "fdp", "streams"}:
        raise InputError(f"found {text}; allowed: none, fdp, streams")
    return None if text == "none" else text


def _selection(text: str) -> str:
    if text not in _SELECTIONS:
        raise InputError(f"found {text}; allowed: {', '.join(_SELECTIONS)}")
    return _SELECTIONS[text]


def _listed(text: str) -> list[int]:
    """Return the handles of a list.

    >>> _listed("0,2-4")
    [0, 2, 3, 4]
    """
    listed: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        begin = _handle(first)
        end = _handle(last) if dash else begin
        if end < begin:
            raise InputError(f"found {part}; allowed: the lower number before the higher")
        listed += range(begin, end + 1)
    if len(listed) > MOST_LISTED:
        raise InputError(f"found {len(listed)} handles; allowed: at most {MOST_LISTED}")
    return listed


def _handle(text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdecimal()) or int(text) >= LIMIT:
        raise InputError(f"found {text or 'nothing'}; a number from 0 to {LIMIT - 1} is needed")
    return int(text)


def _by_address(job: Reader, stretch: Stretch) -> dict[str, Any]:
    """Return the ranges of the file of ``dp_scheme``; of those that overlap the first counts."""
    name = job.text("dp_scheme")
    if name is None:
        raise job.fault("plid_select", "found scheme; allowed: with a file in dp_scheme")
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise job.fault("dp_scheme", f"found {name}, which can't be read: {error}") from None
    ranges: list[tuple[int, int, int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                start, end, handle = _range(line)
            except InputError as fault:
                raise job.fault("dp_scheme", f"{name}:{number}: {fault}") from None
            ranges += [(*free, handle) for free in _free(start, min(end, stretch.bytes), ranges)]
    if not 0 < len(ranges) <= MOST_RANGES:
        problem = f"found {len(ranges)} ranges of the drive in {name}; allowed: 1 to {MOST_RANGES}"
        raise job.fault("dp_scheme", problem)
    listed = [
        {"offset": f"{stretch.start + start}B", "size": f"{end - start}B", "handle": handle}
        for start, end, handle in sorted(ranges)
    ]
    return {"type": "by_address", "ranges": listed}


def _range(line: str) -> tuple[int, int, int]:
    """Return start, end and handle of a line of a scheme.

    >>> _range("0, 1048576, 3")
    (0, 1048576, 3)
    """
    parts = line.split(",")
    if len(parts) != 3:
        raise InputError(f"found {line.strip()}; a line such as 0, 1048576, 0 is needed")
    start, end, handle = values.size(parts[0]), values.size(parts[1]), _handle(parts[2])
    if end <= start:
        raise InputError(f"found the end {end}; allowed: more than the start, {start}")
    return start, end, handle


def _free(start: int, end: int, taken: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Return the parts of a range that no earlier one covers."""
    free = []
    for first, last, _ in sorted(taken):
        if last <= start or first >= end:
            continue
        if first > start:
            free.append((start, first))
        start = last
    if start < end:
        free.append((start, end))
    return free
