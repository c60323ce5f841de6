"""Runs and preparations that go on until they are steady."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import copyback
from copyback.fio import fio_json, read_job_file
from copyback.words import steady

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

#: A closed loop without end on the drive in conftest.
ENDLESS: dict[str, Any] = {
    "workload": {
        "type": "synthetic",
        "requests": "unlimited",
        "request_size": "4KiB",
        "read_share": 0.0,
        "sequential_share": 0.0,
        "iodepth": 8,
    }
}
STEADY: dict[str, Any] = {"type": "steady_state", "round": "100ms", "most_rounds": 60}


@pytest.fixture
def endless(tiny: dict[str, Any]) -> dict[str, Any]:
    return tiny | ENDLESS | {"precondition": {"fill": 1.0, "overwrites": 0.0}}


def spread(values: list[float]) -> dict[str, float]:
    """Return what SNIA's specification computes of a window, by another way."""
    places = np.arange(len(values))
    line = np.polyval(np.polyfit(places, values, 1), places)
    mean = float(np.mean(values))
    return {
        "mean": mean,
        "excursion": float(np.ptp(values)) / mean,
        "slope": float(line[-1] - line[0]) / mean,
        "deviation": float(np.abs(np.asarray(values) - mean).max()) / mean,
    }


@pytest.mark.parametrize("metric", ["iops", "bandwidth", "mean_response", "write_amplification"])
def test_a_run_without_end_ends_when_it_is_steady(endless: dict[str, Any], metric: str) -> None:
    result = copyback.run(endless, audit=True, stop=STEADY | {"metric": metric})
    found = result.summary["steady_state"]
    assert found.reached
    assert found.ended_by == "steady_state"
    values = found["values"]
    assert len(values) == found.rounds < 60
    for last in range(5, len(values) + 1):
        window = spread(values[last - 5 : last])
        is_steady = window["excursion"] <= 0.2 and abs(window["slope"]) <= 0.1
        assert is_steady == (last == len(values))
    told = {key: found["window"][key] for key in ("mean", "excursion", "slope", "deviation")}
    assert told == pytest.approx(spread(values[-5:]), abs=1e-12)
    assert found["window"].end_s == pytest.approx(0.1 * found.rounds)


def test_the_window_is_that_of_its_requests(endless: dict[str, Any]) -> None:
    settings: dict[str, Any] = {"metrics.requests": True}
    result = copyback.run(endless, stop=STEADY | {"round": 250, "ramp": "5ms"}, **settings)
    window = result.summary["steady_state"]["window"]
    assert result.requests is not None
    rows = result.requests.to_dict()
    ends = np.asarray(rows["arrival_ns"]) + np.asarray(rows["response_ns"])
    first = int((ends < 5_000_000).sum()) + 250 * (window.first_round - 1)
    responses = np.asarray(rows["response_ns"])[first : first + 5 * 250]
    seconds = (ends[first + 5 * 250 - 1] - ends[first - 1]) / 1e9
    assert window.requests == 5 * 250
    assert window.iops == pytest.approx(5 * 250 / seconds)
    assert window.mean_response_us == pytest.approx(responses.mean() / 1e3)
    assert window.max_response_us == pytest.approx(responses.max() / 1e3)


def test_a_run_that_does_not_become_steady_ends_all_the_same(endless: dict[str, Any]) -> None:
    strict: dict[str, Any] = STEADY | {"excursion": 1e-9, "most_rounds": 7}
    found = copyback.run(endless, stop=strict).summary["steady_state"]
    assert (found.reached, found.ended_by, found.rounds) == (False, "most_rounds", 7)
    few = endless["workload"] | {"requests": 500}
    found = copyback.run(endless | {"workload": few}, stop=strict).summary["steady_state"]
    assert (found.reached, found.ended_by) == (False, "workload")


def test_what_waits_outside_the_queue_as_a_rule_ends_the_run_is_told(
    endless: dict[str, Any],
) -> None:
    strict: dict[str, Any] = STEADY | {"excursion": 1e-9, "most_rounds": 7}
    result = copyback.run(endless, audit=True, stop=strict, host__queue_depth=3)
    # Of the eight of the loop three are in the drive.
    assert result.summary.requests.unserved == 5
    assert ("Unserved", "5 requests had arrived and waited as the run ended") in steady.facts(
        result.summary, result.config
    )
    few = endless["workload"] | {"requests": 100}
    result = copyback.run(endless | {"workload": few}, stop=strict)
    assert result.summary.requests.unserved == 0
    assert steady.unserved(result.summary) == []


