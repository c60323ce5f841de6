"""A run that is interrupted and gone on with gives what one that is not gives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback._core import InputError
from copyback.simulation import checkpoint
from copyback.simulation.driver import Driver

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli
    from copyback._core import Config

#: All that a run can leave.
ALL = {"requests": True, "histogram_interval": "10ms", "timeline": {"from": "1ms"}, "slowest": 3}

#: An array of which everything is kept.
ARRAY = {"layout": "raid5", "devices": 3, "coordination": "reactive_selective"}
ALL_OF_ARRAYS = ALL | {"collections": True, "commands": True, "messages": True}


@pytest.fixture(params=["drive", "array"])
def whole(request: pytest.FixtureRequest, tiny: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration with all that can be kept."""
    if request.param == "drive":
        return tiny | {"metrics": ALL}
    return tiny | {"metrics": ALL_OF_ARRAYS, "array": ARRAY}


def content(directory: Path) -> dict[str, Any]:
    """Return what a result holds; of its page and summary, all that no clock decides."""
    files: dict[str, Any] = {file.name: file.read_bytes() for file in directory.iterdir()}
    machine = json.loads(files["summary.json"]).pop("simulator")
    summary = json.loads(files.pop("summary.json"))
    summary["simulator"] = {key: machine[key] for key in ("events", "page_operations")}
    assert len(files.pop("report.html")) > 10_000
    return files | {"summary": summary}


class Impatient(checkpoint.Checkpoint):
    """Written after every slice, and stopped after more than it takes to read requests again."""

    left = 6

    @property
    def is_due(self) -> bool:
        self.left -= 1
        if self.left == 0:
            self._asked = signal.SIGINT
        return True


