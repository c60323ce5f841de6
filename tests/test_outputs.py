"""Where results go: what is there is written to, replaced whole, or refused."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import copyback
from conftest import tiny_config
from copyback.commands import cli as command_line
from copyback.data.destination import is_stream, naming
from copyback.inputs.configuration import to_toml

if TYPE_CHECKING:
    from collections.abc import Iterator


COPYBACK = (sys.executable, "-m", "copyback")

SMALL = ("--set", "workload.requests=200", "-q")

#: What each command that writes a file is called with before and after the file's name, and how the
#: file begins.
FILES = {
    "fio-json": (("run", "tiny.toml", *SMALL, "--fio-json"), (), b"{\n"),
    "hdr-log": (("run", "tiny.toml", *SMALL, "--hdr-log"), (), b"#Response times simulated"),
    "save": (("precondition", "tiny.toml", "-q", "--save"), (), b"copyback-state\n"),
    "report": (("trace", "info", "tiny.toml", "-q", "--report"), (), b"<!doctype html>"),
    "convert": (("trace", "convert", "tiny.toml"), ("--to", "msr", "-q"), b"0,h0,0,Write,"),
}

#: What each command that writes a directory is called with before its name, and a file in it.
DIRECTORIES = {
    "run": (("run", "tiny.toml", *SMALL, "--requests", "--out"), "requests.parquet"),
    "compare": (
        ("compare", "tiny.toml", *SMALL, "--seeds", "2", "--jobs", "1", "--out"),
        "results.parquet",
    ),
}


def complaints(text: str) -> list[str]:
    """Return the lines that are no notes on what a format cannot hold."""
    return [line for line in text.splitlines() if not line.startswith("copyback: note: ")]


each_command = pytest.mark.parametrize("command", FILES)
each_directory = pytest.mark.parametrize("command", DIRECTORIES)


def call(*arguments: str | Path) -> int:
    """Run the command line in this process and return its exit status."""
    before = sys.argv, sys.stdout, sys.stderr
    sys.argv = ["copyback", *map(str, arguments)]
    try:
        command_line.main()
    except SystemExit as exit_:
        return int(exit_.code or 0)
    finally:
        sys.argv, sys.stdout, sys.stderr = before


def write(command: str, path: str | Path) -> int:
    before, after, _ = FILES[command]
    return call(*before, path, *after)


@pytest.fixture
def home(tiny_toml: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with a configuration."""
    assert tiny_toml.parent == tmp_path
    monkeypatch.chdir(tmp_path)
    return tmp_path


def device(path: Path, minor: int) -> Path:
    """Make a device of our own: a test must not lose the machine's."""
    with contextlib.suppress(PermissionError):
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        return path
    # Not root, which is what it takes to replace this one.
    path.symlink_to({3: "/dev/null", 7: "/dev/full"}[minor])
    return path


@each_command
def test_a_regular_file_is_replaced_and_keeps_its_mode(home: Path, command: str) -> None:
    path = home / "file"
    path.write_text("earlier")
    path.chmod(0o640)
    assert write(command, path) == 0
    assert path.read_bytes().startswith(FILES[command][2])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert write(command, "new") == 0
    assert not list(home.glob("*partial*"))


@each_command
def test_behind_a_link_the_file_is_replaced_and_the_link_stays(home: Path, command: str) -> None:
    (home / "below").mkdir()
    target = home / "below" / "file"
    for content in (None, "earlier"):
        link = home / f"link-{content}"
        link.symlink_to("below/file")
        if content is not None:
            target.write_text(content)
        assert write(command, link) == 0
        assert link.is_symlink()
        assert target.read_bytes().startswith(FILES[command][2])


@each_command
def test_a_device_is_written_to_and_stays(home: Path, command: str) -> None:
    null = device(home / "null", 3)
    assert write(command, null) == 0
    assert null.is_char_device()


@each_command
def test_a_pipe_is_written_to_and_stays(home: Path, command: str) -> None:
    pipe = home / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert write(command, pipe) == 0
    reader.join(10)
    assert read[0].startswith(FILES[command][2])
    assert pipe.is_fifo()


