"""Typical runs, whose profile tells the compiler what to make fast: see `make release-wheel`.

    python benches/train.py                   # prints a digest of each run's summary

The rows of the benches, on drives as small as `--small` makes them, and schemes that no row has.
Preparing the drives is part of it: it is half of a short run. Digests say whether another build
finds out the same.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import copyback

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
TLC = ROOT / "crates/copyback/benches/simulator/tlc-nvme-64gb.toml"

#: The device of Lee et al. with a 32nd of its blocks; work.rs of the benches has it, too.
LEE: dict[str, Any] = {
    "ssd": {
        "geometry": {
            "channels": 8,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": 8,
            "blocks_per_plane": 64,
            "pages_per_block": 64,
            "page_size": "4KiB",
        },
        "timing": {"transfer_rate": "40MB/s"},
        "ftl": {"over_provisioning": 0.15},
        "gc": {"soft_threshold": {"blocks": 3}},
    },
    "precondition": {"fill": 1.0, "overwrites": 1.0},
}
OVER_CHANNEL: dict[str, Any] = {"ssd__gc__copyback": False}
TWO_REGISTERS: dict[str, Any] = {
    **OVER_CHANNEL,
    "ssd__geometry__chips_per_channel": 4,
    "ssd__geometry__planes_per_die": 2,
    "ssd__timing__register": "double",
    "workload__iodepth": 128,
}
ARRAY_OF_LEE = {"layout": "raid0", "devices": 8, "stripe": "4KiB"}
ARRAYS = {name: {"layout": name, "devices": 8, "stripe": "64KiB"} for name in ("raid5", "raid0")}

#: Rows of the benches: the device, what is changed of it, requests, and the share of reads.
ROWS: list[tuple[str, dict[str, Any], int, float]] = [
    ("lee", {}, 100_000, 0.0),
    ("lee", {}, 100_000, 1.0),
    ("lee", {}, 200_000, 0.95),
    ("lee", {"array": ARRAY_OF_LEE, "workload__iodepth": 256}, 50_000, 0.0),
    ("lee", OVER_CHANNEL, 100_000, 0.0),
    ("lee", TWO_REGISTERS, 100_000, 0.0),
    ("tlc", {}, 100_000, 0.0),
    ("tlc", {}, 100_000, 1.0),
    ("tlc", {"ssd__gc__preemption": "semi_preemptive"}, 50_000, 0.5),
    ("tlc", {"array": ARRAYS["raid5"]}, 15_000, 0.5),
    ("tlc", {"array": ARRAYS["raid0"]}, 30_000, 0.5),
    ("tlc", {"ssd__ftl__mapping": "demand_paged"}, 25_000, 0.5),
    ("tlc", {"ssd__ftl__mapping": "log_block", "ssd__ftl__allocation": "CWDP"}, 500, 0.5),
]

#: What no row has, on the device of Lee et al.
SCHEMES: list[dict[str, Any]] = [
    {"ssd__gc__preemption": "semi_preemptive", "ssd__gc__idle": "advanced_delayed"},
    {"ssd__gc__width": "blind", "ssd__gc__victim": "rga"},
    {"ssd__buffer": {"capacity": "4MiB"}, "ssd__gc__victim": "cost_benefit"},
    {"ssd__ftl__mapping": "superblock", "ssd__gc__victim": "fifo"},
    {"array": {"devices": 4, "layout": "raid5", "coordination": "reactive_inclusive"}},
]
#: Requests that arrive by themselves.
OPEN_LOOP: dict[str, Any] = {
    "type": "synthetic",
    "requests": 20_000,
    "request_size": "16KiB",
    "read_share": 0.4,
    "sequential_share": 0.1,
    "inter_arrival": "2ms",
}


def main() -> None:
    """Run everything, a line each."""
    for result in runs():
        print(digest(result), flush=True)


def runs() -> Iterator[copyback.Result]:
    """Run every row and scheme, and replay a trace."""
    devices = {"lee": LEE, "tlc": small_tlc()}
    for device, settings, requests, reads in ROWS:
        yield copyback.run({**devices[device], "workload": random_4k(requests, reads)}, **settings)
    for scheme in SCHEMES:
        yield copyback.run({**LEE, "workload": OPEN_LOOP}, **scheme)
    trace = ROOT / "examples" / "linux-mysql.load.gz"
    yield copyback.run(LEE, trace=trace, workload__beyond_device="wrap")


def small_tlc() -> dict[str, Any]:
    """Return the TLC drive with blocks of an eighth of the pages."""
    drive = tomllib.loads(TLC.read_text())
    drive["ssd"]["geometry"]["pages_per_block"] //= 8
    drive["precondition"] = {"fill": 1.0, "overwrites": 0.3}
    return drive


def random_4k(requests: int, reads: float) -> dict[str, Any]:
    """Return random requests, 32 at a time."""
    return {
        "type": "synthetic",
        "requests": requests,
        "request_size": "4KiB",
        "read_share": reads,
        "sequential_share": 0.0,
        "iodepth": 32,
    }


def digest(result: copyback.Result) -> str:
    """Name a result: the same for every build, but for what the run cost."""
    summary = msgspec.to_builtins(result.summary)
    del summary["simulator"]
    return hashlib.sha256(json.dumps(summary, sort_keys=True).encode()).hexdigest()


if __name__ == "__main__":
    main()
