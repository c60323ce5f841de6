"""Measure a served drive with a job of fio that is cut to five minutes of the host's time.

The drive's clock runs slower than the host's. Rates of the job are divided by that, and what fio
measures is, too.

fio that is ahead of its rate waits for all that is under way before it pauses. Requests that fall
due meanwhile leave together, and one reader of many requests is no source of Poisson arrivals. So
each step is shared by sixteen clones of a sixteenth of its rate and depth, which seldom have two
requests under way. (Submitting from threads would do as well, but fio 3.33 breaks down with that
and NBD.)

A request that fio measures takes longer than the drive took: by the way through
the socket, and by how late the host is. How much that is, is measured first on a drive whose
parameters are known, the start of all fits, and taken off.
"""

from __future__ import annotations

import configparser
import contextlib
import csv
import json
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.calibration.search.bench import OPERATIONS
from copyback.data.parquet import NAMES, read_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Times that the drive's clock is slower than the host's.
SLOWER = 125

#: Clones that share a step.
CLONES = 16

#: Percentiles that are fitted. A step is a fifth of a second of the drive's time, in which the
#: collector does not settle after the step before; the tail shows that, and the median hardly.
PERCENTILES = (10, 25, 50)

#: Seconds of the host: of overwriting, of the ramp of a step, and of its measured part. Together
#: with six steps they are 300.
OVERWRITE, STEP_RAMP, STEP = 99.0, 7.5, 26.0

#: Seconds of the host for the drive that is known, at the lowest rate.
KNOWN = 30.0


def measure(job: Path, drive: Path, known: Path, curve: Path) -> dict[str, Any]:
    """Leave the load curve of a job on a served drive; return facts about it.

    Raises
    ------
    SystemExit
        If there is no fio with its engine for NBD.
    subprocess.CalledProcessError
        If fio fails.
    """
    fio = program()
    offset, _ = apart(fio, job, known, curve.parent)
    socket = curve.parent / "drive.sock"
    with serving(drive, socket) as said:
        found = ran(fio, cut(job, socket), curve.parent)
    write_table(found, offset, curve)
    version = subprocess.run([fio, "--version"], capture_output=True, text=True, check=True)
    return {
        "slower": SLOWER,
        "fio": version.stdout.strip(),
        "offset_us": round(offset / 1e3, 3),
        "said": said,
    }


def program() -> str:
    """Return where fio is."""
    fio = shutil.which("fio")
    if fio is not None:
        engines = subprocess.run([fio, "--enghelp"], capture_output=True, text=True, check=False)
        if "nbd" in engines.stdout.split():
            return fio
    sys.exit("drive_found: found no fio with its engine nbd; allowed: one in the search path")


def apart(
    fio: str, job: Path, drive: Path, work: Path, seconds: float = KNOWN
) -> tuple[float, float]:
    """Return by how much fio's median write is longer than the drive's, and the drive's, in ns."""
    socket, log = work / "known.sock", work / "known.parquet"
    with serving(drive, socket, "--log", str(log)):
        found = ran(fio, cut(job, socket, steps=1, seconds=seconds, overwrite=None), work)
    seen = found["jobs"][0]["write"]["clat_ns"]["percentile"]["50.000000"] / SLOWER
    requests = read_parquet(log)
    is_write = requests["operation"].values == NAMES["operation"].index("write")
    own = float(np.median(requests["response_ns"].values[is_write]))
    return seen - own, own


def cut(
    job: Path,
    socket: Path,
    *,
    steps: int | None = None,
    seconds: float = STEP,
    overwrite: float | None = OVERWRITE,
) -> str:
    """Return a job for a served drive: shorter, slower, and without the fill.

    The drive was filled before it is served.
    """
    asked = configparser.RawConfigParser(
        allow_no_value=True, delimiters=("=",), comment_prefixes=(";",)
    )
    asked.read_string(job.read_text(encoding="utf-8"))
    asked.remove_option("global", "filename")
    asked.set("global", "ioengine", "nbd")
    asked.set("global", "uri", f"nbd+unix:///?socket={socket}")
    asked.remove_section("fill")
    if overwrite is None:
        asked.remove_section("overwrite")
    else:
        asked.set("overwrite", "runtime", f"{overwrite * 1e6:.0f}us")
    rated = [name for name in asked.sections() if asked.has_option(name, "rate_iops")]
    for name in rated[:steps]:
        rates = [int(rate) // (SLOWER * CLONES) for rate in asked.get(name, "rate_iops").split(",")]
        asked.set(name, "rate_iops", ",".join(map(str, rates)))
        asked.set(name, "iodepth", str(asked.getint(name, "iodepth") // CLONES))
        asked.set(name, "numjobs", str(CLONES))
        asked.set(name, "group_reporting")
        asked.set(name, "thread")
        asked.set(name, "ramp_time", f"{STEP_RAMP * 1e6:.0f}us")
        asked.set(name, "runtime", f"{seconds * 1e6:.0f}us")
    for name in rated[len(rated) if steps is None else steps :]:
        asked.remove_section(name)
    return "\n".join(_lines(asked))


def _lines(asked: configparser.RawConfigParser) -> Iterator[str]:
    for name in asked.sections():
        yield f"[{name}]"
        for option, value in asked.items(name):
            yield option if value is None else f"{option}={value}"


def ran(fio: str, job: str, work: Path) -> dict[str, Any]:
    """Return fio's JSON of a job."""
    path, out = work / "cut.fio", work / "fio.json"
    path.write_text(job + "\n", encoding="utf-8")
    # fio leaves a file of its own where it is started.
    subprocess.run([fio, "--output-format=json", f"--output={out}", path], cwd=work, check=True)
    # Messages of threads may stand before it.
    _, brace, rest = out.read_text("utf-8").partition("{")
    found: dict[str, Any] = json.loads(brace + rest)
    return found


def write_table(found: dict[str, Any], offset: float, curve: Path) -> None:
    """Write fio's numbers as a load curve in the drive's time, without the way to it.

    Parameters
    ----------
    offset
        Nanoseconds of the drive's time that a request takes longer than in the drive.
    """
    names = [f"{name}_p{percent}" for name in OPERATIONS for percent in PERCENTILES]
    with curve.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["rate", *(f"{name}s_per_s" for name in OPERATIONS), *names])
        for job in found["jobs"]:
            if "rate_iops" in job["job options"]:
                writer.writerow(_row(job, offset))


def _row(job: dict[str, Any], offset: float) -> list[float]:
    shares = job["job options"]["rate_iops"].split(",")
    offered = sum(int(share) for share in shares) * SLOWER * CLONES
    served = [job[name]["iops"] * SLOWER for name in OPERATIONS]
    told = [job[name]["clat_ns"]["percentile"] for name in OPERATIONS]
    latencies = [
        (own[f"{percent}.000000"] / SLOWER - offset) / 1e3
        for own in told
        for percent in PERCENTILES
    ]
    return [offered, *served, *latencies]


@contextlib.contextmanager
def serving(drive: Path, socket: Path, *options: str) -> Iterator[list[str]]:
    """Serve a drive; lend a list that has what the server says, once it has ended."""
    said: list[str] = []
    command = [sys.executable, "-m", "copyback", "serve", str(drive), "--quiet"]
    process = subprocess.Popen(
        [*command, f"--nbd=unix:{socket}", f"--slower={SLOWER}", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        if not process.stdout.readline().startswith("Serving "):
            sys.exit(process.communicate()[1].strip())
        yield said
        process.send_signal(signal.SIGINT)
        said += process.communicate(timeout=60)[1].splitlines()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
