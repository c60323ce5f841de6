"""Ask the presets of drives for what is published of them, and store the answers.

python tools/drive_promises.py                  # all of experiments/drives/*.toml
python tools/drive_promises.py intel-s4500      # one of them

What comes out is stored beside the questions; from it tools/drive_pages.py writes the tables of
docs/drives.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import copyback
from copyback.process.checkout import commit

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

ROOT = Path(__file__).parent.parent
STORED = ROOT / "experiments/drives"

#: Part of the first rate that is left when a cache is full.
CLIFF = 0.5


@dataclass(frozen=True)
class Promise:
    """A published figure, and the run that is asked for it."""

    name: str
    published: float
    unit: str
    measure: str
    preset: str
    settings: dict[str, Any]
    #: Times that what the preset gives is less than the drive's, as it is that much smaller.
    scale: float
    #: The key that was set from it, if any was.
    sets: str | None
    #: What the model leaves out, where the figure is missed.
    missing: str | None


@dataclass(frozen=True)
class Answer:
    """What a preset gives."""

    name: str
    value: float
    config_digest: str


def asked_of(path: Path) -> dict[str, Any]:
    """Return what a file says."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def settings_of(asked: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a row or a curve: those of its load, and its own."""
    return {**asked["load"][one["load"]], **one.get("settings", {})}


def curve(asked: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
    """Return the MB a second of each interval of a curve, and the GB of the drive until its end."""
    moved, length = rates(copyback.run({"preset": asked["preset"]}, **settings_of(asked, one)))
    return {
        "name": one["name"],
        "written_gb": [round(float(all_of) / 1e9 * asked["scale"], 2) for all_of in moved.cumsum()],
        "mb_per_s": [round(float(bytes_) / length / 1e6, 1) for bytes_ in moved],
    }


def healed(asked: dict[str, Any], quiet: str) -> dict[str, Any]:
    """Return how much of a second burst goes to the cache after so long a quiet."""
    healing = asked["healing"]
    bursts = {"type": "on_off", "on": healing["on"], "off": quiet}
    settings = {**healing["settings"], "workload.bursts": bursts}
    cache = copyback.run({"preset": asked["preset"]}, **settings).summary["slc_cache"]
    burst = (cache["written_bytes"] + cache["past_bytes"]) / 2
    return {"quiet": quiet, "share": round(max(0.0, cache["written_bytes"] / burst - 1), 4)}


def promises(path: Path) -> list[Promise]:
    """Return the promises of a file."""
    asked = asked_of(path)
    return [
        Promise(
            name=row["name"],
            published=float(row["published"]),
            unit=row["unit"],
            measure=row["measure"],
            preset=row.get("preset", asked["preset"]),
            settings=settings_of(asked, row),
            scale=float(asked["scale"]) if row["measure"] in SCALED else 1.0,
            sets=row.get("sets"),
            missing=row.get("missing"),
        )
        for row in asked["row"]
    ]


def answer(promise: Promise) -> Answer:
    """Run what a promise asks for."""
    result = copyback.run({"preset": promise.preset}, **promise.settings)
    value = MEASURES[promise.measure](result) * promise.scale
    return Answer(promise.name, value, result.summary.config_digest)


def iops(result: copyback.Result) -> float:
    """Return the requests a second."""
    return float(result.summary["throughput"]["iops"])


def megabytes(result: copyback.Result) -> float:
    """Return the MB a second."""
    return float(result.summary["throughput"]["mib_per_s"]) * 2**20 / 1e6


def steady_megabytes(result: copyback.Result) -> float:
    """Return the MB a second of the later half of the intervals."""
    moved, length = rates(result)
    return float(moved[len(moved) // 2 :].mean() / length / 1e6)


def steady_iops(result: copyback.Result) -> float:
    """Return the requests a second of the later half of the intervals, all of one size."""
    return steady_megabytes(result) * iops(result) / megabytes(result)


def mean(result: copyback.Result) -> float:
    """Return the mean response in microseconds."""
    return float(result.summary["response_us"]["all"]["mean"])


def read_tail(result: copyback.Result) -> float:
    """Return the 99.9th percentile of reads in microseconds."""
    return float(result.summary["response_us"]["read"]["p99_9"])


def write_tail(result: copyback.Result) -> float:
    """Return the 99.9th percentile of writes in microseconds."""
    return float(result.summary["response_us"]["write"]["p99_9"])


def rates(result: copyback.Result) -> tuple[np.ndarray[Any, Any], float]:
    """Return the bytes of each interval but the host's last, and the seconds of one."""
    series = result.series
    moved = series["read_bytes"].to_numpy() + series["write_bytes"].to_numpy()
    length = float(series["end_s"][0] - series["start_s"][0])
    return moved[: int(moved.nonzero()[0].max())], length


def consistency(result: copyback.Result) -> float:
    """Return the slowest interval but for one in a thousand, as a share of the mean, in percent."""
    moved, _ = rates(result)
    return 100 * float(sorted(moved)[len(moved) // 1000] / moved.mean())


def cliff(result: copyback.Result) -> float:
    """Return the GB that are written until the rate has fallen."""
    moved, _ = rates(result)
    fast = moved >= CLIFF * moved[1:4].mean()
    return float(moved[: int(fast.nonzero()[0].max()) + 1].sum() / 1e9)


#: Measures that hang on how large a drive is.
SCALED = {"cliff"}

MEASURES = {
    "iops": iops,
    "MB/s": megabytes,
    "steady IOPS": steady_iops,
    "steady MB/s": steady_megabytes,
    "mean": mean,
    "read p99.9": read_tail,
    "write p99.9": write_tail,
    "consistency": consistency,
    "cliff": cliff,
}


def files(names: list[str]) -> Iterator[Path]:
    """Yield the files of these names, or all."""
    for path in sorted(STORED.glob("*.toml")):
        if not names or path.stem in names:
            yield path


def main() -> None:
    """Ask and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*")
    # What is stored changes the checkout, so it is looked at before.
    of = commit()
    for path in files(parser.parse_args().names):
        answers = []
        for promise in promises(path):
            found = answer(promise)
            print(
                f"{path.stem}: {promise.name}: {found.value:.4g} ({promise.published:g})",
                flush=True,
            )
            answers.append(asdict(found))
        asked = asked_of(path)
        stored = {
            "commit": of,
            "answers": answers,
            "curves": [curve(asked, one) for one in asked.get("curve", [])],
            "healing": [healed(asked, q) for q in asked.get("healing", {}).get("quiet", [])],
        }
        text = json.dumps(stored, indent=1) + "\n"
        path.with_suffix(".json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
