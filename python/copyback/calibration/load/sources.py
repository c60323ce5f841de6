"""Files that load curves come in: tables, and what fio leaves."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.calibration.load import fio_json, fio_logs, table
from copyback.calibration.load.offered import RATE
from copyback.calibration.load.table import Curve, Pass, Rate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def read(path: Path) -> Curve:
    """Read a load curve: a folder of fio's logs, fio's JSON (from a brace on), or a table.

    Raises
    ------
    InputError
        If a file cannot be read, or something in it makes no sense.
    """
    if path.is_dir():
        digest = hashlib.sha256()
        rates = _rates(path, fio_logs.passes(path, digest), f"job with {RATE}")
        return Curve(str(path), digest.hexdigest(), rates)
    if fio_logs.NAME.fullmatch(path.name):
        raise InputError(
            f"{path}: found a log of fio's; allowed: the folder with all logs and their job file"
        )
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"{path}: {fault}") from fault
    if text.lstrip().startswith("{"):
        rates = _rates(path, fio_json.passes(path, text), f"job with {RATE}")
    else:
        rates = _rates(path, table.passes(path, text), "row")
    return Curve(str(path), hashlib.sha256(content).hexdigest(), rates)


def _rates(path: Path, passes: Iterable[tuple[float, Pass]], missing: str) -> list[Rate]:
    """Return the rates of passes, in ascending order."""
    by_rate: dict[float, list[Pass]] = {}
    for offered, one in passes:
        _add(by_rate.setdefault(offered, []), one)
    if not by_rate:
        raise InputError(f"{path}: found no {missing}; allowed: one or more")
    return [Rate(offered, by_rate[offered]) for offered in sorted(by_rate)]


def _add(passes: list[Pass], one: Pass) -> None:
    if one.name and any(other.name == one.name for other in passes):
        raise InputError(
            f"{one.place}: pass: found {one.name!r} twice at a rate; allowed: once a rate"
        )
    passes.append(one)
