"""Load curves from fio's logs of latencies: names, entries, percentiles, and what is refused."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import copyback
from copyback.calibration.load import sources
from test_calibrate_load import drive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import RunCli

JOBS = """[global]
filename=/dev/nvme0n1
write_lat_log=curve

[fill]
rw=write

[slow]
stonewall
numjobs=2
rw=randrw
rate_iops=200,300

[fast]
stonewall
rw=randrw
rate_iops=400,1k
"""
READ, WRITE = 0, 1


def entries(times_us: Sequence[int], direction: int, end_s: int, more: str = ", 0") -> list[str]:
    """Return entries in a drawn order, whose times go evenly from 0 to an end."""
    drawn = random.Random(len(times_us)).sample(times_us, len(times_us))
    last = max(len(drawn) - 1, 1)
    return [
        f"{end_s * 1000 * at // last}, {us * 1000}, {direction}, 4096{more}"
        for at, us in enumerate(drawn)
    ]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return a folder as fio leaves it; job 1 is the fill, 2 and 3 are clones."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "curve.fio").write_text(JOBS)
    told = {
        1: ["not read, as the job has no rate"],
        2: entries(range(1, 1001), READ, 10),
        3: entries(range(1, 101), WRITE, 10),
        4: entries([80, 90], READ, 4, ", 0, 0x0000, 17") + entries([500], WRITE, 0, ", 4096, 0"),
    }
    for number, lines in told.items():
        write(folder, number, lines)
        for other in ("lat", "slat"):
            (folder / f"curve_{other}.{number}.log").write_text("of no interest\n")
    return folder


def write(folder: Path, number: int, lines: Sequence[str]) -> None:
    (folder / f"curve_clat.{number}.log").write_text("".join(f"{line}\n" for line in lines))


def test_percentiles_of_logs_are_those_of_their_entries(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of 1 to 1,000 us the p99.9 is 999 us: all clones of a job together, each kind apart."""
    slow, fast = sources.read(logs).rates
    assert (slow.offered, fast.offered) == (2 * 500.0, 400.0 + 1024.0)
    (own,) = slow.passes
    assert own.latencies == {
        "read_p10": 100.0,
        "read_p25": 250.0,
        "read_p50": 500.0,
        "read_p75": 750.0,
        "read_p90": 900.0,
        "read_p95": 950.0,
        "read_p99": 990.0,
        "read_p99_9": 999.0,
        "read_mean": 500.5,
        "write_p10": 10.0,
        "write_p25": 25.0,
        "write_p50": 50.0,
        "write_p75": 75.0,
        "write_p90": 90.0,
        "write_p95": 95.0,
        "write_p99": 99.0,
        "write_p99_9": 100.0,
        "write_mean": 50.5,
    }
    assert own.achieved == (1100 - 1) / 10
    (own,) = fast.passes
    assert own.latencies["read_p50"] == 80.0
    assert own.latencies["read_p75"] == 90.0
    assert own.latencies["write_p10"] == own.latencies["write_p99_9"] == 500.0
    assert own.achieved == 2 / 4
    assert "job fill: passed over, as it has no rate_iops" in capsys.readouterr().err


def test_logs_of_the_shipped_job_begin_at_its_third_job(tmp_path: Path) -> None:
    """The fill and the overwriting come before; their logs need not be there."""
    shutil.copy(Path(__file__).parents[1] / "examples/load-curve.fio", tmp_path)
    for number in range(3, 9):
        write(tmp_path, number, entries([100 * number], READ, 0))
    rates = sources.read(tmp_path).rates
    assert [rate.offered for rate in rates] == [2000, 4000, 8000, 12_000, 16_000, 200_000]
    assert [rate.latencies("read_p50") for rate in rates] == [[100.0 * n] for n in range(3, 9)]
    assert [rate.achieved for rate in rates] == [None] * 6


def test_another_entry_or_rate_is_another_curve(logs: Path) -> None:
    """Else a search would go on with evaluations of another curve."""
    found = {sources.read(logs).digest}
    write(logs, 4, entries([80, 91], READ, 4))
    found.add(sources.read(logs).digest)
    (logs / "curve.fio").write_text(JOBS.replace("400", "401"))
    found.add(sources.read(logs).digest)
    assert len(found) == 3


WINDOW = "a mean or maximum over a time; allowed: entries of single requests (log_avg_msec=0)"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("1000, 81000, 0, 0, 0", WINDOW),
        ("1000, 81000, 1, 0, 0, 0", WINDOW),
        ("1000, 81000, 99000, 1, 0, 0", WINDOW),
        ("1000, 81000, 0", "found '1000, 81000, 0'; allowed: time, latency, direction, size,"),
        ("1, 2, 0, 4096, 5, 6, 7, 8", "allowed: time, latency, direction, size,"),
        ("", "found ''; allowed: time, latency, direction, size,"),
        ("1000, fast, 0, 4096, 0", "found '1000, fast, 0, 4096, 0'; allowed: whole numbers"),
        ("1000, -1, 0, 4096, 0", "allowed: whole numbers"),
        (f"1000, {10**18}, 0, 4096, 0", "allowed: whole numbers"),
        ("1000, 81000, 2, 4096, 0", "direction: found 2; allowed: 0 (read) or 1 (write)"),
    ],
)
def test_a_line_that_is_no_entry_of_a_request_is_refused(logs: Path, line: str, fault: str) -> None:
    """With file and line."""
    write(logs, 4, [*entries([80, 90], READ, 4), line])
    with pytest.raises(copyback.InputError) as told:
        sources.read(logs)
    assert str(told.value).startswith(f"{logs / 'curve_clat.4.log'}:3: ")
    assert fault in str(told.value)


