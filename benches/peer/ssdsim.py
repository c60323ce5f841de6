r"""SSDsim: the same device as MQSim's, prepared by the same requests.

    git clone https://github.com/huaicheng/ssdsim && cd ssdsim && git checkout f411289
    sed -i 's/last_write_page>63)/last_write_page>127)/' flash.c pagemap.c   # blocks of 128 pages
    gcc -fcommon -w -O3 -march=x86-64-v3 -DNDEBUG -o ssd \
      ssd.c avlTree.c flash.c initialize.c pagemap.c

It writes a line for each request. It divides by the number of reads, drops a last line that ends
without a newline and never ends if anything is under way at the end of the file: hence two reads
long after the rest. Its static allocation stands still behind the first request that waits for a
busy chip: at 1,000 writes a second its backlog grows, so that it is measured at 200.
"""

from __future__ import annotations

import re
from pathlib import Path

from peer.mqsim import ENOUGH, SECTORS_A_PAGE, Load, number, prepare_own
from peer.process import Did, Took, run

DRIVE = Path(__file__).with_name("ssdsim.toml")
#: Of its parameters, what is another than as shipped: the device, static allocation, no advanced
#: commands.
SETTINGS = {
    "dram capacity": 0,
    "chip number[0]": 2,
    "chip number[1]": 2,
    "channel number": 2,
    "chip number": 4,
    "die number": 1,
    "plane number": 1,
    "block number": 512,
    "page number": 128,
    "subpage page": 16,
    "page capacity": 8_192,
    "t_PROG": 750_000,
    "t_BERS": 3_800_000,
    "t_R": 75_000,
    "t_WC": 3,
    "t_RC": 3,
    "overprovide": 0.02,
    "gc threshold": 0.04,
    "gc hard threshold": 0.04,
    "allocation": 1,
    "static_allocation": 1,
    "advanced command": 0,
}
LOADS = {"random writes, 200 a second": Load(500_000, 5_000_000, 0.0, ENOUGH)}
#: Long enough that nothing is under way.
QUIET_NS = 10**12


class SSDsim:
    """The simulator, and what it is given."""

    name = "SSDsim"
    loads = tuple(LOADS)

    def prepare(self, load: str, home: Path, directory: Path) -> int:
        """Write what both programs read; ours counts the last line, too."""
        shipped = (home / "page.parameters").read_text("latin-1")
        (directory / "page.parameters").write_text(parameters(shipped), "latin-1")
        requests = prepare_own(LOADS[load], DRIVE.read_text(), directory)
        with (directory / "load.trace").open("r+") as trace:
            last = int(trace.read().splitlines()[-1].split()[0])
            lines = [f"{last + n * QUIET_NS} 0 0 {SECTORS_A_PAGE} 1" for n in (1, 2)]
            trace.write("\n".join(lines))
        return requests + 2

    def run(self, home: Path, directory: Path) -> Took:
        """Run SSDsim, which asks for the name of the trace."""
        cpu, _ = run([home / "ssd"], directory, "load.trace\n")
        told = re.sub(r" +", " ", (directory / "statistic10.dat").read_text("latin-1"))
        kinds = ("read request count: ", "write request count: ")
        completed = sum(number(kind, told) for kind in kinds)
        did = Did(completed, number("program count: ", told), number("\nerase count: ", told))
        return Took(cpu, did)


def parameters(shipped: str) -> str:
    """Change its parameters."""
    for key, value in SETTINGS.items():
        pattern = rf"(?m)^{re.escape(key)} *=[^;]*;"
        shipped, count = re.subn(pattern, f"{key} = {value};", shipped)
        if count != 1:
            raise SystemExit(f"page.parameters: {key} is there {count} times; expected: once")
    return shipped
