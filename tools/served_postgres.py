"""Run pgbench on a served drive under two schedules, and explain its slowest transactions.

python tools/served_postgres.py [--seconds 120] [--slower 10]

It takes root (who may mount), PostgreSQL, nbdfuse, ext4's tools and a user `postgres`. What comes
out is stored in experiments/served/postgresql.json, from which tools/served_pages.py writes
docs/guide/postgresql.md. All times that are stored are the drive's: those of the host, divided.

The database is made in a file on the host's own disk, which then becomes the data of a drive that
is full: both schedules begin with the same bytes and the same drive. The host would keep all of
the database in memory, so that nothing would ever be read; it is told ten times a second to forget
the tables. PostgreSQL's own cache is small, and it has the kernel write at once what it evicts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from served_transactions import Transactions, explained, of_drive, percentiles, waiting

import copyback
from copyback.inputs import configuration
from copyback.process.checkout import commit
from copyback.serve.facts import facts
from copyback.serve.log import read
from copyback.serve.replay import differing

if TYPE_CHECKING:
    from collections.abc import Iterator

STORED = Path(__file__).parent.parent / "experiments/served"
DRIVE = STORED / "postgresql.toml"
KEY = "ssd.gc.preemption"
SCHEDULES = ("none", "semi_preemptive")
NEEDED = ("nbdfuse", "fusermount3", "mke2fs", "losetup", "mount", "runuser", "initdb", "pgbench")

#: pgbench's scale: with PostgreSQL's own tables some two thirds of the drive.
SCALE = 4
CLIENTS = 4
SEED = 27

#: Memory and checkpoints so small that a short load writes to the drive all the time.
SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "1MB",
    "checkpoint_timeout": "30s",
    "max_wal_size": "8MB",
    "min_wal_size": "2MB",
    "backend_flush_after": "8kB",
    "bgwriter_flush_after": "8kB",
    "checkpoint_flush_after": "8kB",
    "autovacuum": "off",
}

#: While the database is made nothing has to be durable.
MAKING = {**SETTINGS, "shared_buffers": "64MB", "fsync": "off"}

#: Slow requests that a run explains: the most that it keeps.
KEPT = 256


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=120, help="on the host's clock")
    parser.add_argument("--slower", type=float, default=10)
    options = parser.parse_args()
    if lacks := missing():
        sys.exit(f"not here: {', '.join(lacks)}")
    stored = measured(options.seconds, options.slower)
    text = json.dumps(stored, indent=1) + "\n"
    (STORED / "postgresql.json").write_text(text, encoding="utf-8")


def search_path() -> str:
    """Return where programs are looked for; distributions keep PostgreSQL's out of the way."""
    beside = ["/usr/sbin", "/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], *beside])


def missing() -> list[str]:
    """Return what this machine lacks."""
    lacks = [name for name in NEEDED if shutil.which(name, path=search_path()) is None]
    if os.geteuid() != 0:
        return [*lacks, "root"]
    free = subprocess.run(["losetup", "-f"], capture_output=True, check=False)
    lacks += ["a loop device"] if free.returncode else []
    return lacks + ([] if os.access("/dev/fuse", os.R_OK | os.W_OK) else ["/dev/fuse"])


def measured(seconds: int, slower: float) -> dict[str, Any]:
    """Return what is stored."""
    made_by = commit()
    with tempfile.TemporaryDirectory(prefix="copyback-postgres-") as name:
        home = Path(name)
        home.chmod(0o755)
        make(home)
        rows = []
        for schedule in SCHEDULES:
            shutil.copy(home / "made", home / "data")
            rows.append(Run(home, schedule, seconds, slower).row())
            print(json.dumps(rows[-1], indent=1), flush=True)
    return {
        "commit": made_by,
        "postgresql": run("pgbench --version", Path()).strip(),
        "machine": machine(),
        "seconds": seconds,
        "slower": slower,
        "clients": CLIENTS,
        "scale": SCALE,
        "settings": {key: value for key, value in SETTINGS.items() if value},
        "rows": rows,
    }


def machine() -> str:
    """Return the name of the processor."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def run(text: str, home: Path) -> str:
    """Run commands of the shell; return what they print.

    Raises
    ------
    RuntimeError
        If they fail, with all that they printed.
    """
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            ["sh", "-e", "-c", text],
            cwd=home,
            env={**os.environ, "PATH": search_path()},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
        output.seek(0)
        told = output.read()
    if done.returncode:
        raise RuntimeError(f"{text}: {told}")
    return told


def as_postgres(text: str, home: Path) -> str:
    """Let the user of PostgreSQL run a command."""
    return run(f"runuser -u postgres -- {text}", home)


def start(home: Path, settings: dict[str, str]) -> None:
    """Let PostgreSQL run."""
    given = " ".join(f"-c {key}={value}" for key, value in settings.items())
    as_postgres(f'pg_ctl -D fs/data -o "-k {home}/log {given}" -l log/log -w start', home)


def make(home: Path) -> None:
    """Make the database, in a file that a drive can take for its data."""
    run("mkdir mnt fs log; chown postgres log", home)
    size = configuration.load(DRIVE).capacity_bytes
    run(f"truncate -s {size} made; mke2fs -q -t ext4 -J size=4 -m 0 made", home)
    run("mount -o loop made fs; mkdir fs/data; chown postgres fs/data", home)
    try:
        as_postgres("initdb -D fs/data --no-sync --wal-segsize=1", home)
        start(home, MAKING)
        as_postgres(f"pgbench -h {home}/log -i -s {SCALE} -q postgres", home)
        as_postgres("pg_ctl -D fs/data -w stop", home)
    finally:
        run("umount fs", home)


@dataclass(frozen=True)
class Run:
    """A load of pgbench on a drive that is served under a schedule."""

    home: Path
    schedule: str
    seconds: int
    slower: float

    def row(self) -> dict[str, Any]:
        """Return what is stored of it."""
        log = self.home / f"{self.schedule}.parquet"
        with self._served(log), self._mounted():
            start(self.home, SETTINGS)
            try:
                with self._forgetting():
                    self._load()
            finally:
                as_postgres("pg_ctl -D fs/data -m fast -w stop", self.home)
        told = facts(log)
        assert told is not None
        transactions = Transactions.logged(
            self.home.glob("log/transactions*"), told["begun_unix_ns"], self.slower
        )
        settings: dict[str, Any] = {"ssd__gc__preemption": self.schedule}
        again = copyback.run(
            DRIVE, trace=log, requests=True, metrics__slowest=KEPT, audit=True, **settings
        )
        assert again.requests is not None
        assert differing(read(log), again.requests) == 0, "the log gives other responses"
        responses = again.summary.response_us
        return {
            "schedule": self.schedule,
            "config_digest": again.summary.config_digest,
            "transactions": len(transactions),
            "per_second": len(transactions) / (self.seconds / self.slower),
            "transaction_us": percentiles(transactions.took_us),
            "drive_us": of_drive(lambda operation, name: responses[operation][name]),
            "page_write_amplification": again.summary.page_write_amplification,
            "collections": again.summary.gc.collections,
            "lateness": told["lateness"],
            "waiting": waiting(transactions, again),
            "slowest": explained(transactions, again),
            "replayed": self._replayed(log),
        }

    @contextlib.contextmanager
    def _served(self, log: Path) -> Iterator[None]:
        socket = self.home / "drive.sock"
        command = [sys.executable, "-m", "copyback", "serve", str(DRIVE), "--quiet"]
        command += ["--set", f"{KEY}={self.schedule}", "--nbd", f"unix:{socket}"]
        command += ["--data", "data", "--slower", str(self.slower), "--log", str(log)]
        server = subprocess.Popen(command, cwd=self.home)
        try:
            wait_for(socket, server)
            yield
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=60) == 0, "the server failed"
        finally:
            server.kill()
            server.wait()

    @contextlib.contextmanager
    def _mounted(self) -> Iterator[None]:
        uri = f"nbd+unix:///?socket={self.home}/drive.sock"
        fuse = subprocess.Popen(
            ["nbdfuse", "mnt/drive", uri], cwd=self.home, env={**os.environ, "PATH": search_path()}
        )
        try:
            wait_for(self.home / "mnt/drive", fuse)
            # Else the host would keep the drive's pages in memory a second time.
            loop = run("losetup -f --show --direct-io=on mnt/drive", self.home).strip()
            try:
                run(f"mount -o noatime {loop} fs", self.home)
                try:
                    yield
                finally:
                    run("umount fs", self.home)
            finally:
                run(f"losetup -d {loop}", self.home)
        finally:
            try:
                run("timeout 60 sh -c 'until fusermount3 -u mnt; do sleep 0.1; done'", self.home)
            finally:
                # Else what is left of the mount would keep whoever looks at it.
                fuse.kill()
                fuse.wait()

    @contextlib.contextmanager
    def _forgetting(self) -> Iterator[None]:
        ended = threading.Event()

        def forget() -> None:
            while not ended.wait(0.1):
                for file in (self.home / "fs/data/base").glob("*/*"):
                    with contextlib.suppress(FileNotFoundError), file.open("rb") as table:
                        os.posix_fadvise(table.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

        thread = threading.Thread(target=forget)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _load(self) -> None:
        run("rm -f log/transactions*", self.home)
        as_postgres(
            f"pgbench -n -h {self.home}/log -c {CLIENTS} -T {self.seconds} --random-seed={SEED} "
            "--log --log-prefix=log/transactions postgres",
            self.home,
        )

    def _replayed(self, log: Path) -> list[dict[str, Any]]:
        """Return what the same requests meet under each schedule, by `copyback compare`."""
        over = [f"--over=trace={log}", f"--over={KEY}={','.join(SCHEDULES)}"]
        command = [sys.executable, "-m", "copyback", "compare", str(DRIVE), *over]
        out = self.home / f"compared-{self.schedule}"
        subprocess.run([*command, "--quiet", "--out", str(out)], check=True)
        table = pl.read_parquet(out / "results.parquet")
        return [
            {
                "schedule": row[KEY],
                "drive_us": of_drive(lambda *names: row[f"response_us.{'.'.join(names)}"]),  # noqa: B023
            }
            for row in table.iter_rows(named=True)
        ]


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has made a file."""
    until = time.monotonic() + 60
    while not path.exists():
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{path} did not come")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
