"""What a page operation costs as the drive grows, and as the run gets longer.

    make bench-scaling                    # benches/scaling.csv, and docs/images/scaling.svg
    python benches/scaling.py --sizes 1 4 16 --requests 0.25 1 --rounds 1 --picture out.svg

The smallest drive has 512 MiB. It grows in two ways: by blocks in each plane, and by channels and
chips. Loads are single-page requests, 32 at a time, on a drive that was filled and overwritten
once. Each run is a process of its own, `copyback run --json`; the median of the rounds is taken,
whose runs alternate. Preparation is measured apart.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from timed import machine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

STORED = Path(__file__).with_name("scaling.csv")
COLUMNS = ["way", "times", "load", "operation_ns", "preparation_ns", "memory_mib"]

#: The smallest drive: 4 x 2 dies of two planes, 128 blocks of 64 pages of 4 KiB each.
CHANNELS, CHIPS, BLOCKS = 4, 2, 128
PAGES = CHANNELS * CHIPS * 2 * BLOCKS * 64
OVER_PROVISIONING = 0.15

#: Share of reads of each load.
LOADS = {"heavy collection": 0.0, "95% reads": 0.95}

CONFIG = f"""
ssd.ftl.over_provisioning = {OVER_PROVISIONING}
precondition = {{ fill = 1.0, overwrites = 1.0 }}

[workload]
type = "synthetic"
request_size = "4KiB"
sequential_share = 0.0
iodepth = 32
"""

#: Ways to grow, as the picture names them.
BY_BLOCKS, BY_DIES, BY_REQUESTS = "blocks in a plane", "channels and chips", "million requests"


@dataclass(frozen=True)
class Point:
    """One place on an axis of the picture: what grows, by how much, and the load."""

    way: str
    times: float
    load: str

    def settings(self, requests: int) -> dict[str, Any]:
        """Return the keys that this point sets; only one way to grow changes `requests`."""
        grown = 1 if self.way == BY_REQUESTS else int(self.times)
        channels, chips = grow(grown) if self.way == BY_DIES else (1, 1)
        return {
            "ssd.geometry.channels": CHANNELS * channels,
            "ssd.geometry.chips_per_channel": CHIPS * chips,
            "ssd.geometry.blocks_per_plane": BLOCKS * (grown if self.way == BY_BLOCKS else 1),
            "workload.read_share": LOADS[self.load],
            "workload.requests": int(self.times * 1e6) if self.way == BY_REQUESTS else requests,
        }


@dataclass(frozen=True)
class Cost:
    """What a run cost."""

    operation_ns: float
    """CPU time of a page operation of the timed part."""
    preparation_ns: float
    """CPU time of a page that preparation wrote for the host."""
    memory_mib: float
    """Peak of the process, Python's included."""


def main() -> None:
    """Measure, print a table and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--requests", type=float, nargs="+", default=[0.25, 0.5, 1, 2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--picture", type=Path, default=Path("docs/images/scaling.svg"))
    asked = parser.parse_args()
    axes = {BY_BLOCKS: asked.sizes, BY_DIES: asked.sizes, BY_REQUESTS: asked.requests}
    points = [Point(way, at, load) for way, grid in axes.items() for at in grid for load in LOADS]
    with TemporaryDirectory() as folder:
        config = Path(folder) / "config.toml"
        config.write_text(CONFIG)
        rounds = [
            {point: cost(config, point.settings(requests=1_000_000)) for point in points}
            for _ in range(asked.rounds)
        ]
    costs = {point: median(measured[point] for measured in rounds) for point in points}
    report(costs)
    store(costs, asked.rounds)
    draw(costs, asked.picture)


def grow(times: int) -> tuple[int, int]:
    """Return by what to multiply channels and chips: both alike, the channels first."""
    channels = 1
    while channels * channels < times:
        channels *= 2
    return channels, times // channels


def cost(config: Path, settings: dict[str, Any]) -> Cost:
    """Run once, in a process of its own."""
    command = [sys.executable, "-m", "copyback", "run", str(config), "--json", "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    used = json.loads(printed)["simulator"]
    scale = (
        settings["ssd.geometry.channels"]
        * settings["ssd.geometry.chips_per_channel"]
        * settings["ssd.geometry.blocks_per_plane"]
        / (CHANNELS * CHIPS * BLOCKS)
    )
    written = 2 * scale * PAGES * (1 - OVER_PROVISIONING)
    return Cost(
        operation_ns=1e9 / used["page_operations_per_cpu_s"],
        preparation_ns=1e9 * used["precondition_cpu_s"] / written,
        memory_mib=used["peak_rss_mib"],
    )


def median(costs: Iterable[Cost]) -> Cost:
    """Return the median of each number."""
    found = list(costs)
    parts = ("operation_ns", "preparation_ns", "memory_mib")
    return Cost(*(statistics.median(getattr(one, part) for one in found) for part in parts))


def report(costs: dict[Point, Cost]) -> None:
    """Print one line a point."""
    print("grows by             times  load              ns/operation  ns/prepared page  peak MiB")
    for point, found in costs.items():
        print(
            f"{point.way:19}  {point.times:5g}  {point.load:16}  {found.operation_ns:12.0f}"
            f"  {found.preparation_ns:16.0f}  {found.memory_mib:8.0f}"
        )


def store(costs: dict[Point, Cost], rounds: int) -> None:
    """Write the costs, from which `make generated` writes a table."""
    with STORED.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*COLUMNS, "rounds", "machine"])
        for point, cost in costs.items():
            where = [point.way, f"{point.times:g}", point.load]
            table.writerow(
                [*where, *(f"{part:.1f}" for part in vars(cost).values()), rounds, machine()]
            )


def draw(costs: dict[Point, Cost], path: Path) -> None:
    """Draw a panel for each way to grow, one line a load; and for size, the preparation."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "copyback", "font.size": 8, "svg.fonttype": "none"}):
        canvas = Figure(figsize=(9.5, 3.2), layout="constrained")
        panels = canvas.subplots(1, 3, sharey=True)
        for axis, way in zip(panels, (BY_BLOCKS, BY_DIES, BY_REQUESTS), strict=True):
            panel(axis, way, {point: found for point, found in costs.items() if point.way == way})
        panels[0].set_ylabel("CPU time (ns)")
        panels[0].set_ylim(bottom=0)  # of all three, which share it
        handles, labels = panels[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        canvas.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def panel(axis: Axes, way: str, costs: dict[Point, Cost]) -> None:
    """Draw the lines of one way to grow."""
    for load, marker in zip(LOADS, "os", strict=True):
        line = {at.times: found.operation_ns for at, found in costs.items() if at.load == load}
        axis.plot(
            [*line], [*line.values()], marker=marker, markersize=4, label=f"page operation, {load}"
        )
    if way != BY_REQUESTS:
        heavy = next(iter(LOADS))
        line = {at.times: found.preparation_ns for at, found in costs.items() if at.load == heavy}
        axis.plot([*line], [*line.values()], marker="^", markersize=4, label="page prepared")
    axis.set_xscale("log", base=2)
    axis.set_xticks(ticks := sorted({at.times for at in costs}), [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlabel(way if way == BY_REQUESTS else f"times as many {way}")
    axis.grid(axis="y", color="#dddddd", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
