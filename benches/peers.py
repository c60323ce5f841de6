"""Time other simulators and Copyback on the same requests, in turn, whole processes.

    python benches/peers.py MQSim=DIR SSDsim=DIR DiskSim=DIR DiskSim:-O2=OTHER

writes benches/peers.csv: medians. Each DIR is where a simulator was built, as its file in
benches/peer says; what follows a colon names another build of it, which takes its turn with the
first. Only the loads of those that are named are measured, the others' rows are kept. Nothing else
should run meanwhile. What each did is stored beside the times, so that it is seen whether the work
was the same: `make generated` writes the table of docs/performance.md from it.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from timed import machine

sys.path.append(str(Path(__file__).parents[1] / "tools"))

from commits import commit
from peer.disksim import DiskSim
from peer.mqsim import MQSim
from peer.process import Took, copyback, start_up
from peer.ssdsim import SSDsim

if TYPE_CHECKING:
    from collections.abc import Callable

    from peer.process import Peer

STORED = Path(__file__).with_name("peers.csv")
COLUMNS = ["peer", "load", "program", "requests", "completed", "programs", "erases"]
COLUMNS += ["rounds", "cpu_s", "start_up_s", "machine", "commit"]
PEERS: dict[str, Peer] = {peer.name: peer for peer in (MQSim(), SSDsim(), DiskSim())}
OURS = "Copyback"


def main() -> int:
    """Time the loads. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("built", nargs="+", metavar="NAME[:BUILD]=DIR", help=", ".join(PEERS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--loads", default="", help="those with this in their names; else all")
    options = parser.parse_args()
    built = {
        name: Path(home).absolute() for name, home in (one.split("=") for one in options.built)
    }
    for name, peer in PEERS.items():
        homes = {program: home for program, home in built.items() if program.split(":")[0] == name}
        for load in peer.loads if homes else []:
            if options.loads in load:
                store(name, load, measured(peer, load, homes, options.rounds))
    return 0


def measured(peer: Peer, load: str, homes: dict[str, Path], rounds: int) -> list[dict[str, object]]:
    """Run every program in turn. Returns a row for each."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        requests = peer.prepare(load, next(iter(homes.values())), directory)
        taken = in_turn(peer, homes, directory, rounds)
        begun = statistics.median(start_up(directory) for _ in range(rounds))
    about = {"peer": peer.name, "load": load, "requests": requests, "rounds": rounds}
    about |= {"machine": machine(), "commit": commit(12)}
    return [
        {
            **about,
            "program": program,
            **vars(took[0].did),
            "cpu_s": f"{statistics.median(one.cpu_s for one in took):.3f}",
            "start_up_s": f"{begun:.3f}" if program == OURS else "",
        }
        for program, took in taken.items()
    ]


def in_turn(
    peer: Peer, homes: dict[str, Path], directory: Path, rounds: int
) -> dict[str, list[Took]]:
    """Run the builds of a simulator and Copyback, one after the other, again and again."""
    programs: dict[str, Callable[[], Took]] = {
        program: lambda home=home: peer.run(home, directory) for program, home in homes.items()
    }
    programs[OURS] = lambda: copyback(directory)
    taken: dict[str, list[Took]] = {program: [] for program in programs}
    for _ in range(rounds):
        for program, run in programs.items():
            taken[program].append(run())
            print(peer.name, program, taken[program][-1], flush=True)
    return taken


def store(name: str, load: str, rows: list[dict[str, object]]) -> None:
    """Put the rows of a load in the place of those that were there."""
    kept = []
    if STORED.exists():
        with STORED.open(newline="") as file:
            kept = [
                row for row in csv.DictReader(file) if (row["peer"], row["load"]) != (name, load)
            ]
    known = [load for peer in PEERS.values() for load in peer.loads]
    every = [row for row in [*kept, *rows] if row["load"] in known]
    every.sort(key=lambda row: known.index(str(row["load"])))
    with STORED.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(every)


if __name__ == "__main__":
    sys.exit(main())
