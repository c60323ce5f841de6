"""Compare ways around collections on a drive whose lines may have parity, as TTFLASH has them.

And when the blocks of a line are erased, and what the loss of a die does to such a drive.

What comes out is stored in experiments/drives/rain.json, from which tools/drive_pages.py writes
docs/drives/rain.md. With names of parts (ways, erases, lost_die), the others stay as they are.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from drive_promises import STORED

import copyback
from copyback.process.checkout import commit

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
WHOLE = "parity, dies in turn, reads around"

#: The die that is lost, when, at what load, and how much is spare of a drive that is to bear it.
LOST = {"die": 3, "at": "100s"}
LOST_SHARE = 0.5
LOST_SPARE = 0.45

#: How fast it is rebuilt.
PACES: dict[str, dict[str, Any]] = {
    "a page at a time": {"rebuild_pages": 1},
    "8 pages at once": {"rebuild_pages": 8},
    "64 pages at once": {"rebuild_pages": 64},
    "8 MB/s": {"rebuild_rate": "8MB/s"},
}


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=["ways", "erases", "lost_die"])
    parts = parser.parse_args().parts
    path = STORED / "rain.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    if "ways" in parts:
        stored |= ways()
    sustained = stored["sustained_iops"][WHOLE]
    if "erases" in parts:
        stored["erases"] = {"commit": commit(), "rows": erases(sustained)}
    if "lost_die" in parts:
        stored["lost_die"] = {"commit": commit(), "rows": lost_die(sustained)}
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def ways() -> dict[str, Any]:
    """Return what each way gives."""
    rates = {way: rate(settings) for way, settings in WAYS.items()}
    print(rates, flush=True)
    sustained = rates[WHOLE]
    rows = [
        row(share, schedule, way, sustained)
        for share in SHARES
        for schedule in SCHEDULES
        for way in WAYS
        if (schedule, way) != ("semi_preemptive", "collections take no time")
    ]
    iops = {way: round(rate) for way, rate in rates.items()}
    return {"commit": commit(), "sustained_iops": iops, "rows": rows}


def erases(sustained: float) -> list[dict[str, Any]]:
    """Return what it changes that the blocks of a line are erased together."""
    together = {"ssd.gc.line_erase": "together"}
    return [
        row(share, schedule, WHOLE, sustained, together)
        for share in SHARES
        for schedule in SCHEDULES
    ]


def lost_die(sustained: float) -> list[dict[str, Any]]:
    """Return how reads fare while a lost die is rebuilt at each pace."""
    return [lost_row(schedule, pace, sustained) for schedule in SCHEDULES[::-1] for pace in PACES]


def lost_row(schedule: str, pace: str, sustained: float) -> dict[str, Any]:
    """Return how reads fare before a die is lost, while it is rebuilt, and after that."""
    settings: dict[str, Any] = {
        **DRIVE,
        **PARITY,
        **arrivals(LOST_SHARE, sustained),
        "ssd.ftl.over_provisioning": LOST_SPARE,
        "ssd.gc.preemption": schedule,
        "ssd.gc.line_erase": "together",
        "ssd.faults.lost_die": {**LOST, **PACES[pace]},
    }
    summary = copyback.run({"preset": "tlc-unbuffered"}, **settings).summary
    lost = summary.lost_die
    assert lost is not None
    times = {"before": lost.before_us, "during": lost.during_us, "after": lost.after_us}
    found = {
        "schedule": schedule,
        "pace": pace,
        **{f"{when}_{key}_us": of[key] for when, of in times.items() for key in TAILS},
        "rebuild_s": lost.rebuild_s,
        "pages_rebuilt": lost.pages_rebuilt,
        "pages_lost": lost.pages_lost,
        "degraded_reads": lost.degraded_reads,
        "reads_during": lost.during_us["count"],
        "unprotected_lines": lost.unprotected_lines,
        "page_write_amplification": summary["page_write_amplification"],
        "config_digest": summary["config_digest"],
    }
    print(found, flush=True)
    return found


#: Of reads.
TAILS = ("p50", "p99", "p99_9")


def arrivals(share: float, sustained: float) -> dict[str, Any]:
    """Return requests that come at random, at a share of what is sustained."""
    mean = f"{round(1e9 / (share * sustained))}ns"
    return {"workload.inter_arrival": {"type": "exponential", "mean": mean}}


def rate(settings: dict[str, Any]) -> float:
    """Return the requests a second that the drive sustains where collections do not yield."""
    closed = {**DRIVE, **settings, "ssd.gc.preemption": "none", "workload.iodepth": 64}
    found = copyback.run({"preset": "tlc-unbuffered"}, **closed).summary.throughput.iops
    assert found is not None
    return found


def row(
    share: float,
    schedule: str,
    way: str,
    sustained: float,
    others: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what one way gives at a share of what the drive sustains, with other settings."""
    settings: dict[str, Any] = {
        **DRIVE,
        **WAYS[way],
        **arrivals(share, sustained),
        "ssd.gc.preemption": schedule,
        **(others or {}),
    }
    summary = copyback.run({"preset": "tlc-unbuffered"}, **settings).summary
    reads, writes = summary["response_us"]["read"], summary["response_us"]["write"]
    assert summary.lines is not None
    parity = summary.lines.parity
    in_parity = parity.programs / summary.flash.host_programs if parity else 0.0
    found = {
        "share": share,
        "schedule": schedule,
        "way": way,
        **{f"read_{key}_us": reads[key] for key in ("p50", "p99", "p99_9", "p99_99")},
        "write_p99_9_us": writes["p99_9"],
        "page_write_amplification": summary["page_write_amplification"],
        "without_parity": summary["page_write_amplification"] - in_parity if parity else None,
        "reads": summary.requests.reads,
        "reads_around": parity.reads_around if parity else 0,
        "pages_read_for_others": parity.pages_read_for_others if parity else 0,
        "config_digest": summary["config_digest"],
    }
    print(found, flush=True)
    return found


if __name__ == "__main__":
    main()
