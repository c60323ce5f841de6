"""Ask what the default drive answers beside what was measured, and what fewer blocks change.

python tools/drive_scaling.py            # some minutes
python tools/drive_scaling.py --whole    # tlc-nvme too, with all blocks: minutes more, some 3 GB

Two questions. At the rates of the measured curve, under the threads of the benchmark
(tools/drive_loads.py), what does the preset answer? And with 64, 256 and 1,024 blocks a plane, how
far are write amplification, the rate of writes without pause and the p99 of reads at 50,000
requests a second from those of the most blocks that were run? All of it is simulated after
``SETTLED`` of the drive was written, as in the fit. What comes out is stored in
experiments/drives/scaling.json, from which tools/drive_pages.py writes
docs/drives/samsung-pm9a3.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import drive_loads
from drive_promises import STORED

import copyback
from copyback.calibration.load.judge import Region
from copyback.calibration.load.workload import SETTLED, Load, Settling
from copyback.calibration.search.bench import Bench
from copyback.inputs import configuration
from copyback.process.checkout import commit
from copyback.simulation.prepared import Folder
from copyback_papers.validation import drives

#: Name of the stored result, and of the page.
NAME = "scaling"
PAGE = "samsung-pm9a3"

#: The measured drive, and the preset that was fitted to it.
DRIVE = next(one for one in drive_loads.DRIVES if one.name == PAGE)

#: Blocks a plane: few, those of the preset samsung-pm9a3, of tlc-nvme-64gb, and of tlc-nvme.
BLOCKS = (64, 256, 1_024)
WHOLE = 16_240

#: Queues of the host that the drive was measured on: one a thread.
QUEUES = drive_loads.WRITERS + 1

#: Simulated seconds that are measured, behind those in which free space settles.
SECONDS = 10.0

#: Writes under way without pause: as many as the drive's command slots hold.
DEPTH = 256

#: Bytes of a request, and its rate in the other load, of which half are reads.
SIZE = 4096
RATE = 50_000


def main() -> None:
    """Simulate and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--whole", action="store_true", help="tlc-nvme with all blocks, too")
    blocks = (*BLOCKS, WHOLE) if parser.parse_args().whole else BLOCKS
    stored = {
        "commit": commit(),
        "preset": PAGE,
        "cells": answered(),
        "rows": [row(each) for each in blocks],
    }
    text = json.dumps(stored, indent=1) + "\n"
    (STORED / f"{NAME}.json").write_text(text, encoding="utf-8")


def measured() -> dict[str, Any]:
    """Return what is stored of the drive: cells of the curve, and rates."""
    known = json.loads(drives.STORED.read_text(encoding="utf-8"))["drives"]
    found: dict[str, Any] = next(one for one in known if one["name"] == PAGE)
    return found


def answered() -> list[dict[str, Any]]:
    """Return the measured cells, each with what the preset gives in its place."""
    known = measured()
    host = [("host.queues", str(QUEUES)), ("workload", configuration.to_toml(threads()))]
    config = configuration.load({"preset": PAGE}, settings=host)
    settling = Settling.of(config, known["highest_achieved"])
    load = Load(configuration.resolved(config)["workload"], drives.SECONDS, settling)
    with TemporaryDirectory(prefix="copyback-scaling-") as folder:
        bench = Bench(config, load)
        rates = sorted({rate for cell in known["cells"] for rate in cell["rates"]})
        numbers = {rate: bench.simulate((), rate, Folder(Path(folder))) for rate in rates}
    return [
        {
            "metric": cell["metric"],
            "rates": cell["rates"],
            "measured": cell["measured"],
            "simulated": sum(numbers[rate][cell["metric"]] for rate in cell["rates"])
            / len(cell["rates"]),
            "fitted": is_fitted(cell),
        }
        for cell in known["cells"]
    ]


def is_fitted(cell: dict[str, Any]) -> bool:
    """Whether a value of the preset was chosen by a measured number."""
    is_seen = cell["region"] == Region.BEYOND and cell["metric"] in DRIVE.seen
    return cell["rates"] == [DRIVE.used] or is_seen


def threads() -> dict[str, Any]:
    """Return the load of the benchmark: a thread that is measured, and six that write."""
    load: dict[str, Any] = drive_loads.start()["workload"]
    return load


def row(blocks: int) -> dict[str, Any]:
    """Return what a drive with so many blocks a plane gives under two loads."""
    geometry = {"preset": PAGE, "ssd": {"geometry": {"blocks_per_plane": blocks}}}
    capacity = configuration.load(geometry).capacity_bytes
    highest = measured()["highest_achieved"]
    full = copyback.run(
        {**geometry, "workload": writes(SETTLED * capacity / (SIZE * highest))}
    ).summary
    half = copyback.run(
        {**geometry, "workload": mixed(2 * SETTLED * capacity / (SIZE * RATE))}
    ).summary
    found = {
        "blocks_per_plane": blocks,
        "capacity_bytes": capacity,
        "write_amplification": full.write_amplification,
        "writes_per_s": full.throughput.iops,
        "read_p99_us": half.response_us.read.p99,
        "config_digests": [full.config_digest, half.config_digest],
    }
    print(found, flush=True)
    return found


def writes(ramp: float) -> dict[str, Any]:
    """Return random writes without pause, measured behind a ramp of so many seconds."""
    return {**_load(ramp), "read_share": 0.0, "iodepth": DEPTH}


def mixed(ramp: float) -> dict[str, Any]:
    """Return reads and random writes at one rate, whatever becomes of them."""
    gap = {"type": "exponential", "mean": f"{1_000_000_000 // RATE}ns"}
    return {**_load(ramp), "read_share": 0.5, "inter_arrival": gap}


def _load(ramp: float) -> dict[str, Any]:
    return {
        "type": "synthetic",
        "requests": "unlimited",
        "request_size": f"{SIZE}B",
        "sequential_share": 0.0,
        "duration": f"{(ramp + SECONDS) * 1e9:.0f}ns",
        "ramp": f"{ramp * 1e9:.0f}ns",
    }


if __name__ == "__main__":
    main()
