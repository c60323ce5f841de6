"""Write amplification of placements on the volumes of a block store, one volume at a time.

    python examples/volumes.py TRACE [--format alibaba] [--volumes 3 17 | --most 10]

For whoever has the traces that papers on placement use (Alibaba and Tencent cloud block storage;
they are too large to ship). Each volume is a log of its own that collects when 15% of what it holds
is invalid, whatever room there is, with cost-benefit victims, as in the simulator of SepBIT's
authors. Pages are of 4 KiB, blocks of 512 pages: a store has larger segments.
"""

from __future__ import annotations

import argparse
from typing import Any

import copyback

PLACEMENTS: dict[str, Any] = {
    "one class": "one_class",
    "host and GC apart": "host_and_gc_apart",
    "DAC": "dac",
    "FADaC": "fadac",
    "WARCIP": "warcip",
    "SepBIT": "sepbit",
    "oracle, 16": {"type": "oracle", "classes": 16, "growth": 1.7},
}
VICTIM = {"type": "cost_benefit", "age": "since_sealed", "weight": "sqrt"}
PAGES_PER_BLOCK = 512
MOST_INVALID = 0.15
#: Blocks beside those that hold the volume and what is invalid: open ones, and free ones.
ASIDE = 32


def main() -> None:
    """Print a row for each volume, and one for all of them together."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trace")
    parser.add_argument("--format", help="format of the trace; else detected")
    parser.add_argument("--volumes", type=int, nargs="+", help="else the busiest")
    parser.add_argument("--most", type=int, default=10, help="of the busiest, up to ten")
    options = parser.parse_args()
    load = {"type": "trace", "path": options.trace}
    if options.format:
        load["format"] = options.format
    volumes = options.volumes or busiest(load)[: options.most]
    print("volume", *PLACEMENTS, sep="\t")
    pages: dict[str, float] = dict.fromkeys(PLACEMENTS, 0.0)
    host = 0
    for volume in volumes:
        drive = drive_of(load, volume)
        if drive is None:
            print(volume, "not written", sep="\t")
            continue
        found = {name: run(drive, placement) for name, placement in PLACEMENTS.items()}
        written = next(iter(found.values())).flash.host_programs
        amplified = {name: one.write_amplification or 1.0 for name, one in found.items()}
        print(volume, *(f"{value:.3f}" for value in amplified.values()), sep="\t", flush=True)
        host += written
        pages = {name: pages[name] + amplified[name] * written for name in PLACEMENTS}
    if host:
        print("all", *(f"{sum_ / host:.3f}" for sum_ in pages.values()), sep="\t")


def busiest(load: dict[str, Any]) -> list[int]:
    """Return the volumes with the most requests."""
    info = copyback.trace_info({"workload": load})
    return [one.device for one in info.devices.busiest]


def drive_of(load: dict[str, Any], volume: int) -> dict[str, Any] | None:
    """Return a drive that holds one volume; None if nothing is written to it."""
    load = {
        **load,
        "devices": [str(volume)],
        "beyond_device": {"type": "compact", "extent": "4KiB"},
    }
    footprint = copyback.trace_info({"workload": load}).footprint
    if not footprint.written_pages:
        return None
    blocks = int(footprint.touched_pages / (1 - MOST_INVALID) / PAGES_PER_BLOCK) + ASIDE
    spare = 1 - footprint.touched_pages / (blocks * PAGES_PER_BLOCK)
    one = dict.fromkeys(["channels", "chips_per_channel", "dies_per_chip", "planes_per_die"], 1)
    shape = {"blocks_per_plane": blocks, "pages_per_block": PAGES_PER_BLOCK, "page_size": "4KiB"}
    return {
        "ssd": {
            "geometry": one | shape,
            "ftl": {"over_provisioning": int(spare * 1e6) / 1e6},
            "gc": {
                "victim": VICTIM,
                "soft_threshold": {"blocks": 2},
                "invalid_threshold": MOST_INVALID,
                "zero_cost": True,
            },
        },
        "host": {"queue_depth": 1},
        "workload": load,
        "precondition": {"fill": 0.0, "overwrites": 0.0},
    }


def run(drive: dict[str, Any], placement: Any) -> copyback.Summary:
    """Return what the drive does with this placement."""
    return copyback.run(drive, ssd__ftl__placement=placement).summary


if __name__ == "__main__":
    main()
