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

from pathlib import Path

from ssdsim_input import LAST_READS, end_quietly, parameters, told

from peer.mqsim import ENOUGH, Load, number, prepare_own
from peer.process import Did, Took, run

DRIVE = Path(__file__).with_name("ssdsim.toml")
#: Of its parameters, those of size and commands.
CHOSEN = {
    "chip number[0]": 2,
    "chip number[1]": 2,
    "channel number": 2,
    "chip number": 4,
    "block number": 512,
    "page number": 128,
    "gc threshold": 0.04,
    "gc hard threshold": 0.04,
    "advanced command": 0,
}
LOADS = {"random writes, 200 a second": Load(500_000, 5_000_000, 0.0, ENOUGH)}


class SSDsim:
    """The simulator, and what it is given."""

    name = "SSDsim"
    loads = tuple(LOADS)

    def prepare(self, load: str, home: Path, directory: Path) -> int:
        """Write what both programs read; ours counts the last line, too."""
        shipped = (home / "page.parameters").read_text("latin-1")
        (directory / "page.parameters").write_text(parameters(shipped, CHOSEN), "latin-1")
        requests = prepare_own(LOADS[load], DRIVE.read_text(), directory)
        end_quietly(directory / "load.trace")
        return requests + LAST_READS

    def run(self, home: Path, directory: Path) -> Took:
        """Run SSDsim, which asks for the name of the trace."""
        cpu, _ = run([home / "ssd"], directory, "load.trace\n")
        statistics = told(directory)
        kinds = ("read request count: ", "write request count: ")
        completed = sum(number(kind, statistics) for kind in kinds)
        did = Did(
            completed, number("program count: ", statistics), number("\nerase count: ", statistics)
        )
        return Took(cpu, did)
