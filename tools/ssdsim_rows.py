r"""Run SSDsim on geometries and commands that it can do, and store what we measured of it.

    git clone https://github.com/huaicheng/ssdsim && cd ssdsim && git checkout f411289
    sed -i 's/last_write_page>63)/last_write_page>127)/' flash.c pagemap.c   # blocks of 128 pages
    gcc -fcommon -w -O3 -march=x86-64-v3 -DNDEBUG -o ssd \
      ssd.c avlTree.c flash.c initialize.c pagemap.c
    python tools/ssdsim_rows.py SSDSIM_DIRECTORY

Nothing of SSDsim is stored but counts, means and percentiles. Only counts are compared: its
responses end with the transfer of a write, before the program.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mqsim_rows import LARGE, SMALL, Size
from ssdsim_input import PAGE_BYTES, end_quietly, parameters, told
from validation_rows import forget_others, store

from copyback_papers.validation.compare import compare
from copyback_papers.validation.load import Load
from copyback_papers.validation.ours import responses_of
from copyback_papers.validation.ours import run as run_here
from copyback_papers.validation.stored import STORED, Numbers, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

PEER = "SSDsim f411289"
#: Its line for a request: when it comes, sector, sectors, 1 for a read, begin, end and response.
REQUEST = re.compile(rb"^ *(\d+) +\d+ +\d+ +([01]) +\d+ +\d+ +(\d+)\s*$", re.MULTILINE)
WITHIN = 0.05
CAUSE = (
    "SSDsim ends a write's response with its transfer, before the program, and what collections "
    "add hangs on the commands that are allowed; it does not count reads of pages that it moves. "
    "It collects below so many free pages (16.5 blocks of them, or 20.5 on the large drive), "
    "Copyback below so many free blocks (17 or 21)."
)


class Commands(NamedTuple):
    """Advanced commands that are allowed, by its bits, and whether copyback is used greedily."""

    name: str
    bits: int
    is_greedy: bool


PLAIN = Commands("", 0, False)
#: Random programs, copyback, two-plane programs and reads, interleaving.
ALL = Commands(", all commands", 31, False)
GREEDY = Commands(", all commands, copyback greedy", 31, True)


@dataclasses.dataclass(frozen=True)
class Case:
    """A drive of one plane a die, and random writes of a page."""

    channels: int
    chips: int
    size: Size
    requests: int
    commands: Commands = PLAIN

    def planes(self) -> int:
        """Count the planes."""
        return self.channels * self.chips

    def name(self) -> str:
        """Name the row."""
        large = ", large drive" if self.size is LARGE else ""
        return f"SSDsim: random writes{large}{self.commands.name}, {self.geometry()}"

    def geometry(self) -> str:
        """Name the geometry."""
        return f"{self.channels}x{self.chips}x1x1"

    def load(self) -> Load:
        """Return the requests: all pages in order, as many overwrites, and what is measured.

        20 ms a plane between two, on average: behind a busy chip its allocation stands still.
        """
        per_plane = int(self.size.blocks * self.size.pages * (1 - self.size.spare) + 1e-9)
        pages = per_plane * self.planes()
        return Load(
            seed=8,
            pages=pages,
            requests=self.requests,
            gap_ns=20_000_000 // self.planes(),
            reads=0.0,
            fill=pages,
            fill_gap_ns=1_000_000 // self.planes(),
            overwrites=pages,
            overwrite_gap_ns=20_000_000 // self.planes(),
        )


def cases() -> Iterator[Case]:
    """Name every case."""
    for channels, chips in ((1, 1), (2, 1), (2, 2), (4, 1)):
        yield Case(channels, chips, SMALL, 30_000)
    yield Case(1, 1, SMALL, 30_000, ALL)
    yield Case(1, 1, SMALL, 30_000, GREEDY)
    yield Case(2, 2, LARGE, 150_000)


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--to", type=Path, default=STORED, help="the file of rows; as it goes")
    given = parser.parse_args()
    found: dict[str, Row] = {}
    for case in cases():
        if given.only in case.name():
            row = run(given.home.resolve(), case)
            offs = [f"{one.what} {one.off():+.3%}" for one in compare(row, run_here(row)).numbers]
            print(row.name, row.theirs, "; ".join(offs), file=sys.stderr, flush=True)
            if case.commands is not GREEDY:  # it collects at every write then: told, not stored
                found[row.name] = row
                store(found, given.to)
    if not given.only:
        forget_others(PEER, found, given.to)


def run(home: Path, case: Case) -> Row:
    """Run SSDsim on a case."""
    load = case.load()
    return Row(
        name=case.name(),
        feature="one open block a plane",
        geometry=case.geometry(),
        peer=PEER,
        config=config_of(case),
        load=load,
        iodepth=None,
        theirs=of_ssdsim(home, case, load),
        within=WITHIN,
        cause=CAUSE,
        counts_only=True,
        provenance=f"{PEER}, -O3, its page.parameters with tools/ssdsim_input.py's settings, "
        f"requests of seed {load.seed}",
    )


def of_ssdsim(home: Path, case: Case, load: Load) -> Numbers:
    """Run SSDsim twice: up to the measured part, and whole. Counts are the difference."""
    counts, log = started(home, case, load)
    before, _ = started(home, case, dataclasses.replace(load, requests=0))
    measured = (log[:, 0] >= load.begins_ns()) & (log[:, 1] == 0)
    return Numbers(
        reads=None,
        page_reads=None,
        writes=responses_of(log[measured, 2]),
        **{what: counts[what] - before[what] for what in counts},
    )


def started(home: Path, case: Case, load: Load) -> tuple[dict[str, int], Any]:
    """Run SSDsim once. Returns its counts, and of each request begin, 1 for a read, response."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        trace = directory / "load.trace"
        load.write(trace, PAGE_BYTES)
        end_quietly(trace)
        shipped = (home / "page.parameters").read_text("latin-1")
        given = parameters(shipped, chosen(case))
        (directory / "page.parameters").write_text(given, "latin-1")
        # One of its ways to say that all went well is 1.
        ran = subprocess.run(
            [home / "ssd"], cwd=directory, input=b"load.trace\n", capture_output=True, check=False
        )
        if ran.returncode not in {0, 1}:
            raise SystemExit(f"{case.name()}: SSDsim ended with status {ran.returncode}")
        counts = counts_of(told(directory))
        log = REQUEST.findall((directory / "ex.out").read_bytes())
    return counts, np.asarray(log, dtype=np.int64)


