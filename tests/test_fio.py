"""fio's formats: what job files ask for, what is refused, and results that read like fio's."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import copyback
from copyback import InputError
from copyback._core import Config, Simulation
from copyback.fio import fio_json, listing, read_job_file, values
from copyback.fio.results import _BOUNDS_NS, _coarse, _Curve

if TYPE_CHECKING:
    from conftest import RunCli

GIB = 1 << 30

REPEATS = {"type": "random_map", "repeats": True}
VARIES = {"type": "random_map", "repeats": False}
UNIFORM = {"type": "uniform"}


def workload_of(tmp_path: Path, text: str, capacity: int = GIB) -> dict[str, Any]:
    path = tmp_path / "job.fio"
    path.write_text(text)
    return read_job_file(path, capacity).workload


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512), ("4k", 4096), ("4K", 4096), ("4kb", 4096), ("1m", 1 << 20), ("1ki", 1000)],
)
def test_sizes_are_fio_s(text: str, size: int) -> None:
    assert values.size(text) == size


def test_a_job_is_a_closed_loop_over_its_size(tmp_path: Path) -> None:
    job = (
        "[a]\nioengine=libaio\nrw=randrw\nrwmixread=70\nbs=8k\nsize=256m\niodepth=16\noffset=25%\n"
    )
    assert workload_of(tmp_path, job) == {
        "type": "synthetic",
        "requests": 32_768,
        "request_size": "8192B",
        "read_share": 0.7,
        "trim_share": 0.0,
        "sequential_share": 0.0,
        "offset": 0.25,
        "footprint": 0.25,
        "address": {"type": "random_map", "repeats": True},
        "iodepth": 16,
    }


def test_defaults_are_fio_s(tmp_path: Path) -> None:
    found = workload_of(tmp_path, "[a]\n")
    assert (found["read_share"], found["sequential_share"]) == (1.0, 1.0)
    assert (found["request_size"], found["iodepth"]) == ("4096B", 1)
    assert found["requests"] == GIB // 4096


def test_a_job_file_for_a_larger_drive_is_divided_by_a_factor(tmp_path: Path) -> None:
    """Shares of the drive stay; amounts, times and ranges of handles are divided."""
    (tmp_path / "scheme").write_text("0, 10g, 1\n10g, 32g, 2\n")
    scheme = f"fdp=1\nplid_select=scheme\ndp_scheme={tmp_path / 'scheme'}\n"
    text = (
        "[a]\nioengine=libaio\nrw=randwrite\nbs=4k\nsize=16g\noffset=16g\niodepth=32\n"
        f"io_size=64g\nnorandommap\nrandom_distribution=zipf:1.2\nruntime=320\n{scheme}"
    )
    path = tmp_path / "job.fio"
    path.write_text(text)
    with pytest.raises(InputError, match="allowed: less than the 1073741824 there are"):
        read_job_file(path, GIB)
    job = read_job_file(path, GIB, scale=32)
    assert job.workload == {
        "type": "synthetic",
        "requests": 64 * GIB // 4096 // 32,
        "request_size": "4096B",
        "read_share": 0.0,
        "trim_share": 0.0,
        "sequential_share": 0.0,
        "offset": 0.5,
        "footprint": 0.5,
        "address": {"type": "zipf", "theta": 1.2, "ranks": 16 * GIB // 4096},
        "iodepth": 32,
        "duration": "10000000000ns",
        "handles": {
            "type": "by_address",
            "ranges": [
                {"offset": "0B", "size": "335544320B", "handle": 1},
                {"offset": "335544320B", "size": "738197504B", "handle": 2},
            ],
        },
    }
    assert any("scaled down by 32" in note for note in job.notes)
    path.write_text(f"{text}time_based\nss=iops:5%\nss_dur=10\n")
    with pytest.raises(InputError, match="ss: has rounds of some time; allowed: a scale of 1"):
        read_job_file(path, GIB, scale=32)


def test_a_scale_needs_a_job_file(cli: RunCli) -> None:
    said = cli("run", "--preset", "tlc-unbuffered-64gb", "--fio-scale", "2", status=2)
    assert "--fio-scale scales a job file: say which with --fio-job FILE" in said.stderr


def test_zero_is_as_if_the_option_were_not_there(tmp_path: Path) -> None:
    """Of fio's options that measure a job, 0 is the default (scylladb/diskplorer says size=0)."""
    plain = "[a]\nrw=write\nruntime=2\ntime_based\n"
    zeros = "size=0\nfilesize=0\nio_size=0\nnumber_ios=0\nrate=0,0\nzonesize=0k\n"
    assert workload_of(tmp_path, plain + zeros) == workload_of(tmp_path, plain)
    # A job may take back what a global section says.
    taken_back = f"[global]\nsize=1m\n{plain}size=0\n"
    assert workload_of(tmp_path, taken_back) == workload_of(tmp_path, plain)


def test_any_size_goes_through_the_page_cache(tmp_path: Path) -> None:
    """The sizes of etcd's job, 2,300 bytes, are no sectors."""
    job = "[etcd]\nrw=write\nbs=2300\nioengine=sync\nfdatasync=1\nsize=22m\n"
    assert workload_of(tmp_path, job)["request_size"] == "2560B"
    assert any("rounded up to whole sectors" in note for note in notes_of(tmp_path, job))
    sizes = workload_of(tmp_path, "[a]\nrw=rw\nbs=1000,4k\n")["request_size"]
    assert sizes == {"type": "by_operation", "read": "1024B", "write": "4096B"}


