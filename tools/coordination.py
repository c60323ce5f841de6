"""Which coordination of an array's collections wins where: layouts, loads, a drive that fails.

The plan is `examples/coordination/plan.toml`, the drives are those of `drives.toml` beside it.
Stored in `results.csv` there; docs/coordination.md is written from that:

    python tools/coordination.py --runs out/coordination --traces DIR   # half an hour of two cores
    python tools/coordination.py --page                                 # writes the page

A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
from commits import commit

from copyback.inputs.configuration import to_toml
from copyback.sweep.ratios import NoRatio, Ratio, ratio_of
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[1]
HOME = ROOT / "examples/coordination"
PLAN, DRIVES, STORED = HOME / "plan.toml", HOME / "drives.toml", HOME / "results.csv"
HEAD = Path(__file__).with_name("coordination_head.md")
PAGE = Path("docs/coordination.md")

#: Whether a drive fails in the middle.
HEALTHY, FAILING = "healthy", "a drive fails"

#: The scheme that the others are held against.
BASELINE = "uncoordinated"

#: What is compared: its column in `results.parquet`, and its name.
MEASURES = {
    "mean": ("response_us.all.mean", "Mean response time"),
    "p999": ("response_us.all.p99_9", "p99.9"),
}

#: What else is stored of a run.
BESIDE = {
    "erases": "flash.erases",
    "overloaded": "verdict.overload",
    "not_settled": "verdict.unsettled",
}


class Case(NamedTuple):
    """What schemes are compared under."""

    layout: str
    state: str
    load: str
    drives: str


class Row(NamedTuple):
    """A run: its case, its scheme, and numbers of `results.parquet` as text."""

    layout: str
    state: str
    load: str
    drives: str
    scheme: str
    seed: str
    mean: str
    p999: str
    erases: str
    overloaded: str
    not_settled: str
    commit: str

    @property
    def case(self) -> Case:
        """What its scheme is compared under."""
        return Case(self.layout, self.state, self.load, self.drives)


def main() -> int:
    """Run the plan, or write the page. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=Path, help="where the runs are kept")
    parser.add_argument("--traces", type=Path, help="where the traces are")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="write the page of what is stored")
    parser.add_argument("--to", type=Path, default=ROOT, help="directory of the page")
    given = parser.parse_args()
    if given.page:
        path = given.to / PAGE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(stored()), encoding="utf-8")
        return 0
    if given.runs is None or given.traces is None:
        parser.error("--runs DIR and --traces DIR are needed")
    rows = [row for sweep in sweeps() for row in sweep.run(given.runs, given.traces, given.jobs)]
    store(rows)
    return 0


# The runs ----------------------------------------------------------------------------------------


class Sweep(NamedTuple):
    """All schemes under one layout, load and state."""

    layout: str
    state: str
    load: str

    def run(self, runs: Path, traces: Path, jobs: int) -> Iterator[Row]:
        """Run it. Yields a row for each run."""
        home = runs / "-".join(self).replace(" ", "-")
        home.mkdir(parents=True, exist_ok=True)
        sweep = home / "sweep.toml"
        lines = [f"{key} = {to_toml(value)}\n" for key, value in self.file().items()]
        sweep.write_text("".join(lines), encoding="utf-8")
        command = [sys.executable, "-m", "copyback", "compare", "--sweep", str(sweep)]
        command += ["--traces", str(traces), "--jobs", str(jobs), "--out", str(home / "out")]
        subprocess.run(command, check=True)
        at = commit()
        for run in pl.read_parquet(home / "out/results.parquet").iter_rows(named=True):
            drives, _, scheme = run["scheme"].partition(": ")
            numbers = [run[key] for key, _ in MEASURES.values()]
            numbers += [run.get(key) or 0 for key in BESIDE.values()]
            told = [f"{number:.7g}" for number in numbers]
            yield Row._make([*self, drives, scheme, str(run["seed"]), *told, at])

    def file(self) -> dict[str, Any]:
        """Return the sweep file."""
        plan = tomllib.loads(PLAN.read_text(encoding="utf-8"))
        load = dict(plan["loads"][self.load])
        fails_at = load.pop("fails_at")
        failure = {
            "array.failures": {"type": "at", "drives": [{"drive": 1, "at": fails_at}]},
            "array.spares": 1,
            "array.rebuild": "throttled",
        }
        schemes = {
            f"{name}: {scheme}": drives | fitting(settings, self.layout)
            for (name, drives), (scheme, settings) in itertools.product(
                plan["drives"].items(), plan["schemes"].items()
            )
        }
        return {
            "config": str(DRIVES),
            "seeds": plan["seeds"],
            "baseline": {"scheme": f"on demand: {BASELINE}"},
            "set": plan["layouts"][self.layout] | (failure if self.state == FAILING else {}),
            "loads": {self.load: {"workload.beyond_device": "wrap"} | load},
            "schemes": schemes,
        }


def sweeps() -> list[Sweep]:
    """Return what is run."""
    plan = tomllib.loads(PLAN.read_text(encoding="utf-8"))
    return list(
        itertools.starmap(
            Sweep, itertools.product(plan["layouts"], (HEALTHY, FAILING), plan["loads"])
        )
    )


