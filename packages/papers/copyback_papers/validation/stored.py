"""The stored rows: what was simulated elsewhere, and what came out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from copyback._core import InputError
from copyback.inputs import typed
from copyback_papers.validation.load import Load  # noqa: TC001 - msgspec reads it

if TYPE_CHECKING:
    from copyback_papers.validation.drives import DriveRow

STORED = Path(__file__).with_name("rows.json")
#: The peer that is a model of our own (`tools/time_model`).
TIME_MODEL = "the time model"


class Responses(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Responses of reads or of writes: how many, and how long in microseconds."""

    count: int
    mean_us: float
    p99_us: float
    p99_9_us: float


class Numbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Numbers of a stored run.

    Attributes
    ----------
    reads, writes
        Their responses; None if there were none.
    page_reads, page_programs, erases
        What the flash did in the measured part. A simulator may not count all reads: None.
    """

    reads: Responses | None
    writes: Responses | None
    page_reads: int | None
    page_programs: int
    erases: int


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run of another simulator, and how to do it here.

    Attributes
    ----------
    name, feature, geometry
        What it is called, what it tries, and the channels x chips x dies x planes of its drives.
    peer
        Which simulator, with its commit.
    config
        Our configuration, but for the workload.
    load
        The requests.
    iodepth
        Requests outstanding of a closed loop; None: they come at their times.
    theirs
        What the other simulator gave.
    within
        How far ours may be from that, as a share of it; of a row with a prediction, how far from
        what that predicts of ours.
    cause
        Why they differ, if they do by more than a hair; empty: they are expected to agree.
    explained
        What the time model gives with the other simulator's rules: what the cause predicts of their
        numbers. None: nothing is to be explained.
    without
        What the time model gives of the same requests without the cause, with our rules. So the
        cause predicts that ours are to theirs as these to `explained`. None where that is.
    counts_only
        Whether responses are not compared, as theirs leave out what the cause names.
    provenance
        How it was obtained.
    """

    name: str
    feature: str
    geometry: str
    peer: str
    config: dict[str, Any]
    load: Load
    iodepth: int | None
    theirs: Numbers
    within: float
    cause: str = ""
    explained: Numbers | None = None
    without: Numbers | None = None
    counts_only: bool = False
    provenance: str = ""


def rows(path: Path = STORED) -> list[Row]:
    """Read the stored rows.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    try:
        return typed.decode(path.read_bytes(), list[Row])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise InputError(f"{path}: not the stored rows of a validation: {fault}") from None


def chosen(every: list[Row | DriveRow], only: list[str]) -> list[Row | DriveRow]:
    """Return the rows whose name, feature, geometry or peer holds any of these texts; none: all.

    Raises
    ------
    InputError
        If one of the texts chooses nothing.
    """
    if not only:
        return every

    def is_in(text: str, row: Row | DriveRow) -> bool:
        return any(
            text.lower() in one.lower() for one in (row.name, row.feature, row.geometry, row.peer)
        )

    for text in only:
        if not any(is_in(text, row) for row in every):
            features = ", ".join(dict.fromkeys(row.feature for row in every))
            peers = ", ".join(dict.fromkeys(row.peer for row in every))
            raise InputError(
                f"--only {text}: chooses no row; allowed: a part of a name, of a geometry such as "
                f"2x2x1x2, of a feature ({features}), or of a peer ({peers})"
            )
    return [row for row in every if any(is_in(text, row) for text in only)]