def test_the_path_of_a_job_file_may_be_text(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\n")
    assert read_job_file(str(path), GIB) == read_job_file(path, GIB)


@pytest.mark.parametrize("engine", ["spdk", "spdk_bdev", "linuxaio", "aio"])
def test_engines_that_send_commands_take_any_depth(tmp_path: Path, engine: str) -> None:
    job = f"[a]\nioengine={engine}\ndirect=1\nfilename=trtype=PCIe traddr=0000.02.00.0 ns=1\n"
    assert workload_of(tmp_path, job + "iodepth=16\nrw=randread\n")["iodepth"] == 16


def test_what_fio_prints_and_logs_is_named_and_changes_nothing(tmp_path: Path) -> None:
    job = "[a]\ndirect=1\nrw=read\n"
    options = ["eta=never", "status-interval=1", "write_iolog=log", "max_open_zones=4"]
    with_them = job + "".join(f"{option}\n" for option in options)
    assert workload_of(tmp_path, with_them) == workload_of(tmp_path, job)
    named = "fio: without effect in a simulation: eta, max_open_zones, status-interval, write_iolog"
    assert named in notes_of(tmp_path, with_them)


def test_global_sections_hold_for_the_jobs_after_them(tmp_path: Path) -> None:
    text = (
        "; a comment\n[global]\nbs=4k ; and one\nsize=1m\n[a]\nrw=write\n"
        "[global]\nbs=64k\n[b]\nnumjobs=2\n# the end\n"
    )
    flows = workload_of(tmp_path, text)["flows"]
    assert [flow["request_size"] for flow in flows] == ["4096B", "65536B", "65536B"]
    assert [flow["read_share"] for flow in flows] == [0.0, 1.0, 1.0]
    assert [flow["requests"] for flow in flows] == [256, 16, 16]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("rw=randtrim", {"trim_share": 1.0, "read_share": 0.0}),
        ("rw=rw\nrwmixwrite=30", {"read_share": 0.7, "sequential_share": 1.0}),
        ("rw=randread\npercentage_random=40", {"sequential_share": 0.6}),
        ("rw=randread\nrandom_distribution=zipf:0.9", {"address": {"type": "zipf", "theta": 0.9}}),
        ("rw=randread\nrandom_distribution=pareto:0.3", {"address": {"type": "pareto", "h": 0.3}}),
        (
            "rw=randread\nrandom_distribution=zoned:60/10:40/90",
            {"address": {"type": "zoned", "requests": [0.6, 0.4], "pages": [0.1, 0.9]}},
        ),
        (
            "rw=rw\nbs=4k,8k",
            {"request_size": {"type": "by_operation", "read": "4096B", "write": "8192B"}},
        ),
        # Sizes of what is not asked for are none of the job's: writes begin at multiples of 64 KiB.
        ("rw=randwrite\nbs=12k,64k", {"request_size": "65536B"}),
        ("bs=8k,", {"request_size": "8192B"}),
        ("rw=write\nbs=8k,", {"request_size": "4096B"}),
        ("bsrange=4k:4k", {"request_size": "4096B"}),
        ("rw=write\nbsrange=4k-4k,8k-8k", {"request_size": "8192B"}),
        # The later of both counts, and of those of a section before.
        ("rw=rw\nrwmixread=70\nrwmixwrite=60", {"read_share": 0.4}),
        ("rw=rw\nrwmixwrite=60\nrwmixread=70", {"read_share": 0.7}),
        # fio goes on until it has asked for all bytes; a pass leaves out a rest that is no block.
        ("size=1m\nbs=64k\nio_size=300k", {"requests": 5}),
        ("size=1027k", {"requests": 256}),
        ("rw=randread\nnorandommap\nsize=5000k\nbs=64k\nloops=3", {"requests": 235}),
        # A size in per cent is of what there is: 25% here. An offset in per cent is whole blocks.
        ("offset=75%\nsize=50%", {"offset": 0.75, "footprint": 0.25}),
        ("offset=33%\nsize=1m\nbs=1m", {"offset": 338 / 1024}),
        # A sequential job begins where it says, a random one at the next multiple of its size.
        ("rw=write\nbs=12k\noffset=1m\nsize=1m", {"offset": 1 / 1024, "alignment": "4096B"}),
        ("rw=randwrite\nbs=12k\noffset=1m\nsize=1m", {"offset": 86 / 87381}),
        (
            "bssplit=4k/75:64k/25",
            {
                "request_size": {
                    "type": "histogram",
                    "sizes": ["4096B", "65536B"],
                    "weights": [0.75, 0.25],
                },
                # How many there are depends on what is drawn: fio counts bytes.
                "requests": "unlimited",
                "io_size": f"{GIB}B",
            },
        ),
        # fio cuts sizes to multiples of the smallest: of 4k and 6k it asks for 4k alone.
        (
            "bssplit=4k/50:6k/50",
            {
                "request_size": {
                    "type": "histogram",
                    "sizes": ["4096B", "4096B"],
                    "weights": [0.5, 0.5],
                }
            },
        ),
        ("bssplit=4k/50:64k/50\nnumber_ios=9", {"requests": 9, "io_size": f"{GIB}B"}),
        (
            "rw=randwrite\nbsrange=4k-8k\nsize=1026k\nloops=3",
            {"requests": "unlimited", "io_size": f"{3 * 1024 * 1024}B", "footprint": 1 / 1024},
        ),
        # A rest of the file that is no block is in no pass: fio 3.33 writes 768 blocks here.
        ("rw=randwrite\nsize=1026k\nloops=3", {"requests": 768, "footprint": 1 / 1024}),
        ("rw=randwrite\nsize=1m\nio_size=1500k", {"requests": 375}),
        ("number_ios=77", {"requests": 77}),
        ("size=1m\nnumber_ios=1k", {"requests": 256}),
        ("io_size=8m", {"requests": 2048}),
        ("size=8m\nio_size=50%", {"requests": 1024}),
        # Each loop has so many, as with fio 3.33.
        ("size=4m\nbs=1m\nnumber_ios=3\nloops=2", {"requests": 6}),
        ("size=4m\nbs=1m\nnumber_ios=9\nloops=2", {"requests": 8}),
        ("size=1m\nloops=3", {"requests": 768}),
        (
            "rw=randread\nbssplit=512/10:4k/90\nba=4k",
            {"alignment": "4096B", "size_alignment": "512B"},
        ),
        ("bssplit=512/10:4k/90", {"alignment": "512B"}),
        ("rw=randread\nba=512", {"alignment": "512B"}),
        (
            "bsrange=4k-12k",
            {
                "request_size": {
                    "type": "histogram",
                    "sizes": ["4096B", "8192B", "12288B"],
                    "weights": [1.0, 1.0, 1.0],
                }
            },
        ),
        # Whether each block comes once a pass, and each pass is like the first: as with fio 3.33.
        *(
            (options, {"address": address})
            for options, address in [
                ("rw=randwrite", REPEATS),
                ("rw=randread\nsoftrandommap=1", REPEATS),
                ("rw=randrw\nrandom_distribution=random", REPEATS),
                ("rw=randtrim\nbsrange=4k-8k", REPEATS),
                ("rw=randwrite\nnorandommap=0", REPEATS),
                ("rw=randwrite\nba=4k", REPEATS),
                ("rw=randwrite\nrandrepeat=0", VARIES),
                ("rw=randwrite\nallrandrepeat=0", VARIES),
                ("rw=randwrite\nrandseed=7", VARIES),
                ("rw=randwrite\ntime_based\nruntime=1", VARIES),
                ("rw=randwrite\ntime_based\nruntime=1\nrandom_generator=lfsr", REPEATS),
                ("rw=randwrite\nnorandommap\nrandom_generator=lfsr", REPEATS),
                ("rw=randwrite\nbsrange=4k-8k\nrandom_generator=lfsr", UNIFORM),
                ("rw=randwrite\nnorandommap", UNIFORM),
                ("rw=randwrite\nba=8k", UNIFORM),
            ]
        ),
        # Pauses: a number alone is in microseconds, that of iotime in seconds.
        ("thinktime=5", {"thinktime": {"type": "pause", "time": "5000ns"}}),
        (
            "thinktime=3ms\nthinktime_blocks=64\nthinktime_blocks_type=issue\nthinktime_spin=1ms",
            {
                "thinktime": {
                    "type": "pause",
                    "time": "3000000ns",
                    "blocks": 64,
                    "blocks_type": "issue",
                }
            },
        ),
        (
            "thinktime=1s\nthinktime_iotime=9",
            {"thinktime": {"type": "pause", "time": "1000000000ns", "iotime": "9000000000ns"}},
        ),
        ("filesize=8m", {"requests": 2048, "footprint": 8 / 1024}),
        ("fsync=8\nrw=write", {"flush_every": 8}),
        # How long jobs run, and what of it is measured.
        ("runtime=10\ntime_based", {"requests": "unlimited", "duration": "10000000000ns"}),
        ("timeout=2m\nsize=1m", {"requests": 256, "duration": "120000000000ns"}),
        ("time_based", {"requests": GIB // 4096}),
        (
            "runtime=10\nramp_time=500ms\ntime_based",
            {"ramp": "500000000ns", "duration": "10500000000ns"},
        ),
        ("startdelay=4", {"starts_at": "4000000000ns"}),
        # How fast they ask.
        (
            "rate_iops=1000\nioengine=libaio\niodepth=8",
            {"iodepth": 8, "rate": {"type": "requests", "gap": "1000000ns"}},
        ),
        (
            "rate_iops=500,250\nrw=write",
            {"rate": {"type": "requests", "gap": "4000000ns"}},
        ),
        (
            "rate_iops=1000\nrate_process=poisson",
            {"rate": {"type": "requests", "gap": {"type": "exponential", "mean": "1000000ns"}}},
        ),
        ("rate=1m,500k", {"rate": {"type": "bytes", "per_second": "1048576B/s"}}),
        (
            "rate=1m,500k\nrw=randrw",
            {
                "rate": {
                    "type": "by_operation",
                    "read": {"type": "bytes", "per_second": "1048576B/s"},
                    "write": {"type": "bytes", "per_second": "512000B/s"},
                }
            },
        ),
        (
            "rate_iops=1000\nio_submit_mode=offload\nrate_process=poisson",
            {"inter_arrival": {"type": "exponential", "mean": "1000000ns"}},
        ),
        (
            "rate_iops=300,100\nio_submit_mode=offload\nrw=randrw",
            {"inter_arrival": "2500000ns", "read_share": 0.75},
        ),
        # In which order.
        ("rw=randread:8", {"sequential_run": 8}),
        ("rw=randtrimwrite", {"trim_before_write": True, "trim_share": 0.0, "requests": 262_144}),
        ("rw=write:112k\nbs=16k", {"sequential_skip": {"type": "forward", "bytes": "114688B"}}),
        ("rw=read:-8k", {"sequential_skip": {"type": "backward", "bytes": "8192B"}}),
        (
            "zonemode=strided\nzonesize=1m\nzoneskip=2m",
            {"sequential_skip": {"type": "forward", "bytes": "2097152B", "every": "1048576B"}},
        ),
    ],
)
def test_options_become_the_workload(
    tmp_path: Path, options: str, expected: dict[str, Any]
) -> None:
    found = workload_of(tmp_path, f"[a]\n{options}\n")
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "has no job"),
        ("rw=read\n[a]\n", ":1: found rw=read; a section"),
        ("[a\n", ":1: found [a; a section is written [name]"),
        ("[a]\nthinktimes=5\n", ":2: thinktimes: this option of fio's is not supported"),
        ("[a]\nthinktime=x\n", ":2: thinktime: found x; a number with a unit is needed"),
        ("[a]\nthinktime=5\nthinktime_blocks=0\n", ":3: thinktime_blocks: found 0; a whole number"),
        (
            "[a]\nthinktime=5\nthinktime_blocks_type=all\n",
            ":3: thinktime_blocks_type: found all; allowed: complete, issue",
        ),
        (
            "[a]\nrate_iops=5\nio_submit_mode=offload\nthinktime=5\n",
            ":4: thinktime: found with io_submit_mode=offload and a rate; allowed: inline",
        ),
        (
            "[a]\nrw=randread\nrandom_generator=mt\n",
            ":3: random_generator: found mt; allowed: tausworthe, lfsr, tausworthe64",
        ),
        ("[a]\nrw=randread\nba=1t\n", ":3: ba: found 1099511627776 bytes; allowed: at most"),
        ("[a]\nrw=write:x\n", ":2: rw: found x; a number with a unit is needed"),
        ("[a]\nrw=randread:0\n", ":2: rw: found 0; a whole number from 1 is needed"),
        ("[a]\nbs=4160\ndirect=1\n", ":2: bs: found 4160; allowed: multiples of 512 bytes"),
        ("[a]\nbsrange=8k-4k\n", ":2: bsrange: found 8k-4k; allowed: the smallest size"),
        ("[a]\nrate=1m,\nrw=rw\n", ":2: rate: found no limit for writes; allowed: one for each"),
        ("[a]\nrate=1m\nrate_iops=5\n", ":3: rate_iops: found rate too; allowed: one of both"),
        ("[a]\nstartdelay=4-8\n", ":2: startdelay: found 4-8; a range is drawn at random"),
        ("[a]\nwait_for=b\n[b]\n", ":2: wait_for: found b; allowed: a job before this one: none"),
        ("[a]\nzonemode=zbd\n", ":2: zonemode: found zbd: zoned devices are not simulated"),
        ("[a]\nzonesize=1m\n", ":2: zonesize: needs zonemode=strided"),
        ("[a]\nrw=write:100\n", ":2: rw: found write:100; allowed: multiples of 512 bytes"),
        ("[a]\nrw=randread\nba=3000\n", ":3: ba: found 3000; allowed: multiples of 512 bytes"),
        (
            "[a]\nzonemode=strided\nzonesize=1000\nzoneskip=1m\n",
            ":3: zonesize: found 1000; allowed: mult",
        ),
        ("[a]\nbs=1m\nsize=512k\n", ":3: size: found 524288 bytes; allowed: at least a request"),
        ("[a]\noffset=100%\n", ":2: offset: found 1073741824 bytes; allowed: less than the"),
        ("[a]\nnumjobs=2\noffset_increment=1t\n", ":3: offset_increment: found 1099511627776"),
        ("[a]\nruntime=99999999d\n", ":2: runtime: found 99999999d; allowed: at most 36500d"),
        ("[a]\nbsrange=512-1t\n", ":2: bsrange: found 512-1t, 2147483648 sizes; allowed: at"),
        ("[a]\nloops=4000000000000000000\n", ":2: loops: found "),
        ("[a]\niodepth=99999999999\n", ":2: iodepth: found 99999999999; allowed: at most"),
        ("[a]\nsize=${NOT_SET_HERE}\n", "the environment has no variable NOT_SET_HERE"),
        ("[a]\nioengine=libfoo\n", ":2: ioengine: found libfoo; allowed: sync, psync"),
        (
            "[a]\nsize=700m\n[b]\nsize=700m\n",
            ":2: size: found 2 files of 1468006400 bytes in all; allowed: at most the device's",
        ),
        (
            "[global]\nss=iops:5%\nss_dur=10\n[a]\n[b]\nstonewall\n",
            ":2: ss: ends the whole run; allowed: without stonewall and wait_for",
        ),
        ("[a]\nbsrange=4k-10k\n", ":2: bsrange: found 4k-10k; allowed: the largest size a mult"),
        ("[a]\ncreate_only=1\n", ":2: create_only: lays out files and asks a drive for nothing"),
        (
            "[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n",
            ":4: filename: found /dev/sdb beside /dev/sda; allowed: one device, the drive",
        ),
        ("[a]\nfilename=/dev/sda:/dev/sdb\n", ":2: filename: found /dev/sdb beside /dev/sda"),
        ("[a]\ninclude absent.fio\n", ":2: found include absent.fio; there is no such file"),
        ("[a]\ninclude job.fio\n", ":2: found include job.fio; the file includes itself"),
        ("[a]\nrwmixred=5\n", "did you mean rwmixread?"),
        ("[a]\nrw=sideways\n", ":2: rw: found sideways; allowed: read, write, trim"),
        ("[a]\nbs=four\n", ":2: bs: found four; a number with a unit is needed"),
        ("[a]\nbs=0\n", ":2: bs: found 0; allowed: more than 0 bytes"),
        ("[a]\nbssplit=4k/60:8k/60\n", "120 per cent in all; allowed: 100"),
        ("[a]\nsize=2g\n", ":2: size: found 0 + 2147483648 bytes of a device of 1073741824"),
        ("[a]\nrate_iops=0,5\nrw=rw\n", ":2: rate_iops: found 0; allowed: more than 0"),
        ("[a]\niodepth=0\n", ":2: iodepth: found 0; a whole number from 1 is needed"),
        ("[a]\nrw=randread\nrandom_distribution=normal:1\n", "allowed: random, zipf:theta"),
        ("[a]\nnorandommap=maybe\nrw=randread\n", ":2: norandommap: found maybe; allowed: 0 or 1"),
    ],
)
def test_what_cannot_be_done_is_named_with_its_line(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(InputError) as found:
        workload_of(tmp_path, text)
    assert fault in str(found.value)
    assert str(found.value).startswith(str(tmp_path / "job.fio"))


@pytest.mark.parametrize(
    "engine", ["filecreate", "filedelete", "filestat", "dircreate", "dirdelete", "dirstat"]
)
def test_benchmarks_of_metadata_are_refused_in_one_line(tmp_path: Path, engine: str) -> None:
    text = f"[global]\nioengine={engine}\nfilesize=4k\nopenfiles=1\nsurprise=1\n[a]\n[b]\n"
    with pytest.raises(InputError) as found:
        workload_of(tmp_path, text)
    expected = f"found {engine}, which works on a file system's metadata and moves no data"
    assert str(found.value) == f"{tmp_path / 'job.fio'}:2: ioengine: {expected}"


def notes_of(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "job.fio"
    path.write_text(text)
    return list(read_job_file(path, GIB).notes)


def test_what_has_no_effect_is_named(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\nioengine=libaio\nthread\ndirect=1\nrw=randwrite\nrandseed=9\n")
    job = read_job_file(path, GIB)
    assert job.seed == 9
    assert "fio: without effect in a simulation: thread" in job.notes
    assert any("the order within a pass is not fio's" in note for note in job.notes)


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ("ioengine=libaio\nbuffered=1", "the page cache before jobs without direct=1 is not"),
        ("ioengine=libaio", "the page cache before jobs without direct=1 is not simulated"),
        ("direct=0\nsize=4m", "each of their requests reaches the drive (a)"),
        ("verify=crc32c\ndo_verify=1", "do_verify, verify: what was written is not read back"),
        ("fdp=1", "the drive goes by no placement handles: ssd.ftl.placement is not by_hint"),
        ("plids=1", "without dataplacement, no effect of plids"),
        ("cmdprio_percentage=20", "not simulated: cmdprio_percentage: all requests have the same"),
        ("ratemin=5", "not simulated: rate_min: a job that is too slow is not stopped"),
        ("ioengine=null", "ioengine=null: asks no device for anything in fio; the drive is"),
        ("ioengine=nbd\nuri=nbd://x", "ioengine=nbd: without the network before the block device"),
        ("ioengine=psync\niodepth=8", "ioengine=psync has one request under way, whatever"),
        ("iodepth=8", "ioengine=psync (as none is named) has one request under way, whatever"),
        ("rw=randread\nbs=12k\noffset=1m\nsize=1m", "those from 1048576 on begin 8192 bytes later"),
        ("create_only=1\n[b]\nsize=8m", "jobs with create_only lay out files alone: left out (a)"),
        ("time_based", "time_based without a runtime has no effect"),
        ("rate_iops=5\nio_submit_mode=offload", "with io_submit_mode=offload requests arrive"),
        ("ramp_time=1\nsize=8m", "the size of a job counts what it does in its ramp_time, too"),
        ("rw=randread", "each block comes once a pass, as in fio; the order within a pass is not"),
        (
            "rw=randrw\nbs=4k,8k",
            "fio's map confuses blocks of reads and writes that differ in size",
        ),
        (
            "rw=randread\nbsrange=4k-8k\nrandom_generator=lfsr",
            "offsets may repeat: random_generator=lfsr keeps no map",
        ),
        ("thinktime_blocks=4", "without thinktime, no effect of thinktime_blocks"),
        ("size=8m\nnumjobs=2", "2 files lie one after the other on the drive"),
    ],
)
def test_what_is_not_simulated_is_told(tmp_path: Path, options: str, note: str) -> None:
    notes = notes_of(tmp_path, f"[a]\n{options}\n")
    assert any(note in told for told in notes), notes


def test_nothing_is_told_of_a_job_that_is_simulated_as_it_is(tmp_path: Path) -> None:
    text = "[a]\nioengine=io_uring\ndirect=1\nrw=randread\nnorandommap\niodepth=8\nruntime=5\n"
    assert notes_of(tmp_path, text) == []


def test_one_request_is_under_way_with_a_synchronous_engine(tmp_path: Path) -> None:
    assert workload_of(tmp_path, "[a]\nioengine=sync\niodepth=8\n")["iodepth"] == 1


def test_variables_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOB_SIZE", "4m")
    text = "[a]\nioengine=libblkio\nlibblkio_path=${NOT_SET_HERE}\nsize=${JOB_SIZE}\n"
    assert workload_of(tmp_path, text)["requests"] == 1024


def test_jobs_behind_a_stonewall_wait_for_all_before_it(tmp_path: Path) -> None:
    text = (
        "[global]\nsize=1m\n[a]\nnumjobs=2\n[b]\nstonewall\nnumjobs=2\n[c]\n"
        "[d]\nwait_for=c\n[e]\nstonewall\n"
    )
    flows = workload_of(tmp_path, text)["flows"]
    waits = [flow.get("starts_after", []) for flow in flows]
    assert waits == [[], [], [0, 1], [0, 1], [0, 1], [0, 1, 4], [0, 1, 2, 3, 4, 5]]


def test_options_come_from_included_files(tmp_path: Path) -> None:
    """Longhorn's kbench keeps what its jobs share in such files, beside them and without a job."""
    common = tmp_path / "common.fio"
    common.write_text("bs=8k\nsize=1m # of each\n")
    text = "[a]\nbs=4k\ninclude common.fio\n[b]\ninclude common.fio\nbs=4k\n"
    sizes = [flow["request_size"] for flow in workload_of(tmp_path, text)["flows"]]
    assert sizes == ["8192B", "4096B"]
    common.write_text("bs=4k\nsize=x\n")
    with pytest.raises(InputError, match=f"^{common}:2: size: found x; a number with a unit"):
        workload_of(tmp_path, text)
    common.write_text("[c]\n")
    problem = f"^{common}:1: found \\[c\\]; allowed in a file that is included: options alone"
    with pytest.raises(InputError, match=problem):
        workload_of(tmp_path, text)


def test_no_rounding_takes_a_block_away(tmp_path: Path) -> None:
    """85 of 37,120 blocks, as a double and times their number, are less than 85."""
    job = "[a]\nrw=randtrim\nbs=12k\nsize=1m\n"
    footprint = workload_of(tmp_path, job, 456_130_560)["footprint"]
    assert math.nextafter(footprint, 0) * 37_120 >= 85


def test_files_of_their_own_lie_apart_and_shared_ones_do_not(tmp_path: Path) -> None:
    mib = 1 << 20
    text = (
        "[own]\nsize=3m\nnumjobs=2\n[shared]\nfilename=x\nsize=1000k\nnumjobs=2\n"
        "[later]\nfilename=x\noffset=1m\nsize=1m\n[device]\nfilename=/dev/sda\nsize=2m\n"
        "[all]\n"
    )
    flows = workload_of(tmp_path, text)["flows"]
    places = [round(flow["offset"] * GIB) for flow in flows]
    assert places == [0, 3 * mib, 6 * mib, 6 * mib, 7 * mib, 0, 0]
    assert [round(flow["footprint"] * GIB) for flow in flows[-3:]] == [mib, 2 * mib, GIB]


def test_clones_begin_at_increments(tmp_path: Path) -> None:
    text = "[a]\nfilename=/dev/x\noffset=1m\noffset_increment=4m\nsize=2m\nnumjobs=3\n"
    flows = workload_of(tmp_path, text)["flows"]
    assert [round(flow["offset"] * 1024) for flow in flows] == [1, 5, 9]


def test_results_read_like_fio_s(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny, requests=True)
    job = fio_json(result)["jobs"][0]
    requests = result.to_polars("requests")
    for direction in ("read", "write"):
        own = requests.filter(requests["operation"] == direction)
        found = job[direction]
        times = own["response_ns"].to_numpy().astype(float)
        assert found["total_ios"] == len(own) == found["clat_ns"]["N"]
        assert found["io_bytes"] == own["bytes"].sum()
        assert found["clat_ns"]["max"] == times.max()
        assert found["clat_ns"]["mean"] == pytest.approx(times.mean(), rel=1e-6)
        assert sum(found["clat_ns"]["bins"].values()) == len(own)
        assert found["slat_ns"]["mean"] + found["clat_ns"]["mean"] == found["lat_ns"]["mean"]
        for name, value in found["clat_ns"]["percentile"].items():
            exact = np.quantile(times, float(name) / 100, method="inverted_cdf")
            assert value == pytest.approx(exact, rel=0.01), name
        assert found["iops"] * found["runtime"] / 1e3 == pytest.approx(len(own), rel=0.01)
    coarse = [job[name] for name in ("latency_ns", "latency_us", "latency_ms")]
    assert sum(sum(part.values()) for part in coarse) == pytest.approx(100, abs=1e-3)
    assert job["trim"]["total_ios"] == 0


def coarse(job: dict[str, Any]) -> dict[str, float]:
    """Return fio's three coarse histograms as one, with the unit in the name; none that is zero."""
    return {
        f"{part}{bound}": share
        for part in ("latency_ns", "latency_us", "latency_ms")
        for bound, share in job[part].items()
        if share
    }


def test_reads_that_take_no_time_are_in_the_histogram(tiny: dict[str, Any]) -> None:
    """Half of the drive holds data; a read of the other half touches no flash."""
    load = {"requests": 2_000, "read_share": 1.0, "sequential_share": 0.0, "iodepth": 1}
    result = copyback.run(
        {**tiny, "workload": {"type": "synthetic", "request_size": "4KiB", **load}},
        precondition__fill=0.5,
        precondition__overwrites=0,
        requests=True,
    )
    times = result.to_polars("requests")["response_ns"].to_numpy()
    found = coarse(fio_json(result)["jobs"][0])
    assert found["latency_ns2"] == pytest.approx(100 * (times == 0).mean(), abs=1e-3)
    assert 0 < found["latency_ns2"] < 100
    assert sum(found.values()) == pytest.approx(100, abs=1e-3)


def test_a_job_of_trims_alone_has_histograms(tiny: dict[str, Any]) -> None:
    load = {"type": "synthetic", "requests": 100, "request_size": "4KiB", "trim_share": 1.0}
    result = copyback.run({**tiny, "workload": {**load, "read_share": 0.0, "iodepth": 1}})
    job = fio_json(result)["jobs"][0]
    assert job["trim"]["total_ios"] == 100
    assert sum(coarse(job).values()) == pytest.approx(100, abs=1e-3)


def test_an_end_of_the_histogram_is_in_the_next_interval() -> None:
    """As in ``io_u_mark_lat_nsec``: 1 is below 2, 2 and 3 below 4, and 1,000 ns is 1 us."""
    times = np.array([0, 1, 2, 4, 999, 1_000, 2_000, 999_999, 1_000_000, 2_000_000_000]) / 1e3
    curve = _Curve(times, np.arange(1, 11) / 10, 10)
    histograms = _coarse([curve])
    assert histograms["latency_ns"] == {**dict.fromkeys(map(str, _BOUNDS_NS), 0.0)} | {
        "2": 20.0,
        "4": 10.0,
        "10": 10.0,
        "1000": 10.0,
    }
    assert histograms["latency_us"]["2"] == histograms["latency_us"]["4"] == 10.0
    assert histograms["latency_us"]["1000"] == 10.0
    assert histograms["latency_ms"]["2"] == histograms["latency_ms"][">=2000"] == 10.0


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("bs=4KiB", "job.fio:3: bs: found 4KiB (Ki is 1,000 for fio, and k 1,024); allowed"),
        ("runtime=-1\ntime_based", "job.fio:3: runtime: found -1; allowed: a time that is not"),
        ("iodepth=100000", "job.fio: workload.iodepth: found 100000; allowed: 1 to 65536"),
    ],
)
def test_what_is_wrong_with_a_job_names_the_job(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, line: str, told: str
) -> None:
    text = f"[a]\nfilename=/dev/x\n{line}\nrw=randwrite\nsize=64k\nioengine=libaio\ndirect=1\n"
    (tmp_path / "job.fio").write_text(text)
    done = cli("run", tiny_toml, "--fio-job", "job.fio", status=2)
    assert told in done.stderr