def fitting(settings: dict[str, Any], layout: str) -> dict[str, Any]:
    """Return a scheme's settings on a layout: mirrors have their own reads around collections.

    >>> fitting({"array.reads_around_gc": True}, "RAID-10")
    {'array.mirror_reads': 'around_collections'}
    """
    if layout != "RAID-10" or "array.reads_around_gc" not in settings:
        return settings
    rest = {key: value for key, value in settings.items() if key != "array.reads_around_gc"}
    return rest | {"array.mirror_reads": "around_collections"}


def stored() -> list[Row]:
    """Return what is stored."""
    if not STORED.exists():
        return []
    with STORED.open(encoding="utf-8", newline="") as file:
        return [Row._make(line) for line in list(csv.reader(file))[1:]]


def store(rows: Sequence[Row]) -> None:
    """Store the rows."""
    with STORED.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Row._fields)
        table.writerows(rows)


# The page ----------------------------------------------------------------------------------------


#: For each case and scheme the number of each seed.
Numbers = dict[Case, dict[str, dict[int, float]]]


def numbers(rows: Sequence[Row], measure: str) -> Numbers:
    """Return a measure of all runs."""
    found: Numbers = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        found[row.case][row.scheme][int(row.seed)] = float(getattr(row, measure))
    return found


def page(rows: Sequence[Row]) -> str:
    """Return the page of what is stored."""
    head = HEAD.read_text(encoding="utf-8").strip()
    told = {"answer": "\n".join(f"- {line}" for line in answer(rows)), "flaws": flaws(rows)}
    for name, text in told.items():
        head = head.replace(f"{{{{ {name} }}}}", text)
    parts = [head]
    for drives in dict.fromkeys(row.drives for row in rows):
        own = [row for row in rows if row.drives == drives]
        parts.append(f"## Drives that {KINDS[drives]}")
        for measure, (_, name) in MEASURES.items():
            parts += [
                f"{name}, uncoordinated, and the others as a change of it:",
                table(own, measure),
            ]
    commits = ", ".join(sorted({row.commit for row in rows}))
    parts.append(f"{len(rows):,} runs by `python tools/coordination.py` at commit {commits}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def against(cases: Iterable[Mapping[str, Mapping[int, float]]], scheme: str) -> Ratio:
    """Return a scheme's ratio to the uncoordinated array over some cases, seed by seed."""
    found = ratio_of([(schemes[scheme], schemes[BASELINE]) for schemes in cases])
    if isinstance(found, NoRatio):
        raise TypeError(f"{scheme} has no ratio: {found}")
    return found


def table(rows: Sequence[Row], measure: str) -> str:
    """Return the table of one kind of drives."""
    found = numbers(rows, measure)
    others = [name for name in next(iter(found.values())) if name != BASELINE]
    lines = [f"| layout | | load | {BASELINE} | {' | '.join(others)} |"]
    lines.append("| --- | --- | --- |" + " ---: |" * (1 + len(others)))
    for case, schemes in found.items():
        ratios = [against([schemes], name) for name in others]
        least = min(ratio.ratio for ratio in ratios)
        cells = [cell(ratio, ratio.ratio == least) for ratio in ratios]
        mean = sum(schemes[BASELINE].values()) / len(schemes[BASELINE])
        head = f"| {case.layout} | {case.state} | {case.load} | {units.time_us(mean)} |"
        lines.append(f"{head} {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(ratio: Ratio, is_least: bool) -> str:
    """Return a ratio as a change with its interval; the least is bold if it is a gain."""
    low, high = ratio.ends or ("", "")
    text = f"{ratio.marked} ({low} to {high})"
    return f"**{text}**" if is_least and gains(ratio) else text


def gains(ratio: Ratio) -> bool:
    """Whether the interval lies below 1."""
    return not ratio.may_be_one and ratio.ratio < 1


def answer(rows: Sequence[Row]) -> list[str]:
    """Return the page's first sentences."""
    lines = []
    for measure, (_, name) in MEASURES.items():
        for drives in dict.fromkeys(row.drives for row in rows):
            found = numbers([row for row in rows if row.drives == drives], measure)
            lines.append(f"{name}, drives that {KINDS[drives]}: {told(found)}")
    return lines


#: What the drives of each kind do.
KINDS = {"on demand": "serve nobody while they collect", "yielding": "yield while they collect"}


def told(found: Numbers) -> str:
    """Return each scheme's ratio over all cases, the least first, with its gains and losses."""
    names = [name for name in next(iter(found.values())) if name != BASELINE]
    overall = {name: against(found.values(), name) for name in names}
    parts = []
    for name in sorted(names, key=lambda name: overall[name].ratio):
        ratios = [against([schemes], name) for schemes in found.values()]
        better = sum(gains(ratio) for ratio in ratios)
        worse = sum(not ratio.may_be_one and ratio.ratio > 1 for ratio in ratios)
        parts.append(f"{name} {overall[name].text} (gains in {better}, loses in {worse})")
    return f"of {len(found)} cases, {'; '.join(parts)}."


def flaws(rows: Sequence[Row]) -> str:
    """Return how many runs are overloaded or not settled."""
    counts = [
        sum(float(row.overloaded) > 0 for row in rows),
        sum(float(row.not_settled) > 0 for row in rows),
    ]
    return f"Of {len(rows):,} runs {counts[0]:,} are overloaded and {counts[1]:,} not settled."


if __name__ == "__main__":
    sys.exit(main())
