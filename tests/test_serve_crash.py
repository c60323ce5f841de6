"""Databases find their data after a cut of power, but not on a drive that lies about flushes."""

from __future__ import annotations

import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import nbd
from copyback.serve.ask import ask
from fuse import as_file, environment, home_of_all, missing, needs_fuse, run
from nbd import Served, serving
from processes import ending
from test_serve_guide import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="works on Linux only")

#: How many cuts a crash test makes.
CUTS = int(os.environ.get("COPYBACK_CRASHES", "8"))

UNPROTECTED = (
    "--set=ssd.power.protection=none",
    "--set=ssd.power.cuts=on_command",
    "--set=ssd.buffer.capacity=256KiB",
    "--set=ssd.geometry.blocks_per_plane=128",
)
LIES = "--set=ssd.power.flush=ignored"

#: What a crash test of PostgreSQL takes.
NEEDED = [*PARTS["PostgreSQL"].needs, "psql"]

#: The database and its journal each have a part of the drive: nbdfuse shows files of one size.
SIZES = {"database": 12 << 20, "journal": 8 << 20}
EXPORTS = ("--export=database=0B+12MiB", "--export=journal=12MiB+8MiB")


@pytest.fixture
def home() -> Iterator[Path]:
    with home_of_all() as path:
        yield path


def empty(home: Path) -> Path:
    """Make a database without rows."""
    path = home / "empty.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)")
    database.commit()
    database.close()
    return path


def put(served: Served, path: Path) -> None:
    """Put a database on the drive, with a journal that is not needed."""
    with served.client("database") as client:
        client.write(0, path.read_bytes(), nbd.FUA)
    with served.client("journal") as client:
        client.write(0, bytes(4096), nbd.FUA)


@contextlib.contextmanager
def database_on(served: Served, home: Path) -> Iterator[Path]:
    path = home / "rows.db"
    with (
        as_file(served.socket, path, "database"),
        as_file(served.socket, home / "rows.db-journal", "journal"),
    ):
        yield path


def committed(writer: subprocess.Popen[str], begin: int) -> int:
    """Return how many rows a process has told, from `begin` on; it has ended."""
    assert writer.stdout is not None
    told = writer.stdout.read().split()
    return int(told[-1]) + 1 if told else begin + 1


