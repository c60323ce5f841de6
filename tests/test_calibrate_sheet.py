"""Keys from a data sheet: rates and latencies, each under the load that it means."""

from __future__ import annotations

import inspect
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.calibration.search.bench import Bench
from copyback.calibration.search.kept import EVALUATIONS
from copyback.calibration.search.known import Verdict
from copyback.calibration.sheet import table
from copyback.calibration.sheet.figures import FIGURES, State
from copyback.calibration.sheet.judge import Cell, Group
from copyback.calibration.sheet.loads import Drive, SheetLoads
from copyback.calibration.sheet.study import Request, prepare, study
from copyback.commands.init import init
from copyback.inputs import configuration
from copyback.simulation.prepared import Folder
from copyback.sweep.where import Where
from test_calibrate_load import drive

if TYPE_CHECKING:
    from conftest import RunCli
    from copyback.calibration.sheet.result import SheetCalibration

ROOT = Path(__file__).parents[1]
DRIVES = ROOT / "packages/papers/copyback_papers/experiments/drives"

#: Names that the rows of the shipped sheet have where they are published, in their order.
SHIPPED = (
    "sequential reads, 128 KiB, depth 32",
    "sequential writes, 128 KiB, depth 32",
    "random reads, 4 KiB, depth 32",
    "random writes, 4 KiB, depth 32, steady",
    "random read, 4 KiB, depth 1, typical",
    "random write, 4 KiB, depth 1, typical",
    "sequential read, 4 KiB, depth 1, typical",
    "sequential write, 4 KiB, depth 1, typical",
    "random reads, 8 KiB, depth 32",
    "random writes, 8 KiB, depth 32, steady",
)

#: Hidden values of the drive, and where they are sought.
HIDDEN = {"ssd.timing.read": 60e3, "ssd.timing.program": 400e3, "host.command_overhead": 9e3}
FIT = (
    "ssd.timing.read=20us..200us",
    "ssd.timing.program=100us..2ms",
    "host.command_overhead=1us..40us",
)

#: Loads by which the sheet is measured: read share, sequential share, size, iodepth, overwrites.
LOADS = {
    "sequential-read": (1.0, 1.0, "128KiB", 32, 0.0),
    "sequential-write": (0.0, 1.0, "128KiB", 32, 0.0),
    "random-read": (1.0, 0.0, "4KiB", 128, 0.0),
    "random-write": (0.0, 0.0, "4KiB", 128, 1.0),
    "mixed": (0.7, 0.0, "4KiB", 128, 1.0),
    "read-latency": (1.0, 0.0, "4KiB", 1, 0.0),
    "write-latency": (0.0, 0.0, "4KiB", 1, 1.0),
}


def published(name: str) -> str:
    """Return what a drive with the hidden values gives under a load, as its maker would print."""
    reads, sequential, size, iodepth, overwrites = LOADS[name]
    load = {
        "type": "synthetic",
        "request_size": size,
        "read_share": reads,
        "sequential_share": sequential,
        "iodepth": iodepth,
        "requests": 1_000 if sequential else 10_000,
    }
    hidden: dict[str, Any] = {
        key.replace(".", "__"): f"{value:.0f}ns" for key, value in HIDDEN.items()
    }
    prepared = {"fill": 1.0, "overwrites": overwrites}
    base = drive() | {"seed": 8, "workload": load, "precondition": prepared}
    found = copyback.run(base, **hidden).summary
    if name.endswith("latency"):
        return f"{found['response_us']['all']['mean']:.3g}us"
    if sequential:
        return f"{found['throughput']['mib_per_s'] * 2**20 / 1e6:.3g}MB/s"
    return f"{float(format(found['throughput']['iops'], '.3g')):,.0f} IOPS"


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sheet") / "sheet.toml"
    lines = [f'{name} = "{published(name)}"' for name in LOADS]
    path.write_text("\n".join(['source = "a drive of ours"', *lines, ""]))
    return path


def fit(sheet: Path, directory: Path | None = None, **changes: Any) -> SheetCalibration:
    asked: dict[str, Any] = {"fit": FIT, "budget": 40, "where": Where(1), "quiet": True} | changes
    request = Request(config=configuration.load(drive()), sheet=sheet, **asked)
    return study(prepare(request), directory)


@pytest.fixture(scope="module")
def found(sheet: Path) -> SheetCalibration:
    return fit(sheet, use=("read-latency", "random-write", "write-latency", "random-read"))


