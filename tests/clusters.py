"""A Dask scheduler with two workers, each a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Cluster(NamedTuple):
    """Processes of a cluster, and the address of its scheduler."""

    address: str
    workers: list[subprocess.Popen[bytes]]
    scheduler: subprocess.Popen[bytes]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start a scheduler and two workers."""
    address_file = tmp_path / "scheduler.json"
    home = tmp_path / "dask"
    home.mkdir()

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
        return subprocess.Popen(
            command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def started() -> Iterator[subprocess.Popen[bytes]]:
        file = ("--scheduler-file", str(address_file))
        yield start("dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard", *file)
        limit = time.monotonic() + 60
        while not address_file.exists() or not address_file.read_text():
            assert time.monotonic() < limit, "no scheduler"
            time.sleep(0.05)
        for _ in range(2):
            worker = ("--nthreads", "1", "--no-nanny", "--local-directory", str(home))
            yield start("dask_worker", *file, "--no-dashboard", *worker)

    processes: list[subprocess.Popen[bytes]] = []
    try:
        processes.extend(started())
        address = json.loads(address_file.read_text())["address"]
        yield Cluster(address, processes[1:], processes[0])
    finally:
        for process in processes:
            process.kill()
            process.wait()
