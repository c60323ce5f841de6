"""Keys from a load curve: percentiles of latency at offered rates."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.calibration.load import judge, sources, table
from copyback.calibration.load.aim import CurveAim
from copyback.calibration.load.study import Request, prepare, study
from copyback.calibration.load.workload import Load, Settling
from copyback.calibration.search.aim import MOST
from copyback.calibration.search.bench import Bench
from copyback.calibration.search.kept import EVALUATIONS, Evaluation
from copyback.calibration.search.known import Verdict
from copyback.calibration.search.span import Kind, spans
from copyback.fio.results import write_fio_json
from copyback.fio.workload import read_job_file
from copyback.inputs import configuration
from copyback.simulation.prepared import Folder
from copyback.sweep.where import Where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conftest import RunCli
    from copyback.calibration.load.result import LoadCalibration

#: Hidden values of the drive, and where they are sought.
HIDDEN = {"ssd.timing.read": 60e3, "ssd.timing.program": 400e3, "host.command_overhead": 9e3}
FIT = (
    "ssd.timing.read=20us..200us",
    "ssd.timing.program=100us..2ms",
    "host.command_overhead=1us..40us",
)
RATES = (400.0, 800.0, 1200.0, 1600.0)
COLUMNS = ("read_p50", "read_p99", "read_p99_9", "write_p50", "write_p99")
SECONDS = 0.5


def drive(**workload: Any) -> dict[str, Any]:
    """Return a small drive, not with the hidden values."""
    return {
        "seed": 3,
        "ssd": {
            "geometry": {
                "channels": 1,
                "chips_per_channel": 2,
                "dies_per_chip": 1,
                "planes_per_die": 1,
                "blocks_per_plane": 64,
                "pages_per_block": 16,
                "page_size": "4KiB",
            },
            "timing": {"read": "100us", "program": "1ms", "erase": "1ms"},
            "ftl": {"over_provisioning": 0.3},
        },
        "host": {"command_overhead": "2us"},
        "precondition": {"fill": 1.0, "overwrites": 1.0},
        "workload": {
            "type": "synthetic",
            "request_size": "4KiB",
            "read_share": 0.5,
            "sequential_share": 0.0,
            "requests": 1000,
            "inter_arrival": {"type": "exponential", "mean": "1ms"},
        }
        | workload,
    }


def flow(share: float, gap: Any, **changes: Any) -> dict[str, Any]:
    return {
        "type": "synthetic",
        "request_size": "4KiB",
        "read_share": share,
        "iodepth": 8,
        "requests": 100,
        "rate": {"type": "requests", "gap": gap},
    } | changes


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        made = csv.DictWriter(file, names, restval="")
        made.writeheader()
        made.writerows(rows)
    return path


def measured(path: Path) -> Path:
    """Write the load curve of the drive with the hidden values, under another seed."""
    config = configuration.load(drive(), settings=[("seed", "8")])
    load = Load(configuration.resolved(config)["workload"], 4 * SECONDS)
    own = [(key, f'"{value:.0f}ns"') for key, value in HIDDEN.items()]
    rows = []
    for rate in RATES:
        numbers = Bench(config, load).simulate(own, rate, Folder(path.parent))
        rows.append({"rate": rate, **{name: numbers[name] for name in COLUMNS}})
        rows[-1] |= {"writes_per_s": rate / 2, "reads_per_s": rate / 2}
    return write(path, rows)


def test_free_space_settles_before_anything_is_measured() -> None:
    # Half of the requests write 4 KiB: 2,048 bytes each. 8 MiB are 4,096 of them.
    workload = configuration.resolved(configuration.load(drive()))["workload"]
    load = Load(workload, 3.0, Settling(written=8 << 20, most=2048.0))
    times = {
        rate: tuple(load.at(rate)["flows"][0][key] for key in ("ramp", "duration"))
        for rate in (1024.0, 2048.0, 8192.0)
    }
    assert times[1024.0] == ("4000000000ns", "7000000000ns")
    assert times[2048.0] == times[8192.0] == ("2000000000ns", "5000000000ns")
    # Or so long as is said.
    said = Load(workload, 3.0, Settling(written=8 << 20, ramp=1.5)).at(1024.0)["flows"][0]
    assert (said["ramp"], said["duration"]) == ("1500000000ns", "4500000000ns")
    # What reads alone settles nothing.
    reads = Load({**workload, "read_share": 1.0}, 3.0, Settling(written=8 << 20))
    assert reads.at(1024.0)["flows"][0]["ramp"] == "300000000ns"


@pytest.fixture(scope="module")
def curve(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("load") / "curve.csv")


def fit(curve: Path, directory: Path | None = None, **changes: Any) -> LoadCalibration:
    asked: dict[str, Any] = {
        "fit": FIT,
        "seconds": SECONDS,
        "budget": 40,
        "where": Where(1),
        "quiet": True,
    } | changes
    request = Request(config=configuration.load(drive()), table=curve, **asked)
    return study(prepare(request), directory)


@pytest.fixture(scope="module")
def found(curve: Path) -> LoadCalibration:
    return fit(curve, seconds=4 * SECONDS)


def test_hidden_values_are_found(found: LoadCalibration) -> None:
    for fitted in found.fitted:
        hidden = HIDDEN[fitted.span.key]
        low, high = fitted.interval
        is_near = fitted.value == pytest.approx(hidden, rel=0.1)
        assert is_near or low <= hidden <= high, fitted
        assert fitted.verdict is not Verdict.AT_END
    assert found.loss < 0.1


def test_rates_that_were_not_fitted_are_predicted(found: LoadCalibration) -> None:
    assert found.aim.rates == (400.0, 800.0)
    groups = {group.name: group for group in found.groups}
    predicted = groups["predicted"]
    assert len(predicted.cells) == 2 * len(COLUMNS)
    assert predicted.right == len(predicted.cells), [one.to_dict() for one in predicted.cells]


def test_what_cannot_be_known_is_said(curve: Path) -> None:
    # Nothing is erased while so few pages are written.
    asked = ("ssd.timing.program=100us..2ms", "ssd.gc.soft_threshold.blocks=2..9")
    [program, blocks] = fit(curve, fit=asked, budget=24).fitted
    assert program.verdict is Verdict.FOUND
    assert blocks.span.kind is Kind.WHOLE
    assert blocks.value == int(blocks.value)


def test_a_value_outside_the_range_is_at_its_end(curve: Path) -> None:
    asked = ("ssd.timing.program=1ms..3ms",)
    [program] = fit(curve, fit=asked, budget=12).fitted
    assert program.verdict is Verdict.AT_END


def test_the_same_seed_gives_the_same_bytes_whatever_jobs_and_kills(
    curve: Path, tmp_path: Path
) -> None:
    whole, continued = tmp_path / "whole", tmp_path / "continued"
    first = fit(curve, whole, budget=16)
    text = (whole / EVALUATIONS).read_bytes()
    lines = text.splitlines(keepends=True)
    assert len(lines) == 1 + 16
    continued.mkdir()
    (continued / EVALUATIONS).write_bytes(b"".join(lines[:8]) + lines[8][:20])
    second = fit(curve, continued, budget=16, where=Where(2))
    assert (continued / EVALUATIONS).read_bytes() == text
    assert second.to_json() == first.to_json()
    third = fit(curve, whole, budget=16)
    assert (whole / EVALUATIONS).read_bytes() == text
    assert third.to_json() == first.to_json()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"budget": 17}, ":1: found a search with another budget"),
        ({"use": (400.0,)}, ":1: found a search with another use"),
    ],
)
def test_evaluations_of_another_search_are_refused(
    curve: Path, tmp_path: Path, changes: dict[str, Any], fault: str
) -> None:
    fit(curve, tmp_path, budget=10, fit=FIT[:1])
    with pytest.raises(copyback.InputError, match=fault):
        fit(curve, tmp_path, **{"budget": 10, "fit": FIT[:1], **changes})


def test_a_line_that_is_no_evaluation_is_refused(curve: Path, tmp_path: Path) -> None:
    (tmp_path / EVALUATIONS).write_text("{}\n")
    with pytest.raises(copyback.InputError, match=r"evaluations\.jsonl:1: found no evaluation"):
        fit(curve, tmp_path, budget=10)


def test_values_that_cannot_be_simulated_are_passed_over(curve: Path) -> None:
    # Little spare has no room for so many free blocks, although each end is a configuration.
    asked = ("ssd.ftl.over_provisioning=0.1..0.5", "ssd.gc.soft_threshold.blocks=2..14")
    found = fit(curve, fit=asked, budget=24)
    failed = [one for one in found.evaluations if one.found is None]
    assert 0 < len(failed) < 24
    assert [one.loss for one in failed] == [pytest.approx(MOST)] * len(failed)
    assert all("allowed: " in one.fault for one in failed)


def test_the_command_leaves_a_configuration_and_a_page(
    curve: Path, tmp_path: Path, cli: RunCli
) -> None:
    config = tmp_path / "drive.toml"
    config.write_text(configuration.load(drive()).to_toml())
    odd = tmp_path / "<b>.csv"
    odd.write_bytes(curve.read_bytes())
    out = tmp_path / "out"
    asked = [option for key in FIT for option in ("--fit", key)]
    given: list[str | Path] = [
        "--load",
        odd,
        *asked,
        "--seconds",
        "0.2",
        "--budget",
        "10",
        "--saturation",
        "900",
    ]
    told = cli("calibrate", config, *given, "--out", out, "--quiet", "--jobs", "1")
    assert "ssd.timing.read" in told.stdout
    assert "for 900 writes a second, given and fitted" in told.stdout
    names = {"evaluations.jsonl", "fitted.toml", "load.json", "report.html"}
    assert {path.name for path in out.iterdir()} == names
    stored = json.loads((out / "load.json").read_text())
    assert stored["evaluations"] == 10
    page = (out / "report.html").read_text()
    assert "&lt;b&gt;.csv" in page
    assert "<b>.csv" not in page
    cli("run", out / "fitted.toml", "--quiet")
    again = cli("calibrate", config, *given, "--out", out, "--json", "--jobs", "1")
    assert json.loads(again.stdout) == stored


def test_python_has_the_same_as_the_command(curve: Path, tmp_path: Path) -> None:
    ranges = dict(text.split("=") for text in FIT)
    asked: dict[str, Any] = {"seconds": SECONDS, "budget": 10, "jobs": 1}
    found = copyback.calibrate_load(drive(), curve=curve, fit=ranges, out=tmp_path / "out", **asked)
    assert found.to_json() == fit(curve, budget=10).to_json()
    assert (tmp_path / "out/load.json").read_text() == found.to_json()
    assert (tmp_path / "out/fitted.toml").read_text() == found.config_toml
    with pytest.raises(copyback.InputError, match=r"calibrate_load\(\): curve: found 5 \(int\)"):
        copyback.calibrate_load(drive(), curve=5)  # type: ignore[arg-type]


def test_a_range_has_the_kind_of_its_ends() -> None:
    asked = {
        "ssd.timing.read=20us..80us": (Kind.TIME, 20e3, 80e3),
        "ssd.buffer.capacity=128KiB..4MiB": (Kind.SIZE, 131072, 4194304),
        "ssd.timing.transfer_rate=100MB/s..1GB/s": (Kind.RATE, 1e8, 1e9),
        "ssd.ftl.over_provisioning=0.1..0.3": (Kind.NUMBER, 0.1, 0.3),
        "host.queue_depth=1..64": (Kind.WHOLE, 1, 64),
        "ssd.timing.program": (Kind.TIME, 50e3, 5e6),
    }
    found = spans(configuration.load(drive()), list(asked))
    assert [(one.kind, one.least, one.most) for one in found] == list(asked.values())
    for one in found:
        assert one.value(0.0) == one.least
        assert one.value(1.0) == one.most
        assert one.place(one.value(0.5)) == pytest.approx(0.5, abs=0.02)
    assert found[0].value(0.5) == pytest.approx(40e3, rel=1e-3)


def test_times_by_type_of_page_keep_their_ratios() -> None:
    slow = drive() | {"ssd": {"timing": {"program": ["200us", "600us"]}}}
    [one] = spans(configuration.load(slow), ["ssd.timing.program=100us..1ms"])
    assert one.setting(800e3) == ("ssd.timing.program", '["400000ns", "1200000ns"]')
    assert one.start(configuration.resolved(configuration.load(slow))) == 400e3


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        (["ssd.timing.raed=1us..2us"], '--fit ssd.timing.raed: unknown key; did you mean "read"'),
        (["ssd.gc.victim"], "--fit ssd.gc.victim: has no range; allowed: ssd.gc.victim=LOW..HIGH"),
        (["ssd.timing.read=80us..20us"], "found 80us to 20us; allowed: a low end below the high"),
        (["ssd.timing.read=20us"], "found '20us'; allowed: LOW..HIGH, such as 20us..80us"),
        (["ssd.timing.read=20us..4KiB"], "found 20us and 4KiB; allowed: two times, sizes"),
        (["ssd.timing.read=4KiB..8KiB"], "--fit ssd.timing.read: found"),
        (["ssd.timing.read", "ssd.timing.read=1us..2us"], "--fit ssd.timing.read: is named twice"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(asked: list[str], fault: str) -> None:
    with pytest.raises(copyback.InputError) as found:
        spans(configuration.load(drive()), asked)
    assert fault in str(found.value)
    assert "\n" not in str(found.value)


ROW: dict[str, object] = {"rate": 100, "pass": 0, "read_p50": 80}


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([{"pass": 0, "read_p50": 80}], ":1: found no column rate"),
        ([{"rate": 100}], ":1: found no latencies"),
        ([ROW | {"read_p999": 1}], ":1: found column 'read_p999'; allowed: read_p50, "),
        ([ROW | {"read_p50": "fast"}], ":2: read_p50: found 'fast'; allowed: a number above 0"),
        ([ROW | {"read_p50": "nan"}], ":2: read_p50: found 'nan'; allowed: a number above 0"),
        ([ROW, ROW | {"rate": -1}], ":3: rate: found '-1'; allowed: a number above 0"),
        ([ROW | {"writes_per_s": 9}], ":2: reads_per_s: found ''; allowed: a number beside"),
        ([ROW | {"read_p50": ""}], ":2: found no latency"),
        ([ROW, ROW], ":3: pass: found '0' twice at a rate; allowed: once a rate"),
        ([], ""),
    ],
)
def test_a_damaged_table_is_refused_with_its_place(
    tmp_path: Path, rows: list[dict[str, object]], fault: str
) -> None:
    path = write(tmp_path / "curve.csv", rows)
    with pytest.raises(copyback.InputError, match=r"curve\.csv") as found:
        sources.read(path)
    assert fault in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("workload", "fault"),
    [
        ({"read_share": 0.0}, ":2: read_p50: found a latency, and flow 0 of the workload has no"),
        (
            {"inter_arrival": {"type": "histogram", "times": ["1us"], "weights": [1.0]}},
            "workload: found no steady rate",
        ),
    ],
)
def test_a_workload_that_cannot_have_the_rates_is_refused(
    tmp_path: Path, workload: dict[str, Any], fault: str
) -> None:
    path = write(tmp_path / "curve.csv", [ROW])
    config = configuration.load(drive(**workload))
    with pytest.raises(copyback.InputError, match=fault):
        prepare(Request(config=config, table=path))


def test_the_probe_keeps_its_rate_and_the_others_share_the_rest(tmp_path: Path) -> None:
    exponential = {"type": "exponential", "mean": "1ms"}
    flows = [flow(0.5, "100us"), flow(0.0, exponential), flow(0.0, "500us")]
    config = configuration.load(drive() | {"workload": {"type": "flows", "flows": flows}})
    load = Load(configuration.resolved(config)["workload"], 2.0)
    assert load.operations == {"read", "write"}
    made = load.at(16_000)["flows"]
    assert [own["rate"]["gap"] for own in made] == [
        "100000ns",
        {"type": "exponential", "mean": "500000ns"},
        "250000ns",
    ]
    assert {own["duration"] for own in made} == {"2200000000ns"}
    path = write(tmp_path / "curve.csv", [ROW | {"rate": 10_000}])
    with pytest.raises(copyback.InputError, match=r"found 10,000; allowed: more than 10,000, the"):
        prepare(Request(config=config, table=path))


def saturated(tmp_path: Path) -> table.Curve:
    """Return a curve whose last two rates are beyond saturation, with two passes."""
    rows: list[dict[str, object]] = [
        {"rate": rate, "pass": name, "read_p50": read, "read_p99_9": 500, "reads_per_s": 0}
        | {"writes_per_s": achieved}
        for rate, read, achieved in ((100, 80, 100), (150, 90, 150), (160, 95, 160))
        for name in "ab"
    ]
    for rate in (200, 300):
        for name, read in (("a", 1000), ("b", 1400)):
            one: dict[str, object] = {
                "rate": rate,
                "pass": name,
                "read_p50": read,
                "read_p99_9": 5000,
            }
            rows.append(one | {"reads_per_s": 0, "writes_per_s": 165})
    return sources.read(write(tmp_path / "curve.csv", rows))


def test_rates_beyond_saturation_are_one_cell(tmp_path: Path) -> None:
    curve = saturated(tmp_path)
    regions = [judge.region(rate, curve).name for rate in curve.rates]
    assert regions == ["BELOW", "KNEE", "KNEE", "BEYOND", "BEYOND"]
    assert judge.usual_rates(curve) == (100.0,)
    numbers = {
        rate.offered: {"read_p50": 100.0, "read_p99_9": 500.0, "per_s": 150.0}
        for rate in curve.rates
    }
    numbers[300.0]["read_p50"] = 1700.0
    cells = judge.cells(curve, CurveAim(curve, (100.0,), None), numbers)
    assert len(cells) == 3 * 2 + 3
    [read, _, served] = cells[-3:]
    assert (read.measured, read.simulated) == (1200.0, 900.0)
    assert read.tolerance == pytest.approx(0.4)
    assert (served.metric, served.tolerance, served.is_right) == ("per_s", 0.05, False)
    assert [cell.is_right for cell in cells[:4]] == [False, True, True, True]
    assert [cell.is_fitted for cell in cells[:4]] == [True, True, False, False]
    given = judge.cells(curve, CurveAim(curve, (100.0,), 165.0), numbers)
    assert [cell.metric for cell in given[-2:]] == ["read_p50", "read_p99_9"]


def test_the_loss_is_beyond_the_spread_and_capped(tmp_path: Path) -> None:
    curve = saturated(tmp_path)
    aim = CurveAim(curve, (200.0,), None)
    assert aim.loss({200.0: {"read_p50": 1200.0, "read_p99_9": 5000.0}}) == 0.0
    assert aim.loss({200.0: {"read_p50": 2800.0, "read_p99_9": 5000.0}}) == pytest.approx(
        math.log(2) / 2
    )
    assert aim.loss({200.0: {"read_p50": 1e9, "read_p99_9": 5000.0}}) == pytest.approx(MOST / 2)
    assert aim.loss(None) == pytest.approx(MOST)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--budget", "20"], "--budget: found beside a trace; allowed: one of them"),
        (["--load", "FILE", "--trace", "FILE"], "--trace: found beside --load"),
        (["--load", "FILE", "--writes", "FILE"], "--writes: found beside --load"),
        (["--writes", "FILE", "--use", "3"], "--use: found beside --writes"),
        (["--load", "absent.csv"], "absent.csv: "),
        (["--load", "FILE", "--seconds", "nan"], "--seconds: found nan; allowed: a number above 0"),
        (["--load", "FILE", "--ramp", "nan"], "--ramp: found nan; allowed: 0 or more"),
        (["--writes", "FILE", "--ramp", "1"], "--ramp: found beside --writes"),
        (["--load", "FILE", "--use", "3"], "--use: found 3; allowed: a rate of the table: 100"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tmp_path: Path, tiny_toml: Path, cli: RunCli, options: list[str], fault: str
) -> None:
    path = write(tmp_path / "curve.csv", [ROW])
    given = [str(path) if option == "FILE" else option for option in options]
    told = cli("calibrate", *([] if given[0] == "--writes" else [tiny_toml]), *given, status=2)
    assert fault in told.stderr
    assert len(told.stderr.splitlines()) == 1


#: A job file with something that has no rate, and two rates.
JOBS = """
[global]
ioengine=libaio
direct=1
bs=4k
iodepth=8
norandommap
time_based
runtime=1
rate_process=poisson

