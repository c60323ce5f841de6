"""fio's formats: what job files ask for, what is refused, and results that read like fio's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import copyback
from copyback import InputError
from copyback.fio import fio_json, read_job_file, values

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

GIB = 1 << 30


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
    job = "[a]\nrw=randrw\nrwmixread=70\nbs=8k\nsize=256m\niodepth=16\noffset=25%\n"
    assert workload_of(tmp_path, job) == {
        "type": "synthetic",
        "requests": 32_768,
        "request_size": "8192B",
        "read_share": 0.7,
        "trim_share": 0.0,
        "sequential_share": 0.0,
        "offset": 0.25,
        "footprint": 0.25,
        "address": {"type": "uniform"},
        "iodepth": 16,
    }


def test_defaults_are_fio_s(tmp_path: Path) -> None:
    found = workload_of(tmp_path, "[a]\n")
    assert (found["read_share"], found["sequential_share"]) == (1.0, 1.0)
    assert (found["request_size"], found["iodepth"]) == ("4096B", 1)
    assert found["requests"] == GIB // 4096


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
        ("bs=4k,8k", {"request_size": {"type": "by_operation", "read": "4096B", "write": "8192B"}}),
        (
            "bssplit=4k/75:64k/25",
            {
                "request_size": {
                    "type": "histogram",
                    "sizes": ["4096B", "65536B"],
                    "weights": [0.75, 0.25],
                },
                "requests": GIB // (3 * 1024 + 16 * 1024),
            },
        ),
        ("number_ios=77", {"requests": 77}),
        ("io_size=8m", {"requests": 2048}),
        ("size=1m\nloops=3", {"requests": 768}),
        (
            "rate_iops=1000\nruntime=10\ntime_based",
            {"requests": 10_000, "inter_arrival": "1000000ns"},
        ),
        ("rate_iops=1000\nruntime=10\nsize=1m", {"requests": 256}),
        (
            "rate_iops=500,500\nnumber_ios=5\nrate_process=poisson",
            {"inter_arrival": {"type": "exponential", "mean": "1000000ns"}},
        ),
        ("ba=512", {"alignment": "512B"}),
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
        ("[a]\nthinktime=5\n", ":2: thinktime: this option of fio's is not supported"),
        ("[a]\nrwmixred=5\n", "did you mean rwmixread?"),
        ("[a]\nrw=sideways\n", ":2: rw: found sideways; allowed: read, write, trim"),
        ("[a]\nbs=four\n", ":2: bs: found four; a number with a unit is needed"),
        ("[a]\nbs=0\n", ":2: bs: found 0; allowed: more than 0 bytes"),
        ("[a]\nbssplit=4k/60:8k/60\n", "120 per cent in all; allowed: 100"),
        ("[a]\nsize=2g\n", ":2: size: found 0 + 2147483648 bytes of a device of 1073741824"),
        ("[a]\nruntime=10\n", ":2: runtime: how far a closed loop comes in a time is not known"),
        ("[a]\ntime_based\n", ":2: time_based: needs a runtime"),
        ("[a]\nrate_iops=0\n", ":2: rate_iops: found 0; allowed: more than 0"),
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


def test_what_has_no_effect_is_named(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\nioengine=libaio\ndirect=1\nrw=randwrite\nrandseed=9\n")
    job = read_job_file(path, GIB)
    assert job.seed == 9
    assert "fio: without effect in a simulation: direct, ioengine" in job.notes
    assert any("norandommap" in note for note in job.notes)


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


def test_the_command_runs_a_job_file_and_writes_fio_s_json(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    (tmp_path / "job.fio").write_text(
        "[mix]\nrw=randrw\nbs=4k\nnumber_ios=500\niodepth=4\nnorandommap\nioengine=libaio\n"
    )
    done = cli("run", tiny_toml, "--fio-job", "job.fio", "--fio-json", "fio.json", "--json")
    assert json.loads(done.stdout)["requests"]["count"] == 500
    assert "without effect in a simulation: ioengine" in done.stderr
    job = json.loads((tmp_path / "fio.json").read_text())["jobs"][0]
    assert job["read"]["total_ios"] + job["write"]["total_ios"] == 500
    refused = cli("run", tiny_toml, "--fio-job", "absent.fio", status=2)
    assert refused.stderr == "copyback: error: absent.fio: No such file or directory\n"
    both = cli("run", tiny_toml, "--fio-job", "job.fio", "--workload", "x", status=2)
    assert "a job file (job.fio) and another workload: give one" in both.stderr
