"""Bad input, full disks and killed runs, met by the whole program.

One clear line, status 2 (1 if it is the machine's trouble), and nothing half-written. The readers'
own tests go through every format.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

import copyback
from conftest import tiny_config
from copyback.commands import cli as command_line
from copyback.result import Result
from test_view import ask, viewing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import RunCli

COPYBACK = (sys.executable, "-m", "copyback")


def msr(row: int, **changes: str) -> str:
    values = {"time": str(128166372003061629 + 10_000_000 * row), "offset": "4096", "size": "512"}
    values |= changes
    return f"{values['time']},host,0,Write,{values['offset']},{values['size']},7\n"


def disksim(row: int, **changes: str) -> str:
    values = {"time": str(1000 * row), "offset": "8", "size": "8"} | changes
    return f"{values['time']} 0 {values['offset']} {values['size']} 0\n"


def spc(row: int, **changes: str) -> str:
    values = {"time": str(row), "offset": "8", "size": "512"} | changes
    return f"0,{values['offset']},{values['size']},w,{values['time']}\n"


LINES = {"msr": msr, "disksim": disksim, "spc": spc}

#: The third line of a trace, damaged, and what the message must hold.
DAMAGED: dict[str, tuple[Callable[[Callable[..., str]], str], str]] = {
    "negative": (lambda line: line(30, offset="-8"), 'found "-8"'),
    "fractional": (lambda line: line(30, size="8.5"), 'found "8.5"'),
    "huge": (lambda line: line(30, offset="9" * 30), "9999999999"),
    "spreadsheet": (lambda line: line(30, time="1.28166E+17"), 'found "1.28166E+17"'),
    "rubbish": (lambda _: "once upon a time\n", "expected"),
    "a column short": (lambda line: line(30)[:5] + "\n", "columns: found"),
    "back in time": (lambda line: line(3), "before an earlier line's"),
    "no length": (lambda line: line(30, size="0"), "at least one"),
    "beyond the drive": (lambda line: line(30, offset="9" * 15), "within the device's"),
    "NUL": (lambda _: "\0\n", "NUL"),
    "endless": (lambda _: "7" * 100_000, "a line of more than 65536 bytes"),
}


def trace(line: Callable[..., str], third: str) -> bytes:
    return (line(20) + line(21) + third).encode()


def refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str | Path
) -> str:
    """Run the command line in this process and return its only line, which must be a fault."""
    monkeypatch.setattr(sys, "argv", ["copyback", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit_:
        command_line.main()
    captured = capsys.readouterr()
    assert exit_.value.code == 2, captured
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("copyback: error: ")
    return lines[0].removeprefix("copyback: error: ")


def names(directory: Path) -> set[str]:
    return {entry.name for entry in directory.iterdir()}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("name", LINES)
def test_a_damaged_line_is_named(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tiny_toml: Path,
    tmp_path: Path,
    name: str,
    damage: str,
) -> None:
    third, expected = DAMAGED[damage]
    path = tmp_path / "bad.trace"
    path.write_bytes(trace(LINES[name], third(LINES[name])))
    options = ("--trace", path, "--format", name, "--out", tmp_path / "out")
    refuse = ("--set", "workload.beyond_device=refuse")
    message = refused(capsys, monkeypatch, "run", tiny_toml, *options, *refuse)
    assert message.startswith(f"{path}:3: ")
    assert expected in message
    assert names(tmp_path) == {path.name, tiny_toml.name}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "found no requests"),
        (b"\xef\xbb\xbf", "found no requests"),
        (bytes(range(256)) * 20, "expected"),
        (msr(1).encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04" + bytes(100), "an archive"),
        (gzip.compress(spc(1).encode() * 5000)[:-9], "the gzip data is cut short or damaged"),
        (bz2.compress(spc(1).encode() * 5000)[:-9], "the bzip2 data is cut short or damaged"),
        (lzma.compress(spc(1).encode() * 5000)[:-9], "the xz data is cut short or damaged"),
        (b"\x1f\x8b\x08\x00" + b"rubbish" * 30, "the gzip data is cut short or damaged"),
        (gzip.compress(b""), "found no requests"),
    ],
    ids=["empty", "mark", "rubbish", "utf16", "zip", "gz", "bz2", "xz", "rubbish.gz", "empty.gz"],
)
def test_a_file_that_is_no_trace(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tiny_toml: Path,
    tmp_path: Path,
    content: bytes,
    expected: str,
) -> None:
    path = tmp_path / "bad.trace"
    path.write_bytes(content)
    options = ("--trace", path, "--out", tmp_path / "out")
    message = refused(capsys, monkeypatch, "run", tiny_toml, *options)
    assert message.startswith(f"{path}:")
    assert expected in message
    assert names(tmp_path) == {path.name, tiny_toml.name}


def test_a_binary_trace_that_is_cut_short(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tiny_toml: Path,
    tmp_path: Path,
) -> None:
    event = struct.pack("<IIQQIIIIIHH", 0x65617407, 1, 5, 8, 512, 1 | 1 << 20, 6, 8 << 20, 0, 0, 0)
    path = tmp_path / "sda.blktrace.0"
    path.write_bytes(event * 3 + event[:40])
    message = refused(capsys, monkeypatch, "run", tiny_toml, "--trace", path)
    expected = "found 40 bytes at the end of the file; expected a record of 48"
    assert message == f"{path}:byte 144: {expected}"
    missing = tmp_path / "sdb"
    message = refused(capsys, monkeypatch, "run", tiny_toml, "--trace", missing)
    assert message == f"{missing}: there is no such file; expected a trace"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe\x00rubbish", "not a text file in UTF-8"),
        (gzip.compress(b"seed = 1", mtime=0), "not a text file in UTF-8"),
        (b"seed = 1\0", "bad.toml:1"),
        (b"[ssd", "bad.toml:1"),
        (b"seed = 1\r\n\r\n[ssd.gc\r\n", "bad.toml:3"),
        (b"seed = 1\nseed = 2\n", "bad.toml:2"),
        (b"seed = -1\n", "bad.toml:1: seed: found -1"),
        (b"seed = 1.5\n", "bad.toml:1: seed: found 1.5"),
        (b"seed = 99999999999999999999\n", "bad.toml:1"),
        (b"ssd = 3\n", "bad.toml:1: ssd: found 3"),
        (b"ssd.timing.read = '-25us'\n", "bad.toml:1: ssd.timing.read"),
        (b"ssd.timing.read = '1e400s'\n", "bad.toml:1: ssd.timing.read"),
        (b"precondition.fill = nan\n", "bad.toml:1: precondition.fill"),
        (b"'\\u001b[2J' = 1\n", "bad.toml:1"),
        (b'"\\u001b[2J" = 1\n', "bad.toml:1: \\u{1b}[2J: unknown key"),
        (b"seed = " + b"[" * 20_000, "bad.toml:1"),
        (b"seed = " + b"{a=" * 20_000, "bad.toml:1"),
        (b"a." * 20_000 + b"b = 1\n", "bad.toml"),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else "",
)
def test_a_configuration_that_is_none(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    content: bytes,
    expected: str,
) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    message = refused(capsys, monkeypatch, "run", path, "--out", tmp_path / "out")
    assert expected in message
    assert len(message) < 3000
    assert message.isprintable()
    assert names(tmp_path) == {path.name}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"copyback-state\n",
        b"copyback-state\n\1\0\0\0" + bytes(16),
        b"copyback-state\n\2\0\0\0" + bytes(16),
        bytes(1000),
        b"a text\n",
    ],
)
def test_a_state_that_is_none(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tiny_toml: Path,
    tmp_path: Path,
    content: bytes,
) -> None:
    path = tmp_path / "bad.state"
    path.write_bytes(content)
    options = ("--state", path, "--out", tmp_path / "out")
    message = refused(capsys, monkeypatch, "run", tiny_toml, *options)
    assert message.startswith(f"{path}: ")
    assert any(fault in message for fault in ("expected", "damaged", "saved by another version"))
    assert names(tmp_path) == {path.name, tiny_toml.name}


@pytest.mark.parametrize("option", ["--trace", "--state"])
def test_a_directory_in_the_place_of_a_file(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tiny_toml: Path,
    tmp_path: Path,
    option: str,
) -> None:
    message = refused(capsys, monkeypatch, "run", tiny_toml, option, tmp_path)
    assert message.startswith(f"{tmp_path}: ")
    assert "directory" in message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
@pytest.mark.parametrize("option", ["--trace", "--state"])
def test_a_file_without_permission(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tiny_toml: Path,
    tmp_path: Path,
    option: str,
) -> None:
    path = tmp_path / "secret"
    path.write_text(spc(1))
    path.chmod(0)
    message = refused(capsys, monkeypatch, "run", tiny_toml, option, path)
    assert "permission" in message.lower()


def test_a_pipe_gives_what_the_file_gives(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    rows = "".join(msr(row, offset=str(4096 * row)) for row in range(500))
    (tmp_path / "trace.csv").write_text(rows)
    os.mkfifo(tmp_path / "pipe")
    cli("run", tiny_toml, "--trace", "trace.csv", "--requests", "--out", "file")
    writer = threading.Thread(
        target=(tmp_path / "pipe").write_bytes, args=(gzip.compress(rows.encode()),)
    )
    writer.start()
    cli("run", tiny_toml, "--trace", "pipe", "--requests", "--out", "fifo")
    writer.join()
    done = subprocess.run(
        [*COPYBACK, "run", tiny_toml, "--trace", "/dev/stdin", "--requests", "--out", "stdin"],
        cwd=tmp_path,
        input=rows.encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == b""
    for name in ("series.parquet", "requests.parquet", "distribution.parquet"):
        expected = (tmp_path / "file" / name).read_bytes()
        assert (tmp_path / "fifo" / name).read_bytes() == expected, name
        assert (tmp_path / "stdin" / name).read_bytes() == expected, name


def test_a_pipe_with_a_bad_line(tiny_toml: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*COPYBACK, "run", tiny_toml, "--trace", "/dev/stdin", "--out", "out"],
        cwd=tmp_path,
        input=(msr(1) + msr(2) + msr(3, size="-1")).encode(),
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b'copyback: error: /dev/stdin:3: size: found "-1"')
    assert names(tmp_path) == {tiny_toml.name}


def with_little_room(room: int) -> Callable[[], None]:
    """Limit the size of every file that a process writes, as a full disk would."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    return limit


