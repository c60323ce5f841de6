"""Measured drives: what others measured under load beside what the fitted configuration gives."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from copyback._core import time_ns
from copyback.calibration.load.workload import Load, Settling
from copyback.calibration.search.bench import Bench
from copyback.inputs import configuration
from copyback.simulation.prepared import Folder

if TYPE_CHECKING:
    from collections.abc import Iterator

STORED = Path(__file__).with_name("drives.json")

#: Feature of these rows, by which they are chosen.
FEATURE = "measured drives"

#: How far a number may be from what is stored of the same program.
WITHIN = 0.001

#: Simulated seconds of a rate, as in the study that is stored.
SECONDS = 3.0


@dataclass(frozen=True)
class DriveRow:
    """A measured drive at one offered rate.

    Attributes
    ----------
    drive
        What is stored of the drive.
    rate
        Requests a second that are offered.
    """

    drive: dict[str, Any]
    rate: float
    feature: str = FEATURE
    geometry: str = ""
    peer: str = "SSD-iq (PVLDB 18)"
    within: float = WITHIN

    @property
    def name(self) -> str:
        """Name of the row."""
        return f"{self.drive['drive']}, {self.rate:,.0f} requests a second"

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        """Measured and simulated latencies that are stored of the rate."""
        return [cell for cell in self.drive["cells"] if cell["rates"] == [self.rate]]


@dataclass(frozen=True)
class DriveVerdict:
    """A row with what is simulated of it now.

    Attributes
    ----------
    ours
        Microseconds by metric, such as ``read_p99``.
    """

    row: DriveRow
    ours: dict[str, float]

    def agrees(self) -> bool:
        """Whether the program gives what is stored."""
        return all(
            abs(self.ours[cell["metric"]] - cell["simulated"]) <= WITHIN * cell["simulated"]
            for cell in self.row.cells
        )

    def is_same(self) -> bool:
        """Whether ours is what was measured: a simulated drive is never that."""
        return False

    def lines(self) -> Iterator[str]:
        """Return the lines of a row: theirs, ours, and the difference."""
        verb = "as stored" if self.agrees() else "NOT as stored"
        yield f"{self.row.name}: {verb}, beside {self.row.peer}"
        yield f"  {'':24} {'theirs':>14} {'ours':>14} {'difference':>11}"
        for cell in self.row.cells:
            ours, theirs = self.ours[cell["metric"]], cell["measured"]
            fitted = " (fitted)" if cell["fitted"] else ""
            name = cell["metric"].replace("_", " ", 1).replace("_", ".") + " (us)"
            yield f"  {name:24} {theirs:>14,.0f} {ours:>14,.0f} {ours / theirs - 1:>+11.0%}{fitted}"

    def to_dict(self) -> dict[str, object]:
        """Return a row's result for a program."""
        numbers = [
            {
                "what": cell["metric"],
                "theirs": cell["measured"],
                "ours": self.ours[cell["metric"]],
                "stored": cell["simulated"],
            }
            for cell in self.row.cells
        ]
        row = self.row
        return {
            "name": row.name,
            "peer": row.peer,
            "within": row.within,
            "agrees": self.agrees(),
            "numbers": numbers,
        }


def rows() -> list[DriveRow]:
    """Return the stored drives, each at its lowest rate and at the one that was fitted."""
    found = []
    drives = json.loads(STORED.read_text(encoding="utf-8"))["drives"]
    for drive in (one for one in drives if one["as_drive"] is None):
        lowest = drive["simulated"][0]["rate"]
        found += [DriveRow(drive, rate) for rate in (lowest, *drive.get("used_rates", ()))]
    return found


def run(row: DriveRow) -> DriveVerdict:
    """Simulate a row."""
    config = configuration.load(tomllib.loads(row.drive["fitted"]))
    workload = configuration.resolved(config)["workload"]
    # What was written before anything was measured at the lowest rate, whose workload is stored.
    ramp = time_ns(workload["flows"][0]["ramp"]) / 1e9
    written = ramp * Load(workload, SECONDS).written(row.drive["simulated"][0]["rate"])
    load = Load(workload, SECONDS, Settling(written, row.drive["highest_achieved"]))
    with TemporaryDirectory(prefix="copyback-validate-") as folder:
        bench = Bench(config, load)
        return DriveVerdict(row, bench.simulate((), row.rate, Folder(Path(folder))))
