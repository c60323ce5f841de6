"""Fio reads from a served drive what it wrote there, whatever the drive is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from copyback.data.parquet import read_parquet
from nbd import MAPPINGS, Served, replayed, rows, serving

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="works on Linux only")

RAID = {"array.layout": '"raid5"', "array.stripe": '"16KiB"', "array.devices": "4"}

LINES = {
    "ssd.gc.unit": '"line"',
    "ssd.ftl.allocation": '"dynamic"',
    "ssd.geometry.channels": "4",
    "ssd.geometry.blocks_per_plane": "128",
    "ssd.ftl.over_provisioning": "0.6",
    "ssd.ftl.rain": "true",
}

#: Drives whose way to the data differs: mappings, faults, what is lost, what holds requests up.
DRIVES: dict[str, dict[str, str]] = {
    **MAPPINGS,
    "units of mapping": {"ssd.ftl.mapping_unit": '"1KiB"', "ssd.gc.copyback": "false"},
    "write buffer": {"ssd.buffer.capacity": '"64KiB"'},
    "no protection": {"ssd.power.protection": '"none"', "ssd.buffer.capacity": '"64KiB"'},
    "collections that yield": {
        "ssd.gc.preemption": '"semi_preemptive"',
        "precondition.fill": "1.0",
        "precondition.overwrites": "1.0",
    },
    "failures of programs and erases": {
        "ssd.faults.program_failures": "0.002",
        "ssd.faults.erase_failures": "0.002",
        "ssd.faults.factory_bad_blocks": "0.02",
        "ssd.ftl.over_provisioning": "0.5",
    },
    "read errors": {"ssd.faults.read_errors": "0.05"},
    "a lost die": LINES | {"ssd.faults.lost_die": '{ die = 2, at = "50ms" }'},
    "array": RAID,
    "array with a lost drive": RAID | {"array.failed": "[1]"},
    "array that is rebuilt": RAID
    | {"array.failed": "[1]", "array.rebuild": "{ type = 'rate', rate = '100MB/s' }"},
}


def fio(served: Served, *options: str) -> None:
    """Let fio work on a drive; any mismatch of what it reads fails it."""
    program = shutil.which("fio")
    engines = (
        subprocess.run([program, "--enghelp"], capture_output=True, text=True) if program else None
    )
    if program is None or engines is None or "nbd" not in engines.stdout.split():
        pytest.skip("fio with its engine nbd is not installed here")
    command = [program, "--ioengine=nbd", "--iodepth=32", "--group_reporting"]
    uri = f"--uri=nbd+unix:///?socket={served.socket}"
    done = subprocess.run(
        [*command, uri, "--randseed=5", *options],
        capture_output=True,
        text=True,
        timeout=180,
        # fio leaves a file of its own where it is started.
        cwd=served.socket.parent,
    )
    assert done.returncode == 0, done.stderr


VERIFIED = ("--verify=crc32c", "--verify_fatal=1")


@pytest.mark.parametrize("drive", DRIVES)
def test_fio_reads_what_it_wrote(drive: str, fast: Path, tmp_path: Path) -> None:
    settings, log = DRIVES[drive], tmp_path / "log.parquet"
    sets = [f"--set={key}={value}" for key, value in settings.items()]
    with serving(fast, tmp_path / "drive.sock", "--log", log, *sets) as served:
        small = ("--name=small", "--bs=4k", "--size=2M", *VERIFIED)
        fio(served, *small, "--rw=randwrite", "--loops=2")
        mixed = ("--bsrange=512-16k", "--blockalign=512", "--size=2M", *VERIFIED)
        fio(served, "--name=mixed", "--rw=randrw", *mixed)
        # Each block is trimmed, then written; later all are read.
        fio(served, *small, "--rw=randtrimwrite")
        # What one job trims is not what the other verifies.
        trims = ("--name=trims", "--rw=randtrim", "--bs=4k", "--offset=2M", "--size=1M")
        fio(served, *small, "--rw=randwrite", *trims, "--verify=0")
        served.end()
    assert replayed(fast, log, settings) == rows(read_parquet(log))