def commit_until_cut(served: Served, home: Path, begin: int, after_s: float) -> int:
    """Let a process commit rows from `begin` on until the power is cut; return their number."""
    with database_on(served, home) as path:
        command = [sys.executable, str(Path(__file__).with_name("sqlite_writer.py"))]
        with ending(
            subprocess.Popen(
                [*command, str(path), str(begin)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == f"{begin}\n"
            time.sleep(after_s)
            json.loads(ask(served.socket, "cut"))
            writer.kill()
            return committed(writer, begin)


def take(served: Served, home: Path) -> Path:
    """Take the database and its journal from the drive, so that SQLite may recover it."""
    path = home / "taken.db"
    for export, file in (("database", path), ("journal", home / "taken.db-journal")):
        with served.client(export) as client:
            file.write_bytes(client.read(0, SIZES[export]))
    return path


def recovered(path: Path) -> list[int] | None:
    """Let SQLite recover a database; return its rows, or None if it is broken."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        try:
            if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                return None
            return [row for (row,) in database.execute("SELECT number FROM rows ORDER BY number")]
        except sqlite3.DatabaseError as fault:
            if "malformed" in str(fault) or "not a database" in str(fault):
                return None
            raise


@needs_fuse
def test_what_sqlite_has_committed_is_there_after_cuts(fast: Path, tmp_path: Path) -> None:
    draw = random.Random(27)
    with serving(fast, tmp_path / "drive.sock", *UNPROTECTED, *EXPORTS) as served:
        put(served, empty(tmp_path))
        committed = 0
        for _ in range(CUTS):
            committed = commit_until_cut(served, tmp_path, committed, draw.uniform(0, 0.15))
            found = recovered(taken := take(served, tmp_path))
            # One more may be there: it was cut off before it was told.
            assert found in (list(range(committed)), list(range(committed + 1)))
            assert found is not None
            committed = len(found)
            put(served, taken)
        served.end()
    assert committed >= CUTS


@needs_fuse
def test_on_a_drive_that_lies_sqlite_loses_what_it_has_committed(
    fast: Path, tmp_path: Path
) -> None:
    draw = random.Random(28)
    with serving(fast, tmp_path / "drive.sock", *UNPROTECTED, *EXPORTS, LIES) as served:
        for _ in range(20):
            put(served, empty(tmp_path))
            with served.client("database") as client:
                # The buffer is full of other things, which leave it first.
                client.write(8 << 20, bytes([1]) * (4 << 20))
            committed = commit_until_cut(served, tmp_path, 0, draw.uniform(0, 0.15))
            found = recovered(take(served, tmp_path))
            if found is None or found[:committed] != list(range(committed)):
                return
            (tmp_path / "empty.db").unlink()
    pytest.fail("a lie was never noticed")


def as_postgres(home: Path, text: str, *, check: bool = True) -> str:
    """Let the user of PostgreSQL run a command of the shell; return what it prints."""
    output = home / "postgres.log"
    with output.open("w") as out:
        done = subprocess.run(
            ["runuser", "-u", "postgres", "--", "sh", "-c", text],
            cwd=home,
            env=environment(),
            stdout=out,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
    told = output.read_text(errors="replace")
    log = home / "log" / "log"
    assert done.returncode == 0 or not check, told + (log.read_text() if log.exists() else "")
    return told


START = (
    'pg_ctl -D fs/data -l log/log -w start -o "-k $PWD/log -c listen_addresses= -c wal_recycle=off"'
)
SQL = 'psql -q -A -t -h "$PWD/log" postgres'


@contextlib.contextmanager
def postgres_on(served: Served, home: Path) -> Iterator[None]:
    """Mount the file system of a drive, and let PostgreSQL run on it for as long as that takes."""
    run("nbdfuse mnt/drive 'nbd+unix:///?socket=drive.sock' &", home)
    run("until test -e mnt/drive; do sleep 0.05; done; mount -o loop mnt/drive fs", home)
    assert served.process.poll() is None
    try:
        # Nobody of the number in the lock file is there after a boot; here it may be a zombie.
        as_postgres(home, f"rm -f fs/data/postmaster.pid log/.s*; {START}")
        yield
    finally:
        as_postgres(home, "pg_ctl -D fs/data -m immediate -w stop", check=False)
        run("umount fs; until fusermount3 -u mnt; do sleep 0.1; done", home)


def crash_postgres(served: Served, home: Path, cuts: int) -> int:
    """Commit rows and cut the power, over and over; return how many are committed in the end."""
    draw = random.Random(29)
    run("mkdir mnt fs log; chown postgres log", home)
    run("nbdfuse mnt/drive 'nbd+unix:///?socket=drive.sock' &", home)
    run("until test -e mnt/drive; do sleep 0.05; done; mke2fs -q -t ext4 mnt/drive", home)
    run("mount -o loop mnt/drive fs; mkdir fs/data; chown postgres fs/data", home)
    as_postgres(home, "initdb -D fs/data --wal-segsize=1")
    run("umount fs; until fusermount3 -u mnt; do sleep 0.1; done", home)
    committed = 0
    for number in range(cuts + 1):
        with postgres_on(served, home):
            if number == 0:
                as_postgres(home, f'{SQL} -c "CREATE TABLE rows (number int, text text)"')
            found = as_postgres(home, f'{SQL} -c "SELECT number FROM rows ORDER BY number"')
            rows = [int(row) for row in found.split()]
            # One more may be there: it was cut off before it was told.
            assert rows in (list(range(committed)), list(range(committed + 1)))
            committed = insert_until_cut(served, home, len(rows), draw.uniform(0.1, 1.0))
    return committed


needs_postgres = pytest.mark.skipif(
    bool(missing(NEEDED)), reason=f"{', '.join(missing(NEEDED))}: not here"
)

LARGER = "--set=ssd.geometry.blocks_per_plane=1280"


@needs_postgres
def test_what_postgresql_has_committed_is_there_after_cuts(fast: Path, home: Path) -> None:
    with serving(fast, home / "drive.sock", *UNPROTECTED, LARGER) as served:
        assert crash_postgres(served, home, CUTS) >= CUTS
        served.end()


@needs_postgres
def test_on_a_drive_that_lies_postgresql_does_not_find_it(fast: Path, home: Path) -> None:
    """The file system, the database or rows are broken: what went well above does not."""
    with serving(fast, home / "drive.sock", *UNPROTECTED, LARGER, LIES) as served:
        with pytest.raises(AssertionError):
            crash_postgres(served, home, CUTS)
        # It is the drive that has lost something, and it is still there.
        assert json.loads(ask(served.socket, "status"))["power_loss"]["flushed_pages_lost"] > 0


def insert_until_cut(served: Served, home: Path, begin: int, after_s: float) -> int:
    """Let rows be committed from `begin` on until the power is cut; return their number."""
    statements = "".join(
        f"INSERT INTO rows VALUES ({row}, repeat('x', 2000));\n\\echo {row}\n"
        for row in range(begin, begin + 20_000)
    )
    (home / "statements.sql").write_text(statements)
    with ending(
        subprocess.Popen(
            ["runuser", "-u", "postgres", "--", "sh", "-c", f"stdbuf -oL {SQL} -f statements.sql"],
            cwd=home,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == f"{begin}\n"
        time.sleep(after_s)
        ask(served.socket, "cut")
        as_postgres(home, "pg_ctl -D fs/data -m immediate -w stop", check=False)
        return committed(writer, begin)
