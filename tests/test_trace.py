"""``copyback trace``: statistics and conversion as a user meets them."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, assert_type

import polars as pl
import pytest

import copyback
from copyback import _core
from copyback.trace import statistics
from test_cli import faults, names

if TYPE_CHECKING:
    from conftest import RunCli

MYSQL = Path(__file__).parent.parent / "examples/linux-mysql.load.gz"

SPC = "0,8,4096,w,0.000000\n0,8,4096,r,0.500000\n1,80,512,w,1.250000\n"


@pytest.fixture
def spc(tmp_path: Path) -> Path:
    path = tmp_path / "small.spc"
    path.write_text(SPC)
    return path


def test_info_says_what_is_in_a_trace(cli: RunCli) -> None:
    told = cli("trace", "info", MYSQL).stdout
    for word in ("blkreplay", "80,794", "1 h 00 min", "8.9 % reads", "Footprint", "142,"):
        assert word in told, told
    for word in ("streams", "Interarrival", "Peak to mean", "Dispersion", "Idle", "Overwrites"):
        assert word in told, told


def test_info_as_json(cli: RunCli) -> None:
    done = cli("trace", "info", MYSQL, "--json")
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["requests"] == 80_794
    assert told["operations"]["read"]["count"] == 7187
    assert told["seconds"] == pytest.approx(3599.890074831)
    assert told["bytes"] == 1_184_387_072
    assert told["sectors"] == 32_556_998_656 // 512
    assert told["footprint"]["touched_pages"] == pytest.approx(143_000, abs=600)
    assert sum(told["series"]["requests"]) == 80_794
    assert told["measured_response_us"] is None


def test_several_files_have_a_row_each(cli: RunCli, spc: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.spc"
    copy.write_text(SPC)
    told = cli("trace", "info", spc, copy, "--set", "workload.limit=2", env={"COLUMNS": "200"})
    rows = [line for line in told.stdout.splitlines() if ".spc  " in line]
    assert [row.split()[:3] for row in rows] == [
        ["small.spc", "spc", "2"],
        ["copy.spc", "spc", "2"],
    ]
    assert len(json.loads(cli("trace", "info", spc, copy, "--json").stdout)) == 2


def test_standard_input(tmp_path: Path) -> None:
    for command in (["info", "-", "--json"], ["convert", "-", "out.msr"]):
        done = subprocess.run(
            [sys.executable, "-m", "copyback", "trace", *command],
            input=SPC,
            capture_output=True,
            encoding="utf-8",
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
    assert len((tmp_path / "out.msr").read_text().splitlines()) == 3


def test_info_of_a_configuration(cli: RunCli, tiny_toml: Path) -> None:
    told = json.loads(cli("trace", "info", tiny_toml, "--json").stdout)
    assert told["requests"] == 3000
    assert told["read_share"] == pytest.approx(0.3, abs=0.03)
    assert told["interarrival_us"]["mean"] == pytest.approx(300, rel=0.06)
    assert told["interarrival_us"]["coefficient_of_variation"] == pytest.approx(1, abs=0.06)
    told = json.loads(
        cli("trace", "info", tiny_toml, "--json", "--set", "workload.iodepth=4").stdout
    )
    assert told["seconds"] is None
    assert "closed loop" in cli("trace", "info", tiny_toml, "--set", "workload.iodepth=4").stdout


def test_report_opens_offline(cli: RunCli, tmp_path: Path) -> None:
    cli("trace", "info", MYSQL, "--report", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "linux-mysql.load.gz" in page
    for outside in ('src="http', 'rel="stylesheet"', "@import", "url(http"):
        assert outside not in page
    start = page.index('id="data">') + len('id="data">')
    data = json.loads(page[start : page.index("</script>", start)])
    assert data["timed"] is True
    assert data["sizes"]["read"][-1] == 1
    assert data["sizes"]["x"] == sorted(data["sizes"]["x"])
    assert len(data["series"]["place"]) == len(data["series"]["touched"])
    message = cli("trace", "info", MYSQL, "--report", "no/page.html", status=2).stderr
    assert "no such directory" in faults(message)[0]


def test_convert_to_parquet_for_others_to_read(cli: RunCli, tmp_path: Path) -> None:
    assert "Wrote" in cli("trace", "convert", MYSQL, "mysql.parquet").stdout
    table = pl.read_parquet(tmp_path / "mysql.parquet")
    assert table.columns == [
        *("arrival_ns", "operation", "offset", "bytes", "device", "measured_response_ns")
    ]
    assert len(table) == 80_794
    assert table["operation"].value_counts().sort("operation").rows() == [
        ("read", 7187),
        ("write", 73_607),
    ]
    assert table["measured_response_ns"].null_count() == 80_794
    assert table["bytes"].sum() == 1_184_387_072
    metadata = pl.read_parquet_metadata(tmp_path / "mysql.parquet")
    assert metadata["copyback.source"] == "linux-mysql.load.gz"
    assert metadata["copyback.version"] == copyback.__version__


def test_parquet_replays_as_its_trace_does(cli: RunCli, tmp_path: Path) -> None:
    cli("trace", "convert", MYSQL, "mysql.parquet", "--set", "workload.limit=2000")
    beyond = ("--set", "workload.beyond_device=wrap", "--set", "workload.limit=2000", "--json")
    device = ("--set", "ssd.geometry.blocks_per_plane=64")
    results = [
        json.loads(
            cli("run", "--preset", "tlc-unbuffered", "--trace", trace, *beyond, *device).stdout
        )
        for trace in (MYSQL, tmp_path / "mysql.parquet")
    ]
    assert results[0]["requests"]["count"] == 2000
    assert results[0]["response_us"] == results[1]["response_us"]
    assert results[0]["flash"] == results[1]["flash"]


def test_there_and_back(cli: RunCli, spc: Path, tmp_path: Path) -> None:
    for file in ("a.parquet", "a.msr.gz", "a.disksim.zst", "a.systor17.bz2", "a.fiu.xz"):
        cli("trace", "convert", spc, file, "-q")
        cli("trace", "convert", file, "back.spc", "-q")
        back = (tmp_path / "back.spc").read_text()
        if "fiu" in file:
            back = back.replace("\n1048576,", "\n1,")
        assert [line.split(",")[1:4] for line in back.splitlines()] == [
            line.split(",")[1:4] for line in SPC.splitlines()
        ], file


def test_what_is_lost_is_told_though_no_progress_is_shown(cli: RunCli, spc: Path) -> None:
    done = cli("trace", "convert", spc, "a.tencent", "--to", "tencent", "-q")
    assert "copyback: note: " in done.stderr
    assert "Wrote" not in done.stdout


def test_parquet_of_others(cli: RunCli, tmp_path: Path) -> None:
    other = pl.DataFrame(
        {
            "extra": ["x", "y", "z"],
            "bytes": pl.Series([4096, 512, None], dtype=pl.Int32),
            "operation": pl.Series(["Read", "TRIM", "flush"], dtype=pl.Categorical),
            "offset": pl.Series([0, 8192, None], dtype=pl.Int64),
            "arrival_ns": pl.Series([10, 20, 30], dtype=pl.UInt32),
        }
    )
    other.write_parquet(tmp_path / "other.parquet", compression="snappy")
    told = copyback.trace_info(tmp_path / "other.parquet")
    assert [told.operations[kind]["count"] for kind in ("read", "write", "trim", "flush")] == [
        *(1, 0, 1, 1)
    ]
    other.drop("offset").write_parquet(tmp_path / "poor.parquet")
    message = cli("trace", "info", "poor.parquet", status=2).stderr
    assert "found no column offset among" in faults(message)[0]
    other.with_columns(offset=pl.Series([0, -1, 0])).write_parquet(tmp_path / "bad.parquet")
    message = cli("trace", "info", "bad.parquet", status=2).stderr
    assert "offset: expected a whole number, not negative" in faults(message)[0]
    other.with_columns(offset=pl.Series([0.5, 1, 0])).write_parquet(tmp_path / "bad.parquet")
    message = cli("trace", "info", "bad.parquet", status=2).stderr
    assert "column offset: found DOUBLE; expected whole numbers" in faults(message)[0]


def test_what_a_format_cannot_hold(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("0.5 ; 8 ; 8 ; R ; 0 ; 0\n0.7 ; 8 ; 8 ; D ; 0 ; 0\n")
    message = cli("trace", "convert", "in.txt", "out.msr", status=2).stderr
    (fault,) = faults(message)
    assert "in.txt: request 2: found a trim, which msr can't hold" in fault
    assert names(tmp_path) == {"in.txt"}
    done = cli("trace", "convert", "in.txt", "out.msr", "--drop", "trim")
    assert "note: 1 trims were left out" in done.stderr
    message = cli("trace", "convert", "in.txt", "out.txt", status=2).stderr
    assert 'found format "txt"; expected --to with parquet, msr,' in faults(message)[0]
    message = cli("trace", "convert", "in.txt", "out.msr", "--drop", "reads", status=2).stderr
    assert "expected trim or flush" in faults(message)[0]


def test_a_generated_workload_as_a_trace(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    cli("trace", "convert", tiny_toml, "tiny.parquet")
    cli("trace", "convert", tiny_toml, "again.parquet")
    first, again = (tmp_path / name for name in ("tiny.parquet", "again.parquet"))
    assert first.read_bytes() == again.read_bytes()
    told = copyback.trace_info(first)
    generated = copyback.trace_info(tiny_toml)
    for key in ("requests", "seconds", "operations", "footprint", "overwrites", "rates"):
        assert told[key] == generated[key], key


def test_every_key_of_the_statistics_has_a_type(tiny: dict[str, Any]) -> None:
    found = copyback.trace_info(tiny)
    assert_type(found.operations.read.count, int)
    assert_type(found.series.unit, Literal["s", "requests"])
    assert found.interarrival_us is not None
    assert_type(found.interarrival_us.p99, float)
    assert_type(found.rates, list[statistics.RateStatistics] | None)
    assert found["operations"]["read"]["count"] == found.operations.read.count
    assert pickle.loads(pickle.dumps(found)) == found
    assert json.loads(found.to_json()) == found.to_dict()


def test_nothing_half_written(cli: RunCli, tmp_path: Path) -> None:
    bad = "0,8,4096,w,0.5\n" * 50_000 + "0,8,4096,x,0.5\n"
    (tmp_path / "bad.spc").write_text(bad)
    (tmp_path / "out.parquet").write_text("kept")
    message = cli("trace", "convert", "bad.spc", "out.parquet", status=2).stderr
    assert 'bad.spc:50001: operation: found "x"' in faults(message)[0]
    assert names(tmp_path) == {"bad.spc", "out.parquet"}
    assert (tmp_path / "out.parquet").read_text() == "kept"


def test_a_full_disk(tmp_path: Path) -> None:
    for file in ("out.parquet", "out.msr", "out.msr.zst"):
        command = f"ulimit -f 40; exec {sys.executable} -m copyback trace convert {MYSQL} {file}"
        done = subprocess.run(
            ["bash", "-c", command], capture_output=True, encoding="utf-8", cwd=tmp_path
        )
        assert done.returncode == 1, done.stderr
        (fault,) = faults(done.stderr)
        assert "can't be written: " in fault
        assert names(tmp_path) == set()


def test_a_killed_conversion(tmp_path: Path) -> None:
    config = tmp_path / "endless.toml"
    config.write_text(
        'preset = "tlc-unbuffered-64gb"\n[workload]\ntype = "synthetic"\nrequests = 2_000_000_000\n'
        'inter_arrival = "1us"\n'
    )
    task = subprocess.Popen(
        [sys.executable, "-m", "copyback", "trace", "convert", config, "out.parquet"],
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=tmp_path,
    )
    until = time.monotonic() + 60
    while len(names(tmp_path)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    task.send_signal(signal.SIGTERM)
    _, message = task.communicate(timeout=60)
    assert task.returncode == 128 + signal.SIGTERM
    assert faults(message)[-1] == "terminated"
    assert names(tmp_path) == {"endless.toml"}


def test_parquet_through_a_pipe(tmp_path: Path, cli: RunCli, spc: Path) -> None:
    cli("trace", "convert", spc, "a.parquet")
    done = subprocess.run(
        [sys.executable, "-m", "copyback", "trace", "info", "-"],
        input=(tmp_path / "a.parquet").read_bytes(),
        capture_output=True,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert b"found Parquet through a pipe" in done.stderr


def test_the_python_functions(spc: Path, tmp_path: Path) -> None:
    told = copyback.trace_info(spc, workload__time_scale=0.5)
    assert told.seconds == 0.625
    assert told.devices["count"] == 2
    notes = copyback.convert_trace(spc, tmp_path / "out.blkreplay")
    assert notes[-1] == "in blkreplay, the devices are not told apart: it names none"
    assert told.report(tmp_path / "page.html").exists()
    with pytest.raises(copyback.InputError, match=r"a trace .* and a preset"):
        copyback.trace_info(spc, preset="tlc-unbuffered")


def test_every_writable_format_is_a_readable_one() -> None:
    readable = {name for key, name, _ in _core.policies() if key.endswith("format")}
    assert set(_core.writable_formats()) <= readable


COPYBACK_TRACES = os.environ.get("COPYBACK_TRACES")


@pytest.mark.skipif(COPYBACK_TRACES is None, reason="COPYBACK_TRACES names no folder of traces")
def test_measured_times_and_devices_of_a_real_trace(tmp_path: Path) -> None:
    trace = Path(str(COPYBACK_TRACES)) / "hp-2003-hourly-77-disks.csv.gz"
    told = copyback.trace_info(trace)
    assert told.devices.count == 77
    assert told.measured_response_us is not None
    assert set(told.measured_response_us) == {"read", "write"}
    copyback.convert_trace(trace, tmp_path / "hp.parquet")
    again = copyback.trace_info(tmp_path / "hp.parquet")
    same: dict[str, Any] = told.to_dict()
    for key in ("measured_response_us", "devices", "operations", "series"):
        assert again.to_dict()[key] == same[key], key


def test_damaged_rows_are_skipped_on_request(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "bad.spc").write_text(SPC + "0,8,4096,?,2.0\n")
    message = cli("trace", "info", "bad.spc", status=2).stderr
    assert "bad.spc:4: operation" in faults(message)[0]
    assert "1 damaged row was skipped" in cli("trace", "info", "bad.spc", "--lenient").stdout
    done = cli("trace", "convert", "bad.spc", "good.msr", "--lenient")
    assert "1 damaged row was skipped" in done.stderr
    assert len((tmp_path / "good.msr").read_text().splitlines()) == 3


def five_columns(unit_ns: int, digits: int) -> str:
    """Return 300 requests a second, times in units of `unit_ns` with so many digits."""
    times = (f"{row * 1e9 / 300 / unit_ns:.{digits}f}" for row in range(500))
    return "".join(f"{time} 0 {row * 71 % 400 * 8} 8 {row % 2}\n" for row, time in enumerate(times))


@pytest.mark.parametrize(
    ("unit_ns", "digits", "unit"),
    [(10**9, 9, "seconds"), (10**6, 2, "milliseconds"), (10**3, 3, "microseconds")],
)
def test_a_unit_that_is_guessed_is_said(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, unit_ns: int, digits: int, unit: str
) -> None:
    trace = tmp_path / "five.trace"
    trace.write_text(five_columns(unit_ns, digits))
    info = json.loads(cli("trace", "info", trace, "--json").stdout)
    assert info["seconds"] == pytest.approx(499 / 300, rel=1e-3)
    ran = json.loads(cli("run", tiny_toml, "--trace", trace, "--json").stdout)
    for notes in (info["notes"], ran["notes"]):
        assert any(f"times were taken for {unit} (" in note for note in notes), notes
    otherwise = 'workload.format={ type = "disksim", time_unit = "s" }'
    named = json.loads(cli("trace", "info", trace, "--set", otherwise, "--json").stdout)
    assert named["seconds"] == pytest.approx(info["seconds"] * 1e9 / unit_ns, rel=1e-3)
    assert named["notes"] == []
