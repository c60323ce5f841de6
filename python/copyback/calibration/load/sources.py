"""Files that load curves come in: tables, and what fio leaves."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.calibration.load import fio_json, table
from copyback.calibration.load.table import Curve, Pass, Rate

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> Curve:
    """Read a load curve: fio's JSON if the file begins with a brace, else a table.

    Raises
    ------
    InputError
        If the file cannot be read, or something in it makes no sense.
    """
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"{path}: {fault}") from fault
    is_json = text.lstrip().startswith("{")
    by_rate: dict[float, list[Pass]] = {}
    for offered, one in fio_json.passes(path, text) if is_json else table.passes(path, text):
        _add(by_rate.setdefault(offered, []), one)
    if not by_rate:
        missing = "job with rate_iops" if is_json else "row"
        raise InputError(f"{path}: found no {missing}; allowed: one or more")
    rates = [Rate(offered, by_rate[offered]) for offered in sorted(by_rate)]
    return Curve(str(path), hashlib.sha256(content).hexdigest(), rates)


def _add(passes: list[Pass], one: Pass) -> None:
    if one.name and any(other.name == one.name for other in passes):
        raise InputError(
            f"{one.place}: pass: found {one.name!r} twice at a rate; allowed: once a rate"
        )
    passes.append(one)
