"""Hide the parameters of ten drives, measure each with the shipped job, and look for them again.

python tools/drive_found.py                # all ten; three are served, which takes fio
python tools/drive_found.py 14 18          # some of them
python tools/drive_found.py 101 --look     # any other drive: prints what is found, stores nothing

A drive is the preset samsung-pm9a3 with five parameters drawn by a seed, the number of the drive.
examples/load-curve.fio measures it: seven drives by a simulation of the job, three by fio on
`copyback serve`, with the job cut to five minutes; of these the lower half of the latencies is
fitted. `copyback calibrate --load` then fits the five from a start that is the same for all
drives. The rules below were committed before the runs. A parameter counts if its verdict is
"determined". A drive is right if all that count of it are inside their intervals, and there are
some; the aim is nine of ten drives.

What is stored is written to docs/drives/found.md by tools/drive_pages.py.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import found_served
import numpy as np
from drive_promises import ROOT, STORED

from copyback.calibration.load import sources
from copyback.calibration.load.call import calibrate_load
from copyback.calibration.search.known import Verdict
from copyback.inputs import configuration
from copyback.process.checkout import commit

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "found"
RESULT = STORED / f"{NAME}.json"
PRESET = "samsung-pm9a3"
JOB = ROOT / "examples/load-curve.fio"

#: Drives by number, and those of them that are served. The drives 1 to 3 were judged under an
#: earlier rule for intervals, which they led to mend; then all ten were drawn anew.
DRIVES = tuple(range(11, 21))
SERVED = (18, 19, 20)

#: Drives of which so many are to be right.
AIM = 9

#: Ends between which parameters are drawn, on a logarithmic scale; times in nanoseconds.
HIDDEN = {
    "ssd.timing.read": (30e3, 90e3),
    "ssd.timing.program": (200e3, 700e3),
    "ssd.timing.erase": (1e6, 4e6),
    "host.command_overhead": (3e3, 20e3),
    "ssd.ftl.over_provisioning": (0.1, 0.22),
}

#: What every fit starts from, and where it looks: about twice as far as parameters are drawn from.
START = {
    "ssd.timing.read": 50e3,
    "ssd.timing.program": 400e3,
    "ssd.timing.erase": 2e6,
    "host.command_overhead": 8e3,
    "ssd.ftl.over_provisioning": 0.15,
}
FIT = {
    "ssd.timing.read": "15us..180us",
    "ssd.timing.program": "100us..1400us",
    "ssd.timing.erase": "500us..8ms",
    "host.command_overhead": "1500ns..40us",
    "ssd.ftl.over_provisioning": "0.07..0.3",
}

#: Times that the drive of the job file is larger than the simulated one.
SCALE = 256

#: Evaluations of a fit, seconds of a rate that are measured, and those before.
BUDGET, SECONDS, RAMP = 40, 0.5, 1.0

#: Load of the job: a fifth are reads. The gap is replaced by that of each rate.
WORKLOAD = {
    "type": "synthetic",
    "requests": 100_000,
    "request_size": "4KiB",
    "read_share": 0.2,
    "sequential_share": 0.0,
    "iodepth": 256,
    "rate": {"type": "requests", "gap": {"type": "exponential", "mean": "100us"}},
}


def main() -> None:
    """Hide, measure, find, and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("numbers", nargs="*", type=int, help="drives; else all ten")
    parser.add_argument("--look", action="store_true", help="print, and store nothing")
    parser.add_argument("--served", action="store_true", help="serve them, whatever their number")
    asked = parser.parse_args()
    numbers = asked.numbers or DRIVES
    odd = [number for number in numbers if not asked.look and number not in DRIVES]
    if odd:
        sys.exit(f"drive_found: found drive {odd[0]}; allowed: 11 to 20, or others with --look")
    for number in numbers:
        one = looped(number, is_served=asked.served or number in SERVED)
        if asked.look:
            print("\n".join(told(one)))
        else:
            store(one)


def looped(number: int, *, is_served: bool) -> dict[str, Any]:
    """Return what is stored of a drive: what was hidden, what was found, and what it took."""
    before = cpu_seconds()
    at = commit()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        config = written(work / "hidden.toml", hidden(number), number)
        curve = work / ("curve.csv" if is_served else "curve.json")
        facts: dict[str, Any] = {}
        if is_served:
            start = written(work / "start.toml", START, 0)
            facts = found_served.measure(JOB, config, start, curve)
        else:
            simulate(JOB, config, curve)
        found = calibrated(curve)
    return {
        "number": number,
        "commit": at,
        "served": facts or None,
        "hidden": hidden(number),
        "loss": found["loss"],
        "evaluations": found["evaluations"],
        "rates": found["used_rates"],
        "highest_achieved": found["highest_achieved"],
        "parameters": found["parameters"],
        "cpu_seconds": round(cpu_seconds() - before, 1),
    }


