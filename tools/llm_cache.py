"""Write the table of docs/guide/llm-cache.md about the hour of Mooncake's conversation trace.

python tools/llm_cache.py                  # writes it where it belongs
python tools/llm_cache.py --to DIR         # a copy of the page below DIR, to compare with
python tools/llm_cache.py --measure TRACE  # simulates again first; TRACE is the whole JSONL

What is stored in experiments/llm-cache.json is of the sizes below, on examples/kv-cache/drive.toml.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

import copyback
from copyback.process.checkout import commit

ROOT = Path(__file__).parent.parent
PAGE = Path("docs/guide/llm-cache.md")
STORED = ROOT / "experiments/llm-cache.json"
EXAMPLE = ROOT / "examples/kv-cache"

BEGIN = "<!-- hour: written by `make generated` -->\n"
END = "<!-- hour: end -->"

#: Options of every trace, and of each: the page's, with sizes for the hour.
COMMON = ("--dram=1TiB", "--scale=1024")
ALONE = ("--ssd=5440GiB",)
BESIDE = ("--ssd=4800GiB", "--other=1280GiB", "--other-writes=25%")
TRACES = {
    "alone": ALONE,
    "log": (*ALONE, "--evict=fifo"),
    "through": (*ALONE, "--write=through"),
    "reused": (*ALONE, "--write=reused"),
    "mixed": BESIDE,
    "ahead": (*BESIDE, "--ahead=5%"),
}
PLACEMENTS: dict[str, Any] = {
    "none": "host_and_gc_apart",
    "handles": {"type": "by_hint", "handles": 2},
}
#: Bytes of a block.
BLOCK = 512 * 320 * 1024


def main() -> None:
    """Write the page, and measure before if that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT)
    parser.add_argument("--measure", type=Path, metavar="TRACE")
    options = parser.parse_args()
    if options.measure is not None:
        STORED.write_text(json.dumps(measured(options.measure), indent=1) + "\n", encoding="utf-8")
    text = page((ROOT / PAGE).read_text(encoding="utf-8"), json.loads(STORED.read_text("utf-8")))
    (options.to / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (options.to / PAGE).write_text(text, encoding="utf-8")


def measured(trace: Path) -> dict[str, Any]:
    """Return what is stored: the trace, and a row a way to write."""
    content = trace.read_bytes()
    return {
        "commit": commit(),
        "sha256": hashlib.sha256(content).hexdigest(),
        "requests": content.count(b"\n"),
        "rows": [row(name, trace) for name in TRACES],
    }


def row(name: str, requests: Path) -> dict[str, Any]:
    """Return blocks by operation, and write amplification and years with each placement."""
    with tempfile.TemporaryDirectory() as home:
        out = Path(home) / "kv.parquet"
        script = [sys.executable, str(EXAMPLE / "make_trace.py"), str(requests), str(out)]
        subprocess.run([*script, *COMMON, *TRACES[name]], check=True, stdout=subprocess.DEVNULL)
        done = {key: drive(out, placement) for key, placement in PLACEMENTS.items()}
        mine = pl.read_parquet(out).filter(pl.col("handle") == 0)
    blocks = dict(mine["operation"].value_counts().iter_rows())
    return {"name": name, "blocks": blocks, "placements": done}


def drive(trace: Path, placement: Any) -> dict[str, float]:
    """Return write amplification and years of the drive."""
    summary = copyback.run(
        EXAMPLE / "drive.toml", trace=trace, ssd__ftl__placement=placement
    ).summary
    wa, endurance = summary.write_amplification, summary.endurance
    assert wa is not None
    assert endurance is not None
    assert endurance.years_at_this_load is not None
    return {"write_amplification": wa, "years": endurance.years_at_this_load}


def page(text: str, stored: dict[str, Any]) -> str:
    """Return the page with its table anew."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END, 1)
    return f"{before}{BEGIN}\n{generated(stored)}\n{END}{after}"


def generated(stored: dict[str, Any]) -> str:
    """Return what is generated of the page."""
    lines = [
        f"Simulated by `python tools/llm_cache.py --measure conversation_trace.jsonl` at commit "
        f"{stored['commit']}, of {stored['requests']:,} requests (SHA-256 of the file: "
        f"{stored['sha256'][:16]}…). TiB written are the cache's, not scaled; WA and years are of "
        "all writes.",
        "",
        "| trace | options | TiB written | blocks found on the SSD | trimmed "
        "| WA | WA, handles | years | years, handles |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(cells(one) for one in stored["rows"]),
    ]
    return "\n".join(lines) + "\n"


def cells(one: dict[str, Any]) -> str:
    """Return a row of the table."""
    blocks, done = one["blocks"], one["placements"].values()
    options = " ".join(TRACES[one["name"]]).replace("=", " ")
    found = [
        one["name"],
        f"`{options}`",
        f"{blocks['write'] * BLOCK / 2**40:.2f}",
        f"{blocks['read']:,}",
        f"{blocks.get('trim', 0):,}",
        *(f"{each['write_amplification']:.3f}" for each in done),
        *(f"{each['years']:.4f}" for each in done),
    ]
    return f"| {' | '.join(found)} |"


if __name__ == "__main__":
    main()
