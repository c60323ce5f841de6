"""Files of a study of schemes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from copyback.calibration.writes import twin
from copyback.data.outputs import Staging
from copyback.inputs import configuration

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from copyback.calibration.writes.study import Drive, WritesCalibration

SCHEMES = "schemes.json"


def staging(directory: Path, drives: Iterable[str]) -> Staging:
    """Return the directory under construction that a study of these drives is written to."""
    return Staging(directory, files=frozenset({SCHEMES, *map(twin_of, drives)}), marker=SCHEMES)


def twin_of(drive: str) -> str:
    """Return the file name of the small drive that stands for a drive.

    >>> twin_of("Micron 7450 MAX 800GB")
    'twin-micron-7450-max-800gb.toml'
    """
    return f"twin-{re.sub(r'[^a-z0-9]+', '-', drive.lower()).strip('-')}.toml"


def write(found: WritesCalibration, directory: Path) -> None:
    """Write the result, and of each drive the small one that is nearest to it."""
    (directory / SCHEMES).write_text(found.to_json(), encoding="utf-8")
    for drive in found.drives:
        (directory / twin_of(drive.name)).write_text(_twin(drive), encoding="utf-8")


def _twin(drive: Drive) -> str:
    best = drive.found[0]
    return configuration.load(
        twin.configuration_of(drive.fitted, best.raw.gib, best.scheme)
    ).to_toml()
