"""Run MQSim on every geometry and feature that it can do, and store what we measured of it.

    git clone https://github.com/CMU-SAFARI/MQSim && git -C MQSim checkout 7ec40e3
    python tools/mqsim_copies.py MQSim COPIES       # builds it, and copies without one of its rules
    python tools/mqsim_rows.py COPIES

Nothing of MQSim is stored but counts, means and percentiles. The second model with time runs each
row twice: with MQSim's rules, and with ours. The first says whether these rules give its numbers;
from the two together follows by how much ours should differ from MQSim's, and that is the bound.
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
from mqsim_copies import Copy
from time_model.device import Device, Link, Mapped, Yields
from time_model.host import Setup
from validation_rows import forget_others, numbers, store

from copyback_papers.validation.compare import COUNTS, compare
from copyback_papers.validation.load import Load
from copyback_papers.validation.ours import responses_of
from copyback_papers.validation.ours import run as run_here
from copyback_papers.validation.stored import STORED, Numbers, Row

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
    "here, and its DRAM serves one page at a time.",
}
#: What of its buffer there is to say besides: where pages rest, are collected, and are lost.
RESTS = "What came within the last second, at most, rests there."
COLLECTED = f"{RULES}, and up to ten collections of a plane go on at once."
LOST = "A page that is lost on its way keeps its place for good."
#: What is said of a copy in the name of a row.
NAMES = {
    Copy.AS_SHIPPED: "",
    Copy.KEEPS: ", nothing lost",
    Copy.LEAVES: ", nothing lost or resting",
    Copy.IN_ORDER: ", in order",
}
#: How far ours may be from what the cause predicts, and that of MQSim from MQSim.
WITHIN = 0.002
#: Features that need no name: the geometry tells.
NAMELESS = ("mapping and queues", "several planes", "dies of a chip")
#: What MQSim's DRAM takes for a page, as it is shipped; ns.
DRAM = 40_986
#: What our link takes: an overhead of each command, and a page.
OUR_LINK = Link(60, 60 + 2_496, 2_496, 0)


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
    copy: Copy = Copy.AS_SHIPPED

    def device(self) -> Device:
        """Return the drive as the time model knows it with MQSim's rules and times."""
        return dataclasses.replace(
            self.our_device(),
            program=750_000,
            erase=3_800_000,
            soft=self.size.threshold,
            hard=self.size.urgent,
            mapped=Mapped.AT_ARRIVAL,
            loses=self.copy in (Copy.AS_SHIPPED, Copy.IN_ORDER),
            rests=self.copy is not Copy.LEAVES,
        )

    def our_device(self) -> Device:
        """Return the drive as the time model knows it with our rules: as `config_of` says."""
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
            link=OUR_LINK,
            spare=self.size.spare,
            soft=self.size.threshold + 1,
            hard=KEPT,
            yields=Yields.BETWEEN_OPERATIONS if self.is_preempted else Yields.NEVER,
            cache_pages=self.buffered(),
            cache_latency=DRAM if self.is_cached else 0,
            high=1 / max(1, self.buffered()),
            low=0.0,
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

    def setup(self, device: Device) -> Setup:
        """Return what the time model simulates."""
        ramp = 0 if self.depth is not None else self.load().begins_ns()
        return Setup(device, iodepth=self.depth, filled=False, queue=self.queue(), ramp=ramp)


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
    yield Case("closed loop", (2, 2, 1, 1), "random writes", depth=256)
    # Here writes wait for room in a plane, so that as shipped its numbers hang on the allocator.
    yield Case("closed loop", (1, 1, 1, 2), "random writes", depth=256, copy=Copy.IN_ORDER)
    for geometry in ((2, 2, 1, 1), (2, 1, 1, 2)):
        yield Case("cache", geometry, "sequential", size=UNCOLLECTED, is_cached=True)
        for copy in (Copy.AS_SHIPPED, Copy.KEEPS, Copy.LEAVES):
            yield Case("cache", geometry, "50% reads", is_cached=True, copy=copy)
    for name in RATES:
        yield Case("large drive", (2, 2, 1, 1), name, size=LARGE)


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("copies", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--to", type=Path, default=STORED, help="the file of rows; as it goes")
    given = parser.parse_args()
    wanted = [case for case in cases() if given.only in name_of(case)]
    found: dict[str, Row] = {}
    with ProcessPoolExecutor(2) as pool:
        for row in pool.map(partial(run, given.copies.resolve()), wanted):
            if row is not None:
                found[row.name] = row
                report(row)
                store(found, given.to)
    if not given.only:
        forget_others(PEER, found, given.to)


def report(row: Row) -> None:
    """Tell how far MQSim's rules are from MQSim, and ours from theirs and from the prediction."""
    offs = [
        f"{one.what} {one.explained_off():+.3%} {one.off():+.3%} {one.beside_prediction():+.3%}"
        for one in compare(row, run_here(row)).numbers
    ]
    print(row.name, "; ".join(offs), file=sys.stderr, flush=True)


def name_of(case: Case) -> str:
    """Name a row."""
    depth = "" if case.depth is None else f" of {case.depth}"
    feature = "" if case.feature in NAMELESS else f"{case.feature}{depth}, "
    return f"MQSim: {feature}{case.name}{NAMES[case.copy]}, {shape(case)}"


def shape(case: Case) -> str:
    """Name a geometry."""
    return "x".join(str(count) for count in case.geometry)


def run(copies: Path, case: Case) -> Row | None:
    """Run MQSim and the time model on a case. None: MQSim does not get through it."""
    load = case.load()
    theirs = of_mqsim(copies / case.copy.value, case, load)
    if theirs is None:
        print(f"{name_of(case)}: MQSim does not end", file=sys.stderr, flush=True)
        return None
    return Row(
        name=name_of(case),
        feature=case.feature,
        geometry=shape(case),
        peer=PEER if case.copy is Copy.AS_SHIPPED else f"{PEER} (altered)",
        config=config_of(case),
        load=load,
        iodepth=case.depth,
        theirs=theirs,
        within=WITHIN,
        cause=cause_of(case),
        explained=by_their_rules(case, load),
        without=numbers(case.setup(case.our_device()), load),
        provenance=f"{PEER}, copy `{case.copy.value}` of tools/mqsim_copies.py, its ssdconfig.xml "
        f"with tools/mqsim_rows.py's settings, requests of seed {load.seed}; predicted by "
        "tools/time_model, with its rules and with ours",
    )


def cause_of(case: Case) -> str:
    """Say what MQSim, or the copy, does otherwise than we do."""
    parts = [CAUSES[case.feature]]
    if case.is_cached:
        device, is_collected = case.device(), case.size is not UNCOLLECTED
        parts += [RESTS] if device.rests else []
        parts += [COLLECTED] if is_collected else []
        parts += [LOST] if is_collected and device.loses else []
    return " ".join(parts)


def by_their_rules(case: Case, load: Load) -> Numbers:
    """Run the time model with MQSim's rules.

    Counts are the difference that `of_mqsim` takes, where writes may wait as the measured part
    begins. Without a buffer they do not: only its first request is counted besides.
    """
    setup = case.setup(case.device())
    whole = numbers(setup, load)
    if not load.begins_ns() or not case.is_cached:
        return whole
    before = numbers(setup, dataclasses.replace(load, requests=1))
    counts = {what: getattr(whole, what) - getattr(before, what) for what in COUNTS}
    return msgspec.structs.replace(whole, **counts)


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
        if not (directory / name).exists():
            raise SystemExit(f"{home}: wrote no {name}; expected: what mqsim_copies.py has built")
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
