"""Runs in several threads of one program."""

from __future__ import annotations

import subprocess
import sys

#: The first runs of a program end at the same time: what they need then is prepared once.
AT_ONCE = """
import threading
import copyback

DRIVE = {
    "preset": "femu-bbssd",
    "precondition": {"fill": 0.0, "overwrites": 0.0},
    "workload": {"type": "synthetic", "requests": 20_000, "iodepth": 8, "request_size": "4KiB"},
}
seeds = [1, 2, 1, 2]
gate, ends = threading.Barrier(len(seeds)), {}

def run(number, seed):
    gate.wait()
    ends[number] = copyback.run(DRIVE, seed=seed).summary.response_us.all.mean

threads = [threading.Thread(target=run, args=it) for it in enumerate(seeds)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert ends[0] == ends[2] != ends[1] == ends[3], ends
"""


def test_first_runs_may_end_at_the_same_time() -> None:
    for _ in range(6):
        done = subprocess.run(
            [sys.executable, "-c", AT_ONCE],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