@pytest.mark.parametrize("room", [0, 700, 5000])
@pytest.mark.parametrize("earlier", [False, True], ids=["new", "earlier result"])
def test_a_disk_that_fills_up_leaves_the_earlier_result_or_nothing(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, room: int, *, earlier: bool
) -> None:
    if earlier:
        cli("run", tiny_toml, "--out", "out")
    summary = (tmp_path / "out/summary.json").read_bytes() if earlier else b""
    before = names(tmp_path)
    done = subprocess.run(
        [*COPYBACK, "run", tiny_toml, "--requests", "--seed", "3", "--out", "out"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        preexec_fn=with_little_room(room),
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("copyback: error: ")
    assert names(tmp_path) == before
    if earlier:
        assert (tmp_path / "out/summary.json").read_bytes() == summary


def test_a_state_that_does_not_fit_on_the_disk(tiny_toml: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*COPYBACK, "precondition", tiny_toml, "--save", "device.state"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        preexec_fn=with_little_room(500),
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "device.state" in done.stderr
    assert names(tmp_path) == {tiny_toml.name}


def test_a_killed_run_leaves_no_result_and_does_not_hinder_the_next(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [
            *(*COPYBACK, "run", tiny_toml, "--out", "out"),
            *("--set", "workload.requests=2000000000"),
        ],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while names(tmp_path) == {tiny_toml.name}:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=60) == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    leftovers = names(tmp_path) - {tiny_toml.name}
    assert all(name.startswith(".out.partial-") for name in leftovers), leftovers
    cli("run", tiny_toml, "--out", "out")
    assert (tmp_path / "out/summary.json").exists()
    assert names(tmp_path) == {tiny_toml.name, "out", *leftovers}


#: What is no configuration of a run, and what is said of it.
NO_CONFIGURATIONS = {
    "": "config.toml: does not say ssd.geometry.",
    "schema = 9\n": "config.toml:1: schema: unknown key",
    "a = 1\nb = 2\n": "config.toml:1: a: unknown key",
    "ssd = 3\n": "config.toml:1: ssd: found 3; allowed: a table",
    "[ssd]\ngeometry = 3\n": "config.toml:2: ssd.geometry: found 3; allowed: a table",
    "[ssd.geometry]\nchannels = 2\n": "config.toml: does not say ssd.geometry.",
    'preset = "tlc-unbuffered-64gb"\n': "config.toml: does not say ssd.geometry.",
    "[workload]\ntype = 'trace'\npath = 5\n": "config.toml:3: workload.path: found 5",
    "[[": "config.toml:1:",
}


@pytest.mark.parametrize("text", NO_CONFIGURATIONS)
def test_a_result_without_its_configuration(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    home = copyback.run(tiny_config(), workload__requests=100).save(tmp_path / "out")
    page = (home / "report.html").read_bytes()
    (home / "config.toml").write_text(text)
    said = f"{home}: not a Copyback result: {NO_CONFIGURATIONS[text]}"
    for command in (("report", home), ("view", home, "--no-browser", "--port=0")):
        assert refused(capsys, monkeypatch, *command).startswith(said)
    assert (home / "report.html").read_bytes() == page
    with pytest.raises(copyback.InputError, match="not a Copyback result"):
        Result.load(home)


def test_a_run_of_a_comparison_without_its_configuration(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "study"
    over = {"ssd.gc.victim": ["greedy"]}
    copyback.compare(tiny_config(), over=over, out=home, jobs=1, workload__requests=100).report()
    (run,) = (home / "runs").iterdir()
    (run / "config.toml").write_text("")
    assert "not a Copyback result" in refused(capsys, monkeypatch, "report", home, "--runs")
    with viewing(home) as served:
        status, page = ask(served.port, f"/runs/{run.name}/report.html")
    assert status == 404
    assert b"does not say ssd.geometry" in page


def test_a_row_of_a_nanosecond(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tiny_toml: Path
) -> None:
    told = refused(capsys, monkeypatch, "run", tiny_toml, "--set", "metrics.interval=1ns")
    assert told == "--set metrics.interval: found 1ns; allowed: at least 1us"


@pytest.mark.parametrize("table", ["series", "distribution"])
@pytest.mark.parametrize("is_directory", [False, True])
def test_a_result_without_a_table(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    table: str,
    is_directory: bool,
) -> None:
    home = copyback.run(tiny_config(), workload__requests=100).save(tmp_path / "out")
    file = home / f"{table}.parquet"
    file.unlink()
    if is_directory:
        file.mkdir()
    said = f"its {file.name} is no file" if is_directory else f"it has no {file.name}"
    figure = ("report", home, "--figure", "tail", "--svg", tmp_path / "tail.svg")
    for command in (("report", home), ("view", home, "--no-browser", "--port=0"), figure):
        told = refused(capsys, monkeypatch, *command)
        assert told == f"{home}: not a Copyback result: {said}"


def test_a_comparison_without_its_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "study"
    over = {"ssd.gc.victim": ["greedy"]}
    copyback.compare(tiny_config(), over=over, out=home, jobs=1, workload__requests=100)
    shutil.rmtree(home / "runs")
    for more in ((), ("--runs",)):
        assert str(home / "runs") in refused(capsys, monkeypatch, "report", home, *more)
