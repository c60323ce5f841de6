"""Time MQSim and Copyback on the same requests, in turn, whole processes, and store the medians.

    git clone https://github.com/CMU-SAFARI/MQSim && cd MQSim && git checkout 7ec40e3
    make CC_FLAGS="-std=c++11 -O3 -march=x86-64-v3 -DNDEBUG"
    python benches/peers.py MQSim --rounds 5            # writes benches/peers.csv

Nothing else should run meanwhile. The device and MQSim's settings are those of docs/validation.md:
requests fill it, overwrite it once at random, and then load it. Requests that MQSim never completes
are counted. `make generated` writes the table of docs/performance.md from what is stored.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from timed import machine

HERE = Path(__file__).parent
STORED = HERE / "peers.csv"
DRIVE = HERE / "peers.toml"
SECTORS_A_PAGE = 16
CHIPS, BLOCKS, PAGES = 4, 512, 128
OVER_PROVISIONING = 0.2
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
}


@dataclass(frozen=True)
class Load:
    """What is measured: Poisson arrivals, uniform over all pages.

    Attributes
    ----------
    gap_ns
        Between arrivals, on average.
    queue
        Requests that the device takes at once.
    """

    name: str
    requests: int
    gap_ns: int
    reads: float
    queue: int


LOADS = [
    Load("random writes, saturated, a queue of 1,024", 500_000, 100_000, 0.0, 1_024),
    Load("95% reads, 5,000 a second", 300_000, 200_000, 0.95, 1_024),
]


@dataclass(frozen=True)
class Took:
    """What a process took, and the requests that it completed."""

    cpu_s: float
    completed: int


def main() -> int:
    """Time the loads. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("mqsim", type=Path, help="the directory where it was built")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with STORED.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["load", "program", "requests", "completed", "cpu_s", "machine", "commit"])
        for load in LOADS:
            with TemporaryDirectory() as name:
                rounds = timed(load, options.mqsim.absolute(), Path(name), options.rounds)
            for program, taken in rounds.items():
                cpu = statistics.median(one.cpu_s for one in taken)
                row = [load.name, program, requests(load), taken[0].completed]
                row += [f"{cpu:.3f}", machine(), commit()]
                table.writerow(row)
                print(*row, flush=True)
            file.flush()
    return 0


def timed(load: Load, mqsim: Path, directory: Path, rounds: int) -> dict[str, list[Took]]:
    """Run both programs in turn."""
    write_trace(load, directory / "load.trace")
    (directory / "ssd.xml").write_text(device((mqsim / "ssdconfig.xml").read_text(), load))
    (directory / "workload.xml").write_text(workload(directory / "load.trace"))
    drive = DRIVE.read_text().replace("queue_depth = 65535", f"queue_depth = {load.queue}")
    (directory / "drive.toml").write_text(drive)
    commands = {
        "MQSim": [mqsim / "MQSim", "-i", "ssd.xml", "-w", "workload.xml"],
        "Copyback": [Path(sys.executable).parent / "copyback", "run", "drive.toml", "--json"],
    }
    taken: dict[str, list[Took]] = {program: [] for program in commands}
    for _ in range(rounds):
        for program, command in commands.items():
            taken[program].append(run([str(word) for word in command], directory))
    return taken


def requests(load: Load) -> int:
    """Count the requests, those that prepare the device included."""
    return load.requests + 2 * pages()


def pages() -> int:
    """Count the logical pages."""
    return CHIPS * int(BLOCKS * PAGES * (1 - OVER_PROVISIONING))


def write_trace(load: Load, path: Path) -> None:
    """Write the requests as MQSim reads them, a line each: those of docs/validation.md.

    With others MQSim may never end: its collections find no block.
    """
    every = np.arange(pages())
    fill = 250_000 * every
    used = fill[-1] + 2_000_000 * (1 + every)
    used_lpns = np.random.default_rng(8).integers(0, pages(), pages())
    random = np.random.default_rng(9)
    steps = random.exponential(load.gap_ns, load.requests)
    arrivals = np.concatenate([fill, used, used[-1] + 10**9 + np.cumsum(steps).astype(np.int64)])
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


def workload(trace: Path) -> str:
    """Write MQSim's workload: one flow, from a trace."""
    of = "IO_Flow_Parameter_Set_Trace_Based"
    values = "".join(
        f"<{key}>{value}</{key}>\n" for key, value in {**FLOW, "File_Path": trace}.items()
    )
    scenario = f"<IO_Scenario>\n<{of}>\n{values}</{of}>\n</IO_Scenario>"
    return f"<MQSim_IO_Scenarios>\n{scenario}\n</MQSim_IO_Scenarios>\n"


def run(command: list[str], directory: Path) -> Took:
    """Run a program to its end; MQSim waits for a key there, and finds no input."""
    with (directory / "output").open("w+b") as output:
        process = subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if process.returncode != 0:
        raise SystemExit(f"{command[0]}: ended with status {process.returncode}")
    return Took(usage.ru_utime + usage.ru_stime, completed(text))


def completed(text: str) -> int:
    """Read how many requests have ended."""
    serviced = re.search(r"total requests serviced:(\d+)", text)
    return int(serviced[1]) if serviced else json.loads(text)["requests"]["count"]


def commit() -> str:
    """Name the commit of Copyback."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(
        command, cwd=HERE, check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
