"""Run MQSim on every geometry and feature that it can do, and store what we measured of it.

    git clone https://github.com/CMU-SAFARI/MQSim && cd MQSim && git checkout 7ec40e3
    # In src/host/IO_Flow_Base.cpp, NVMe_consume_io_request, behind `request_delay`, a line that
    # writes to responses.log: arrival, now, 1 for a read. In src/ssd/Host_Interface_NVMe.cpp,
    # Handle_serviced_request, one that writes to device.log: STAT_InitiationTime, now, the same.
    make CC_FLAGS="-std=c++11 -O3 -march=x86-64-v3 -DNDEBUG"
    python tools/mqsim_rows.py MQSIM_DIRECTORY

Nothing of MQSim is stored but counts, means and percentiles. The second model with time runs each
row too, with MQSim's rule of mapping when a write comes: what that rule predicts of its numbers.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from time_model.device import Device, Mapped, Yields
from time_model.host import Setup
from validation_rows import numbers, write

from copyback.validation.compare import compare
from copyback.validation.load import Load
from copyback.validation.ours import responses_of
from copyback.validation.ours import run as run_here
from copyback.validation.stored import STORED, Numbers, Row, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMIT = "7ec40e3"
PEER = f"MQSim {COMMIT}"
PAGE_BYTES = 8192
#: Free blocks of a plane that are kept for collections.
KEPT = 10
#: Of MQSim's configuration, what is another than as shipped, but for the size.
SETTINGS = {
    "Ideal_Mapping_Table": "true",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
    "CMD_Suspension_Support": "NONE",
    "GC_Block_Selection_Policy": "GREEDY",
    "Overprovisioning_Ratio": "0.02",
    "Block_PE_Cycles_Limit": "1000000",
}
FLOW = {
    "Priority_Class": "HIGH",
    "Initial_Occupancy_Percentage": "0",
    "Percentage_To_Be_Executed": "100",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
    "File_Path": "load.trace",
}
#: Share of reads and mean time between requests of a die.
LOADS = {"random writes": (0.0, 6_000_000), "50% reads": (0.5, 3_200_000)}
RULES = "MQSim maps a write when it comes, Copyback when a die takes it (decision 1)"
CAUSES = {
    "mapping and queues": f"{RULES}: its collections overtake the writes that wait.",
    "several planes": f"{RULES}, and joins pages of planes from the whole queue, also of the host "
    "with those that are moved; ours joins the first of each plane's queue.",
    "dies of a chip": f"{RULES}; and its dies of a chip do one thing at a time.",
    "preemption": f"{RULES}, and up to ten collections of a plane go on at once; a page that is "
    "being moved takes no request meanwhile, and such requests never end.",
    "closed loop": f"{RULES}; requests that never end hold their places, so that fewer and fewer "
    "are under way.",
    "large drive": f"{RULES}; wear is levelled by the numbers of blocks; where the queue is "
    "bounded, requests that never end hold their places in it.",
    "cache": "MQSim's buffer lets one page of each plane be on its way to flash, as ours does "
    "here, and its DRAM serves one page at a time. What came within the last second, at most, "
    "rests there; a page that is lost on its way keeps its place.",
}
#: Bounds are what was measured, up to the next twentieth.
STEPS = 20
#: Features that need no name: the geometry tells.
NAMELESS = ("mapping and queues", "several planes", "dies of a chip")
#: What MQSim's DRAM takes for a page, as it is shipped; ns.
DRAM = 40_986
#: What its link takes for a page; of a closed loop that is left out.
LINK = 2_545


class Size(NamedTuple):
    """Blocks of a plane, pages of a block, what the host does not see, and thresholds.

    Attributes
    ----------
    threshold
        Free blocks of a plane below which MQSim collects. Ours counts the block opened next.
    urgent
        Free blocks of a plane below which a collection is not preempted any more.
    """

    blocks: int
    pages: int
    spare: float
    threshold: int
    urgent: int


class Rate(NamedTuple):
    """A load of the large drive: share of reads, ns between requests, and how many."""

    reads: float
    gap: int
    requests: int
    queue: int = 65_535


#: Planes of fewer than 100 blocks, so that MQSim's static wear levelling has nothing to do.
SMALL = Size(96, 32, 0.35, 16, 12)
#: So large blocks that nothing is collected.
UNCOLLECTED = SMALL._replace(pages=256)
#: The device of docs/validation.md.
LARGE = Size(512, 128, 0.2, 20, 1)
RATES = {
    "random writes, 1,250 a second": Rate(0.0, 800_000, 100_000),
    "50% reads, 2,353 a second": Rate(0.5, 425_000, 150_000),
    "95% reads, 12,500 a second, queue of 512": Rate(0.95, 80_000, 300_000, 512),
}


class Ran(NamedTuple):
    """What a run of MQSim gave: its counts, and of each request begin, end and 1 for a read."""

    counts: dict[str, int]
    log: Any


@dataclasses.dataclass(frozen=True)
class Case:
    """A geometry, a feature and a load."""

    feature: str
    geometry: tuple[int, int, int, int]
    name: str
    depth: int | None = None
    size: Size = SMALL
    is_cached: bool = False
    is_preempted: bool = False

    def device(self) -> Device:
        """Return the drive as the time model knows it: MQSim's times."""
        channels, chips, dies, planes = self.geometry
        return Device(
            channels=channels,
            chips=chips,
            dies=dies,
            planes=planes,
            blocks=self.size.blocks,
            pages=self.size.pages,
            read=75_020,
            program=750_071,
            erase=3_800_220,
            command=290,
            page_transfer=24_576,
            data_first=True,
            overhead=0 if self.depth is not None else LINK,
            spare=self.size.spare,
            soft=self.size.threshold,
            hard=self.size.urgent,
            yields=Yields.BETWEEN_OPERATIONS if self.is_preempted else Yields.NEVER,
            cache_pages=self.buffered(),
            cache_latency=DRAM if self.is_cached else 0,
            high=1 / max(1, self.buffered()),
            low=0.0,
            mapped=Mapped.AT_ARRIVAL,
        )

    def buffered(self) -> int:
        """Count the pages of the write buffer that may be on their way to flash."""
        return math.prod(self.geometry) if self.is_cached else 0

    def queue(self) -> int:
        """Return how many requests the drive takes at once."""
        rate = RATES.get(self.name)
        return 65_535 if rate is None else rate.queue

    def load(self) -> Load:
        """Return the requests: all pages in order, as many overwrites, and what is measured."""
        device = self.device()
        pages, dies = device.logical_pages(), device.all_dies()
        plain = Load(seed=8, pages=pages, requests=30_000, gap_ns=0, reads=0.0, fill=pages)
        if self.depth is not None:
            return dataclasses.replace(plain, reads=1.0 if self.name == "reads" else 0.0)
        if self.name == "sequential":
            return dataclasses.replace(
                plain,
                requests=15_000,
                reads=0.3,
                sequential=1.0,
                gap_ns=1_000_000 // dies,
                fill_gap_ns=1_000_000 // dies,
            )
        reads, gap = LOADS.get(self.name, (0.0, 0))
        dies //= self.geometry[2]  # of a chip: they take turns
        rate = RATES.get(self.name) or Rate(reads, gap // dies, plain.requests)
        return dataclasses.replace(
            plain,
            requests=rate.requests,
            reads=rate.reads,
            gap_ns=rate.gap,
            fill_gap_ns=1_000_000 // dies,
            overwrites=pages,
            overwrite_gap_ns=8_000_000 // dies,
        )

    def setup(self) -> Setup:
        """Return what the time model simulates."""
        ramp = 0 if self.depth is not None else self.load().begins_ns()
        return Setup(self.device(), iodepth=self.depth, filled=False, queue=self.queue(), ramp=ramp)


def cases() -> Iterator[Case]:
    """Name every case."""
    for geometry in ((1, 1, 1, 1), (2, 1, 1, 1), (2, 2, 1, 1), (4, 1, 1, 1)):
        for name in LOADS:
            yield Case("mapping and queues", geometry, name)
    for geometry in ((1, 1, 1, 2), (2, 1, 1, 2), (2, 2, 1, 2)):
        for name in LOADS:
            yield Case("several planes", geometry, name)
    for geometry in ((1, 1, 2, 1), (2, 1, 2, 2)):
        yield Case("dies of a chip", geometry, "50% reads")
    for geometry in ((1, 1, 1, 1), (2, 2, 1, 1), (2, 1, 1, 2)):
        yield Case("preemption", geometry, "50% reads", is_preempted=True)
    for geometry in ((2, 2, 1, 1), (1, 1, 1, 2)):
        yield Case("closed loop", geometry, "reads", depth=16)
        yield Case("closed loop", geometry, "random writes", depth=256)
    for geometry in ((2, 2, 1, 1), (2, 1, 1, 2)):
        yield Case("cache", geometry, "sequential", size=UNCOLLECTED, is_cached=True)
    # On 2x2x1x1 the rules are off by 28% of the mean of writes: how many of four places in the
    # buffer are lost makes most of it. docs/validation.md has the figures.
    yield Case("cache", (2, 1, 1, 2), "50% reads", is_cached=True)
    for name in RATES:
        yield Case("large drive", (2, 2, 1, 1), name, size=LARGE)


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--to", type=Path, default=STORED, help="the file of rows; as it goes")
    given = parser.parse_args()
    wanted = [case for case in cases() if given.only in name_of(case)]
    found: dict[str, Row] = {}
    with ProcessPoolExecutor(2) as pool:
        for row in pool.map(partial(run, given.home.resolve()), wanted):
            if row is not None:
                found[row.name] = row
                report(row)
                store(found, given.to)
    if not given.only:
        kept = [row for row in rows(given.to) if row.peer != PEER or row.name in found]
        write(kept, given.to)


def report(row: Row) -> None:
    """Tell how far off what the cause predicts is, and ours."""
    assert row.explained is not None
    for whose, numbers_ in (("cause", row.explained), ("ours", run_here(row))):
        offs = [f"{one.what} {one.off():+.3%}" for one in compare(row, numbers_).numbers]
        print(row.name, whose, "; ".join(offs), file=sys.stderr, flush=True)


def store(found: dict[str, Row], path: Path) -> None:
    """Store rows in place of those of the same names."""
    kept = [row for row in rows(path) if row.name not in found]
    write([*found.values(), *kept], path)


def name_of(case: Case) -> str:
    """Name a row."""
    depth = "" if case.depth is None else f" of {case.depth}"
    feature = "" if case.feature in NAMELESS else f"{case.feature}{depth}, "
    return f"MQSim: {feature}{case.name}, {shape(case)}"


def shape(case: Case) -> str:
    """Name a geometry."""
    return "x".join(str(count) for count in case.geometry)


def run(home: Path, case: Case) -> Row | None:
    """Run MQSim and the time model on a case. None: MQSim does not get through it."""
    load = case.load()
    theirs = of_mqsim(home, case, load)
    if theirs is None:
        print(f"{name_of(case)}: MQSim does not end", file=sys.stderr, flush=True)
        return None
    row = Row(
        name=name_of(case),
        feature=case.feature,
        geometry=shape(case),
        peer=PEER,
        config=config_of(case),
        load=load,
        iodepth=case.depth,
        theirs=theirs,
        within=0.05,
        cause=CAUSES[case.feature],
        explained=numbers(case.setup(), load),
        provenance=f"{PEER}, -O3, its ssdconfig.xml with tools/mqsim_rows.py's settings, "
        f"requests of seed {load.seed}",
    )
    return bounded(row)


def bounded(row: Row) -> Row:
    """Return a row with a bound that it keeps today: how far ours is off, rounded up."""
    off = abs(compare(row, run_here(row)).worst().off())
    return msgspec.structs.replace(row, within=math.ceil(off * STEPS) / STEPS)


def of_mqsim(home: Path, case: Case, load: Load) -> Numbers | None:
    """Run MQSim twice: up to the measured part, and whole. Counts are the difference."""
    whole = started(home, case, load)
    if whole is None:
        return None
    counts = Counter(whole.counts)
    if load.begins_ns() and case.depth is None:
        before = started(home, case, dataclasses.replace(load, requests=1))
        if before is None:
            return None
        counts.subtract(before.counts)
    since = 0 if case.depth is not None else load.begins_ns()
    measured = whole.log[whole.log[:, 0] >= since]
    taken = measured[:, 1] - measured[:, 0]
    reads = measured[:, 2] == 1
    return Numbers(responses_of(taken[reads]), responses_of(taken[~reads]), **counts)


def started(home: Path, case: Case, load: Load) -> Ran | None:
    """Run MQSim once. None if it fails or never ends."""
    channels, chips, dies, planes = case.geometry
    with TemporaryDirectory() as name:
        directory = Path(name)
        load.write(directory / "load.trace", PAGE_BYTES)
        text = (home / "ssdconfig.xml").read_text()
        sizes = {
            "Flash_Channel_Count": channels,
            "Chip_No_Per_Channel": chips,
            "Die_No_Per_Chip": dies,
            "Plane_No_Per_Die": planes,
        }
        chosen = {
            "Block_No_Per_Plane": case.size.blocks,
            "Page_No_Per_Block": case.size.pages,
            "GC_Exec_Threshold": (case.size.threshold + 0.5) / case.size.blocks,
            "GC_Hard_Threshold": (case.size.urgent + 0.5) / case.size.blocks,
            "Preemptible_GC_Enabled": str(case.is_preempted).lower(),
            "Queue_Fetch_Size": case.depth or case.queue(),
        }
        for key, value in {**SETTINGS, **sizes, **chosen}.items():
            text, count = re.subn(f"<{key}>[^<]*</{key}>", f"<{key}>{value}</{key}>", text)
            if count != 1:
                raise SystemExit(f"ssdconfig.xml: {key} is there {count} times; expected: once")
        (directory / "ssd.xml").write_text(text)
        ids = {
            key: ",".join(map(str, range(count)))
            for key, count in (
                ("Channel_IDs", channels),
                ("Chip_IDs", chips),
                ("Die_IDs", dies),
                ("Plane_IDs", planes),
            )
        }
        caching = "WRITE_CACHE" if case.is_cached else "TURNED_OFF"
        flow = {**FLOW, "Device_Level_Data_Caching_Mode": caching, **ids}
        values = "".join(f"<{key}>{value}</{key}>\n" for key, value in flow.items())
        of = "IO_Flow_Parameter_Set_Trace_Based"
        (directory / "workload.xml").write_text(
            f"<MQSim_IO_Scenarios>\n<IO_Scenario>\n<{of}>\n{values}</{of}>\n</IO_Scenario>\n"
            "</MQSim_IO_Scenarios>\n"
        )
        try:
            ran = subprocess.run(
                [home / "MQSim", "-i", "ssd.xml", "-w", "workload.xml"],
                cwd=directory,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=900,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        result = directory / "workload_scenario_1.xml"
        if ran.returncode != 0 or not result.exists():
            return None
        name = "responses.log" if case.depth is None else "device.log"
        log = np.loadtxt(directory / name, dtype=np.int64, ndmin=2)
        return Ran(counts_of(result.read_text()), log)


def counts_of(xml: str) -> dict[str, int]:
    """Return the page operations that MQSim counts; a command of two planes is two."""
    found = {}
    for name, what in (("page_reads", "Read"), ("page_programs", "Program"), ("erases", "Erase")):
        found[name] = 0
        for kind, pages in (("", 1), ("Multiplane_", 2)):
            match = re.search(f'Issued_Flash_{kind}{what}_CMD="(\\d+)"', xml)
            if match is None:
                raise SystemExit(f"MQSim's result names no Issued_Flash_{kind}{what}_CMD")
            found[name] += pages * int(match[1])
    return found


def config_of(case: Case) -> dict[str, Any]:
    """Return our configuration: that of docs/validation.md, but for the geometry."""
    channels, chips, dies, planes = case.geometry
    gc: dict[str, Any] = {
        "copyback": False,
        "soft_threshold": {"blocks": case.size.threshold + 1},
        "hard_threshold": {"blocks": KEPT},
    }
    if case.is_preempted:
        gc["preemption"] = {"type": "semi_preemptive", "poll": "0ns"}
    return {
        "ssd": {
            "geometry": {
                "channels": channels,
                "chips_per_channel": chips,
                "dies_per_chip": dies,
                "planes_per_die": planes,
                "blocks_per_plane": case.size.blocks,
                "pages_per_block": case.size.pages,
                "page_size": "8KiB",
            },
            "timing": {
                "command": "290ns",
                "read": "75.020us",
                "program": "750.071us",
                "erase": "3.80022ms",
                "transfer_rate": "333333334B/s",
                "bus_arbitration": "data_first",
            },
            "ftl": {"allocation": "CWDP", "over_provisioning": case.size.spare},
            "gc": gc,
            **buffer_of(case),
        },
        "host": {
            "link_rate": "3282051283B/s",
            "command_overhead": "60ns",
            "queue_depth": case.queue(),
        },
        "precondition": {"fill": 0.0, "overwrites": 0.0},
    }


def buffer_of(case: Case) -> dict[str, Any]:
    """Return our write buffer: pages leave at once, one of each plane."""
    pages = case.buffered()
    if not pages:
        return {}
    return {
        "buffer": {
            "capacity": f"{PAGE_BYTES * pages // 1024}KiB",
            "latency": f"{DRAM}ns",
            "high_watermark": 1 / pages,
            "low_watermark": 0.0,
            "eviction": "fifo",
        }
    }


if __name__ == "__main__":
    main()
