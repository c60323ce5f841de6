"""MQSim: the device and the settings of docs/validation.md, prepared by requests.

    git clone https://github.com/CMU-SAFARI/MQSim && cd MQSim && git checkout 7ec40e3
    make CC_FLAGS="-std=c++11 -O3 -march=x86-64-v3 -DNDEBUG"     # as shipped: make

It completes some requests never: those for a page that a collection is moving. Each holds a place
in its queue for good, so that a closed loop, and a queue that is always full, run dry. Bursts do
not: the next begins when the one before has ended, and the queue is longer than what is lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from peer.process import Did, Took, run

DRIVE = Path(__file__).with_name("mqsim.toml")
SECTORS_A_PAGE = 16
CHIPS, BLOCKS, PAGES = 4, 512, 128
OVER_PROVISIONING = 0.2
#: Places in the queue when requests are to wait for none.
ENOUGH = 65_535
#: Of MQSim's own configuration, what is another than as shipped.
SETTINGS = {
    "Ideal_Mapping_Table": "true",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
    "CMD_Suspension_Support": "NONE",
    "Dynamic_Wearleveling_Enabled": "false",
    "Static_Wearleveling_Enabled": "false",
    "GC_Block_Selection_Policy": "GREEDY",
    "GC_Exec_Threshold": "0.04",
    "Overprovisioning_Ratio": "0.02",
    "Block_PE_Cycles_Limit": "1000000",
    "Flash_Channel_Count": "2",
    "Chip_No_Per_Channel": "2",
    "Die_No_Per_Chip": "1",
    "Plane_No_Per_Die": "1",
    "Block_No_Per_Plane": str(BLOCKS),
    "Page_No_Per_Block": str(PAGES),
}
#: Everywhere on the device, which has not been written to; no cache.
FLOW = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Channel_IDs": "0,1",
    "Chip_IDs": "0,1",
    "Die_IDs": "0",
    "Plane_IDs": "0",
    "Initial_Occupancy_Percentage": "0",
    "Percentage_To_Be_Executed": "100",
    "Relay_Count": "1",
    "Time_Unit": "NANOSECOND",
    "File_Path": "load.trace",
}


@dataclass(frozen=True)
class Load:
    """What is measured: requests for one page, uniform over all of them.

    Attributes
    ----------
    gap_ns
        Between arrivals, on average.
    burst
        Requests that arrive at once; with one, arrivals are Poisson's.
    queue
        Requests that the device takes at once.
    """

    requests: int
    gap_ns: int
    reads: float
    queue: int
    burst: int = 1

    def arrivals(self, random: np.random.Generator) -> np.ndarray:
        """Draw when the requests arrive."""
        if self.burst > 1:
            return np.arange(self.requests) // self.burst * (self.gap_ns * self.burst)
        return np.cumsum(random.exponential(self.gap_ns, self.requests)).astype(np.int64)


LOADS = {
    "random writes, saturated, a queue of 1,024": Load(500_000, 100_000, 0.0, 1_024),
    "random writes in bursts of 1,024": Load(3_000_000, 1_000_000, 0.0, ENOUGH, burst=1_024),
    "random writes in bursts of 64": Load(3_000_000, 1_000_000, 0.0, ENOUGH, burst=64),
    "95% reads, 5,000 a second": Load(300_000, 200_000, 0.95, 1_024),
}


class MQSim:
    """The simulator, and what it is given."""

    name = "MQSim"
    loads = tuple(LOADS)

    def prepare(self, load: str, home: Path, directory: Path) -> int:
        """Write what both programs read."""
        shipped = (home / "ssdconfig.xml").read_text()
        (directory / "ssd.xml").write_text(device(shipped, LOADS[load]))
        (directory / "workload.xml").write_text(workload())
        return prepare_own(LOADS[load], DRIVE.read_text(), directory)

    def run(self, home: Path, directory: Path) -> Took:
        """Run MQSim, which waits for a key at its end, and finds no input."""
        cpu, text = run([home / "MQSim", "-i", "ssd.xml", "-w", "workload.xml"], directory)
        result = (directory / "workload_scenario_1.xml").read_text()
        flash = [f"Issued_Flash_{operation}_CMD" for operation in ("Program", "Erase")]
        programs, erases = (number(f'{name}="', result) for name in flash)
        return Took(cpu, Did(number("total requests serviced:", text), programs, erases))


def number(before: str, text: str) -> int:
    """Read the number that stands behind something."""
    found = re.search(f"{re.escape(before)}(\\d+)", text)
    if found is None:
        raise SystemExit(f"no {before!r} in what was printed")
    return int(found[1])


def prepare_own(load: Load, drive: str, directory: Path) -> int:
    """Write the requests and our drive. Returns how many requests there are."""
    write_trace(load, directory / "load.trace")
    drive = drive.replace(f"queue_depth = {ENOUGH}", f"queue_depth = {load.queue}")
    (directory / "drive.toml").write_text(drive)
    return load.requests + 2 * pages()


def pages() -> int:
    """Count the logical pages."""
    return CHIPS * int(BLOCKS * PAGES * (1 - OVER_PROVISIONING))


def write_trace(load: Load, path: Path) -> None:
    """Write the requests as MQSim reads them, a line each: those of docs/validation.md.

    All pages in order, as many at random, a second of quiet, and those that are measured.
    """
    every = np.arange(pages())
    fill = 250_000 * every
    used = fill[-1] + 2_000_000 * (1 + every)
    used_lpns = np.random.default_rng(8).integers(0, pages(), pages())
    random = np.random.default_rng(9)
    arrivals = np.concatenate([fill, used, used[-1] + 10**9 + load.arrivals(random)])
    lpns = np.concatenate([every, used_lpns, random.integers(0, pages(), load.requests)])
    reads = np.zeros(arrivals.size, int)
    reads[2 * pages() :] = random.random(load.requests) < load.reads
    sectors = np.full(arrivals.size, SECTORS_A_PAGE)
    columns = [arrivals, 0 * lpns, lpns * SECTORS_A_PAGE, sectors, reads]
    np.savetxt(path, np.column_stack(columns), fmt="%d")


def device(shipped: str, load: Load) -> str:
    """Change MQSim's device."""
    queues = {"IO_Queue_Depth": load.queue, "Queue_Fetch_Size": load.queue}
    for key, value in {**SETTINGS, **queues}.items():
        shipped, count = re.subn(f"<{key}>[^<]*</{key}>", f"<{key}>{value}</{key}>", shipped)
        if count != 1:
            raise SystemExit(f"ssdconfig.xml: {key} is there {count} times; expected: once")
    return shipped


def workload() -> str:
    """Write MQSim's workload: one flow, from a trace."""
    of = "IO_Flow_Parameter_Set_Trace_Based"
    values = "".join(f"<{key}>{value}</{key}>\n" for key, value in FLOW.items())
    scenario = f"<IO_Scenario>\n<{of}>\n{values}</{of}>\n</IO_Scenario>"
    return f"<MQSim_IO_Scenarios>\n{scenario}\n</MQSim_IO_Scenarios>\n"
