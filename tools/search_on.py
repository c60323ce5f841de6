"""Search for bugs where the last search ended: fuzz targets, and a swarm of numbers not yet drawn.

    make search-on SECONDS_EACH=600          # some minutes for each target; hours are better
    python tools/search_on.py --page         # writes docs/searches.md from fuzz/ledger.csv

Each target goes on with the inputs that it has found (under target/fuzz/corpus; it begins with
those of fuzz/corpus), makes their number small again, and adds a row to fuzz/ledger.csv. What is
found is a test afterwards; the row says how many there were. The fuzzer needs a nightly toolchain
and cargo-fuzz.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from commits import commit

ROOT = Path(__file__).parents[1]
LEDGER = ROOT / "fuzz" / "ledger.csv"
PAGE = Path("docs/searches.md")
WORK = ROOT / "target" / "fuzz"
#: Readers, and what runs whole configurations.
READERS = ("trace", "config", "setting", "state")
RUNS = ("choices", "whole")
DRAWN, SWARM = "drawn", "swarm"
#: Searches that go through numbers, and what says to run one that is no usual test.
NUMBERED = {DRAWN: "whole_runs_of_drawn_bytes --ignored", SWARM: ""}
#: Numbers below are those of usual runs.
FIRST_NUMBER = 1_000_000
SWARM_RUNS, DRAWN_RUNS = 2_000, 20_000
TARGETS = [*READERS, *RUNS, DRAWN, SWARM]
#: Longer inputs say nothing new.
LONGEST = {"whole": 809, "choices": 408}


class Row(NamedTuple):
    """One search.

    Attributes
    ----------
    date, commit
        When, and of what.
    target
        A fuzz target, or the swarm.
    executions, seconds
        How much.
    coverage, corpus
        Edges that are covered, and inputs that cover them, at its end.
    counted
        Whole runs with a collection, a thousand pages of the host and two features.
    first_number
        Of what goes through numbers.
    findings
        Inputs that broke something.
    by_features
        Whole runs by how many features acted, from none on, apart by blanks.
    """

    date: str
    commit: str
    target: str
    executions: int
    seconds: int
    coverage: int | None
    corpus: int | None
    counted: int | None
    first_number: int | None
    findings: int
    by_features: str


def main() -> int:
    """Search, or write the page. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=600, help="of each fuzz target")
    parser.add_argument("--swarm", type=int, default=SWARM_RUNS, help="cases of the swarm")
    parser.add_argument("--drawn", type=int, default=DRAWN_RUNS, help="whole runs of drawn bytes")
    parser.add_argument("--only", choices=TARGETS, action="append")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--to", type=Path, default=ROOT, help="where the page goes")
    asked = parser.parse_args()
    if not asked.page:
        runs = {DRAWN: asked.drawn, SWARM: asked.swarm}
        chosen = asked.only or TARGETS
        if set(chosen) - set(runs) and (missing := what_is_missing()):
            print(f"no fuzz target can be built here: {missing}", file=sys.stderr)
            return 2
        for target in chosen:
            row = numbered(target, runs[target]) if target in runs else fuzz(target, asked.seconds)
            add(row)
            print(*row)
    page = asked.to / PAGE
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(written(known()), encoding="utf-8")
    return 0


def what_is_missing() -> str | None:
    """Return why there is no fuzzer here, if there is none."""
    for command in (["cargo", "+nightly", "--version"], ["cargo", "fuzz", "--version"]):
        if subprocess.run(command, check=False, capture_output=True).returncode != 0:
            return f"`{' '.join(command)}` fails"
    return None


def known() -> list[Row]:
    """Read the ledger."""
    if not LEDGER.exists():
        return []
    with LEDGER.open(newline="", encoding="utf-8") as file:
        return [row_of(line) for line in csv.DictReader(file)]


def row_of(line: dict[str, str]) -> Row:
    """Read a line of the ledger."""
    text = {"date", "commit", "target", "by_features"}
    values = {
        key: value if key in text else (int(value) if value else None)
        for key, value in line.items()
    }
    return Row(**values)  # type: ignore[arg-type]