def test_the_command_runs_a_job_file_and_writes_fio_s_json(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    (tmp_path / "job.fio").write_text(
        "[mix]\nrw=randrw\nbs=4k\nnumber_ios=500\niodepth=4\nnorandommap\nioengine=libaio\n"
    )
    done = cli("run", tiny_toml, "--fio-job", "job.fio", "--fio-json", "fio.json", "--json")
    assert json.loads(done.stdout)["requests"]["count"] == 500
    told = [line.removeprefix("copyback: ") for line in done.stderr.splitlines()]
    assert any("the page cache before jobs without direct=1" in note for note in told)
    assert json.loads(done.stdout)["notes"] == told
    found = json.loads((tmp_path / "fio.json").read_text())
    assert found["copyback notes"] == told
    job = found["jobs"][0]
    assert job["read"]["total_ios"] + job["write"]["total_ios"] == 500
    refused = cli("run", tiny_toml, "--fio-job", "absent.fio", status=2)
    assert refused.stderr == "copyback: error: absent.fio: No such file or directory\n"
    both = cli("run", tiny_toml, "--fio-job", "job.fio", "--workload", "x", status=2)
    assert "a job file (job.fio) and another workload: give one" in both.stderr


def test_jobs_run_one_after_the_other_for_their_time_without_their_ramps(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    (tmp_path / "job.fio").write_text(
        "[global]\nioengine=libaio\ndirect=1\nbs=4k\nfilename=/dev/x\ntime_based\nnorandommap\n"
        "ramp_time=100ms\n[writes]\nrw=randwrite\niodepth=4\nruntime=400ms\n"
        "[reads]\nstonewall\nrw=randread\nrate_iops=100\nruntime=1\n"
    )
    arguments = ("--fio-job", "job.fio", "--fio-json", "fio.json", "--out", "out", "--requests")
    done = cli("run", tiny_toml, *arguments)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    # 100 a second for a second, and ten of the ramp; what of the writes is how fast the drive is.
    assert summary["requests"]["reads"] == 100
    assert summary["requests"]["of_ramp"] > 10
    assert summary["throughput"]["simulated_s"] == pytest.approx(1.6, abs=0.05)
    assert summary["throughput"]["measured_s"] == pytest.approx(1.4, abs=0.05)
    rows = pl.read_parquet(tmp_path / "out" / "requests.parquet")
    arrivals = np.asarray(rows["arrival_ns"]) / 1e9
    flows = np.asarray(rows["flow"])
    assert len(arrivals) == summary["requests"]["count"]
    assert arrivals[flows == 0].min() >= 0.1
    assert arrivals[flows == 0].max() < 0.5
    assert arrivals[flows == 1].min() >= arrivals[flows == 0].max() + 0.1
    fio = json.loads((tmp_path / "fio.json").read_text())
    measured_ms = [round(flow["throughput"]["measured_s"] * 1e3) for flow in summary["flows"]]
    assert [job["job_runtime"] for job in fio["jobs"]] == measured_ms
    assert any("requests of the ramp" in note for note in fio["copyback notes"])
    assert "requests of the ramp" in " ".join(done.stdout.split())
    assert "requests of the ramp" in (tmp_path / "out" / "report.html").read_text()


#: A drive of 479 MiB that has never been written.
RANDMAP_DRIVE = """
[ssd.geometry]
channels = 4
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 256
page_size = "4KiB"
[ssd.ftl]
over_provisioning = 0.0654
placement = "host_and_gc_apart"
[ssd.gc]
victim = "greedy"
soft_threshold = { blocks = 2 }
[precondition]
fill = 0.0
overwrites = 0.0
"""

RANDMAP_JOB = "[a]\nrw=randwrite\nbs=4k\nioengine=libaio\ndirect=1\nloops=4\n"


def written(cli: RunCli, tmp_path: Path, job: str) -> tuple[dict[str, Any], pl.DataFrame]:
    """Run a job on the drive above; return its summary and its requests."""
    (tmp_path / "drive.toml").write_text(RANDMAP_DRIVE)
    (tmp_path / "job.fio").write_text(job)
    cli("run", "drive.toml", "--fio-job", "job.fio", "--out", "out", "--requests")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    return summary, pl.read_parquet(tmp_path / "out" / "requests.parquet")


def test_random_writes_in_loops_move_no_page_as_in_fio(cli: RunCli, tmp_path: Path) -> None:
    """Each loop writes each block once, in the same order, so the oldest blocks hold nothing valid.

    What people see with fio (snu-csl/nvmevirt#56, MoatLab/FEMU#14, spdk/spdk#2908).
    """
    summary, requests = written(cli, tmp_path, RANDMAP_JOB)
    blocks = Config.load(RANDMAP_DRIVE).capacity_bytes // 4096
    assert summary["write_amplification"] == 1.0
    assert summary["gc"]["collections"] > 0
    assert summary["gc"]["pages_moved"] == 0
    offsets = requests["offset"].to_numpy().reshape(4, blocks)
    assert (np.sort(offsets[0]) == np.arange(blocks) * 4096).all()
    assert (offsets == offsets[0]).all()


def test_without_the_map_a_pass_leaves_a_block_out_in_e(cli: RunCli, tmp_path: Path) -> None:
    job = RANDMAP_JOB.replace("loops=4", "norandommap")
    _, requests = written(cli, tmp_path, job)
    share = requests["offset"].n_unique() / len(requests)
    assert share == pytest.approx(1 - math.exp(-1), abs=0.005)


def test_passes_within_a_time_cover_each_block_in_orders_of_their_own(
    cli: RunCli, tmp_path: Path
) -> None:
    job = (
        "[a]\nrw=randrw\nbs=4k\nioengine=libaio\ndirect=1\ntime_based\nruntime=1\nnumjobs=2\n"
        "filename=/dev/x\nsize=1m\n"
    )
    _, requests = written(cli, tmp_path, job)
    blocks = 256
    orders = []
    for flow in (0, 1):
        offsets = requests.filter(requests["flow"] == flow)["offset"].to_numpy()
        passes = offsets[: len(offsets) // blocks * blocks].reshape(-1, blocks)
        assert len(passes) >= 2
        assert (np.sort(passes, axis=1) == np.arange(blocks) * 4096).all()
        orders += list(passes[:2])
    for index, order in enumerate(orders):
        assert all((order != other).any() for other in orders[:index])


def test_a_batch_of_reads_pauses_when_its_last_has_ended(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    """Batches of 64, and 3 ms after the last has ended; the first has 63 more, as with fio 3.33."""
    (tmp_path / "job.fio").write_text(
        "[batch]\nioengine=libaio\ndirect=1\nrw=randread\nbs=8k\niodepth=64\nthinktime=3ms\n"
        "thinktime_blocks=64\nruntime=1\ntime_based\n"
    )
    cli("run", tiny_toml, "--fio-job", "job.fio", "--out", "out", "--requests")
    requests = pl.read_parquet(tmp_path / "out" / "requests.parquet").sort("arrival_ns")
    arrivals = requests["arrival_ns"].to_numpy()
    ends = arrivals + requests["response_ns"].to_numpy()
    first = np.flatnonzero(np.diff(arrivals, prepend=-(10**9)) >= 3_000_000)
    counts = np.diff(np.append(first, len(arrivals)))
    assert counts[0] == 127
    assert (counts[1:-1] == 64).all()
    last_ends = np.maximum.reduceat(ends, first)
    assert (arrivals[first[1:]] == last_ends[:-1] + 3_000_000).all()


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of fio's example jobs, which may not be shipped."""
    folder = os.environ.get("COPYBACK_FIO_EXAMPLES")
    if folder is None:
        pytest.skip("COPYBACK_FIO_EXAMPLES names no folder with fio's example jobs")
    for variable, value in listing.VARIABLES.items():
        monkeypatch.setenv(variable, value)
    return Path(folder)


def test_the_page_about_fio_s_examples_says_what_becomes_of_them(examples: Path) -> None:
    page = Path(__file__).parents[1] / "docs" / "guide" / "fio-examples.md"
    assert page.read_text(encoding="utf-8") == listing.page(examples)


def test_fio_s_examples_run(examples: Path) -> None:
    """Each that is taken starts, and completes requests, on a drive that has never been written."""
    run = []
    for path in sorted(examples.glob("*.fio")):
        try:
            _, settings = listing.taken(path)
        except InputError:
            continue
        settings.append(("precondition", "{ fill = 0.0, overwrites = 0.0 }"))
        simulation = Simulation(Config.load(preset=listing.PRESET, settings=settings), None)
        done = False
        while not done and simulation.progress().requests < 100:
            done = simulation.advance(1000)
        assert simulation.progress().requests > 0, path.name
        run.append(path.name)
    assert len(run) >= 45, run
    assert {
        f"fio-{order}-{kind}.fio" for order in ("rand", "seq") for kind in ("read", "write", "RW")
    } <= set(run)
