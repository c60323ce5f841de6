"""Simulate a fitted drive at one rate after the other, from high to low, as it was measured.

python tools/load_sequence.py [NAME...]       # drives that are stored; else the first

docs/drives/loads.md has each rate alone, on a drive prepared for it. The benchmark did not prepare
the drive anew between rates. What it gives in sequence is stored beside what each rate gives alone.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from typing import Any

from drive_loads import COLUMNS, RESULT

import copyback
from copyback.calibration.load.study import SECONDS
from copyback.calibration.load.workload import Load, Settling
from copyback.inputs import configuration
from copyback.process.checkout import commit


def main() -> None:
    """Simulate and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="drives; else the first")
    asked = parser.parse_args()
    simulated_at = commit()
    stored = json.loads(RESULT.read_text("utf-8"))
    names = asked.names or [stored["drives"][0]["name"]]
    for drive in stored["drives"]:
        if drive["name"] in names:
            drive["sequence"] = {"commit": simulated_at, "rates": in_sequence(drive)}
    RESULT.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")


def in_sequence(drive: dict[str, Any]) -> list[dict[str, float]]:
    """Return the latencies of the probe at each rate, from the highest to the lowest."""
    config = configuration.load(tomllib.loads(drive["fitted"]))
    tables = tomllib.loads(config.to_toml())
    settling = Settling.of(config, drive["highest_achieved"])
    load = Load(tables["workload"], SECONDS, settling)
    rates = sorted((one["rate"] for one in drive["simulated"]), reverse=True)
    flows: list[dict[str, Any]] = []
    probes: list[int] = []
    for rate in rates:
        before = list(range(probes[-1], len(flows))) if probes else []
        probes.append(len(flows))
        flows += [{**flow, "starts_after": before} for flow in load.at(rate)["flows"]]
    summary = copyback.run({**tables, "workload": {"type": "flows", "flows": flows}}).summary
    found = summary.to_dict()["flows"]
    return [
        {"rate": rate, **_latencies(found[probe]["response_us"])}
        for rate, probe in zip(rates, probes, strict=True)
    ]


def _latencies(responses: dict[str, Any]) -> dict[str, float]:
    pairs = ((metric, *metric.split("_", 1)) for metric in COLUMNS.values())
    return {metric: responses[kind][statistic] for metric, kind, statistic in pairs}


if __name__ == "__main__":
    main()
