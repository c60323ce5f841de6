"""The command line as a user meets it: output, exit status, and what is left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

import copyback

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

FILES = {
    "config.toml",
    "dies.parquet",
    "distribution.parquet",
    "report.html",
    "series.parquet",
    "tail.csv",
    "summary.json",
}


def faults(stderr: str) -> list[str]:
    """Return the faults, after checking that each has its line and nothing else is there."""
    lines = stderr.splitlines()
    assert lines, "no message"
    for line in lines:
        assert line.startswith("copyback: error: "), line
    return [line.removeprefix("copyback: error: ") for line in lines]


def names(directory: Path) -> set[str]:
    return {entry.name for entry in directory.iterdir()}


def test_version(cli: RunCli) -> None:
    assert (
        cli("--version").stdout == f"copyback {copyback.__version__} (model {copyback.__model__})\n"
    )


def test_run_prints_a_table_and_leaves_results(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    done = cli("run", tiny_toml, "--out", "deep/er/out")
    for word in ("Device", "Workload", "p99.99", "write amplification", "Collections", "Speed"):
        assert word in done.stdout
    assert not re.search(r"[ \t]$", done.stdout, re.MULTILINE)
    assert names(tmp_path / "deep/er/out") == FILES
    assert names(tmp_path / "deep/er") == {"out"}


def test_json_prints_only_the_summary(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    done = cli("run", tiny_toml, "--json", "--out", "out")
    assert done.stderr == ""
    printed = json.loads(done.stdout)
    assert printed == json.loads((tmp_path / "out/summary.json").read_text())
    assert printed["schema"] == 2
    assert printed["requests"]["count"] == 3000
    assert set(printed["response_us"]) == {"all", "read", "write"}
    for key in ("wall_s", "cpu_s", "events", "page_operations", "peak_rss_mib"):
        assert printed["simulator"][key] > 0, key


def test_requests_are_written_on_request(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    cli("run", tiny_toml, "--requests", "--out", "out")
    assert names(tmp_path / "out") == {*FILES, "requests.parquet"}
    message = cli("run", tiny_toml, "--requests", status=2).stderr
    assert "--out" in faults(message)[0]


def test_settings_seed_and_audit_reach_the_configuration(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    cli(
        *("run", tiny_toml, "--set", "ssd.gc.victim=fifo", "--set", "workload.requests=500"),
        *("--seed", "99", "--audit", "--out", "out"),
    )
    config = copyback.Result.load(tmp_path / "out").config
    assert config["ssd"]["gc"]["victim"] == "fifo"
    assert config["workload"]["requests"] == 500
    assert config["seed"] == 99
    assert config["audit"] is True


def test_an_earlier_result_is_replaced(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    cli("run", tiny_toml, "--requests", "--out", "out")
    cli("run", tiny_toml, "--seed", "8", "--out", "out")
    assert names(tmp_path / "out") == FILES
    assert copyback.Result.load(tmp_path / "out").summary.seed == 8


@pytest.mark.parametrize("stranger", ["notes.txt", "report.html"])
def test_what_is_not_a_result_is_not_replaced(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, stranger: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / stranger).write_text("mine")
    message = cli("run", tiny_toml, "--out", "out", status=2).stderr
    assert stranger in faults(message)[0]
    assert (out / stranger).read_text() == "mine"
    assert names(tmp_path) == {"out", tiny_toml.name}


def test_a_file_where_a_directory_is_needed(cli: RunCli, tiny_toml: Path) -> None:
    for out in (tiny_toml, tiny_toml / "below"):
        message = cli("run", tiny_toml, "--out", out, status=2).stderr
        assert "file" in faults(message)[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_directory(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    message = cli("run", tiny_toml, "--out", locked / "out", status=2).stderr
    assert "locked" in faults(message)[0]


def test_a_directory_that_cannot_be_made_is_found_before_the_run(
    cli: RunCli, tiny_toml: Path
) -> None:
    begun = time.monotonic()
    message = cli(
        *("run", tiny_toml, "--set", "workload.requests=1000000000", "--out", "/proc/none/out"),
        status=2,
    ).stderr
    assert "/proc/none" in faults(message)[0]
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run"], "no configuration"),
        (["run", "missing.toml"], "missing.toml"),
        (["run", "--preset", "no-such-preset"], "no-such-preset"),
        (["run", "tiny.toml", "--preset", "x"], "give one"),
        (["run", "tiny.toml", "--workload", "pgc-2011-bass"], 'did you mean "pgc-2011-base"?'),
        (["run", "tiny.toml", "--workload", "pgc-2011-base", "--trace", "x"], "give one"),
        (["run", "tiny.toml", "--set", "seed"], "KEY=VALUE"),
        (["run", "tiny.toml", "--set", "ssd.gc.victm=fifo"], "ssd.gc.vict"),
        (["run", "tiny.toml", "--set", "ssd.gc.victim=best"], "ssd.gc.victim"),
        (["run", "tiny.toml", "--set", "ssd.geometry.page_size=4potatoes"], "page_size"),
        (["run", "tiny.toml", "--set", "ssd.geometry.channels=0"], "channels"),
        (["run", "tiny.toml", "--set", "ssd.ftl.over_provisioning=1.5"], "over_provisioning"),
        (["run", "tiny.toml", "--trace", "missing.csv"], "missing.csv"),
        (["run", "tiny.toml", "--trace", "bad.csv", "--format", "msr"], "bad.csv"),
        (["run", "tiny.toml", "--trace", "bad.csv", "--format", "cuneiform"], "cuneiform"),
        (["run", "tiny.toml", "--state", "missing.state"], "missing.state"),
        (["run", "tiny.toml", "--state", "bad.csv"], "bad.csv"),
        (["run", "tiny.toml", "--seed", "soon"], "seed"),
        (["run", "tiny.toml", "--no-such-option"], "--no-such-option"),
        (["run", "a.toml", "b.toml"], "b.toml"),
        (["run", "bad.csv"], "bad.csv"),
        (["run", "."], "directory"),
        (["fly"], "fly"),
        (["report", "missing"], "missing"),
        (["report", "."], "summary.json"),
        (["precondition", "tiny.toml"], "--save"),
        (["precondition", "tiny.toml", "--save", "no/such/dir/file"], "no/such/dir"),
        (["precondition", "tiny.toml", "--save", "."], "directory"),
        (["show", "preset", "no-such-preset"], "no-such-preset"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_status_2(
    cli: RunCli, tiny_toml: Path, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    (tmp_path / "bad.csv").write_text("this is, not, a trace\n")
    before = names(tmp_path)
    if arguments[0] == "run":
        arguments = [*arguments, "--out", "out"]
    done = cli(*arguments, status=2)
    assert done.stdout == ""
    found = faults(done.stderr)
    assert len(found) == 1
    assert expected in found[0]
    assert names(tmp_path) == before
    assert tiny_toml.exists()


def test_all_faults_are_reported_together(cli: RunCli, tiny_toml: Path) -> None:
    done = cli(
        *("run", tiny_toml, "--set", "ssd.geometry.page_size=4potatoes"),
        *("--set", "ssd.gc.victim=best"),
        status=2,
    )
    text = "\n".join(faults(done.stderr))
    assert "page_size" in text
    assert "victim" in text


def test_help_for_no_command(cli: RunCli) -> None:
    assert "precondition" in cli(status=2).stdout


def test_a_state_gives_the_same_bytes_as_the_unbroken_run(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    cli("precondition", tiny_toml, "--save", "device.state")
    cli("run", tiny_toml, "--requests", "--out", "whole")
    cli("run", tiny_toml, "--requests", "--out", "resumed", "--state", "device.state")
    assert_same_result(tmp_path / "whole", tmp_path / "resumed")
    assert names(tmp_path) == {"device.state", "resumed", tiny_toml.name, "whole"}


def test_a_damaged_or_foreign_state_is_refused(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    cli("precondition", tiny_toml, "--save", "device.state")
    state = tmp_path / "device.state"
    whole = state.read_bytes()
    middle = len(whole) // 2
    for damage in (
        whole[:middle],
        whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        b"",
    ):
        (tmp_path / "damaged").write_bytes(damage)
        message = cli("run", tiny_toml, "--state", "damaged", status=2).stderr
        assert "damaged" in faults(message)[0]
    message = cli(
        *("run", tiny_toml, "--state", state, "--set", "ssd.geometry.blocks_per_plane=40"),
        status=2,
    ).stderr
    assert faults(message)


def test_the_same_run_twice_gives_the_same_bytes(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    for out in ("one", "two"):
        cli("run", tiny_toml, "--requests", "--out", out)
    assert_same_result(tmp_path / "one", tmp_path / "two")


def test_the_resolved_configuration_replays_the_run(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    cli("run", tiny_toml, "--seed", "3", "--requests", "--out", "one")
    cli("run", "one/config.toml", "--requests", "--out", "two")
    assert_same_result(tmp_path / "one", tmp_path / "two")


def test_a_trace_is_found_again_from_the_resolved_configuration(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    rows = [
        f"{128166372003061629 + 5000 * i},host,0,{'Read' if i % 3 else 'Write'},{4096 * i},4096,0"
        for i in range(100)
    ]
    (tmp_path / "trace.csv").write_text("\n".join(rows) + "\n")
    cli(
        *("run", tiny_toml, "--trace", "trace.csv", "--format", "msr"),
        *("--requests", "--out", "deep/one"),
    )
    cli("run", "deep/one/config.toml", "--requests", "--out", "two")
    assert_same_result(tmp_path / "deep/one", tmp_path / "two")
    cli("run", "deep/one/config.toml", "--set", "workload.path=trace.csv", "--out", "three")


def test_an_override_may_tell_more_of_the_trace(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    beyond = 1 << 40
    (tmp_path / "far.csv").write_text(f"128166372003061629,host,0,Write,{beyond},4096,0\n")
    run = ("run", tiny_toml, "--trace", "far.csv", "--json")
    refused = cli(*run, "--set", "workload.beyond_device=refuse", status=2).stderr
    assert "beyond_device" in refused
    cli(*run, "--set", "workload.beyond_device=wrap")
    # Unless told otherwise it fits itself, and says so.
    [note] = json.loads(cli(*run).stdout)["notes"]
    assert "beyond" in note


def assert_same_result(one: Path, two: Path) -> None:
    """Check that two results differ in the simulator's own figures only."""
    for name in ("config.toml", "series.parquet", "distribution.parquet", "requests.parquet"):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    summaries = [json.loads((home / "summary.json").read_text()) for home in (one, two)]
    for summary in summaries:
        del summary["simulator"]
    assert summaries[0] == summaries[1]


