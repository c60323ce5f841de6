"""Compare ways around collections on a drive whose lines may have parity, as TTFLASH has them.

What comes out is stored in experiments/drives/rain.json, from which tools/drive_pages.py writes
docs/drives/rain.md.
"""

from __future__ import annotations

import json
from typing import Any

from drive_promises import STORED

import copyback
from copyback.checkout import commit

#: Of the rate that the drive sustains with all of it.
SHARES = (0.5, 0.8)

#: Eight dies: stripes of seven pages of data, as in TTFLASH. Timing and host are the preset's.
DRIVE: dict[str, Any] = {
    "ssd.geometry.channels": 8,
    "ssd.geometry.chips_per_channel": 1,
    "ssd.geometry.planes_per_die": 1,
    "ssd.geometry.blocks_per_plane": 256,
    "ssd.geometry.pages_per_block": 256,
    "ssd.ftl.over_provisioning": 0.35,
    "ssd.gc.unit": "line",
    "ssd.gc.copyback": True,
    "ssd.gc.soft_threshold": 0.06,
    "workload.request_size": "16KiB",
    "workload.read_share": 0.7,
    "workload.sequential_share": 0.0,
    "workload.requests": 600_000,
}

PARITY = {"ssd.ftl.rain": True}
AROUND = {"ssd.ftl.reads_around_gc": True}
IN_TURN = {"ssd.gc.rotating": True}

#: Each way, what it sets, and when its collections yield.
WAYS: dict[str, dict[str, Any]] = {
    "collections take no time": {**PARITY, "ssd.gc.zero_cost": True},
    "no parity": {},
    "parity": PARITY,
    "parity, dies in turn": {**PARITY, **IN_TURN},
    "parity, reads around": {**PARITY, **AROUND},
    "parity, dies in turn, reads around": {**PARITY, **IN_TURN, **AROUND},
}
SCHEDULES = ("none", "semi_preemptive")


def main() -> None:
    """Measure and store."""
    rates = {way: rate(settings) for way, settings in WAYS.items()}
    print(rates, flush=True)
    sustained = rates["parity, dies in turn, reads around"]
    rows = [
        row(share, schedule, way, sustained)
        for share in SHARES
        for schedule in SCHEDULES
        for way in WAYS
        if (schedule, way) != ("semi_preemptive", "collections take no time")
    ]
    iops = {way: round(rate) for way, rate in rates.items()}
    stored = {"commit": commit(), "sustained_iops": iops, "rows": rows}
    text = json.dumps(stored, indent=1) + "\n"
    (STORED / "rain.json").write_text(text, encoding="utf-8")


def rate(settings: dict[str, Any]) -> float:
    """Return the requests a second that the drive sustains where collections do not yield."""
    closed = {**DRIVE, **settings, "ssd.gc.preemption": "none", "workload.iodepth": 64}
    found = copyback.run({"preset": "tlc-nvme"}, **closed).summary.throughput.iops
    assert found is not None
    return found


def row(share: float, schedule: str, way: str, sustained: float) -> dict[str, Any]:
    """Return what one way gives at a share of what the drive sustains."""
    mean = f"{round(1e9 / (share * sustained))}ns"
    settings: dict[str, Any] = {
        **DRIVE,
        **WAYS[way],
        "workload.inter_arrival": {"type": "exponential", "mean": mean},
        "ssd.gc.preemption": schedule,
    }
    summary = copyback.run({"preset": "tlc-nvme"}, **settings).summary
    reads, writes = summary["response_us"]["read"], summary["response_us"]["write"]
    assert summary.lines is not None
    parity = summary.lines.parity
    found = {
        "share": share,
        "schedule": schedule,
        "way": way,
        **{f"read_{key}_us": reads[key] for key in ("p50", "p99", "p99_9", "p99_99")},
        "write_p99_9_us": writes["p99_9"],
        "write_amplification": summary["write_amplification"],
        "without_parity": parity.write_amplification_without if parity else None,
        "reads": summary.requests.reads,
        "reads_around": parity.reads_around if parity else 0,
        "pages_read_for_others": parity.pages_read_for_others if parity else 0,
        "config_digest": summary["config_digest"],
    }
    print(found, flush=True)
    return found


if __name__ == "__main__":
    main()