[fill]
rw=randwrite

[slow]
stonewall
rw=randrw
rwmixread=50
rate_iops=200,200

[fast]
stonewall
rw=randrw
rwmixread=50
rate_iops=400,1k
"""


@pytest.fixture(scope="module")
def of_fio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return fio's JSON, as the simulated drive leaves it."""
    home = tmp_path_factory.mktemp("fio")
    (home / "curve.fio").write_text(JOBS)
    job = read_job_file(home / "curve.fio", 1 << 24)
    result = copyback.run(drive() | {"workload": job.workload})
    return write_fio_json(result, home / "curve.json")


def test_jobs_of_fio_with_a_rate_are_a_load_curve(
    of_fio: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = json.loads(of_fio.read_text())["jobs"]
    found = sources.read(of_fio)
    assert [rate.offered for rate in found.rates] == [400.0, 1424.0]
    for rate, job in zip(found.rates, jobs[1:], strict=True):
        (own,) = rate.passes
        told = job["write"]["clat_ns"]["percentile"]["99.900000"]
        assert own.latencies["write_p99_9"] == told / 1e3
        assert own.latencies["read_mean"] == job["read"]["clat_ns"]["mean"] / 1e3
        assert own.achieved == job["read"]["iops"] + job["write"]["iops"]
    assert "fill: passed over, as it has no rate_iops" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda found: found["jobs"][1]["write"]["clat_ns"].pop("percentile"), "no percentiles"),
        (lambda found: found["jobs"][1]["job options"].update(numjobs="2"), "reported apart"),
        (lambda found: found["jobs"][1]["job options"].update(rate_iops="x,1"), "found x;"),
        (lambda found: found.update(jobs=found["jobs"][:1]), "no job with rate_iops"),
        (lambda found: found.pop("jobs"), "found no jobs as fio writes them"),
    ],
)
def test_damaged_json_of_fio_is_told_with_its_place(
    of_fio: Path, tmp_path: Path, change: Any, fault: str
) -> None:
    found = json.loads(of_fio.read_text())
    change(found)
    path = tmp_path / "curve.json"
    path.write_text(json.dumps(found))
    with pytest.raises(copyback.InputError, match=r"curve\.json") as told:
        sources.read(path)
    assert fault in str(told.value)


