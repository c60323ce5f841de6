"""Embed runs in a program: the least spare at which a cache's drive keeps its p99.9, by bisection.

    python examples/embed/cache.py

`copyback.run` takes a dictionary and returns the numbers; nothing is written. It releases the
GIL, so that threads run several drives at once.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import copyback

DRIVE = {
    "preset": "tlc-nvme-64gb",
    "ssd": {"geometry": {"chips_per_channel": 1, "blocks_per_plane": 96}},
    "workload": {
        "type": "synthetic",
        "requests": 40_000,
        "request_size": "16KiB",
        "alignment": "16KiB",
        "read_share": 0.5,
        "sequential_share": 0.0,
        "address": {"type": "zipf", "theta": 0.9},
        "inter_arrival": {"type": "exponential", "mean": "100us"},
    },
}


def tail_ms(spare: float) -> float:
    """Return p99.9 of all requests, the mean of two seeds, in milliseconds."""

    def one(seed: int) -> float:
        done = copyback.run(DRIVE, seed=seed, ssd__ftl__over_provisioning=spare)
        return (done.summary.response_us.all.p99_9 or 0.0) / 1e3

    with ThreadPoolExecutor() as threads:
        return sum(threads.map(one, (1, 2))) / 2


def main() -> None:
    """Print what each spare gives."""
    for percent in (15, 20, 25, 30):
        print(f"{percent} % spare: p99.9 {tail_ms(percent / 100):.2f} ms")


if __name__ == "__main__":
    main()