def gone(logs: Path) -> None:
    (logs / "curve_clat.3.log").unlink()


def doubled(logs: Path) -> None:
    shutil.copy(logs / "curve_clat.3.log", logs / "before_clat.3.log")


def compressed(logs: Path) -> None:
    (logs / "curve_clat.3.log").rename(logs / "curve_clat.3.log.fz")


def shared(logs: Path) -> None:
    (logs / "curve_clat.3.log").rename(logs / "curve_clat.log")


def one_too_many(logs: Path) -> None:
    shutil.copy(logs / "curve_clat.4.log", logs / "curve_clat.5.log")


def no_job_file(logs: Path) -> None:
    (logs / "curve.fio").unlink()


def no_rate(logs: Path) -> None:
    (logs / "curve.fio").write_text(JOBS.replace("rate_iops", "rate"))


def no_number(logs: Path) -> None:
    (logs / "curve.fio").write_text(JOBS.replace("400,1k", "many"))


def empty(logs: Path) -> None:
    write(logs, 4, [])


def microseconds(logs: Path) -> None:
    write(logs, 4, ["1000, 81, 0, 4096"])


def no_file(logs: Path) -> None:
    (logs / "curve_clat.4.log").unlink()
    (logs / "curve_clat.4.log").mkdir()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (gone, "found no log of {logs}/curve.fio: job slow; allowed: a file that ends in _clat.3."),
        (doubled, "curve_clat.3.log: found job 3 in before_clat.3.log, too; allowed: the logs of"),
        (compressed, "curve_clat.3.log.fz: found a compressed log; allowed: what --inflate-log"),
        (shared, "curve_clat.log: found a log that jobs share; allowed: one a job"),
        (one_too_many, "curve_clat.5.log: found the log of another job file; allowed: jobs 1 to 4"),
        (no_job_file, "logs: found none; allowed: one job file (.fio)"),
        (no_rate, "logs: found no job with rate_iops; allowed: one or more"),
        (no_number, "job fast: rate_iops: found many"),
        (empty, "curve_clat.4.log: found no entry; allowed: one or more"),
        (microseconds, "job fast: found a median of 0.081 us in its logs; allowed: nanoseconds"),
        (no_file, "curve_clat.4.log: "),
    ],
)
def test_a_folder_that_is_no_load_curve_is_refused_in_a_line(
    logs: Path, tmp_path: Path, cli: RunCli, change: object, fault: str
) -> None:
    """Status 2, and nothing is left."""
    assert callable(change)
    change(logs)
    given: list[str | Path] = [
        "--preset",
        "tlc-nvme-64gb",
        "--load",
        logs,
        "--out",
        tmp_path / "out",
    ]
    done = cli("calibrate", *given, status=2)
    *passed_over, line = done.stderr.splitlines()
    assert all("passed over" in one for one in passed_over)
    assert fault.format(logs=logs) in line
    assert not (tmp_path / "out").exists()


def test_a_log_alone_names_no_rate(logs: Path) -> None:
    """The message says what does."""
    with pytest.raises(copyback.InputError, match="allowed: the folder with all logs and their"):
        sources.read(logs / "curve_clat.3.log")


def test_keys_are_fitted_to_logs(logs: Path, tmp_path: Path) -> None:
    """As to a table."""
    found = copyback.calibrate_load(
        drive(),
        curve=logs,
        fit={"ssd.timing.read": "20us..200us"},
        seconds=0.05,
        budget=10,
        jobs=1,
        out=tmp_path / "out",
    )
    assert json.loads(found.to_json())["table"] == str(logs)


RAN = """[global]
filename=disk
size=1m
ioengine=psync
norandommap
percentile_list=50
stonewall

[fill]
rw=write

[slow]
rw=randrw
numjobs=2
group_reporting
time_based
ramp_time=200ms
runtime=1
rate_iops=50,200

[fast]
rw=randrw
number_ios=300
rate_iops=400,1k
"""


@pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")
def test_logs_of_fio_itself_agree_with_its_json(tmp_path: Path) -> None:
    """Numbers of jobs and clones, and requests of a ramp, are as fio has them."""
    (tmp_path / "run.fio").write_text(RAN)
    json_ = tmp_path.parent / f"{tmp_path.name}.json"
    command = ["fio", "--output-format=json", f"--output={json_}", "--write_lat_log=curve"]
    subprocess.run([*command, "run.fio"], cwd=tmp_path, check=True)
    exact, binned = sources.read(tmp_path).rates, sources.read(json_).rates
    assert [rate.offered for rate in exact] == [rate.offered for rate in binned] == [500, 1424]
    for one, other in zip(exact, binned, strict=True):
        for name in ("read", "write"):
            (mean,) = one.latencies(f"{name}_mean")
            assert other.latencies(f"{name}_mean") == [pytest.approx(mean, rel=1e-6)]
            # A bin of fio's histogram is as wide as a 64th of its values.
            (median,) = one.latencies(f"{name}_p50")
            assert other.latencies(f"{name}_p50") == [pytest.approx(median, rel=1 / 64)]