def test_hidden_values_are_found(found: SheetCalibration) -> None:
    for fitted in found.fitted:
        low, high = fitted.interval
        assert low <= HIDDEN[fitted.span.key] <= high, fitted
        assert fitted.value == pytest.approx(HIDDEN[fitted.span.key], rel=0.1)
    verdicts = [fitted.verdict for fitted in found.fitted]
    # So small a part of a latency is rounded away in a sheet of three digits.
    assert verdicts == [Verdict.FOUND, Verdict.FOUND, Verdict.WIDE]
    assert found.loss < 0.01


def test_rows_that_were_not_fitted_are_predicted(found: SheetCalibration) -> None:
    groups = {group.name: group for group in found.groups}
    assert [len(groups[name].cells) for name in ("fitted", "predicted")] == [4, 3]
    assert groups["predicted"].near == [3, 3, 3]


def test_what_the_rows_do_not_say_is_said(sheet: Path) -> None:
    # Each write is charged for a program and its part of an erase.
    both = ("ssd.timing.program=100us..2ms", "ssd.timing.erase=300us..10ms")
    of_writes = ("random-write", "sequential-write", "write-latency")
    fitted = fit(sheet, fit=both, use=of_writes, budget=12).fitted
    assert [one.words for one in fitted] == [
        "only together with ssd.timing.erase",
        "only together with ssd.timing.program",
    ]
    of_reads = ("random-read", "read-latency")
    read, program = fit(sheet, fit=FIT[:2], use=of_reads, budget=12).fitted
    assert read.verdict is Verdict.FOUND
    assert program.verdict is Verdict.NO_EFFECT
    assert program.interval == (100e3, 2e6)
    [outside] = fit(sheet, fit=("ssd.timing.read=80us..200us",), use=of_reads, budget=10).fitted
    assert outside.verdict is Verdict.AT_END


def test_a_row_at_iodepth_1_is_one_over_its_latency(tmp_path: Path) -> None:
    path = tmp_path / "sheet.toml"
    pairs = {"random-read": "read-latency", "random-write": "write-latency"}
    lines = [f'{latency} = "100us"' for latency in pairs.values()]
    lines += [f"{name} = {{ value = 10_000, iodepth = 1 }}" for name in pairs]
    path.write_text("\n".join(lines))
    config = configuration.load(drive())
    found = table.read(path)
    loads = SheetLoads(found, Drive.of(config))
    bench = Bench(config, loads)
    for name, latency in pairs.items():
        rate = bench.simulate((), name, Folder(tmp_path))[loads.metric(found.at(name))]
        time = bench.simulate((), latency, Folder(tmp_path))[loads.metric(found.at(latency))]
        assert rate == pytest.approx(1e6 / time, rel=0.01)


def test_the_same_seed_gives_the_same_bytes_whatever_jobs_and_kills(
    sheet: Path, tmp_path: Path
) -> None:
    whole, continued = tmp_path / "whole", tmp_path / "continued"
    asked: dict[str, Any] = {"use": ("read-latency", "random-read"), "fit": FIT[:2], "budget": 12}
    first = fit(sheet, whole, **asked)
    text = (whole / EVALUATIONS).read_bytes()
    lines = text.splitlines(keepends=True)
    continued.mkdir()
    (continued / EVALUATIONS).write_bytes(b"".join(lines[:8]) + lines[8][:20])
    second = fit(sheet, continued, **asked, where=Where(2))
    assert (continued / EVALUATIONS).read_bytes() == text
    assert second.to_json() == first.to_json()
    fit(sheet, whole, **asked)
    assert (whole / EVALUATIONS).read_bytes() == text
    with pytest.raises(copyback.InputError, match=":1: found a search with another use"):
        fit(sheet, whole, **asked | {"use": ("random-read",)})


