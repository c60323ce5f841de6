"""The guide about served drives does what it says, where the programs are that it uses."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

import nbd
from fuse import PATIENCE, environment, home_of_all, missing, run
from pages import ROOT, Fence, Reader, fences

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="works on Linux only")

PAGE = ROOT / "docs" / "guide" / "serve.md"

SERVES = "copyback serve drive.toml"


@dataclass
class Part:
    """A heading of the guide and the fences under it."""

    title: str
    served: Fence | None = None
    fences: list[Fence] = field(default_factory=list)

    @property
    def needs(self) -> list[str]:
        told = [fence.told["needs"] for fence in self.fences if "needs" in fence.told]
        return sorted({need.strip() for needs in told for need in needs.split(",")})


def parts() -> dict[str, Part]:
    """Return the parts of the guide that use a drive, each with how that is served."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    found: dict[str, Part] = {}
    served = None
    for fence in fences(PAGE):
        above = [line for line in lines[: fence.line - 1] if line.startswith("#")]
        title = above[-1].lstrip("# ")
        if fence.text.startswith(SERVES):
            served = fence
        elif "needs" in fence.told or (title in found and fence.language == "text"):
            part = found.setdefault(title, Part(title, served))
            part.fences.append(fence)
    return found


PARTS = parts()


@pytest.fixture
def home() -> Iterator[Path]:
    with home_of_all() as path:
        text = next(fence.text for fence in fences(PAGE) if fence.told.get("file") == "drive.toml")
        (path / "drive.toml").write_text(text)
        yield path


@contextlib.contextmanager
def served(fence: Fence, home: Path, *more: str) -> Iterator[None]:
    """Serve a drive as the guide says; all must go well until it is told to end."""
    with (home / "server").open("w") as out:
        process = subprocess.Popen(
            ["sh", "-c", "exec " + " ".join([fence.text.replace("\\\n", " ").strip(), *more])],
            cwd=home,
            env=environment(),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        until = time.monotonic() + 60
        while not (home / "drive.sock").exists():
            assert process.poll() is None, (home / "server").read_text()
            assert time.monotonic() < until
            time.sleep(0.02)
        yield
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 0, (home / "server").read_text()
    finally:
        process.kill()
        process.wait()


def follow(part: Part, home: Path) -> list[str]:
    """Do what a part says; return lines that were not printed."""
    reader = Reader(home)
    for fence in part.fences:
        if fence.language == "sh":
            reader.printed = run(fence.text, home)
        else:
            reader.compare(fence)
    return reader.faults


def test_the_guide_has_the_parts_that_are_followed() -> None:
    assert list(PARTS) == [
        "fio",
        "A file system in a file",
        "A file system that is mounted",
        "SQLite",
        "RocksDB",
        "PostgreSQL",
        "QEMU",
        "A crash test",
        "Two tenants on one drive",
    ]


@pytest.mark.parametrize("title", PARTS)
def test_a_part_of_the_guide_does_what_it_says(title: str, home: Path) -> None:
    part = PARTS[title]
    if lacks := missing(part.needs):
        pytest.skip(f"{', '.join(lacks)}: not here")
    assert part.served is not None
    with served(part.served, home):
        assert follow(part, home) == []
    if (home / "live").exists():
        assert (home / "live" / "report.html").is_file(), "the log gave the same responses"


def test_the_crash_test_of_the_guide_fails_on_a_drive_that_lies(home: Path) -> None:
    part = PARTS["A crash test"]
    if lacks := missing(part.needs):
        pytest.skip(f"{', '.join(lacks)}: not here")
    assert part.served is not None
    commits, *looks = part.fences
    with served(part.served, home, "--set", "ssd.power.flush=ignored"):
        told = run(commits.text, home)
        cut = json.loads(next(line for line in told.splitlines() if line.startswith("{")))
        assert cut["flushed_pages_lost"] > 0
        lost = loss(home)
        assert lost is not None, "the drive has lost nothing that a program would miss"
        try:
            faults = follow(Part(part.title, fences=looks), home)
        except AssertionError as failed:
            faults = [line for line in str(failed).splitlines() if BROKEN.search(line)]
            if not faults:
                pytest.fail(f"a tool failed, and not because of {lost}: {failed}")
        assert faults, f"the guide does not see {lost}"


#: How mount, SQLite and e2fsck say that what is on the drive is broken.
BROKEN = re.compile(
    r"malformed|not a database|no such table|disk I/O error|unable to open database file|"
    r"wrong fs type|superblock|Structure needs cleaning|Input/output error|\berrors?\b",
    re.IGNORECASE,
)


def loss(home: Path) -> str | None:
    """Return what the crash test must miss on the drive, found without mounting it; None: nothing.

    The bytes of the drive are taken to a file, on which ext4's own tools go through the journal.
    """
    image = home / "image"
    with nbd.Client(home / "drive.sock") as client:
        parts = range(0, client.size, 1 << 20)
        image.write_bytes(b"".join(client.read(at, min(1 << 20, client.size - at)) for at in parts))
    try:
        # Status 1: the journal was gone through.
        run("e2fsck -f -y image > checked || test $? = 1", home)
        run("debugfs -R 'dump rows.db taken.db' image; test -s taken.db", home)
        run("debugfs -R 'dump rows.db-journal taken.db-journal' image", home)
    except AssertionError as broken:
        return f"a broken file system: {broken}"
    with contextlib.closing(sqlite3.connect(home / "taken.db")) as database:
        try:
            found = {str(row) for (row,) in database.execute("SELECT number FROM rows")}
        except sqlite3.DatabaseError as broken:
            return f"a broken database: {broken}"
    # The last line may be half written.
    committed = (home / "committed").read_text().rpartition("\n")[0].split()
    missing_rows = [row for row in committed if row not in found]
    return f"{len(missing_rows)} of {len(committed)} rows are missing" if missing_rows else None


def test_the_crash_test_of_the_guide_finds_no_loss_that_is_not_there(home: Path) -> None:
    """On the honest drive, by the very look that finds what the other one has lost."""
    part = PARTS["A crash test"]
    if lacks := missing(part.needs):
        pytest.skip(f"{', '.join(lacks)}: not here")
    assert part.served is not None
    with served(part.served, home):
        run(part.fences[0].text, home)
        assert (home / "committed").read_text()
        assert loss(home) is None
