"""Compare schedules of collections on a data centre's drive at shares of what it sustains.

What comes out is stored in experiments/drives/schedules.json, from which tools/drive_pages.py
writes docs/drives/schedules.md.
"""

from __future__ import annotations

import json
from typing import Any

from drive_promises import STORED

import copyback
from copyback.process.checkout import commit

PRESET = "intel-s4500"
SHARES = (0.5, 0.8, 0.95)
SCHEDULES = ("paced", "semi_preemptive", "partial", "none")

LOAD: dict[str, Any] = {
    "workload.request_size": "4KiB",
    "workload.read_share": 0.7,
    "workload.sequential_share": 0.0,
    "workload.requests": 1_000_000,
    "metrics.interval": "100ms",
}


def main() -> None:
    """Measure and store."""
    closed = copyback.run({"preset": PRESET}, **{**LOAD, "workload.iodepth": 32})
    late = closed.series["requests"].to_numpy()
    late = late[len(late) // 2 : int(late.nonzero()[0].max())]
    sustained = float(late.mean()) * 10
    print(f"sustained: {sustained:.0f}", flush=True)
    rows = [row(share, schedule, sustained) for share in SHARES for schedule in SCHEDULES]
    stored = {"commit": commit(), "sustained_iops": round(sustained), "rows": rows}
    text = json.dumps(stored, indent=1) + "\n"
    (STORED / "schedules.json").write_text(text, encoding="utf-8")


def row(share: float, schedule: str, sustained: float) -> dict[str, Any]:
    """Return what one schedule gives at a share of what the drive sustains."""
    mean = f"{round(1e9 / (share * sustained))}ns"
    settings: dict[str, Any] = {
        **LOAD,
        "workload.inter_arrival": {"type": "exponential", "mean": mean},
        "ssd.gc.preemption": schedule,
    }
    result = copyback.run({"preset": PRESET}, **settings)
    summary = result.summary
    moved = result.series["gc_programs"].to_numpy()
    moved = moved[: int(result.series["requests"].to_numpy().nonzero()[0].max())]
    found = {
        "share": share,
        "schedule": schedule,
        "read_p99_us": summary["response_us"]["read"]["p99"],
        "read_p99_9_us": summary["response_us"]["read"]["p99_9"],
        "write_p99_us": summary["response_us"]["write"]["p99"],
        "write_p99_9_us": summary["response_us"]["write"]["p99_9"],
        "page_write_amplification": summary["page_write_amplification"],
        "moved_spread": float(moved.std() / moved.mean()),
        "config_digest": summary["config_digest"],
    }
    print(found, flush=True)
    return found


if __name__ == "__main__":
    main()