def test_the_command_leaves_a_configuration_and_a_page(
    sheet: Path, tmp_path: Path, cli: RunCli
) -> None:
    config = tmp_path / "drive.toml"
    config.write_text(configuration.load(drive()).to_toml())
    odd = tmp_path / "<b>.toml"
    odd.write_bytes(sheet.read_bytes())
    out = tmp_path / "out"
    given: list[str | Path] = ["--sheet", odd, "--fit", FIT[0], "--budget", "10"]
    given += ["--use", "random-read", "--use", "read-latency", "--jobs", "1", "--out", out]
    told = cli("calibrate", config, *given, "--quiet")
    assert "random with 70 % reads, 4 KiB, iodepth 128, steady" in told.stdout
    names = {"evaluations.jsonl", "fitted.toml", "sheet.json", "report.html"}
    assert {path.name for path in out.iterdir()} == names
    stored = json.loads((out / "sheet.json").read_text())
    assert stored["used_rows"] == ["random-read", "read-latency"]
    assert stored["source"] == "a drive of ours"
    page = (out / "report.html").read_text()
    assert "&lt;b&gt;.toml" in page
    assert "<b>.toml" not in page
    cli("run", out / "fitted.toml", "--quiet")
    again = cli("calibrate", config, *given, "--json")
    assert json.loads(again.stdout) == stored


def test_python_has_the_same_as_the_command(sheet: Path, tmp_path: Path) -> None:
    ranges = dict(text.split("=") for text in FIT[:1])
    asked: dict[str, Any] = {"use": ["random-read"], "budget": 10, "jobs": 1}
    out = tmp_path / "out"
    found = copyback.calibrate_sheet(drive(), sheet=sheet, fit=ranges, out=out, **asked)
    same = fit(sheet, fit=FIT[:1], use=("random-read",), budget=10)
    assert found.to_json() == same.to_json()
    assert (out / "sheet.json").read_text() == found.to_json()
    assert (out / "fitted.toml").read_text() == found.config_toml
    with pytest.raises(copyback.InputError, match=r"calibrate_sheet\(\): sheet: found 5 \(int\)"):
        copyback.calibrate_sheet(drive(), sheet=5)  # type: ignore[arg-type]


def test_figures_are_named_as_the_options_of_init() -> None:
    options = {name.replace("_", "-") for name in inspect.signature(init).parameters}
    own = {"mixed", "sequential-read-latency", "sequential-write-latency"}
    assert set(FIGURES) - options == own


def test_a_row_overrides_the_load_of_its_figure(tmp_path: Path) -> None:
    path = tmp_path / "sheet.toml"
    path.write_text(
        "[deep]\n"
        'figure = "random-read"\nvalue = 1_000\niodepth = 7\nrequest_size = "8KiB"\n'
        "[tail]\n"
        'figure = "read-latency"\nvalue = "3ms"\nread_share = 0.7\nstatistic = "p99_99"\n'
        'state = "steady"\n'
    )
    found = table.read(path)
    loads = SheetLoads(found, Drive.of(configuration.load(drive())))
    deep, tail = (loads.workload(row) for row in found.rows)
    assert (deep["iodepth"], deep["request_size"], deep["read_share"]) == (7, "8192B", 1.0)
    assert (tail["iodepth"], tail["read_share"]) == (1, 0.7)
    # 20 of 200,000 requests are beyond the percentile: one at a time, each 3 ms.
    assert loads.seconds(found.at("tail"))[1] == pytest.approx(200_000 * 3e-3)
    assert loads.metric(found.at("tail")) == "read_p99_99"
    assert ("precondition.overwrites", "1.0") in loads.setting("tail")
    assert ("precondition.overwrites", "0.0") in loads.setting("deep")


def test_an_slc_cache_takes_sequential_writes_of_an_empty_drive(tmp_path: Path) -> None:
    path = tmp_path / "sheet.toml"
    path.write_text(
        'sequential-write = "3GB/s"\nsustained-write = "900MB/s"\nrandom-write = 1000\n'
    )
    found = table.read(path)
    loads = SheetLoads(found, Drive.of(configuration.load(None, preset="samsung-970-evo-plus")))
    states = [loads.state(row) for row in found.rows]
    assert states == [State.EMPTY, State.EMPTY, State.STEADY]
    # 32 planes, 164 blocks, 96 / 3 pages of 16 KiB.
    cache = 32 * 164 * 32 * 16384
    into, past = (loads.seconds(row) for row in found.rows[:2])
    assert sum(into) * 3e9 < cache
    assert past[0] * 900e6 == pytest.approx(1.5 * cache)


