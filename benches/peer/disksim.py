"""DiskSim 4.0 with the MSR SSD add-on: its own `ssd-rw5m`, and 1 GiB under heavier collection.

    git clone https://github.com/xinglin/SSDSim && cd SSDSim && git checkout 134b8e2
    sed -i 's/-DASSERTS.*//' src/Makefile ssdmodel/Makefile memsmodel/Makefile
    make CC="gcc -m32 -std=gnu89 -w -MD -fcommon -O3 -march=x86-64-v3 -mfpmath=sse"

It wants a 32-bit compiler, bison and flex. Its own assertions are compiled out; -DNDEBUG would take
out what it does inside of libc's, too, so that it ends in a segmentation fault. The build called
-O2 keeps the assertions, as shipped: make CC="gcc -m32 -std=gnu89 -w -MD -fcommon -O2".
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from peer.mqsim import number
from peer.process import Did, Took, run

if TYPE_CHECKING:
    from pathlib import Path

OWN, SMALL = "its own rw5m: 5 million random writes, 32 GiB", "1 GiB, random writes"
#: Pages that rw5m's requests go to, as its generator reckons; the seeds of its two streams.
RW5M_PAGES, RW5M_REQUESTS, FIRST_SEED, SECOND_SEED = 877_363, 5_000_000, 42, 1_000_003
SECTORS_A_PAGE = 8
#: 55 of 64 blocks are exported of each of 64 planes, and 63 pages of each.
SMALL_PAGES, SMALL_REQUESTS = 64 * 55 * 63, 1_000_000
SMALL_DRIVE = """
ssd.geometry.blocks_per_plane = 64
ssd.ftl.over_provisioning = 0.15405
ssd.gc.soft_threshold = { blocks = 4 }
"""
#: As many trace lines as requests: Copyback reads what DiskSim draws.
DRIVE = """preset = "disksim-msr"
[workload]
type = "trace"
path = "load.trace"
format = "disksim"
"""


class DiskSim:
    """The simulator, and what it is given."""

    name = "DiskSim"
    loads = (OWN, SMALL)

    def prepare(self, load: str, home: Path, directory: Path) -> int:
        """Write what both programs read; of its own load DiskSim draws the requests itself."""
        valid = home / "ssdmodel" / "valid"
        (directory / "statdefs").write_text((valid / "statdefs").read_text())
        settings = (valid / "ssd-rw5m.parv").read_text()
        if load == OWN:
            (directory / "arguments").write_text("0 1")
            requests, drive = write_rw5m(directory / "load.trace"), DRIVE
        else:
            (directory / "arguments").write_text("load.trace 0")
            requests, drive = write_small(directory / "load.trace"), SMALL_DRIVE + DRIVE
            settings = changed(settings, {"Blocks per plane": 64, "Blocks per element": 512})
        (directory / "settings.parv").write_text(settings)
        (directory / "drive.toml").write_text(in_order(drive))
        return requests

    def run(self, home: Path, directory: Path) -> Took:
        """Run DiskSim."""
        arguments = (directory / "arguments").read_text().split()
        program = home / "src" / "disksim"
        cpu, _ = run([program, "settings.parv", "result", "ascii", *arguments], directory)
        told = (directory / "result").read_text("latin-1")
        written, moved, erased = (
            total(told, what) for what in ("Total reqs issued", "Pages moved", "Number of cleans")
        )
        completed = number("Overall I/O System Total Requests handled:\t", told)
        return Took(cpu, Did(completed, written + moved, erased))


def in_order(drive: str) -> str:
    """Put the preset first, and the tables last."""
    preset, rest = DRIVE.split("\n", 1)
    return f"{preset}\n{drive.replace(DRIVE, '')}{rest}"


def changed(settings: str, values: dict[str, int]) -> str:
    """Change its settings."""
    for key, value in values.items():
        settings, count = re.subn(rf"(?m)^( *{key} = )\d+", rf"\g<1>{value}", settings)
        if count != 1:
            raise SystemExit(f"ssd-rw5m.parv: {key} is there {count} times; expected: once")
    return settings


def total(told: str, what: str) -> int:
    """Add up what its elements say of themselves."""
    return sum(int(found) for found in re.findall(rf"elem #\d+ +{what}:\t(\d+)", told))


def write_small(path: Path) -> int:
    """Write requests for one page of all that are exported, at intervals uniform below 1 ms."""
    random = np.random.default_rng(9)
    arrivals = np.cumsum(random.random(SMALL_REQUESTS))
    sectors = SECTORS_A_PAGE * random.integers(0, SMALL_PAGES, SMALL_REQUESTS)
    with path.open("w") as file:
        for at, sector in zip(arrivals, sectors, strict=True):
            file.write(f"{at:.6f} 0 {sector} {SECTORS_A_PAGE} 0\n")
    return SMALL_REQUESTS


def write_rw5m(path: Path) -> int:
    """Write the requests that DiskSim's generator draws, but for the last, which it never serves.

    crates/copyback/tests/disksim/generator.rs has the same, and is held to a dump of DiskSim's own.
    """
    random = Drand48(FIRST_SEED)
    at = 0.0
    with path.open("w") as file:
        for index in range(RW5M_REQUESTS - 1):
            if index > 0:
                random.draw()
            at += random.draw()
            random.draw()
            page, pages = place(random)
            random.draw()
            random.draw()
            if index == 0:
                random = Drand48(SECOND_SEED)
            file.write(f"{at:.6f} 0 {page * SECTORS_A_PAGE} {pages * SECTORS_A_PAGE} 0\n")
    return RW5M_REQUESTS - 1


class Drand48:
    """The linear congruential generator of POSIX `drand48`."""

    def __init__(self, seed: int) -> None:
        self.state = (seed << 16) + 0x330E

    def draw(self) -> float:
        """Draw from [0, 1)."""
        self.state = (0x5DEECE66D * self.state + 0xB) & ((1 << 48) - 1)
        return self.state / (1 << 48)


def place(random: Drand48) -> tuple[int, int]:
    """Draw until a request lies within the pages."""
    while True:
        page = int(random.draw() * RW5M_PAGES)
        sectors = int(-8.0 * math.log(1.0 - random.draw()))
        pages = -(-sectors // SECTORS_A_PAGE)
        if pages >= 1 and page + pages < RW5M_PAGES:
            return page, pages