def add(row: Row) -> None:
    """Add a row to the ledger."""
    is_new = not LEDGER.exists()
    with LEDGER.open("a", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        if is_new:
            table.writerow(Row._fields)
        table.writerow("" if value is None else value for value in row)


def fuzz(target: str, seconds: int) -> Row:
    """Let the fuzzer search on."""
    corpus, counts = WORK / "corpus" / target, emptied(target)
    artifacts = ROOT / "fuzz" / "artifacts" / target
    corpus.mkdir(parents=True, exist_ok=True)
    before = set(broken(artifacts))
    begun = time.monotonic()
    command = ["cargo", "+nightly", "fuzz", "run", *built(target), target, str(corpus)]
    command += [f"fuzz/corpus/{target}", "--", f"-max_total_time={seconds}"]
    command += ["-print_final_stats=1", "-timeout=60", "-rss_limit_mb=8192"]
    if target in LONGEST:
        command += [f"-max_len={LONGEST[target]}"]
    environment = {**os.environ, "COPYBACK_FUZZ_COUNTS": str(counts)}
    done = subprocess.run(
        command, check=False, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    )
    told = done.stderr
    findings = len(set(broken(artifacts)) - before)
    if done.returncode != 0 and not findings:
        raise SystemExit(told[-2000:])
    minimise(target, corpus)
    found = re.findall(r"cov: (\d+)", told)
    return Row(
        *now(),
        target,
        executions=number(r"stat::number_of_executed_units:\s*(\d+)", told),
        seconds=round(time.monotonic() - begun),
        coverage=int(found[-1]) if found else None,
        corpus=len(files(corpus)),
        counted=counted(counts),
        first_number=None,
        findings=findings,
        by_features=by_features(counts),
    )


def emptied(target: str) -> Path:
    """Return an empty folder for what a target counts."""
    counts = WORK / "counts" / target
    shutil.rmtree(counts, ignore_errors=True)
    counts.mkdir(parents=True)
    return counts


def built(target: str) -> list[str]:
    """Return how a target is built: with what helps it to find something.

    Our `unsafe` code is that of the memory of tables, which saved states fill with what they read.
    All other targets have none but that of well-kept libraries, and go through many times as many
    inputs without a sanitizer. What traces compare, nearly all of it single characters, took three
    quarters of the time, and their saved inputs have the words that it would find.
    """
    sanitizer = [] if target == "state" else ["--sanitizer=none"]
    return [*sanitizer, "--no-trace-compares"] if target == "trace" else sanitizer


def minimise(target: str, corpus: Path) -> None:
    """Keep only inputs that cover what no other one covers."""
    command = ["cargo", "+nightly", "fuzz", "cmin", *built(target), target, str(corpus)]
    subprocess.run(command, check=True, cwd=ROOT, stderr=subprocess.DEVNULL)


def told_by(folder: Path) -> list[dict[str, Any]]:
    """Return what each process has counted; a target writes that down as it goes."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]


def counted(folder: Path) -> int | None:
    """Return how many whole runs count, if that was written down."""
    told = told_by(folder)
    return sum(one["counted"] for one in told) if told else None


def by_features(folder: Path) -> str:
    """Return how many whole runs had how many features."""
    every = zip_longest(*(one["by_features"] for one in told_by(folder)), fillvalue=0)
    return " ".join(str(sum(numbers)) for numbers in every)


def numbered(target: str, runs: int) -> Row:
    """Examine cases whose numbers come after those of the last search of the target."""
    drawn = [
        row.first_number + row.executions
        for row in known()
        if row.target == target and row.first_number is not None
    ]
    first = max([FIRST_NUMBER, *drawn])
    counts = emptied(target)
    numbers = {"COPYBACK_SWARM_SEED": str(first), "COPYBACK_SWARM_RUNS": str(runs)}
    environment = {**os.environ, **numbers, "COPYBACK_FUZZ_COUNTS": str(counts)}
    begun = time.monotonic()
    command = ["make", "test-rust", f"ARGUMENTS=--test swarm -- {NUMBERED[target]}"]
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment)
    return Row(
        *now(),
        target,
        executions=runs,
        seconds=round(time.monotonic() - begun),
        coverage=None,
        corpus=None,
        counted=counted(counts),
        first_number=first,
        findings=int(done.returncode != 0),
        by_features=by_features(counts),
    )


def now() -> tuple[str, str]:
    """Return the date, and the commit that is searched."""
    return datetime.now(UTC).strftime("%Y-%m-%d"), commit()


def broken(folder: Path) -> list[Path]:
    """Return inputs that broke something; those that only take long break nothing."""
    return [path for path in files(folder) if not path.name.startswith("slow-unit-")]


def files(folder: Path) -> list[Path]:
    """Return the files of a folder, which may not be there."""
    return sorted(folder.iterdir()) if folder.exists() else []


def number(pattern: str, text: str) -> int:
    """Find a number in what the fuzzer says."""
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


HEAD = """# Searches for bugs that nobody thought of

Fuzzers and the swarm go on where they were the last time (`make search-on`, CONTRIBUTING.md). This
page says how far they have come. It is written from `fuzz/ledger.csv`, which has every search with
its commit.

| target | question |
| --- | --- |
| readers: `trace`, `config`, `setting`, `state` | a result or a clear refusal, whatever is read? |
| `choices` | bytes choose a drive: does it do what the [second model](second-opinion.md) does? |
| `whole` | bytes choose a drive or an array, faults, cuts: does the audited run break anything? |
| `drawn` | the same of random bytes |
| `swarm` | the same of random numbers, each run several times (saved, interrupted, looked at) |

A whole run counts if it had at least one collection, a thousand pages of the host, and two of the
[features](pairs.md) at work. An execution of `trace` reads its input in one of eight ways; in its
first two searches it read it in all of them.
"""

FEATURES_A_ROW = 5
FEATURES = """
Whole runs by how many of the features were at work (the fuzzer writes that down every 64 runs):
"""


def written(rows: list[Row]) -> str:
    """Return the page."""
    lines = [HEAD]
    head = ["target", "searches", "executions", "of them counted", "hours", "edges", "inputs"]
    lines.append("| " + " | ".join([*head, "found"]) + " |")
    lines.append("| --- |" + " ---: |" * len(head))
    searches = {target: [row for row in rows if row.target == target] for target in TARGETS}
    lines += ["| " + " | ".join(line(target, of)) + " |" for target, of in searches.items() if of]
    lines += [FEATURES, *distribution(rows)]
    return "\n".join(lines) + "\n"


def distribution(rows: list[Row]) -> list[str]:
    """Return a table of how many features acted in whole runs."""
    told = [list(map(int, row.by_features.split())) for row in rows]
    numbers = [sum(some) for some in zip_longest(*told, fillvalue=0)]
    table = ["| features at work | whole runs | share |", "| ---: | ---: | ---: |"]
    for least in range(0, len(numbers), FEATURES_A_ROW):
        runs = sum(numbers[least : least + FEATURES_A_ROW])
        most = min(least + FEATURES_A_ROW, len(numbers)) - 1
        some = f"{least}" if least == most else f"{least} to {most}"
        table.append(f"| {some} | {runs:,} | {runs / sum(numbers):.1%} |")
    return table


def line(target: str, rows: list[Row]) -> list[str]:
    """Return what all searches of a target have come to."""
    last = rows[-1]
    counts = [row.counted for row in rows if row.counted is not None]
    return [
        f"`{target}`",
        str(len(rows)),
        f"{sum(row.executions for row in rows):,}",
        f"{sum(counts):,}" if counts else "",
        f"{sum(row.seconds for row in rows) / 3600:.1f}",
        "" if last.coverage is None else f"{last.coverage:,}",
        "" if last.corpus is None else f"{last.corpus:,}",
        str(sum(row.findings for row in rows)),
    ]


if __name__ == "__main__":
    sys.exit(main())
