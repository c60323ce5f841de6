"""The rate that a job of fio asks for, by its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.calibration.search.bench import OPERATIONS
from copyback.fio.values import whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The option without which a job is no rate of a load curve.
RATE = "rate_iops"


def offered(options: Mapping[str, str], done: Sequence[str], place: str) -> float:
    """Return the requests a second that a job and its clones ask for, all operations together.

    Raises
    ------
    InputError
        If an option makes no sense.
    """
    limits = options[RATE].split(",")
    if len(limits) == 1:
        limits *= len(OPERATIONS)
    asked = sum(_number(limits[OPERATIONS.index(name)], f"{place}: {RATE}") for name in done)
    return float(asked * clones(options, place))


def clones(options: Mapping[str, str], place: str) -> int:
    """Return how many clones of a job run at the same time.

    Raises
    ------
    InputError
        If ``numjobs`` makes no sense.
    """
    return _number(options.get("numjobs", "1"), f"{place}: numjobs")


def _number(text: str, place: str) -> int:
    try:
        return whole(text, least=1)
    except InputError as fault:
        raise InputError(f"{place}: {fault}") from None