def counts_of(statistics: str) -> dict[str, int]:
    """Return the operations that SSDsim counts; reads of pages that it moves are in no count."""
    found = {}
    for what, name in (("page_programs", "program"), ("erases", "erase")):
        match = re.search(rf"(?m)^{name} count: (\d+)", statistics)
        if match is None:
            raise SystemExit(f"SSDsim's statistics name no {name} count")
        found[what] = int(match[1])
    return found


def chosen(case: Case) -> dict[str, float]:
    """Choose its parameters of sizes and commands."""
    threshold = (case.size.threshold + 0.5) / case.size.blocks
    found: dict[str, float] = {
        "channel number": case.channels,
        "chip number": case.planes(),
        "chip number[0]": case.chips,
        "chip number[1]": case.chips if case.channels > 1 else 0,
        "block number": case.size.blocks,
        "page number": case.size.pages,
        "gc threshold": threshold,
        "gc hard threshold": threshold,
        "advanced command": case.commands.bits,
        "greed CB command": int(case.commands.is_greedy),
    }
    return found | {f"chip number[{channel}]": case.chips for channel in range(2, case.channels)}


def config_of(case: Case) -> dict[str, Any]:
    """Return our configuration: one open block a plane, as in SSDsim."""
    size = case.size
    return {
        "ssd": {
            "geometry": {
                "channels": case.channels,
                "chips_per_channel": case.chips,
                "dies_per_chip": 1,
                "planes_per_die": 1,
                "blocks_per_plane": size.blocks,
                "pages_per_block": size.pages,
                "page_size": "8KiB",
            },
            "timing": {
                "read": "75us",
                "program": "750us",
                "erase": "3.8ms",
                "transfer_rate": "333333334B/s",
            },
            "ftl": {
                "allocation": "CWDP",
                "placement": "one_class",
                "over_provisioning": size.spare,
            },
            "gc": {
                "copyback": False,
                "soft_threshold": {"blocks": size.threshold + 1},
                "hard_threshold": {"blocks": math.ceil(size.threshold / 2)},
            },
        },
        "host": {"queue_depth": 65_535},
        "precondition": {"fill": 0.0, "overwrites": 0.0},
    }


if __name__ == "__main__":
    main()
