"""Build MQSim, and copies of it without one of its rules, outside the repository.

    git clone https://github.com/CMU-SAFARI/MQSim && git -C MQSim checkout 7ec40e3
    python tools/mqsim_copies.py MQSim COPIES

Each copy writes two logs where it runs: `responses.log`, a line for each request as the host sees
it (ns at which it comes, ns at which it ends, 1 for a read), and `device.log`, as the drive does.
What is changed beyond that says `Copy`. Nothing of MQSim is here but names that the changes need.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FLAGS = "-std=c++11 -O3 -march=x86-64-v3 -DNDEBUG"
MAPPING = "src/ssd/Address_Mapping_Unit_Page_Level"


class Copy(Enum):
    """What a copy does otherwise than MQSim.

    Attributes
    ----------
    AS_SHIPPED
        Nothing.
    IN_ORDER
        Writes that find no room in their plane go on in the order in which they came. As shipped,
        they lie in a set ordered by their addresses in memory, so that results hang on the
        allocator.
    KEEPS
        A request for a page that is being moved goes on once it has been moved. As shipped, it
        never ends.
    LEAVES
        As KEEPS, and every page leaves the write buffer at once. As shipped, one that came before
        within the last second, at most, rests there.
    """

    AS_SHIPPED = "as_shipped"
    IN_ORDER = "in_order"
    KEEPS = "keeps"
    LEAVES = "leaves"


def main() -> None:
    """Make the copies and build them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("clone", type=Path)
    parser.add_argument("to", type=Path)
    given = parser.parse_args()
    for copy in Copy:
        home = given.to / copy.value
        shutil.copytree(given.clone, home, ignore=shutil.ignore_patterns(".git", "build", "MQSim"))
        for change in CHANGES[copy]:
            change(home)
        subprocess.run(["make", "-j2", f"CC_FLAGS={FLAGS}"], cwd=home, check=True)


def logs(home: Path) -> None:
    """Let it log each request."""
    host, device = "src/host/IO_Flow_Base.cpp", "src/ssd/Host_Interface_NVMe.cpp"
    ended = r"::NVMe_consume_io_request\(.*?sim_time_type request_delay[^\n]*\n"
    after(home / host, ended, log("responses", RESPONSE))
    begin = r"Input_Stream_Manager_NVMe::Handle_serviced_request\([^)]*\)\s*{\n"
    after(home / device, begin, log("device", SERVICED))


#: The three numbers of a line, as C++ has them there.
RESPONSE = "request->Arrival_time", "request->Type == Host_IO_Request_Type::READ"
SERVICED = "request->STAT_InitiationTime", "request->Type == UserRequestType::READ"


def log(name: str, of: tuple[str, str]) -> str:
    """Write a line of C++ that logs a request."""
    numbers = f"(unsigned long long){of[0]}, (unsigned long long)Simulator->Time(), int({of[1]})"
    return (
        f'{{ static FILE* log = fopen("{name}.log", "w"); '
        f'fprintf(log, "%llu %llu %d\\n", {numbers}); fflush(log); }}\n'
    )


def in_order(home: Path) -> None:
    """Keep writes without room in a list."""
    kind = "struct InOrder : std::list<NVM_Transaction_Flash_WR*> "
    kind += "{ void insert(NVM_Transaction_Flash_WR* write) { push_back(write); } };\n"
    after(home / f"{MAPPING}.h", r"namespace SSD_Components\s*{\n", kind, "#include <list>\n")
    for ending in ("h", "cpp"):
        path = home / f"{MAPPING}.{ending}"
        change(path, r"std::set<NVM_Transaction_Flash_WR\*>", lambda _: "InOrder", most=None)


def keeps(home: Path) -> None:
    """Send requests for a page that was being moved on their way."""
    body = r"(::Remove_barrier_for_accessing_lpa\(.*?Locked_LPAs\.erase\(itr\);\n).*?(\n\t}\n)"
    change(home / f"{MAPPING}.cpp", body, lambda found: f"{found[1]}{SENT_ON}{found[2]}")


SENT_ON = """
	auto* of = domains[stream_id];
	for (auto* waiting :
		{&of->Read_transactions_behind_LPA_barrier, &of->Write_transactions_behind_LPA_barrier}) {
		std::list<NVM_Transaction*> now;
		auto those = waiting->equal_range(lpa);
		for (auto one = those.first; one != those.second; ++one) now.push_back(one->second);
		waiting->erase(lpa);
		if (!now.empty()) Translate_lpa_to_ppa_and_dispatch(now);
	}
"""


def leaves(home: Path) -> None:
    """Let the write buffer remember nothing."""
    header = home / "src/ssd/Data_Cache_Manager_Flash_Advanced.h"
    change(header, r"(bloom_filter_reset_step = )\d+", lambda found: f"{found[1]}0")


def after(path: Path, pattern: str, text: str, include: str = "#include <cstdio>\n") -> None:
    """Put text behind what is found first."""
    change(path, pattern, lambda found: found[0] + text)
    path.write_text(include + path.read_text("utf-8"), "utf-8")


def change(
    path: Path, pattern: str, by: Callable[[re.Match[str]], str], most: int | None = 1
) -> None:
    """Change what is found first, or all of it."""
    text, count = re.subn(pattern, by, path.read_text("utf-8"), count=most or 0, flags=re.DOTALL)
    if not count:
        raise SystemExit(f"{path}: no {pattern} there; is this commit 7ec40e3?")
    path.write_text(text, "utf-8")


CHANGES: dict[Copy, tuple[Callable[[Path], None], ...]] = {
    Copy.AS_SHIPPED: (logs,),
    Copy.IN_ORDER: (logs, in_order),
    Copy.KEEPS: (logs, keeps),
    Copy.LEAVES: (logs, keeps, leaves),
}


if __name__ == "__main__":
    main()