def test_a_workload_preset_takes_the_place_of_the_workload(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    few = ("--set", "workload.requests=500")
    cli("run", tiny_toml, "--workload", "pgc-2011-reads-80", *few, "--out", "a")
    cli("run", tiny_toml, "--set", "workload.preset=pgc-2011-reads-80", *few, "--out", "b")
    config = (tmp_path / "a" / "config.toml").read_text()
    assert config == (tmp_path / "b" / "config.toml").read_text()
    assert "read_share = 0.8" in config
    assert "requests = 500" in config
    assert "preset" not in config


def test_report_renders_again(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    cli("run", tiny_toml, "--out", "out")
    page = tmp_path / "out/report.html"
    first = page.read_bytes()
    page.unlink()
    assert cli("report", "out").stdout.strip() == "out/report.html"
    assert page.read_bytes() == first


@pytest.mark.parametrize(
    ("signal_", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
def test_an_interrupted_run_leaves_nothing(
    tiny_toml: Path,
    tmp_path: Path,
    signal_: signal.Signals,
    status: int,
    request: pytest.FixtureRequest,
) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "copyback", "run", str(tiny_toml), "--out", "new/out"),
            *("--set", "workload.requests=2000000000"),
        ],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    request.addfinalizer(process.kill)
    deadline = time.monotonic() + 30
    while not (tmp_path / "new").exists() or not names(tmp_path / "new"):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal_)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == status
    assert stdout == ""
    assert len(faults(stderr)) == 1
    assert names(tmp_path) == {tiny_toml.name}


def test_a_reader_that_leaves_is_no_fault(tiny_toml: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "copyback", "run", str(tiny_toml), "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk_is_the_machines_trouble(tiny_toml: Path) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "copyback", "run", str(tiny_toml), "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
        )
    assert done.returncode == 1
    assert faults(done.stderr) == ["standard output: No space left on device"]


def test_show(cli: RunCli) -> None:
    presets = cli("show", "presets", "--names").stdout.split()
    for preset in ("pgc-2011", "pgc-2011-base", "stand-in-msnfs-4"):
        assert preset in presets
        assert cli("show", "preset", preset).stdout.startswith("# ")
    drives, workloads = cli("show", "presets").stdout.split("\n\n")
    assert "tlc-nvme" in drives
    assert "stand-in-cello99" in workloads
    policies = cli("show", "policies").stdout
    for policy in (
        "ssd.gc.victim",
        "greedy",
        "rga",
        "random+",
        "fifo",
        "windowed_greedy",
        "cost_benefit",
        "cost_age_times",
        "cost_hotness",
    ):
        assert policy in policies
    assert "properties" in json.loads(cli("show", "schema").stdout)
    assert "victim" in cli("show", "reference").stdout


HEAVY = {"polars", "numpy", "jinja2", "rich.progress"}


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        pytest.param("copyback.commands.cli", HEAVY, id="a command that starts"),
        # What unpickling imports, and what multiprocessing runs again: the script of the command.
        pytest.param(
            "copyback.__main__, copyback.sweep.local",
            HEAVY | {"typer", "rich", "copyback.commands.cli"},
            id="a process that simulates for a comparison",
        ),
    ],
)
def test_what_starts_imports_nothing_heavy(modules: str, heavy: set[str]) -> None:
    code = f"import sys, {modules}\nprint(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_run_that_writes_no_table_imports_no_tables(tiny_toml: Path) -> None:
    code = (
        "import contextlib, sys\n"
        "from copyback.commands.cli import main\n"
        f"sys.argv = ['copyback', 'run', {str(tiny_toml)!r}, '--json', '--quiet']\n"
        "with contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "print(sorted({'polars', 'numpy'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert json.loads(done.stdout)["requests"]["count"] > 0
    assert done.stderr.strip() == "[]"


@pytest.mark.skipif(sys.platform != "linux", reason="no threads are listed here")
def test_a_command_starts_no_threads_for_matrices(tiny_toml: Path, tmp_path: Path) -> None:
    code = (
        "import contextlib, os, sys\n"
        "from copyback.__main__ import main\n"
        f"sys.argv = ['copyback', 'run', {str(tiny_toml)!r}, '--quiet', '--out', 'out']\n"
        "with contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "assert 'numpy' in sys.modules\n"
        "print(len(os.listdir('/proc/self/task')), file=sys.stderr)"
    )
    asked = {name: text for name, text in os.environ.items() if "_NUM_THREADS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=asked, cwd=tmp_path
    )
    assert done.stderr.strip() == "1"