def test_the_job_file_for_a_drive_of_yours_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVICE", "/dev/nvme1n1")
    job = read_job_file(Path(__file__).parents[1] / "examples/load-curve.fio", 1 << 24, scale=1000)
    rates = [flow.get("rate") for flow in job.workload["flows"]]
    assert [rate is not None for rate in rates] == [False, False] + [True] * 6


def test_a_kept_evaluation_is_what_it_was_whatever_its_rates() -> None:
    """Else a search that goes on would miss a rate."""
    one = Evaluation((1.5, 2.0), 0.25, {1234567.5: {"read_p50": 1.0}, 505000.0: {}})
    assert Evaluation.of(json.loads(json.dumps(one.to_dict()))) == one


def test_saturation_weighs_as_much_as_a_rate_though_it_is_at_one(curve: Path) -> None:
    aim = CurveAim(sources.read(curve), (RATES[0], RATES[-1]), 500.0)
    of_rate = len(COLUMNS)
    assert aim.weights == pytest.approx([1 / (3 * of_rate)] * (2 * of_rate) + [1 / 3])


def test_json_of_fio_names_no_limit_where_there_is_none(tmp_path: Path) -> None:
    rate = {"type": "bytes", "per_second": "4MB/s"}
    limits = {"type": "by_operation", "read": rate, "write": rate}
    load = flow(0.5, "1ms") | {"rate": limits, "requests": 20}
    path = write_fio_json(copyback.run(drive() | {"workload": load}), tmp_path / "out.json")
    (job,) = json.loads(path.read_text())["jobs"]
    assert "rate_iops" not in job["job options"]
