"""Sweeps on a Dask cluster: the same bytes as here, also when a worker dies."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from processes import ending

if TYPE_CHECKING:
    from pathlib import Path

    from clusters import Cluster
    from conftest import RunCli

pytest.importorskip("distributed", reason="needs the extra dask")

MINE = """
import copyback


class Oldest(copyback.VictimPolicy):
    def choose(self, plane):
        blocks = plane.closed.nonzero()[0]
        return blocks[plane.closed_at[blocks].argmin()]
"""
VICTIMS = 'greedy,fifo,{ type = "python", policy = "mine.py:Oldest" }'
OVER = ("--over", f"ssd.gc.victim={VICTIMS}", "--seeds", "4", "--quiet")


@pytest.fixture(autouse=True)
def _policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_a_cluster_gives_the_same_bytes_though_a_worker_dies(
    cli: RunCli,
    tiny_toml: Path,
    tmp_path: Path,
    cluster: Cluster,
) -> None:
    address, workers, _ = cluster
    cli("compare", tiny_toml, *OVER, "--out", "here")
    command = [sys.executable, "-m", "copyback", "compare", str(tiny_toml), *OVER]
    command += ["--dask", address, "--out", str(tmp_path / "there")]
    # Long enough that a worker dies midway.
    with ending(
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    ) as process:
        limit = time.monotonic() + 60
        while not list((tmp_path / "there").glob("runs/[0-9a-f]*")) and process.poll() is None:
            assert time.monotonic() < limit
            time.sleep(0.005)
        workers[0].send_signal(signal.SIGKILL)
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors.decode()
    name = "results.parquet"
    assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_a_scheduler_that_is_lost_is_told_and_the_same_command_goes_on(
    cli: RunCli,
    tiny_toml: Path,
    tmp_path: Path,
    cluster: Cluster,
) -> None:
    address, _, scheduler = cluster
    command = [sys.executable, "-m", "copyback", "compare", str(tiny_toml), *OVER]
    command += ["--set", "workload.requests=100000", "--out", str(tmp_path / "out")]
    with ending(
        subprocess.Popen(
            [*command, "--dask", address], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
    ) as process:
        limit = time.monotonic() + 60
        while not list((tmp_path / "out").glob("runs/[0-9a-f]*")) and process.poll() is None:
            assert time.monotonic() < limit
            time.sleep(0.005)
        scheduler.kill()
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 1, errors.decode()
    told = errors.decode().removeprefix(
        f"copyback: error: --dask {address}: the scheduler is lost; "
    )
    done, of, rest = told.partition(" of 12 runs are done, and kept in ")
    assert of, told
    assert rest == f"{tmp_path / 'out'}: the same command goes on with the others\n"
    again = cli(*command[3:])
    reused = re.search(r"\(12 runs, (\d+) of them from before\)", again.stdout)
    assert reused is not None
    assert int(reused[1]) == int(done) > 0


def test_a_dead_address_is_refused(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    asked = ("compare", tiny_toml, *OVER, "--dask", "tcp://127.0.0.1:9", "--out", "new")
    done = cli(*asked, status=2, env={"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"})
    assert "--dask tcp://127.0.0.1:9: no scheduler answers there" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "new").exists()
