"""Compare when a consumer's drive folds its SLC cache, and how that yields, under bursts of writes.

What comes out is stored in experiments/drives/folding.json, from which tools/drive_pages.py writes
docs/drives/folding.md.
"""

from __future__ import annotations

import json
from typing import Any

from drive_promises import STORED

import copyback
from copyback.process.checkout import commit

PRESET = "samsung-970-evo-plus"

#: A drive that is mostly full, so that bursts are larger than its cache.
DRIVE: dict[str, Any] = {
    "ssd.geometry.blocks_per_plane": 341,
    "ssd.slc_cache.static": {"blocks": 8},
    "ssd.slc_cache.dynamic": {"blocks": 34},
    "ssd.slc_cache.dynamic_until": 1.0,
    "precondition.fill": 0.8,
    "precondition.overwrites": 0.0,
    "workload.footprint": 0.8,
    "workload.request_size": "16KiB",
    "workload.sequential_share": 0.0,
    "metrics.interval": "20ms",
}

#: Requests a second while a burst lasts, and how long bursts and the quiet between them last.
BURST = {"gap": "16us", "on": "1s", "off": "2s"}
BURSTS = 6

#: When the cache is folded.
WHEN: dict[str, dict[str, Any]] = {
    "on demand": {"ssd.slc_cache.fold_below": 4, "ssd.slc_cache.fold_after_idle": "1h"},
    "idle time": {"ssd.slc_cache.fold_below": 0, "ssd.slc_cache.fold_after_idle": "100ms"},
    "both": {"ssd.slc_cache.fold_below": 4, "ssd.slc_cache.fold_after_idle": "100ms"},
}
SCHEDULES = ("none", "semi_preemptive", "partial", "paced")

#: Drives that fold under an array's permits.
ARRAY: dict[str, Any] = {"array.layout": "raid5", "array.devices": 4, "array.stripe": "64KiB"}
COORDINATIONS = (
    "uncoordinated",
    "reactive_inclusive",
    "reactive_selective",
    "proactive_idle",
    "proactive_soft_limit",
    "staggered",
)
ARRAY_SCHEDULE = "semi_preemptive"


def main() -> None:
    """Measure and store."""
    rows = [row(when, schedule) for schedule in SCHEDULES for when in WHEN]
    array = [coordinated(when, one) for one in COORDINATIONS for when in ("on demand", "both")]
    stored = {"commit": commit(), "rows": rows, "array": array}
    text = json.dumps(stored, indent=1) + "\n"
    (STORED / "folding.json").write_text(text, encoding="utf-8")


def row(when: str, schedule: str, bursts: int = BURSTS) -> dict[str, Any]:
    """Return what a drive gives that folds then, under a schedule."""
    settings = {**DRIVE, **WHEN[when], "ssd.gc.preemption": schedule}
    full = copyback.run({"preset": PRESET}, **settings, **closed_loop())
    found = {
        "when": when,
        "schedule": schedule,
        **in_bursts(settings, bursts),
        "full_mb_per_s": rate_when_full(full),
        "heals_s": heals(settings),
    }
    print(found, flush=True)
    return found


def coordinated(when: str, coordination: str) -> dict[str, Any]:
    """Return what an array of such drives gives."""
    settings = {**DRIVE, **ARRAY, **WHEN[when], "ssd.gc.preemption": ARRAY_SCHEDULE}
    settings["array.coordination"] = coordination
    found = {"when": when, "coordination": coordination, **in_bursts(settings, BURSTS, 4)}
    print(found, flush=True)
    return found


def in_bursts(settings: dict[str, Any], bursts: int, drives: int = 1) -> dict[str, Any]:
    """Return the tails, and what is written, under bursts of reads and writes."""
    gap = float(BURST["gap"].removesuffix("us"))
    # Where parity is kept, a write is two.
    gap *= 1 if drives == 1 else 2 / drives
    load: dict[str, Any] = {
        "workload.read_share": 0.5,
        "workload.inter_arrival": f"{gap:g}us",
        "workload.bursts": {"type": "on_off", "on": BURST["on"], "off": BURST["off"]},
        "workload.requests": round(bursts * 1e6 / gap),
    }
    summary = copyback.run({"preset": PRESET}, **settings, **load).summary
    cache = summary.slc_cache
    assert cache is not None
    host = cache.written_bytes + cache.past_bytes
    of = {"read": summary["response_us"]["read"], "write": summary["response_us"]["write"]}
    return {
        **{f"{kind}_{key}_us": of[kind][key] for kind in of for key in ("p99", "p99_9")},
        "page_write_amplification": summary["page_write_amplification"],
        "past": cache.past_bytes / host,
        "folded": cache.folded_bytes / host,
        "died": cache.dead_bytes / host,
        "config_digest": summary["config_digest"],
    }


def requests_of_a_burst() -> int:
    """Return how many requests come in one."""
    return round(1e6 / float(BURST["gap"].removesuffix("us")))


def closed_loop() -> dict[str, Any]:
    """Return a load of writes that fills the cache and goes on."""
    return {"workload.read_share": 0.0, "workload.iodepth": 64, "workload.requests": 250_000}


def rate_when_full(result: copyback.Result) -> float:
    """Return the MB a second that are written in the last quarter of a run."""
    written = result.series["write_bytes"].to_numpy()[:-1]
    late = written[3 * len(written) // 4 :]
    return float(late.mean()) / 0.02 / 1e6


def heals(settings: dict[str, Any]) -> float | None:
    """Return the seconds after a burst of writes until the cache is as free as it can be."""
    load: dict[str, Any] = {
        "workload.read_share": 0.0,
        "workload.inter_arrival": BURST["gap"],
        "workload.bursts": {"type": "on_off", "on": BURST["on"], "off": "20s"},
        # One comes after the quiet, so that the run lasts as long.
        "workload.requests": requests_of_a_burst() + 100,
        "metrics.interval": "20ms",
    }
    series = copyback.run({"preset": PRESET}, **{**settings, **load}).series
    free, whole = (series[key].to_numpy() for key in ("slc_free_pages", "slc_pages"))
    last = round(float(BURST["on"].removesuffix("s")) / 0.02)
    until = last + round(20 / 0.02)
    healed = [row for row in range(last, until) if free[row] >= 0.95 * whole[row]]
    return round(0.02 * (healed[0] - last), 2) if healed else None


if __name__ == "__main__":
    main()
