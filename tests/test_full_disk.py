"""A disk that fills up in the middle of each kind of file: one line, and nothing half-written.

The disk is a file system in memory that holds so many pages, in a mount namespace (`sandbox.py`).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from conftest import tiny_config
from copyback.inputs import configuration
from sandbox import Sandbox

TESTS = Path(__file__).parent
COPYBACK = (sys.executable, "-m", "copyback")
PAGE = os.sysconf("SC_PAGE_SIZE")

#: The files of a run that keeps all there is, in the order in which they are written.
FILES = (
    "latency.hlog",
    "timeline.json.gz",
    "messages.parquet",
    "commands.parquet",
    "collections.parquet",
    "requests.parquet",
    "summary.json",
    "config.toml",
    "series.parquet",
    "distribution.parquet",
    "dies.parquet",
    "tail.csv",
    "slowest.json",
    "report.html",
)
RUN = ("run", "../tiny.toml", "-q", "--timeline", "0s:20ms", "--out", "out")

#: What each command that writes one file is called with, and the file's name.
ONE_FILE = {
    "state": ("precondition", "../tiny.toml", "-q", "--save", "d.state"),
    "table": ("trace", "convert", "../tiny.toml", "t.parquet", "-q"),
    "text": ("trace", "convert", "../tiny.toml", "t.csv.gz", "--to", "msr", "-q"),
    "log": ("run", "../tiny.toml", "-q", "--hdr-log", "h.log"),
    "page": ("trace", "info", "../tiny.toml", "-q", "--report", "i.html"),
}


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    config = tiny_config()
    config["array"] = {
        "layout": "raid5",
        "devices": 3,
        "stripe": "4KiB",
        "coordination": "reactive_inclusive",
    }
    tables = ("requests", "commands", "collections", "messages")
    config["metrics"] = dict.fromkeys(tables, True) | {"histogram_interval": "20ms", "slowest": 5}
    config["workload"]["requests"] = 1500
    lines = [f"{key} = {configuration.to_toml(value)}" for key, value in config.items()]
    (tmp_path / "tiny.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Sandbox(tmp_path)


def pages(size: int) -> int:
    """Return how many pages a file takes."""
    return -(-size // PAGE)


def test_no_file_of_a_run_stays_if_one_does_not_fit(box: Sandbox) -> None:
    whole = box.run(*COPYBACK, *RUN)
    assert whole.status == 0, whole.stderr
    sizes = {file: pages(whole.left[f"out/{file}"]) for file in FILES}
    assert {f"out/{file}" for file in FILES} | {"out"} == set(whole.left)
    before = 0
    for file, size in sizes.items():
        # One of a single page has no middle.
        if size > 1:
            done = box.run(*COPYBACK, *RUN, pages=before + size // 2)
            assert done.fault == "out: No space left on device", file
            assert (done.status, done.left) == (1, {}), file
        before += size


@pytest.mark.parametrize("kind", ONE_FILE)
def test_a_file_that_does_not_fit_is_named_and_gone(box: Sandbox, kind: str) -> None:
    command = ONE_FILE[kind]
    whole = box.run(*COPYBACK, *command)
    assert whole.status == 0, whole.stderr
    [(name, size)] = whole.left.items()
    # A page less: nearly all is written first.
    for room in {pages(size) // 2, pages(size) - 1}:
        done = box.run(*COPYBACK, *command, pages=room)
        assert done.status == 1, done
        assert done.fault.startswith(f"{name}: "), done.fault
        assert "No space left on device" in done.fault
        assert done.left == {}


def test_a_page_that_does_not_fit_leaves_the_earlier_one(box: Sandbox) -> None:
    script = f"""
    {" ".join((*COPYBACK, *RUN))} > /dev/null || exit 9
    head -c 9 out/report.html
    echo mine > out/report.html
    head -c 99999999 /dev/zero > ballast 2> /dev/null
    exec {" ".join((*COPYBACK, "report", "out"))}
    """
    done = box.run("sh", "-c", script, pages=900)
    assert done.status == 1, done
    assert done.fault == "out/report.html: No space left on device"
    assert done.left["out/report.html"] == len("mine\n")
    assert not [name for name in done.left if "partial" in name]


#: Fill the disk but for some pages, do what fails, give the room back, and do it again.
FAIL_AND_GO_ON = """
size=$(df --output=avail -B {page} . | tail -1)
head -c $(( (size - {room}) * {page} )) /dev/zero > ballast
{command} > /dev/null
echo "status $?"
find . -name '*partial*'
rm ballast
{command} > /dev/null || exit 9
sha256sum {results}
"""


def goes_on(box: Sandbox, command: tuple[str, ...], results: str, room: int) -> tuple[str, str]:
    """Return what a command says on a full disk, and the digests of what it leaves after all."""
    words = " ".join((*COPYBACK, *command))
    script = FAIL_AND_GO_ON.format(page=PAGE, room=room, command=words, results=results)
    done = box.run("sh", "-c", script, pages=2000)
    assert done.status == 0, done
    first, _, digests = done.stdout.partition("\n")
    assert first == "status 1", done
    fault, *others = done.stderr.splitlines()
    # A run says from where it goes on.
    assert all(line.startswith("copyback: going on from ") for line in others), done.stderr
    return fault.removeprefix("copyback: error: "), digests


def digests(box: Sandbox, command: tuple[str, ...], results: str) -> tuple[str, dict[str, int]]:
    """Return the digests of what a command leaves where there is room, and the sizes."""
    script = f"{' '.join((*COPYBACK, *command))} > /dev/null\nsha256sum {results}"
    done = box.run("sh", "-c", script)
    assert done.status == 0, done
    return done.stdout, done.left


def test_a_sweep_goes_on_once_there_is_room_again(box: Sandbox) -> None:
    command: tuple[str, ...] = (
        "compare",
        "../tiny.toml",
        "-q",
        "--seeds",
        "2",
        "--jobs",
        "1",
        "--out",
        "out",
    )
    command += ("--set", "metrics.slowest=1", "--set", "metrics.commands=false")
    results = "out/results.parquet out/runs/*/series.parquet"
    whole, left = digests(box, command, results)
    runs = [pages(size) for name, size in left.items() if name.startswith("out/runs/")]
    one = sum(runs) // 2
    assert one > 20
    # In a worker's answer, and in what all runs come to.
    for room in (one // 2, 2 * one + 2):
        fault, again = goes_on(box, command, results, room)
        assert fault.startswith("out"), fault
        assert fault.endswith(": No space left on device"), fault
        assert again == whole, room


def test_a_run_in_pieces_goes_on_once_there_is_room_again(box: Sandbox) -> None:
    command: tuple[str, ...] = (
        "run",
        "../tiny.toml",
        "-q",
        "--set",
        "workload.requests=15000",
        "--out",
        "out",
    )
    command += ("--set", "metrics.slowest=1", "--checkpoint", "kept", "--checkpoint-every", "50ms")
    results = "out/*.parquet"
    whole, left = digests(box, command, results)
    rows = pages(left["out/requests.parquet"])
    for room in (2, rows // 2):
        fault, again = goes_on(box, command, results, room)
        assert "No space left on device" in fault
        assert fault.startswith(("kept", "out")), fault
        assert again == whole, room


@pytest.mark.parametrize("keeps", ["requests", "timeline"])
def test_a_checkpoint_on_a_full_disk_names_that_disk(box: Sandbox, keeps: str) -> None:
    command: tuple[str, ...] = (*COPYBACK, "run", "../tiny.toml", "-q")
    # What the run leaves goes to another disk, which has room.
    command += ("--out", "../out", "--checkpoint", "kept", "--checkpoint-every", "50ms")
    command += ("--set", "workload.requests=15000")
    others = {"requests", "commands", "collections", "messages"} - {keeps}
    command += tuple(f"--set=metrics.{table}=false" for table in sorted(others))
    command += ("--timeline", "0s:10s") if keeps == "timeline" else ()
    rows = set()
    for room in (1, 4, 8, 16, 30):
        done = box.run(*command, pages=room)
        assert done.status == 1, done
        assert done.fault.startswith(("kept: No space left", "kept.rows: No space left")), room
        rows.add(done.fault.startswith("kept.rows"))
        assert not (box.home / "out").exists()
    assert True in rows


#: Serves a drive, writes to it, ends it, and says as it does.
SERVED = """
import pathlib, signal, sys
from nbd import serving

log = ("--log=log.parquet", "--set=precondition.fill=1.0")
with serving(pathlib.Path("../fast.toml"), pathlib.Path("socket"), *log) as served:
    with served.client() as client:
        for page in range(1500):
            client.write(page % 200 * 4096, bytes(4096))
    served.process.send_signal(signal.SIGINT)
    _, told = served.process.communicate(timeout=60)
    sys.stderr.write(told)
    sys.exit(served.process.returncode)
"""


@pytest.mark.usefixtures("fast")
def test_a_log_of_a_served_drive_that_does_not_fit_is_named_and_gone(box: Sandbox) -> None:
    done = box.run(sys.executable, "-c", SERVED, pages=3, env={"PYTHONPATH": str(TESTS)})
    assert done.status == 1, done
    assert done.fault == "log.parquet: No space left on device"
    assert done.left == {}
