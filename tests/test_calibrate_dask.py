"""`copyback calibrate --dask`: the same fit on the workers of a scheduler as here."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from copyback.inputs.configuration import to_toml
from copyback.process.scheduler import _DASK_LOGS, Scheduler, SchedulerLostError
from processes import ending
from test_calibrate_load import drive

if TYPE_CHECKING:
    from pathlib import Path

    from clusters import Cluster
    from conftest import RunCli

pytest.importorskip("distributed", reason="needs the extra dask")

SHEET = """
source = "a drive of ours"
random-read = "40,000 IOPS"
random-write = "3,000 IOPS"
read-latency = "60us"
"""


@pytest.fixture
def asked(tmp_path: Path) -> list[str | Path]:
    """Write a drive and its data sheet; return what fits one to the other."""
    lines = [f"{key} = {to_toml(value)}" for key, value in drive().items()]
    (tmp_path / "drive.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "sheet.toml").write_text(SHEET, encoding="utf-8")
    return ["calibrate", "drive.toml", "--sheet", "sheet.toml", "--budget", "12", "--quiet"]


def test_workers_of_a_scheduler_find_what_threads_find(
    cli: RunCli,
    asked: list[str | Path],
    tmp_path: Path,
    cluster: Cluster,
) -> None:
    cli(*asked, "--jobs", "1", "--out", "here")
    cli(*asked, "--dask", cluster.address, "--out", "there")
    here, there = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir() if file.is_file()}
        for name in ("here", "there")
    )
    assert here.keys() == there.keys()
    differing = {name for name in here if here[name] != there[name]}
    # The page says how it was made.
    assert differing <= {"report.html"}


def test_a_lost_scheduler_is_told_and_the_same_command_goes_on(
    cli: RunCli,
    asked: list[str | Path],
    tmp_path: Path,
    cluster: Cluster,
) -> None:
    command = [sys.executable, "-m", "copyback", *map(str, asked), "--out", "out"]
    with ending(
        subprocess.Popen(
            [*command, "--dask", cluster.address], cwd=tmp_path, stderr=subprocess.PIPE
        )
    ) as process:
        limit = time.monotonic() + 60
        kept = tmp_path / "out" / "evaluations.jsonl"
        while not (kept.exists() and kept.read_bytes().count(b"\n") > 2):
            assert time.monotonic() < limit
            assert process.poll() is None
            time.sleep(0.005)
        cluster.scheduler.kill()
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 1, errors.decode()
    assert errors.decode() == (
        f"copyback: error: --dask {cluster.address}: the scheduler is lost; "
        "with --out the same command goes on\n"
    )
    cli(*asked, "--out", "out")


def test_a_scheduler_that_is_not_there_and_its_own_jobs_are_refused(
    cli: RunCli, asked: list[str | Path]
) -> None:
    dead = ("--dask", "tcp://127.0.0.1:9")
    done = cli(*asked, *dead, status=2, env={"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"})
    assert "no scheduler answers there" in done.stderr
    done = cli(*asked, *dead, "--jobs", "2", status=2)
    assert "--jobs and --dask" in done.stderr


@dataclass
class Client:
    """A client that is in another state after the first try."""

    status: str
    then: str


@dataclass
class Ready:
    """A future of Dask whose result is ready, and comes after some tries that run out of time."""

    client: Client
    tries: int
    limits: list[float] = field(default_factory=list)
    status: str = "finished"

    def result(self, timeout: float) -> str:
        """Return the result, or run out of time."""
        self.limits.append(timeout)
        if len(self.limits) > self.tries:
            return "answer"
        self.client.status = self.client.then
        raise TimeoutError


def fetched(status: str, then: str, tries: int) -> tuple[Any, list[float]]:
    """Return what comes of a result, nothing if the scheduler is lost, and limits of the tries."""
    scheduler = Scheduler.__new__(Scheduler)
    client = Client(status, then)
    scheduler._client, scheduler._address = client, "tcp://there"
    ready = Ready(client, tries)
    try:
        return scheduler._fetched(ready), ready.limits
    except SchedulerLostError:
        return None, ready.limits


def test_a_result_is_waited_for_unless_the_client_is_closed() -> None:
    assert fetched("running", "running", 0) == ("answer", [10])
    assert fetched("running", "running", 2) == ("answer", [10, 20, 40])
    assert fetched("running", "closed", 2) == (None, [10])
    assert fetched("closed", "closed", 2) == (None, [])


def test_a_scheduler_is_silent_until_it_is_left_in_peace(cluster: Cluster) -> None:
    for log in _DASK_LOGS:
        log.setLevel(logging.WARNING)
    names = ("distributed.batched", "distributed.client", "distributed.gc", "tornado.access")
    logs = [logging.getLogger(name) for name in names]
    with Scheduler(cluster.address):
        assert not any(log.isEnabledFor(logging.ERROR) for log in logs)
    assert all(log.isEnabledFor(logging.WARNING) for log in logs)
    with pytest.raises(SchedulerLostError), Scheduler(cluster.address):
        raise SchedulerLostError
    # Threads of a client that has lost its scheduler speak after it is closed, too.
    assert not any(log.isEnabledFor(logging.ERROR) for log in logs)
