"""All rules together: what differs between a job file and the requests of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fio_behaviour import asked, issued, shortened, what, when, where

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fio_behaviour.asked import Asked
    from fio_behaviour.issued import Drive, Issued

_RULES = (
    what.sizes,
    what.operations,
    what.flushes,
    where.within,
    where.in_sequence,
    where.at_random,
    when.depth,
    when.rates,
    when.amounts,
    when.times,
    when.pauses,
)


def differences(path: Path, drive: Drive) -> list[str]:
    """Run a job file as it is; return what differs.

    Raises
    ------
    InputError
        If the job file is refused.
    """
    return compared(asked.read(path, issued.capacity(drive)), issued.run(path, drive))


def differences_in_short(path: Path, folder: Path, drive: Drive) -> list[str]:
    """Run a job file with short times, written to a folder; return what differs."""
    return differences(shortened.shortened(path, folder, issued.capacity(drive)), drive)


def compared(wanted: Sequence[Asked], found: Sequence[Issued]) -> list[str]:
    """Return what differs between jobs and the requests of each."""
    if len(wanted) != len(found):
        return [f"{len(found)} flows; asked for: {len(wanted)}"]
    flows = list(zip(wanted, found, strict=True))
    told = [
        f"{number} ({one.name}): {problem}"
        for number, (one, rows) in enumerate(flows)
        for rule in _RULES
        for problem in rule(one, rows)
    ]
    return told + [f"{number}: {problem}" for number, problem in when.order(flows)]