def test_rows_are_counted_by_how_far_they_are_off(tmp_path: Path) -> None:
    path = tmp_path / "sheet.toml"
    path.write_text("random-read = 100\n")
    row = table.read(path).rows[0]
    values = (104.0, 109.0, 91.0, 80.0, 76.0, None)
    cells = [Cell(row, 1, "filled", value, is_fitted=True) for value in values]
    assert Group("fitted", cells).near == [1, 3, 4]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", ": found no row; allowed: one or more of sequential-read, "),
        ("random-read = 72K", ":1:15: found 72K without quotes"),
        ('random-raed = "72K"', ": random-raed: no figure of a sheet; did you mean random-read?"),
        ('random-read = "72MB/s"', ": random-read: found '72MB/s'; allowed: requests a second"),
        ("random-read = true", ": random-read: found True; allowed: a text such as "),
        ("read-latency = 110", ": read-latency: found 110; allowed: a text such as "),
        ('[random-read]\nvalue = "1K"\niodepth = 0', ": random-read.iodepth: "),
        ('[random-read]\nvalue = "1K"\nqd = 3', ": random-read.qd: unknown key; allowed: value,"),
        ("[random-read]\niodepth = 3", ": random-read.value: missing; "),
        ('[x]\nfigure = "y"\nvalue = "1K"', ": x.figure: found 'y'; allowed: sequential-read"),
        ("[mixed]\nvalue = 1\nread_share = 1.0", ": mixed.read_share: found 1; allowed: a share"),
        ("[random-read]\nvalue = 1\nread_share = 0.5", ".read_share: found 0.5; allowed: beside"),
        ('[mixed]\nvalue = 1\nstatistic = "p99"', ".statistic: found 'p99'; allowed: only of a"),
        (
            '[read-latency]\nvalue = "1ms"\nstatistic = "p98"',
            ".statistic: found 'p98'; allowed: mean, p50",
        ),
        ('[random-read]\nvalue = 1\nstate = "empty"', ".state: found 'empty'; allowed: filled,"),
        ('[random-read]\nvalue = 1\nrequest_size = "1B"', ".request_size: found '1B'; allowed: a"),
        ('[random-read]\nvalue = 1\nrequest_size = "1GiB"', ".request_size: found 1 GiB; allowed"),
        ("source = 1\nrandom-read = 1", ": source: found 1; allowed: a text"),
    ],
)
def test_a_sheet_that_makes_no_sense_is_refused_with_its_place(
    tmp_path: Path, content: str, fault: str
) -> None:
    path = tmp_path / "sheet.toml"
    path.write_text(content)
    with pytest.raises(copyback.InputError, match=r"sheet\.toml") as found:
        prepare(Request(config=configuration.load(drive()), sheet=path))
    assert fault in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("row", ["random-read = 3", 'read-latency = "10s"'])
def test_a_figure_in_another_unit_ends_in_a_line_and_not_in_hours(tmp_path: Path, row: str) -> None:
    path = tmp_path / "sheet.toml"
    path.write_text(row)
    fault = r"sheet\.toml: .*: found .*; the drive of the configuration is over 100 times as fast"
    with pytest.raises(copyback.InputError, match=fault):
        copyback.calibrate_sheet(drive(), sheet=path, budget=10)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--sheet", "FILE", "--load", "FILE"], "--load: found beside --sheet; allowed: one of"),
        (["--sheet", "FILE", "--seconds", "3"], "--seconds: found beside --sheet; allowed: one of"),
        (["--sheet", "absent.toml"], "absent.toml: "),
        (["--sheet", "FILE", "--use", "x"], "--use: found x; allowed: a row of the sheet: "),
        (["--load", "FILE", "--use", "x"], "--use: found x; allowed with --load: a rate of the"),
        (["--sheet", "FILE", "--fit", "ssd.timing.read=9us..3us"], "allowed: a low end below the"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    sheet: Path, tiny_toml: Path, cli: RunCli, options: list[str], fault: str
) -> None:
    given = [str(sheet) if option == "FILE" else option for option in options]
    told = cli("calibrate", tiny_toml, *given, status=2)
    assert fault in told.stderr
    assert len(told.stderr.splitlines()) == 1


def test_the_shipped_sheet_is_what_is_published() -> None:
    shipped = table.read(ROOT / "examples/intel-s4500-sheet.toml")
    stored = tomllib.loads((DRIVES / "intel-s4500.toml").read_text(encoding="utf-8"))
    published = {one["name"].removeprefix("S4500: "): one["published"] for one in stored["row"]}
    assert [row.published for row in shipped.rows] == [published[name] for name in SHIPPED]
    assert stored["source"].partition("](")[2].rstrip(")") in shipped.source
