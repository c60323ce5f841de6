"""Calibrate the phone on each of its traces, and on halves of them, and predict the others.

``COPYBACK_TRACES`` names the folder with the traces. What comes out is stored in
experiments/calibration, from which tools/calibration_page.py writes the page.
"""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

import copyback
from copyback.calibration.errors import OPERATIONS
from copyback.calibration.floor import BOTH, Part, Row, read_part, row_of, rows_of
from copyback.calibration.measured import Times
from copyback.calibration.models import forecast
from copyback.process.checkout import commit

if TYPE_CHECKING:
    from copyback import Calibration

ROOT = Path(__file__).parent.parent
STORED = ROOT / "experiments/calibration"
DEVICE = ROOT / "examples/phone-emmc.toml"
NAMES = ("nexus5-twitter", "nexus5-Installing")

#: As little as may be is held out: what is judged is another trace.
HELD_OUT = 0.1


def main() -> None:
    """Calibrate and store."""
    of_commit = commit()
    with TemporaryDirectory(prefix="copyback-pairs-") as name:
        directory = Path(name)
        pairs = pairs_below(Path(os.environ["COPYBACK_TRACES"]), directory)
        rows: list[Row] = []
        fits = []
        for known, wanted in pairs:
            found = copyback.calibrate(
                DEVICE, trace=known, times="service", held_out=HELD_OUT, test=[wanted]
            )
            names = (known.name.partition(".")[0], wanted.name.partition(".")[0])
            of_known, of_wanted = (
                Part(name, read_part(path, Times.SERVICE, None, lenient=False).rows)
                for name, path in zip(names, (known, wanted), strict=True)
            )
            rows += simulated(found, of_known, of_wanted)
            rows += rows_of(of_known, of_wanted)
            fits.append(
                {
                    "fitted": names[0],
                    "predicted": names[1],
                    "model": found.model,
                    "models": found.models,
                    "parameters": [one.to_dict() for one in found.fitted],
                }
            )
            print(*names, found.model)
    stored = {
        "schema": 1,
        "version": copyback.__version__,
        "commit": of_commit,
        "config": DEVICE.name,
        "held_out": HELD_OUT,
        "fits": fits,
        "rows": [asdict(row) for row in rows],
    }
    text = json.dumps(stored, indent=2, ensure_ascii=False) + "\n"
    (STORED / "pairs-service.json").write_text(text, encoding="utf-8")


def pairs_below(traces: Path, directory: Path) -> list[tuple[Path, Path]]:
    """Return every ordered pair of traces, and of halves of each, in files of the directory."""
    whole = [traces / f"{name}.txt.gz" for name in NAMES]
    found = list(permutations(whole, 2))
    for trace in whole:
        lines = gzip.decompress(trace.read_bytes()).splitlines(keepends=True)
        middle = len(lines) // 2
        halves = []
        for name, some in (("1st half", lines[:middle]), ("2nd half", lines[middle:])):
            path = directory / f"{trace.name.partition('.')[0]} ({name}).txt"
            path.write_bytes(b"".join(some))
            halves.append(path)
        found += permutations(halves, 2)
    return found


def simulated(found: Calibration, known: Part, wanted: Part) -> list[Row]:
    """Return how well the calibrated simulation predicts the other trace."""
    rows = found.predictions.filter(pl.col("part") == "test")
    told, result = [], []
    for operation in OPERATIONS:
        of_kind = rows.filter(rows["operation"] == operation)
        if of_kind.is_empty():
            continue
        says = forecast(of_kind, found.delays.get(operation), "undelayed_us")
        told.append((says, of_kind["measured_us"].to_numpy()))
        result.append(row_of(known, wanted, operation, "simulated", told[-1:]))
    return [*result, row_of(known, wanted, BOTH, "simulated", told)]


if __name__ == "__main__":
    main()
