"""The requests of the simulated host are those that a fio job file asks for.

Each job file is read a second time by `fio_behaviour`, from fio's documentation alone, and compared
with the requests of a run. ``COPYBACK_FIO_JOBS`` names a folder of public job files for the last
test; ``COPYBACK_FIO_DRAWN`` says how many are drawn, and ``COPYBACK_FIO_REPLAY`` draws one again.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from copyback.fio import read_job_file
from fio_behaviour import asked, comparison, drawn, folders, issued, what, when, where
from fio_behaviour.drive import DRIVE

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import RunCli
    from fio_behaviour.issued import Issued

ASYNC = "ioengine=libaio\ndirect=1\nfilename=/dev/nvme0n1\n"


def told(tmp_path: Path, text: str) -> list[str]:
    """Return what differs between a job file and its run."""
    path = tmp_path / "job.fio"
    path.write_text(text)
    return comparison.differences(path, DRIVE)


@pytest.mark.parametrize(
    "options",
    [
        # Sizes.
        "rw=write\nsize=3m",
        "rw=randread\nbs=16k\nsize=3m",
        "rw=randrw\nbs=4k,16k\nsize=9m",
        "rw=rw\nbs=,8k\nsize=4m",
        "rw=rw\nbs=8k,\nsize=4m",
        "rw=write\nbssplit=4k/60:64k/40\nsize=16m",
        "rw=randrw\nnorandommap\nbssplit=4k/90:16k/10,64k\nsize=16m",
        "rw=read\nbsrange=4k-16k\nsize=8m",
        "rw=rw\nbsrange=4k:16k,512-2k\nsize=8m",
        # fio drops the sizes of what is not asked for: these begin at multiples of 64k.
        "rw=randwrite\nbs=12k,64k\nsize=6m",
        "rw=write\nbs=1000\ndirect=0\nsize=1m",
        # Shares.
        "rw=randrw\nrwmixread=70\nsize=16m",
        "rw=rw\nrwmixwrite=30\nsize=8m",
        "rw=rw\nrwmixread=80\nrwmixwrite=80\nsize=8m",
        "rw=rw\nrwmixwrite=80\nrwmixread=80\nsize=8m",
        "rw=randrw\nrwmixread=100\nsize=4m",
        "rw=trim\nsize=4m",
        "rw=trimwrite\nsize=2m",
        "rw=randtrimwrite\nsize=2m",
        # Flushes.
        "rw=write\nfsync=1\nsize=1m",
        "rw=randrw\nfdatasync=8\nsize=4m\niodepth=4",
        # Depth.
        "rw=randread\niodepth=32\nsize=16m",
        "rw=randwrite\niodepth=7\nsize=8m",
        "rw=randread\niodepth=16\nioengine=sync\nsize=4m",
        "rw=randread\niodepth=16\nioengine=psync\nnumjobs=3\nsize=2m",
        "rw=randread\niodepth=4\nnumjobs=4\nsize=4m",
        # Rates.
        "rw=randread\nrate_iops=5000\niodepth=64\nruntime=100ms\ntime_based\nsize=4m",
        "rw=write\nrate=40m\nbs=64k\niodepth=8\nruntime=100ms\ntime_based\nsize=4m",
        "rw=randrw\nrate_iops=4000,1000\niodepth=64\nruntime=200ms\ntime_based\nsize=4m",
        "rw=randread\nrate_iops=9000\nrate_process=poisson\niodepth=64\nruntime=200ms\ntime_based"
        "\nsize=4m",
        "rw=randrw\nrate=8m,4m\niodepth=64\nruntime=200ms\ntime_based\nsize=4m",
        "rw=randread\nrate_iops=5000\nio_submit_mode=offload\nruntime=100ms\ntime_based\nsize=4m",
        # Pauses.
        "rw=randread\nthinktime=300\nsize=1m",
        "rw=write\nthinktime=1ms\nthinktime_blocks=16\nsize=1m",
        # Where.
        "rw=write\nsize=1m\noffset=3m\nloops=3",
        "rw=randread\nsize=1m\noffset=3m\nloops=3\niodepth=8",
        "rw=write\nbs=12k\nsize=1m\noffset=1m",
        "rw=randwrite\nbs=12k\nsize=1m\noffset=1m",
        "rw=randwrite\nbs=12k\nsize=1m",
        "rw=read\noffset=33%\nsize=1m",
        "rw=randread\nbs=64k\noffset=33%\nsize=50%\nnumber_ios=200",
        "rw=read\nbs=1m\noffset=75%\nsize=100%",
        "rw=write\nnumjobs=3\noffset_increment=5m\nsize=2m",
        "rw=write\nnumjobs=3\noffset_increment=10%\nsize=2m",
        "rw=randwrite\nnorandommap\nsize=4m\nloops=2",
        "rw=randwrite\nrandom_distribution=zipf:1.1\nnorandommap\nsize=4m\nloops=5",
        "rw=randread\nrandom_distribution=pareto:0.2\nsize=1m\nloops=30",
        "rw=randread\nrandom_distribution=zoned:60/10:30/20:10/70\nsize=16m",
        "rw=randread\npercentage_random=40\nsize=16m",
        "rw=randread:8\nsize=16m",
        "rw=read:8k\nsize=1m",
        "rw=write:-128k\nbs=64k\nsize=2m",
        "rw=write\nzonemode=strided\nzonesize=64k\nzonerange=128k\nzoneskip=64k\nsize=4m",
        "rw=randread\nbs=512\nba=4k\nnorandommap\nsize=4m",
        "rw=randread\nrandom_generator=lfsr\nsize=4m\nloops=2",
        # How much: fio 3.33 goes on until it has asked for all bytes.
        "rw=read\nsize=1027k",
        "rw=write\nsize=5000k\nbs=64k\nloops=3",
        "rw=randread\nsize=5000k\nbs=64k\nloops=3\nnorandommap",
        "rw=read\nsize=1m\nbs=8k\nio_size=300k",
        "rw=randread\nsize=1m\nbs=64k\nio_size=300k",
        "rw=write\nsize=1m\nio_size=2560k",
        "rw=randwrite\nbssplit=4k/50:16k/50\nsize=3m\nio_size=9m",
        "rw=read\nsize=8m\nnumber_ios=77",
        "rw=read\nsize=8m\nio_size=25%\nloops=2",
        "rw=write\nsize=8m\nnumber_ios=77\nloops=3",
        "rw=randwrite\nbssplit=4k/50:8k/50\nnorandommap\nsize=8m\nnumber_ios=77\nloops=3",
        "rw=randread\nfilesize=2m",
        "rw=write\nsize=1m\nio_size=0\nnumber_ios=0",
        # How long.
        "rw=randwrite\nruntime=30ms\nsize=4m\ntime_based",
        "rw=write\nruntime=2ms\nsize=400m\niodepth=8",
        "rw=randread\nramp_time=5ms\nruntime=20ms\ntime_based\nsize=4m\niodepth=4",
        "rw=randread\nstartdelay=4ms\nsize=1m",
    ],
)
def test_each_option_has_its_effect(tmp_path: Path, options: str) -> None:
    assert told(tmp_path, f"[global]\n{ASYNC}[a]\n{options}\n") == []


#: What fio 3.33 does: bytes of each operation, with `--ioengine=null` and `write_iolog`.
@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ("rw=write\nsize=1027k", {("write", 4096): 256}),
        ("rw=read\nsize=5000k\nbs=64k\nloops=3", {("read", 65536): 234}),
        ("rw=read\nsize=5000k\nbs=64k\nio_size=12000k", {("read", 65536): 188}),
        ("rw=randread\nnorandommap\nsize=5000k\nbs=64k\nloops=3", {("read", 65536): 235}),
        ("rw=randread\nsize=5000k\nbs=64k", {("read", 65536): 78}),
        ("rw=randread\nsize=1m\nbs=64k\nio_size=300k", {("read", 65536): 5}),
        ("rw=randwrite\nbs=12k,64k\nsize=3m\nnorandommap", {("write", 65536): 48}),
        ("rw=write\nbs=,8k\nsize=128k", {("write", 8192): 16}),
        ("rw=trimwrite\nsize=64k", {("trim", 4096): 16, ("write", 4096): 16}),
        ("rw=read\nsize=1m\nio_size=128k\nloops=3", {("read", 4096): 96}),
    ],
)
def test_as_many_requests_as_of_fio(
    tmp_path: Path, options: str, counts: dict[tuple[str, int], int]
) -> None:
    path = tmp_path / "job.fio"
    path.write_text(f"[a]\n{ASYNC}{options}\n")
    (rows,) = issued.run(path, DRIVE)
    pairs = list(zip(rows.operation.tolist(), rows.size.tolist(), strict=True))
    assert {pair: pairs.count(pair) for pair in pairs} == counts


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nrw=write\nsize=3m\n[b]\nrw=randread\nbs=12k\nsize=2m\nnumjobs=2\n",
        "[a]\nrw=write\nsize=3m\nfilename=x\n[b]\nstonewall\nrw=randread\nfilename=x\nsize=3m\n",
        "[a]\nrw=write\nsize=2m\n[b]\nwait_for=a\nrw=read\nsize=1m\n[c]\nstonewall\nsize=1m\n",
        "[a]\nrw=write\nsize=2m\n[b]\nstartdelay=3ms\nrw=read\nsize=1m\nstonewall\n",
        "[global]\nreadwrite=read\nrw=write\n[a]\nrw=randread\nsize=1m\n",
        "[global]\nbs=4k;not 8k\nsize=1m#2m\n[a]\nrw=write\n",
        "[lay]\ncreate_only=1\nsize=9m\n[a]\nstonewall\nrw=randread\nsize=2m\n",
    ],
)
def test_jobs_of_a_file_keep_their_order_and_their_places(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, f"[global]\nioengine=libaio\ndirect=1\n{text}") == []


def test_options_of_included_files_count_where_they_are_included(tmp_path: Path) -> None:
    (tmp_path / "common.fio").write_text("bs=8k\ninclude more.fio\nsize=1m\n")
    (tmp_path / "more.fio").write_text("ioengine=libaio\niodepth=4\n")
    assert told(tmp_path, "[a]\nrw=randread\nbs=4k\ninclude common.fio\niodepth=2\n") == []
    job = read_job_file(tmp_path / "job.fio", 1 << 30)
    assert (job.workload["request_size"], job.workload["iodepth"]) == ("8192B", 2)


DRAWN = int(os.environ.get("COPYBACK_FIO_DRAWN", "40"))
REPLAYED = os.environ.get("COPYBACK_FIO_REPLAY")


@pytest.mark.parametrize("number", range(DRAWN) if REPLAYED is None else [int(REPLAYED)])
def test_drawn_job_files_run_as_they_say(tmp_path: Path, number: int) -> None:
    text = drawn.job_file(number)
    assert told(tmp_path, text) == [], f"COPYBACK_FIO_REPLAY={number}\n{text}"


def test_the_command_line_issues_the_same_requests(cli: RunCli, tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text(f"[global]\n{ASYNC}[a]\nrw=randrw\nsize=2m\niodepth=4\n")
    preset, settings = DRIVE
    unwritten = {"precondition": {"fill": 0.0, "overwrites": 0.0}}
    (tmp_path / "drive.toml").write_text(
        f'preset = "{preset}"\n' + issued.config_of(settings | unwritten)
    )
    cli("run", "drive.toml", "--fio-job", "job.fio", "--requests", "--out", "out")
    rows = pl.read_parquet(tmp_path / "out" / "requests.parquet").sort("arrival_ns")
    (own,) = issued.run(path, DRIVE)
    assert (rows["offset"].to_numpy() == own.offset).all()
    assert (rows["arrival_ns"].to_numpy() == own.arrival).all()


def _doubled_offsets(rows: Issued) -> Issued:
    return replace(rows, offset=rows.offset * 2)


#: Faults of a host, and the rule that must tell of each.
@pytest.mark.parametrize(
    ("options", "fault", "rule"),
    [
        ("rw=write", lambda rows: replace(rows, size=rows.size * 2), what.sizes),
        ("rw=write\nbssplit=4k/50:8k/50", lambda rows: rows.where(rows.size > 4096), what.sizes),
        ("rw=randrw", lambda rows: rows.of("read"), what.operations),
        ("rw=randrw\nrwmixread=60", lambda rows: rows, what.operations),
        ("rw=write\nfsync=4", lambda rows: rows.moved, what.flushes),
        ("rw=write", _doubled_offsets, where.within),
        ("rw=write", lambda rows: replace(rows, offset=rows.offset[::-1]), where.in_sequence),
        ("rw=randread", lambda rows: replace(rows, offset=rows.offset // 2), where.at_random),
        ("rw=randread", lambda rows: replace(rows, offset=rows.offset + 512), where.at_random),
        (
            "rw=randread\nnorandommap",
            lambda rows: replace(rows, offset=np.arange(len(rows)) * 4096),
            where.at_random,
        ),
        ("rw=read", lambda rows: replace(rows, end=rows.end + 10**6), when.depth),
        ("rw=read\niodepth=8", lambda rows: rows.where(rows.offset % 8192 == 0), when.depth),
        ("rw=read", lambda rows: rows.where(np.arange(len(rows)) > 9), when.amounts),
        ("rw=read\nthinktime=50", lambda rows: replace(rows, end=rows.arrival), when.pauses),
        ("rw=read\nruntime=1s\ntime_based", lambda rows: rows.where(rows.offset > 0), when.times),
    ],
)
def test_the_comparison_tells_of_a_host_that_does_something_else(
    tmp_path: Path, options: str, fault: Callable[[Issued], Issued], rule: Callable[..., object]
) -> None:
    path = tmp_path / "job.fio"
    simple = re.sub(r"thinktime=\d+|runtime=1s|time_based|rwmixread=\d+", "", options)
    path.write_text(f"[a]\n{ASYNC}{simple}\nsize=4m\n")
    (rows,) = issued.run(path, DRIVE)
    path.write_text(f"[a]\n{ASYNC}{options}\nsize=4m\n")
    (wanted,) = asked.read(path, issued.capacity(DRIVE))
    assert list(rule(wanted, fault(rows)))  # type: ignore[call-overload]


def test_public_job_files_run_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.environ.get("COPYBACK_FIO_JOBS")
    if folder is None:
        pytest.skip("COPYBACK_FIO_JOBS names no folder with job files")
    for name, value in folders.VARIABLES.items():
        monkeypatch.setenv(name, value)
    outcomes = [folders.outcome(path) for path in folders.job_files(Path(folder))]
    assert any(one.refusal is None for one in outcomes)
    differ = {str(one.path): one.differences for one in outcomes if one.differences}
    assert differ == {}