def test_a_run_that_a_rule_ends_gives_the_same_again(endless: dict[str, Any]) -> None:
    first, second = (copyback.run(endless, stop=STEADY).summary.to_dict() for _ in range(2))
    for summary in (first, second):
        del summary["simulator"]
    assert first == second


UNTIL_STEADY: dict[str, Any] = {"type": "until_steady", "round": 0.5}


def test_a_drive_is_prepared_until_write_amplification_is_steady(
    tiny: dict[str, Any], tmp_path: Path
) -> None:
    prepared: dict[str, Any] = {"precondition.overwrites": UNTIL_STEADY}
    result = copyback.run(tiny, **prepared)
    (found,) = result.summary["precondition"]["devices"]
    values = found["values"]
    assert found["reached"]
    assert values[0] < values[-1]  # there is less garbage yet
    for last in range(5, len(values) + 1):
        window = spread(values[last - 5 : last])
        assert (window["excursion"] <= 0.2 and abs(window["slope"]) <= 0.1) == (last == len(values))
    # As many overwrites at once leave the drive in the same state.
    times = 0.5 * len(values)
    at_once: dict[str, Any] = {"precondition.overwrites": times}
    plain = copyback.run(tiny, **at_once).summary
    assert plain.response_us.to_dict() == result.summary.response_us.to_dict()
    assert plain.wear.to_dict() == result.summary.wear.to_dict()
    # And so does a saved state, which remembers the rounds.
    state = copyback.precondition(tiny, save=tmp_path / "drive.state", **prepared)
    again = copyback.run(tiny, state=state, **prepared).summary
    assert again["precondition"].to_dict() == result.summary["precondition"].to_dict()
    assert again.response_us.to_dict() == result.summary.response_us.to_dict()


def test_each_drive_of_an_array_is_prepared_until_it_is_steady(tiny: dict[str, Any]) -> None:
    settings: dict[str, Any] = {
        "precondition.overwrites": UNTIL_STEADY | {"most_rounds": 6},
        "array.layout": "raid5",
        "array.devices": 3,
        "array.failed": [1],
    }
    result = copyback.run(tiny, **settings)
    # The lost drive has nothing to be overwritten.
    assert len(result.summary["precondition"]["devices"]) == 2
    assert "of 2 drives" in str(steady.facts(result.summary, result.config))


def test_a_comparison_shares_the_prepared_drive(
    tiny_toml: Path, cli: RunCli, tmp_path: Path
) -> None:
    rule = 'precondition.overwrites={ type = "until_steady", round = 0.5 }'
    cli(
        "compare", tiny_toml, "--set", rule, "--set", 'stop={ type = "steady_state", round = 300 }',
        "--over", "ssd.gc.preemption=none,semi_preemptive", "--jobs", "1", "--out", tmp_path / "c",
        "-q",
    )  # fmt: skip
    import polars as pl

    rows = pl.read_parquet(tmp_path / "c" / "results.parquet")
    assert rows["precondition.reached"].to_list() == [1.0, 1.0]
    assert rows["steady_state.reached"].null_count() == 0
    assert rows["steady_state.window.iops"].null_count() == 0


def test_terminal_and_report_say_it(cli: RunCli, tiny_toml: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shown = cli(
        "run", tiny_toml, "--set", 'stop={ type = "steady_state", round = 100 }',
        "--set", 'precondition.overwrites={ type = "until_steady", round = 0.5 }', "--out", out,
    ).stdout  # fmt: skip
    text = " ".join(shown.split())
    assert "Steady state IOPS is steady after" in text
    assert "Prepared write amplification steady after" in text
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<h3>Steady state</h3>" in page
    assert "<h3>Preparation</h3>" in page


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ("stop.window=1", "stop.window: found 1; allowed: 2 to 1000"),
        ("stop.round=0", "stop.round: found 0; allowed: 1 to 1e12"),
        ("stop.slope=0", 'stop.slope: found 0; allowed: above 0, or "none"'),
        ("stop.excursion=lots", "stop.excursion: found \"lots\"; a share is a number such as 0.05"),
        ("stop.most_rounds=4", "stop.most_rounds: found 4; allowed: at least the window of 5"),
        ("stop.metric=speed", 'found "speed" (allowed: iops, bandwidth,'),
        ('stop={ type = "steady_state", excursion = "none", slope = "none" }', "a limit on one"),
        ("workload.requests=unlimited", "or a stop that ends the run"),
        ("workload.requests=plenty", 'a whole number, or "unlimited"'),
        ("precondition.overwrites=-1", "found -1; allowed: 0 to 1000"),
        ("precondition.overwrites=often", "found \"often\"; allowed: "),
        ("precondition.overwrites={ type = \"until_steady\", round = 0 }", "round: found 0"),
        ("precondition.overwrites={ type = \"until_steady\", rounds = 2 }", "unknown key"),
    ],
)  # fmt: skip
def test_rules_that_make_no_sense_are_refused(
    cli: RunCli, tiny_toml: Path, setting: str, fault: str
) -> None:
    base = ["--set", "stop.type=steady_state"] if setting.startswith("stop.") else []
    refused = cli("run", tiny_toml, *base, "--set", setting, status=2)
    assert fault in refused.stderr