def run_in_pieces(config: Config, file: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run, stopped again and again, until the run has ended; return how often it was stopped."""
    from copyback.data.outputs import write_result
    from copyback.simulation import driver as module

    # Slices of a few instants, and not as many as fit into some time.
    monkeypatch.setattr(module, "SLICE_S", 1e-9)
    monkeypatch.setattr(module.Pace, "__init__", lambda self: setattr(self, "events", 1_000))
    for stops in range(100):
        kept = Impatient(file)
        driver = Driver(config, checkpoint=kept)
        try:
            result = driver.run_into(out, "a command")
        except KeyboardInterrupt:
            for left in out.iterdir():
                left.unlink()
            continue
        write_result(result, out)
        kept.remove()
        return stops
    raise AssertionError("it does not end")


def test_a_run_in_pieces_leaves_the_bytes_of_one(
    whole: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from copyback.data.outputs import write_result
    from copyback.inputs import configuration

    config = configuration.load(whole)
    at_once, in_pieces = tmp_path / "at-once", tmp_path / "in-pieces"
    at_once.mkdir()
    in_pieces.mkdir()
    write_result(Driver(config).run_into(at_once, "a command"), at_once)
    file = tmp_path / "run.checkpoint"
    assert run_in_pieces(config, file, in_pieces, monkeypatch) > 2
    assert content(in_pieces) == content(at_once)
    assert {entry.name for entry in tmp_path.iterdir()} == {"at-once", "in-pieces"}


def test_tables_in_memory_go_on_too(tiny: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    expected = copyback.run(tiny, requests=True)
    kept = Impatient(file)
    kept.left = 1
    from copyback.inputs import configuration

    config = configuration.load(tiny, settings=[("metrics.requests", "true")])
    driver = Driver(config, checkpoint=kept)
    with pytest.raises(KeyboardInterrupt):
        driver.run_in_memory("a command")
    assert file.exists()
    result = copyback.run(tiny, requests=True, checkpoint=file)
    assert result.requests is not None
    assert expected.requests is not None
    assert result.requests.equals(expected.requests)
    assert result.series.equals(expected.series)
    assert list(tmp_path.iterdir()) == []


def start(toml: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "copyback", "run", str(toml), *arguments],
        cwd=toml.parent,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


def stop(process: subprocess.Popen[str], number: signal.Signals, file: Path) -> str:
    """Stop a run once its first checkpoint is written, and return what it says."""
    deadline = time.monotonic() + 60
    while not file.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert "Traceback" not in stderr
    return stderr


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_a_signal_stops_a_run_and_the_same_command_goes_on(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    file = tmp_path / "run.checkpoint"
    asked = ("--set", "workload.requests=600000", "--requests", "--out")
    kept = ("--checkpoint", file.name, "--checkpoint-every", "50ms")
    process = start(tiny_toml, *asked, "out", *kept)
    said = stop(process, number, file)
    assert process.returncode == status
    assert f"the same command with --checkpoint {file.name} goes on from there" in said
    assert not (tmp_path / "out").exists()
    assert file.exists()

    said = cli("run", tiny_toml, *asked, "out", *kept).stderr
    assert f"copyback: going on from {file.name}: " in said
    assert not file.exists()
    assert not (tmp_path / "run.checkpoint.rows").exists()
    cli("run", tiny_toml, *asked, "other")
    assert content(tmp_path / "out") == content(tmp_path / "other")


def test_drives_that_are_being_prepared_are_kept(tiny: dict[str, Any], tmp_path: Path) -> None:
    tiny["precondition"]["overwrites"] = 500.0
    file = tmp_path / "run.checkpoint"
    kept = Impatient(file)
    kept.left = 2
    from copyback.inputs import configuration

    driver = Driver(configuration.load(tiny), checkpoint=kept)
    with pytest.raises(KeyboardInterrupt):
        driver.run_in_memory("a command")
    done = driver.simulation.progress()
    assert done.phase == "precondition"
    again = Driver(configuration.load(tiny), checkpoint=checkpoint.Checkpoint(file))
    assert again.simulation.progress().page_operations == done.page_operations > 0
    result = again.run_in_memory("a command")
    assert result.series.equals(copyback.run(tiny).series)


def interrupted(config: dict[str, Any], file: Path, **arguments: Any) -> None:
    """Leave the checkpoint of a run that has just begun."""
    from copyback.inputs import configuration

    kept = Impatient(file)
    kept.left = 1
    with pytest.raises(KeyboardInterrupt):
        Driver(configuration.load(config), checkpoint=kept, **arguments).run_in_memory("a command")


def refused(config: dict[str, Any], file: Path, **arguments: Any) -> str:
    """Return why a run does not go on from a file, which stays as it is."""
    before = file.read_bytes()
    with pytest.raises(InputError) as refusal:
        copyback.run(config, checkpoint=file, **arguments)
    assert file.read_bytes() == before
    assert len(str(refusal.value).splitlines()) == 1
    return str(refusal.value)


def test_only_the_same_configuration_goes_on(tiny: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    interrupted(tiny, file)
    assert "of another configuration" in refused(tiny | {"seed": 8}, file)
    assert "of another configuration" in refused(tiny, file, requests=True)


def test_only_the_same_trace_goes_on(tiny: dict[str, Any], tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    rows = [f"{1000 * row},host,0,Write,{4096 * (row % 97)},4096,0" for row in range(1, 500)]
    trace.write_text("\n".join(rows) + "\n")
    config = tiny | {"workload": {"type": "trace", "path": str(trace), "format": "msr"}}
    expected = copyback.run(config)
    file = tmp_path / "run.checkpoint"
    interrupted(config, file)
    trace.write_text("\n".join(rows).replace(",4096,0", ",8192,0") + "\n")
    assert "with another trace" in refused(config, file)
    trace.write_text("\n".join(rows) + "\n")
    assert copyback.run(config, checkpoint=file).series.equals(expected.series)


def test_a_pipe_cannot_be_read_again(tiny: dict[str, Any], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(
        target=lambda: pipe.write_text("1000,host,0,Write,4096,4096,0\n" * 20), daemon=True
    )
    writer.start()
    config = tiny | {"workload": {"type": "trace", "path": str(pipe), "format": "msr"}}
    with pytest.raises(InputError, match="a pipe, which can't be read again; expected a file"):
        copyback.run(config, checkpoint=tmp_path / "run.checkpoint")


def test_only_the_same_prepared_device_goes_on(tiny: dict[str, Any], tmp_path: Path) -> None:
    states = [tmp_path / "one.state", tmp_path / "other.state"]
    for state, fill in zip(states, (1.0, 0.5), strict=True):
        tiny["precondition"]["fill"] = fill
        copyback.precondition(tiny, save=state)
    tiny["precondition"]["fill"] = 1.0
    file = tmp_path / "run.checkpoint"
    interrupted(tiny, file, state=states[0])
    assert "with another prepared device" in refused(tiny, file)
    assert "with another prepared device" in refused(tiny, file, state=states[1])
    expected = copyback.run(tiny, state=states[0])
    result = copyback.run(tiny, state=states[0], checkpoint=file)
    assert result.series.equals(expected.series)


def test_what_is_damaged_or_something_else_is_refused(tiny: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    interrupted(tiny, file)
    whole = file.read_bytes()
    for place in (25, 40, 200, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        assert "damaged" in refused(tiny, file)
    for cut in (21, 30, 100, len(whole) - 1):
        file.write_bytes(whole[:cut])
        assert "damaged" in refused(tiny, file)
    for other in (b"", b"something else", b"copyback-state\n" + whole):
        file.write_bytes(other)
        assert "not a checkpoint" in refused(tiny, file)


def test_what_lies_beside_it_is_rows_or_refused(tiny: dict[str, Any], tmp_path: Path) -> None:
    rows = tmp_path / "run.checkpoint.rows"
    rows.mkdir()
    (rows / "requests.0").write_text("left by a run that ended before its first checkpoint")
    (rows / "mine.txt").write_text("something else")
    file = tmp_path / "run.checkpoint"
    with pytest.raises(InputError, match=r"something other than rows of a run \(mine\.txt\)"):
        copyback.run(tiny, requests=True, checkpoint=file)
    (rows / "mine.txt").unlink()
    assert copyback.run(tiny, requests=True, checkpoint=file).requests is not None
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_refuses_in_one_line(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("something else")
    for arguments, problem in [
        (("--checkpoint", "file"), "file: not a checkpoint"),
        (("--checkpoint", "missing/file"), "no such directory"),
        (("--checkpoint", "."), "is a directory"),
        (("--checkpoint-every", "1s"), "say which with --checkpoint FILE"),
        (("--checkpoint", "new", "--checkpoint-every", "0s"), "expected more than no time"),
        (("--checkpoint", "new", "--checkpoint-every", "often"), "often"),
    ]:
        stderr = cli("run", tiny_toml, "--out", "out", *arguments, status=2).stderr
        assert problem in stderr
        assert len(stderr.strip().splitlines()) == 1
    assert {entry.name for entry in tmp_path.iterdir()} == {"file", tiny_toml.name}
