"""Set what a tail is said to wait for beside what collections without cost take off it.

Each of twenty open loops is run twice from one prepared drive: as it is, and with `zero_cost`,
where collections take no time. What comes out is stored in experiments/drives/tails.json, from
which tools/drive_pages.py writes docs/drives/tails.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from drive_promises import STORED

import copyback
from copyback.process.checkout import commit
from copyback.words import tail

if TYPE_CHECKING:
    from copyback.summary import Summary

#: Load of each drive, but for when requests come.
LOAD: dict[str, Any] = {
    "type": "synthetic",
    "requests": 1_000_000,
    "request_size": "16KiB",
    "read_share": 0.7,
    "sequential_share": 0.0,
}

#: Drives: a preset, and how logical pages are allocated where that is not the preset's own way.
DRIVES: dict[str, tuple[str, str | None]] = {
    "tlc-unbuffered-64gb": ("tlc-unbuffered-64gb", None),
    "tlc-unbuffered-64gb, static allocation": ("tlc-unbuffered-64gb", "CWDP"),
    "intel-s4500": ("intel-s4500", None),
    "femu-bbssd": ("femu-bbssd", None),
    "pgc-2011": ("pgc-2011", None),
}

#: Shares of what a drive does at most, 32 requests at a time, that it is asked for.
SHARES = (0.4, 0.7)

#: When collections yield.
SCHEDULES = ("none", "semi_preemptive")


def main() -> None:
    """Measure and store."""
    rows = [
        row(drive, share, rate, schedule)
        for drive in DRIVES
        for rate in [most_of(drive)]
        for share in SHARES
        for schedule in SCHEDULES
    ]
    stored = {"commit": commit(), "rows": rows}
    text = json.dumps(stored, indent=1) + "\n"
    (STORED / "tails.json").write_text(text, encoding="utf-8")


def drive_of(name: str) -> dict[str, Any]:
    """Return the configuration of a drive, without a load."""
    preset, allocation = DRIVES[name]
    changed = {"ssd": {"ftl": {"allocation": allocation}}} if allocation else {}
    return {"preset": preset, **changed}


def most_of(drive: str) -> float:
    """Return the requests a second that a drive does in the second half of a closed loop."""
    closed = copyback.run({**drive_of(drive), "workload": {**LOAD, "iodepth": 32}})
    served = closed.series["requests"].to_numpy()
    seconds = closed.series["start_s"].to_numpy()
    half = len(served) // 2
    return float(served[half:-1].sum() / (seconds[-1] - seconds[half]))


def row(drive: str, share: float, rate: float, schedule: str) -> dict[str, Any]:
    """Return what a drive's tail waits for, and what is left of it without cost."""
    gap = {"type": "exponential", "mean": f"{round(1e9 / (share * rate))}ns"}
    load = {**LOAD, "inter_arrival": gap}
    config = {**drive_of(drive), "workload": load}
    with TemporaryDirectory() as folder:
        state = copyback.precondition(
            config, save=Path(folder) / "state", ssd__gc__preemption=schedule
        )
        real, ideal = (
            copyback.run(
                config, state=state, ssd__gc__preemption=schedule, ssd__gc__zero_cost=zero_cost
            )
            for zero_cost in (False, True)
        )
    found = {
        "drive": drive,
        "mean_gap": gap["mean"],
        "share": share,
        "schedule": schedule,
        **told(real.summary, ""),
        **told(ideal.summary, "ideal_"),
        "config_digest": real.summary.config_digest,
    }
    print(found, flush=True)
    return found


def told(summary: Summary, prefix: str) -> dict[str, Any]:
    """Return p99.9 of a run and the shares of causes above it."""
    assert summary.tail is not None
    assert summary.tail.above == 99.9
    return {
        f"{prefix}p99_9_us": summary.response_us.all.p99_9,
        f"{prefix}shares": tail.shares(summary.tail),
        f"{prefix}findings": summary.verdict.findings,
    }


if __name__ == "__main__":
    main()