def test_requests_without_end_are_not_looked_into(
    tiny_toml: Path, cli: RunCli, tmp_path: Path
) -> None:
    endless = tmp_path / "endless.toml"
    text = tiny_toml.read_text().replace("requests = 3000", 'requests = "unlimited"')
    endless.write_text(f'stop = "steady_state"\n{text}')
    refused = cli("trace", "info", endless, status=2)
    assert "workload.requests: found requests without end" in refused.stderr


JOB = """
[global]
rw=randwrite
bs=4k
iodepth=8
norandommap
time_based
runtime=20s
ss={ss}
ss_dur=600ms
ss_interval=100ms
ss_ramp=200ms
[a]
[b]
"""


@pytest.mark.parametrize(
    ("ss", "metric", "limit"),
    [
        ("iops:10%", "iops", {"deviation": 0.1, "slope": "none"}),
        ("bw_slope:2%", "bandwidth", {"deviation": "none", "slope": 0.1}),
        ("lat:30%", "mean_response", {"deviation": 0.3, "slope": "none"}),
    ],
)
def test_fio_s_steady_state_is_ours(
    tiny: dict[str, Any], tmp_path: Path, ss: str, metric: str, limit: dict[str, Any]
) -> None:
    path = tmp_path / "job.fio"
    path.write_text(JOB.format(ss=ss))
    job = read_job_file(path, 1 << 23)
    assert job.stop == {
        "type": "steady_state", "metric": metric, "round": "100000000ns", "ramp": "200000000ns",
        "window": 6, "excursion": "none", "most_rounds": 198, **limit,
    }  # fmt: skip
    assert any("all jobs together" in note for note in job.notes)
    result = copyback.run(tiny | {"workload": job.workload}, stop=job.stop)
    # Of all jobs together, and so the same in each.
    found, *others = (job["steadystate"] for job in fio_json(result)["jobs"])
    assert all(other == found for other in others)
    assert found["attained"] == 1
    assert found["ss"].startswith(ss.split(":")[0])
    window = result.summary["steady_state"]["window"]
    data = found["data"]
    assert data["iops"] == [int(value) for value in window.by_round.iops]
    assert data["bw"] == [4096 * value for value in data["iops"]]
    # As fio itself computes it, from what it lists.
    listed = np.asarray(data["bw" if metric == "bandwidth" else "iops"], dtype=float)
    if metric == "iops":
        assert found["max_deviation"] == pytest.approx(np.abs(listed - listed.mean()).max(), abs=2)
    if metric == "bandwidth":
        slope = np.polyfit(np.arange(6), listed, 1)[0]
        assert found["slope"] == pytest.approx(slope, abs=4096)
        criterion = float(found["criterion"].removesuffix("%"))
        assert criterion == pytest.approx(100 * slope / listed.mean(), abs=0.1)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("ss=iops:100", "job.fio:2: ss: found iops:100; allowed: iops, iops_slope, bw"),
        ("ss=iops:10%", "job.fio:1: ss_dur: a window of two or more"),
        ("ss_dur=10", "job.fio:2: ss_dur: needs ss"),
        ("ss=iops:10%\nss_dur=10\nruntime=5", "job.fio:4: runtime: is shorter than"),
        ("ss=iops:10%\nss_dur=10\n[b]\nrw=read", "job.fio:4: ss: must be the same for every job"),
    ],
)
def test_steady_states_that_cannot_be_had_are_refused(
    tmp_path: Path, text: str, fault: str
) -> None:
    path = tmp_path / "job.fio"
    path.write_text(f"[a]\n{text}\n")
    with pytest.raises(copyback.InputError) as refused:
        read_job_file(path, 1 << 23)
    assert fault in str(refused.value)


def test_fio_s_json_has_no_steady_state_that_fio_does_not_know(endless: dict[str, Any]) -> None:
    told = fio_json(copyback.run(endless, stop=STEADY))
    assert "steadystate" not in told["jobs"][0]
    assert json.dumps(told)
