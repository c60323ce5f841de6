"""Files that a fit of keys leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copyback.calibration.search.kept import EVALUATIONS, LOCK
from copyback.data.outputs import Staging, replace_file

if TYPE_CHECKING:
    from pathlib import Path

FITTED = "fitted.toml"
REPORT = "report.html"


def check(directory: Path, result: str) -> None:
    """Check that a directory can hold the files of a fit.

    Parameters
    ----------
    result
        Name of the file of the result.

    Raises
    ------
    InputError
        If it holds anything else, or cannot be written.
    """
    files = frozenset({EVALUATIONS, result, FITTED, REPORT, LOCK})
    Staging(directory, files=files, marker=EVALUATIONS)


def write(directory: Path, *, fitted: str, page: str, result: tuple[str, str]) -> None:
    """Write the files of a fit, each whole or not at all.

    Parameters
    ----------
    fitted, page
        Configuration and report.
    result
        Name and text of the file of the result, which says that the others are there.
    """
    replace_file(directory / FITTED, fitted.encode())
    replace_file(directory / REPORT, page.encode())
    name, text = result
    replace_file(directory / name, text.encode())