def hidden(number: int) -> dict[str, float]:
    """Return the parameters of a drive, drawn by its number."""
    random = np.random.default_rng(number)
    drawn = {key: float(np.exp(random.uniform(*np.log(ends)))) for key, ends in HIDDEN.items()}
    return {key: round(value, 4 if value < 1 else 0) for key, value in drawn.items()}


def written(path: Path, parameters: dict[str, float], seed: int) -> Path:
    """Write the configuration of a drive."""
    path.write_text(config(parameters, seed), encoding="utf-8")
    return path


def config(parameters: dict[str, float], seed: int) -> str:
    """Return the configuration of a drive with these parameters."""
    settings = [(key, _text(value)) for key, value in parameters.items()]
    settings += [("seed", str(seed)), ("workload", '{ type = "trace" }')]
    settings.append(("workload", configuration.to_toml(WORKLOAD)))
    return configuration.load(preset=PRESET, settings=settings).to_toml()


def _text(value: float) -> str:
    """Return a parameter as a configuration has it: a share, or a time."""
    return repr(value) if value < 1 else f'"{value:.0f}ns"'


def simulate(job: Path, drive: Path, curve: Path, scale: int = SCALE) -> None:
    """Leave fio's JSON of a job on a simulated drive.

    Raises
    ------
    subprocess.CalledProcessError
        If the job could not be simulated.
    """
    command = [sys.executable, "-m", "copyback", "run", drive, "--quiet", "--no-cache"]
    command += ["--fio-job", job, "--fio-scale", scale, "--fio-json", curve]
    device = {"DEVICE": "/dev/hidden"}
    subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **device},
        stdout=subprocess.DEVNULL,
        check=True,
    )


def calibrated(
    curve: Path, budget: int = BUDGET, seconds: float = SECONDS, ramp: float = RAMP
) -> dict[str, Any]:
    """Return what ``load.json`` holds of the fit of a curve, at all of its rates."""
    rates = [rate.offered for rate in sources.read(curve).rates]
    with tempfile.TemporaryDirectory() as name:
        start = written(Path(name) / "start.toml", START, 0)
        return calibrate_load(
            start,
            curve=curve,
            fit=FIT,
            use=rates,
            seconds=seconds,
            ramp=ramp,
            budget=budget,
            jobs=1,
        ).to_dict()


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it has waited for."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(whose) for whose in both]
    return sum(one.ru_utime + one.ru_stime for one in used)


def judged(drive: dict[str, Any]) -> Iterator[tuple[dict[str, Any], float, bool | None]]:
    """Yield each parameter with its true value, and whether the interval holds it.

    That is None of a parameter which does not count, as its verdict is not "determined".
    """
    for one in drive["parameters"]:
        true = drive["hidden"][one["key"]]
        low, high = one["interval"]
        counts = one["verdict"] == Verdict.FOUND
        yield one, true, low <= true <= high if counts else None


def is_right(drive: dict[str, Any]) -> bool:
    """Return whether all parameters that count are inside their intervals, and there are some."""
    verdicts = [inside for _, _, inside in judged(drive) if inside is not None]
    return bool(verdicts) and all(verdicts)


def told(drive: dict[str, Any]) -> list[str]:
    """Return lines about a drive for people who look."""
    lines = [f"drive {drive['number']}: loss {drive['loss']}, {drive['cpu_seconds']} s of CPU"]
    for one, true, inside in judged(drive):
        low, high = one["interval"]
        name = f"{one['key']:28} true {true:10g} found {one['value']:10g}"
        lines.append(f"  {name} {low:10g} to {high:10g} {one['verdict']}: {inside}")
    return [*lines, *([str(drive["served"])] if drive["served"] else [])]


def store(drive: dict[str, Any]) -> None:
    """Store a drive in the place of what was known of it."""
    stored: dict[str, Any] = {"drives": []}
    if RESULT.exists():
        stored = json.loads(RESULT.read_text("utf-8"))
    every = {one["number"]: one for one in stored["drives"]} | {drive["number"]: drive}
    stored["drives"] = [every[number] for number in sorted(every)]
    RESULT.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
