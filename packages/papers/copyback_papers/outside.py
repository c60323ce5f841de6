"""Numbers that another simulator gave, outside this repository: as they were written down."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.words.markdown import markdown_table

if TYPE_CHECKING:
    from pathlib import Path

#: The directory of such tables, below that of the pages.
FOLDER = "outside"


def table(docs: Path, name: str) -> str:
    """Return a table, below what its file says of where it comes from.

    Raises
    ------
    InputError
        If there is no such file, or it does not say where its numbers come from.
    """
    path = docs / FOLDER / f"{name}.csv"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as fault:
        raise InputError(f"{path}: {fault.strerror}") from None
    told = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
    if not told:
        raise InputError(
            f"{path}: does not say where its numbers come from: a line after # is needed"
        )
    header, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    return "\n\n".join([*told, markdown_table(header, [tuple(row) for row in rows])])
