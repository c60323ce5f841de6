"""Typical runs, whose profile tells the compiler what to make fast: see `make wheel-pgo`.

    python benches/train.py

Schemes of every kind are there, on a small drive. What the runs find out is not looked at.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import copyback

DRIVE: dict[str, Any] = {
    "ssd": {
        "geometry": {
            "channels": 4,
            "chips_per_channel": 2,
            "dies_per_chip": 1,
            "planes_per_die": 4,
            "blocks_per_plane": 256,
            "pages_per_block": 64,
            "page_size": "4KiB",
        },
        "ftl": {"over_provisioning": 0.15},
        "gc": {"soft_threshold": {"blocks": 3}},
    },
    "precondition": {"fill": 1.0, "overwrites": 1.0},
    "workload": {"type": "synthetic", "requests": 30_000, "sequential_share": 0.1},
}

#: Requests: random single pages in a closed loop, and larger ones that arrive by themselves.
LOADS: list[dict[str, Any]] = [
    {"workload__request_size": "4KiB", "workload__read_share": 0.0, "workload__iodepth": 32},
    {"workload__request_size": "4KiB", "workload__read_share": 0.9, "workload__iodepth": 32},
    {
        "workload__request_size": "16KiB",
        "workload__read_share": 0.4,
        "workload__inter_arrival": "4ms",
    },
]

SCHEMES: list[dict[str, Any]] = [
    {},
    {"ssd__gc__copyback": False},
    {"ssd__gc__preemption": "semi_preemptive"},
    {"ssd__gc__preemption": "semi_preemptive", "ssd__gc__idle": "advanced_delayed"},
    {"ssd__gc__width": "blind", "ssd__gc__victim": "rga"},
    {"ssd__buffer": {"capacity": "4MiB"}, "ssd__gc__victim": "cost_benefit"},
    {"ssd__ftl__mapping": "demand_paged"},
    {"ssd__ftl__mapping": "superblock", "ssd__gc__victim": "fifo"},
    {"array": {"devices": 4, "layout": "raid5", "coordination": "reactive_inclusive"}},
]


def main() -> None:
    """Run every load on every scheme, and read a trace."""
    for scheme in SCHEMES:
        for load in LOADS:
            copyback.run(DRIVE, **scheme, **load)
    trace = Path(__file__).parents[1] / "examples" / "linux-mysql.load.gz"
    copyback.run(DRIVE, trace=trace, workload__beyond_device="wrap")


if __name__ == "__main__":
    main()
