"""Each of several flows has its own results, in every output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import copyback
from copyback import report
from copyback.fio import fio_json
from copyback.inputs.configuration import to_toml
from copyback.result import Result

if TYPE_CHECKING:
    from conftest import RunCli


@pytest.fixture
def mixed(tiny: dict[str, Any]) -> dict[str, Any]:
    """Return a log that is written in order, and data that are read and written at random."""
    data = {**tiny["workload"], "requests": 2_000}
    log = {
        "type": "synthetic",
        "requests": 600,
        "request_size": "16KiB",
        "read_share": 0.0,
        "sequential_share": 1.0,
        "iodepth": 1,
    }
    return {**tiny, "workload": {"type": "flows", "flows": [log, data], "names": ["log", "data"]}}


def test_each_flow_is_told_of_what_its_own_requests_did(mixed: dict[str, Any]) -> None:
    result = copyback.run(mixed, requests=True, audit=True)
    requests = result.to_polars("requests")
    flows = result.summary["flows"]
    assert [flow["name"] for flow in flows] == ["log", "data"]
    for index, flow in enumerate(flows):
        own = requests.filter(pl.col("flow") == index)
        times = own["response_ns"].to_numpy() / 1e3
        found = flow["response_us"]["all"]
        assert found["count"] == len(own) == flow["requests"]["count"]
        assert found["mean"] == pytest.approx(times.mean())
        assert found["max"] == times.max()
        exact = np.quantile(times, 0.99, method="inverted_cdf")
        assert found["p99"] == pytest.approx(exact, rel=2e-3)
        last = (own["arrival_ns"] + own["response_ns"]).to_numpy().max()
        assert flow["throughput"]["simulated_s"] == pytest.approx(last / 1e9)
        for part, mean in flow["breakdown_us"].items():
            assert mean == pytest.approx(own[f"{part}_ns"].to_numpy().mean() / 1e3)
    whole = result.summary
    for key in ("count", "reads", "writes", "read_bytes", "write_bytes", "write_pages"):
        assert sum(flow["requests"][key] for flow in flows) == whole.requests[key]
    assert flows[0]["verdict"]["load"] is None
    assert flows[1]["verdict"]["load"]["state"] == "sustained"
    assert "flows" not in copyback.run({**mixed, "workload": mixed["workload"]["flows"][1]}).summary


def test_write_amplification_is_told_where_it_is_one_flow_s_own(mixed: dict[str, Any]) -> None:
    both = copyback.run(mixed)
    assert all("write_amplification" not in flow for flow in both.summary["flows"])
    mixed["workload"]["flows"][0]["read_share"] = 1.0
    reader, writer = copyback.run(mixed).summary["flows"]
    assert reader["write_amplification"] is None
    whole = copyback.run(mixed).write_amplification
    assert whole is not None
    assert writer["write_amplification"] == whole > 1.0


def test_the_tables_over_time_add_up(mixed: dict[str, Any], tmp_path: Path) -> None:
    result = Result.load(copyback.run(mixed).save(tmp_path / "out"))
    series, flows = result.to_polars("series"), result.to_polars("flows")
    for column in ("requests", "reads", "writes", "read_bytes", "write_bytes"):
        together = flows.group_by("start_s", maintain_order=True).agg(pl.col(column).sum())
        assert together[column].to_list() == series[column].to_list()
    own = flows.filter(pl.col("flow") == 0)
    assert own["requests"].sum() == result.summary["flows"][0]["requests"]["count"]


def test_flows_are_drawn_over_time(mixed: dict[str, Any]) -> None:
    result = copyback.run(mixed)
    data = report.plots.data(result)
    drawn = data["flow_times"]
    assert [flow["name"] for flow in drawn] == ["log", "data"]
    for column, whole in (("requests", "requests"), ("mib_s", None)):
        assert all(len(flow[column]) == len(data["time"]["start"]) for flow in drawn)
        together = [sum(values) for values in zip(*(flow[column] for flow in drawn), strict=True)]
        time = data["time"]
        expected = time[whole] if whole else np.add(time["read_mib_s"], time["write_mib_s"])
        assert together == pytest.approx(list(expected), rel=1e-3)
    for flow, summary in zip(drawn, result.summary["flows"], strict=True):
        longest = max(value for value in flow["max"] if value is not None)
        assert longest == pytest.approx(summary["response_us"]["all"]["max"], rel=1e-3)
    assert 'id="flow-latency"' in report.render(result)
    alone = copyback.run({**mixed, "workload": mixed["workload"]["flows"][1]})
    assert report.plots.data(alone)["flow_times"] == []
    assert 'id="flow-latency"' not in report.render(alone)


def test_flows_are_in_the_terminal_and_on_the_page(
    mixed: dict[str, Any], cli: RunCli, tmp_path: Path
) -> None:
    result = copyback.run(mixed)
    page = report.render(result)
    assert '<h2 id="flows">The flows</h2>' in page
    for name in ("log", "data"):
        assert f'<th scope="row">{name}<small>' in page
    data = report.plots.data(result)
    assert [name for name, _ in data["flows"]["curves"]] == ["log", "data"]
    lines = [f"{key} = {to_toml(value)}" for key, value in mixed.items()]
    (tmp_path / "mixed.toml").write_text("\n".join(lines), encoding="utf-8")
    done = cli("run", "mixed.toml")
    rows = [line for line in done.stdout.splitlines() if line.startswith(("log ", "data "))]
    assert len(rows) == 2
    assert rows[0].split()[1] == "600"
    assert "shared" in rows[0]


def test_a_comparison_has_a_table_for_each_flow(mixed: dict[str, Any], tmp_path: Path) -> None:
    over = {"ssd.gc.preemption": ["none", "semi_preemptive"]}
    found = copyback.compare(mixed, over=over, out=tmp_path / "sweep", jobs=1)
    assert [contest.requests.flow for contest in found.flows] == [0, 1]
    for index, contest in enumerate(found.flows):
        for scheme in contest.schemes:
            (run,) = scheme.runs
            own = found.result(run).summary["flows"][index]
            assert scheme.values["p99"].mean == own["response_us"]["all"]["p99"]
            assert scheme.runs[run] == own["requests"]["count"]
            assert "WA" not in scheme.values
    page = (tmp_path / "sweep" / "report.html").read_text(encoding="utf-8")
    assert '"loads":["all requests","flow 0","flow 1"]' in page


def test_fio_s_results_have_a_job_for_each_flow(
    cli: RunCli, tiny_toml: Path, tmp_path: Path
) -> None:
    (tmp_path / "job.fio").write_text(
        "[global]\nioengine=libaio\nbs=4k\nnorandommap\n[log]\nrw=write\nnumber_ios=300\n"
        "[data]\nrw=randrw\nnumber_ios=200\nnumjobs=2\niodepth=4\n"
    )
    cli("run", tiny_toml, "--fio-job", "job.fio", "--fio-json", "fio.json", "--quiet")
    jobs = json.loads((tmp_path / "fio.json").read_text())["jobs"]
    assert [job["jobname"] for job in jobs] == ["log", "data", "data"]
    assert jobs[0]["write"]["total_ios"] == 300
    assert jobs[0]["job options"]["rw"] == "write"
    for job in jobs[1:]:
        assert job["read"]["total_ios"] + job["write"]["total_ios"] == 200
        assert job["job options"]["iodepth"] == "4"
        assert sum(job["read"]["clat_ns"]["bins"].values()) == job["read"]["total_ios"]


def test_the_samples_of_a_job_are_its_own(mixed: dict[str, Any]) -> None:
    result = copyback.run(mixed)
    log, data = fio_json(result)["jobs"]
    assert log["read"]["iops_mean"] == 0.0
    assert log["write"]["bw_samples"] > 1
    spans = result.to_polars("flows").filter(pl.col("flow") == 1)
    rates = spans["reads"] / (spans["end_s"] - spans["start_s"])
    assert data["read"]["iops_max"] == int(rates.max())  # type: ignore[arg-type]


def test_names_are_for_all_flows_or_none(mixed: dict[str, Any]) -> None:
    mixed["workload"]["names"] = ["log"]
    with pytest.raises(copyback.InputError, match=r"workload\.names: found 1; allowed: a name"):
        copyback.run(mixed)


def test_what_should_be_known_of_a_flow_is_not_cut(cli: RunCli) -> None:
    """At 80 columns it stands below the flow's name, as a whole."""
    example = Path(__file__).parent.parent / "examples/tenants.toml"
    drive = ("--set", "preset=tlc-unbuffered-64gb", "--set", "ssd.geometry.pages_per_block=64")
    done = cli("run", example, *drive, "--set", "ssd.gc.preemption=none")
    table = done.stdout.split("\nFlow ")[1].split("\n\n")[0].splitlines()
    assert [line for line in table if line in ("stalls", "overload")] == ["stalls", "stalls"]
    assert all(len(line) <= 80 for line in table)