@each_command
def test_a_full_device_is_named(
    home: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    full = device(home / "full", 7)
    assert write(command, full) == 1
    told = capsys.readouterr().err
    assert told == f"copyback: error: {full}: No space left on device\n"
    assert full.is_char_device()


@pytest.fixture
def as_nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a directory of a user who is not root, as that user."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        lines = [f"{key} = {to_toml(v)}" for key, v in tiny_config().items()]
        (home / "tiny.toml").write_text("\n".join(lines), encoding="utf-8")
        monkeypatch.chdir(home)
        if os.geteuid() != 0:
            yield home
            return
        home.chmod(0o777)
        os.setresuid(65534, 65534, 0)
        try:
            if not os.access(copyback.__file__, os.R_OK):
                pytest.skip("the package is not there for others than root")
            yield home
        finally:
            os.setresuid(0, 0, 0)


@each_command
def test_a_read_only_file_is_refused_before_the_work(
    as_nobody: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = as_nobody / "file"
    path.write_text("earlier")
    path.chmod(0o444)
    assert write(command, path) == 2
    assert capsys.readouterr().err == f"copyback: error: {path}: Permission denied\n"
    assert path.read_text() == "earlier"
    closed = as_nobody / "closed"
    closed.mkdir(mode=0o555)
    assert write(command, closed / "new") == 2
    told = capsys.readouterr().err
    assert told == f"copyback: error: {closed / 'new'}: Permission denied: {closed}\n"


@each_command
def test_a_name_that_is_not_utf_8_is_a_name(
    home: Path, command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = home / os.fsdecode(b"r\xff")
    before, after, start = FILES[command]
    subprocess.run([*COPYBACK, *before, path, *after], check=True, timeout=60)
    assert path.read_bytes().startswith(start)
    told = capfd.readouterr()
    assert complaints(told.err) == []
    assert "\\udc" not in told.out


@each_command
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_in_a_file_gets_all_that_is_written_to_it(
    home: Path, command: str, name: str
) -> None:
    before, after, start = FILES[command]
    with (home / "out").open("wb") as out:
        out.write(b"first\n")
        out.flush()
        done = subprocess.run(
            [*COPYBACK, *before, name, *after], stdout=out, stderr=subprocess.PIPE, timeout=60
        )
        assert (done.returncode, complaints(done.stderr.decode())) == (0, [])
        assert os.fstat(out.fileno()).st_ino == (home / "out").stat().st_ino
    text = (home / "out").read_bytes()
    assert text.startswith(b"first\n" + start)


def test_what_must_not_be_written_over_is_refused(tmp_path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as there:
        there.bind(str(tmp_path / "socket"))
        with pytest.raises(copyback.InputError, match="is a socket; a file is needed"):
            copyback.precondition(tiny_config(), save=tmp_path / "socket")
    with contextlib.suppress(PermissionError):
        os.mknod(tmp_path / "drive", 0o600 | stat.S_IFBLK, os.makedev(7, 255))
        with pytest.raises(copyback.InputError, match="is a drive, which would be overwritten"):
            copyback.precondition(tiny_config(), save=tmp_path / "drive")
    assert not is_stream(tmp_path / "absent")
    (tmp_path / "loop").symlink_to("loop")
    assert not is_stream(tmp_path / "loop")


@each_directory
def test_behind_a_link_a_directory_is_filled_and_the_link_stays(home: Path, command: str) -> None:
    before, file = DIRECTORIES[command]
    (home / "below").mkdir()
    (home / "link").symlink_to("below")
    for _ in range(2):
        assert call(*before, "link") == 0
        assert (home / "below" / file).is_file()
        assert (home / "link").is_symlink()
        assert {path.name for path in home.iterdir()} == {"below", "link", "tiny.toml"}


@each_directory
def test_what_is_no_directory_is_refused(
    home: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, _ = DIRECTORIES[command]
    os.mkfifo(home / "pipe")
    for path in (home / "tiny.toml", home / "pipe", device(home / "null", 3)):
        assert call(*before, path) == 2
        told = capsys.readouterr().err
        assert told == f"copyback: error: {path}: is a file; --out needs a directory\n"


@each_directory
def test_a_directory_s_name_need_not_be_utf_8(home: Path, command: str) -> None:
    before, file = DIRECTORIES[command]
    out = home / os.fsdecode(b"r\xff")
    done = subprocess.run([*COPYBACK, *before, out], capture_output=True, check=True, timeout=120)
    assert done.stderr == b""
    assert (out / file).is_file()
    assert b"r\\xff/report.html" in done.stdout
    page = (out / "report.html").read_bytes()
    subprocess.run([*COPYBACK, "report", out], check=True, capture_output=True, timeout=60)
    assert (out / "report.html").read_bytes() == page


@each_directory
@pytest.mark.parametrize("room", [0, 3000])
def test_a_full_disk_is_named(home: Path, command: str, room: int) -> None:
    assert (home / "tiny.toml").is_file()
    resource = pytest.importorskip("resource")
    before, _ = DIRECTORIES[command]
    done = subprocess.run(
        [*COPYBACK, *before, "out"],
        capture_output=True,
        encoding="utf-8",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    name, _, reason = done.stderr.removeprefix("copyback: error: ").rpartition(": ")
    assert reason == "File too large\n"
    assert name.startswith(("out", tempfile.gettempdir()))


def test_an_error_names_the_first_file_that_is_known() -> None:
    with (
        pytest.raises(OSError, match="No space left on device: 'inner'"),
        naming("outer"),
        naming("inner"),
    ):
        raise OSError(28, "No space left on device")


# The streams of the process.


def test_a_closed_standard_output_hinders_nobody(home: Path) -> None:
    for descriptor in (1, 2):
        closing = ("sh", "-c", f'exec "$@" {descriptor}>&-', "sh")
        done = subprocess.run(
            [*closing, *COPYBACK, "run", "tiny.toml", *SMALL, "--out", f"out-{descriptor}"],
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
        assert (home / f"out-{descriptor}" / "report.html").is_file()


@pytest.mark.parametrize(
    "arguments",
    [("run", "tiny.toml", *SMALL), ("run", "tiny.toml", *SMALL, "--json"), ("show", "presets")],
)
def test_a_full_standard_output_is_named(home: Path, arguments: tuple[str, ...]) -> None:
    assert (home / "tiny.toml").is_file()
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COPYBACK, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert done.stderr == b"copyback: error: standard output: No space left on device\n"
    assert done.returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "tiny.toml", *SMALL, "--audit"),
        ("compare", "tiny.toml", *SMALL, "--seeds", "2"),
        ("trace", "info", "tiny.toml", "-q"),
        ("show", "policies"),
        ("--help",),
    ],
)
def test_a_terminal_that_knows_ascii_only_gets_the_same_lines(
    home: Path, arguments: tuple[str, ...]
) -> None:
    assert (home / "tiny.toml").is_file()
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = subprocess.run([*COPYBACK, *arguments], capture_output=True, env=ascii_only, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    plain = done.stdout.decode("ascii")
    assert "\\u" not in plain
    utf_8 = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([*COPYBACK, *arguments], capture_output=True, env=utf_8, timeout=60)
    assert len(plain.splitlines()) == len(done.stdout.decode().splitlines())


@pytest.mark.parametrize(
    "before",
    [
        ("run", "tiny.toml", "--trace"),
        ("run",),
        ("run", "tiny.toml", "--state"),
        ("run", "tiny.toml", "--fio-job"),
        ("compare", "tiny.toml", "--sweep"),
        ("trace", "info"),
        ("calibrate", "tiny.toml", "--trace"),
        ("report",),
        ("view",),
    ],
)
@pytest.mark.parametrize("there", [False, True])
def test_an_input_whose_name_is_not_utf_8_is_told_in_a_line(
    home: Path, before: tuple[str, ...], there: bool
) -> None:
    path = os.fsdecode(b"r\xff.x")
    if there:
        (home / path).write_bytes(b"nothing")
    done = subprocess.run([*COPYBACK, *before, path], capture_output=True, timeout=60)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith(b"copyback: error: ")
    assert b".x:" in lines[0]


def test_a_configuration_whose_name_is_not_utf_8_runs(home: Path) -> None:
    path = home / os.fsdecode(b"r\xff.toml")
    (home / "tiny.toml").rename(path)
    subprocess.run([*COPYBACK, "run", path, *SMALL], capture_output=True, check=True, timeout=60)
    path.write_text("seed = -1")
    done = subprocess.run([*COPYBACK, "run", path.name], capture_output=True, timeout=60)
    assert done.stderr.startswith(b"copyback: error: r\\xff.toml:1: seed: found -1; allowed: ")
