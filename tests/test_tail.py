"""The tail is explained beside the mean: by band, in a sentence, on the page and as CSV."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback import report
from copyback.words import describe, tail, units

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli
    from copyback.sweep.schemes import Scheme

REQUESTS = 40_000


@pytest.mark.parametrize(
    ("percentile", "told"),
    [
        (0.0, "p0"),
        (50.004, "p50"),
        (90.0, "p90"),
        (100 - 100 * 585 / 99_631, "p99.41"),
        (99.9004, "p99.9"),
        (99.9949, "p99.99"),
        (99.9951, "p99.995"),
        (100 - 1e-7, "p99.9999999"),
        (100.0, "p100"),
    ],
)
def test_a_percentile_has_two_decimals_or_as_many_as_keep_it_below_100(
    percentile: float, told: str
) -> None:
    assert tail.name(percentile) == told


@pytest.fixture
def busy(tiny: dict[str, Any]) -> copyback.Result:
    """Return a run of a drive that collects now and then, at a load that leaves it idle between."""
    workload = {**tiny["workload"], "requests": REQUESTS, "inter_arrival": "2ms"}
    return copyback.run({**tiny, "workload": workload, "metrics": {"requests": True}})


def test_bands_are_those_of_the_requests_themselves(busy: copyback.Result) -> None:
    assert busy.requests is not None
    assert busy.summary.blame is not None
    rows = busy.requests.to_polars()
    reads = rows.filter(rows["operation"] == "read")
    for band in busy.summary.blame.read:
        began, ended = round(band.from_us * 1e3), round(band.to_us * 1e3)
        inside = reads.filter((reads["response_ns"] > began) & (reads["response_ns"] <= ended))
        assert len(inside) == band["count"]
        for part, ns in band.time_ns.to_dict().items():
            assert inside[f"{part}_ns"].sum() == ns


def test_bands_add_up_to_the_means(busy: copyback.Result) -> None:
    summary = busy.summary
    assert summary.blame is not None
    for operation, means in summary.breakdown_by_class_us.to_dict().items():
        found = summary.blame[operation]
        count = sum(band["count"] for band in found)
        assert count == summary.response_us[operation]["count"]
        for part, mean in means.items():
            whole = sum(band.time_ns[part] for band in found)
            assert whole / count / 1e3 == pytest.approx(mean)


def test_the_share_above_a_percentile_is_what_the_sentence_says(busy: copyback.Result) -> None:
    summary = busy.summary
    assert summary.blame is not None
    above = [band for band in summary.blame.all if band.above >= 99.9]
    assert summary.tail is not None
    assert summary.tail.count == sum(band["count"] for band in above) >= 10
    collections = sum(sum(band.time_ns[key] for key in describe.GC_PARTS) for band in above)
    whole = sum(sum(band.time_ns.to_dict().values()) for band in above)
    said = tail.sentence(summary)
    assert said is not None
    edge = tail.name(above[0].from_percentile)
    found = re.search(rf"Above {re.escape(edge)}, ([\d.]+) %", said)
    assert found, said
    assert float(found.group(1)) == pytest.approx(100 * collections / whole, abs=0.06)
    assert said.endswith("of the time is waiting for collections.")


def test_percentiles_that_share_a_bucket_are_one_which_the_sentence_names(
    tiny: dict[str, Any],
) -> None:
    """Reads take one time and the few writes a longer one: above them all lies no edge but this."""
    tiny["workload"] |= {"requests": REQUESTS, "read_share": 0.994, "inter_arrival": "2ms"}
    found = copyback.run({**tiny, "precondition": {"fill": 0.5}})
    requests = found.summary.requests
    assert requests.writes + requests.reads == REQUESTS
    said = tail.sentence(found.summary)
    assert said is not None
    reads = 100 * requests.reads / REQUESTS
    assert 99.3 < reads < 99.5
    assert said.startswith(f"Above p{reads:.2f}".rstrip("0") + ", 100.0 % of the time is ")
    assert f"p{reads:.2f}".rstrip("0") + " to p100" in report.render(found)


def test_page_and_files_say_it_first(busy: copyback.Result, tmp_path: Path) -> None:
    said = tail.sentence(busy.summary)
    assert said is not None
    page = report.render(busy)
    assert said in page
    assert page.index(said) < page.index("accounts for")
    assert "What the tail waits for" in page
    busy.save(tmp_path / "out")
    with (tmp_path / "out" / "tail.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert busy.summary.blame is not None
    assert sum(int(row["count"]) for row in rows if row["operation"] == "all") == REQUESTS
    first = busy.summary.blame.read[0]
    assert int(rows[0]["service_ns"]) == first.time_ns.service


def test_the_terminal_begins_with_it(tiny_toml: Path, cli: RunCli) -> None:
    done = cli("run", str(tiny_toml), "--set", "workload.requests=20000")
    assert re.match(r"Tail +Above p9", done.stdout), done.stdout[:200]


def test_a_run_with_few_requests_says_nothing_of_a_tail(tiny: dict[str, Any]) -> None:
    few = copyback.run({**tiny, "workload": {**tiny["workload"], "requests": 50}})
    assert tail.sentence(few.summary) is None


def test_a_comparison_begins_with_the_tails_of_its_schemes(
    tiny: dict[str, Any], cli: RunCli, tmp_path: Path
) -> None:
    """The share of each scheme is that of the sums over its seeds, from the summaries."""
    tiny["workload"] |= {"requests": 2 * REQUESTS, "inter_arrival": "2ms"}
    found = copyback.compare(
        tiny, over={"ssd.gc.preemption": ["none", "semi_preemptive"]}, seeds=2, out=tmp_path / "a"
    )
    share: dict[str, float] = {}
    for scheme in found.contests[0].schemes:
        runs = [found.result(run).summary.tail for run in scheme.runs]
        times = [run.time_ns.to_dict() for run in runs if run is not None]
        collections = sum(sum(of[key] for key in describe.GC_PARTS) for of in times)
        whole = sum(sum(of.values()) for of in times)
        share[str(scheme.setting[0][1])] = collections / whole
    assert share["none"] > 0.9
    none, yielding = units.share(share["none"]), units.share(share["semi_preemptive"])
    above, other_above = (tail.name(true_edge(found, one)) for one in found.contests[0].schemes)
    said = f"Above {above}, {none} of the time is waiting for collections with the baseline"
    page = (tmp_path / "a" / "report.html").read_text(encoding="utf-8")
    if other_above != above:
        yielding += f" above {other_above}"
    other = f"{yielding} with preemption semi_preemptive."
    assert f"{said}, preemption none; {other}" in page
    assert page.index(said) < page.index('id="answer"')
    assert found._repr_html_().index(said) > 0
    kept = [tmp_path / "a" / "runs" / run for run in found.contests[0].schemes[0].runs]
    assert re.match(rf"Tail +Above {re.escape(above)}, ", cli("compare", *kept).stdout)


def true_edge(found: copyback.Comparison, scheme: Scheme) -> float:
    """Return the percentile of all runs of a scheme above which their slowest requests lie."""
    summaries = [found.result(run).summary for run in scheme.runs]
    bands = [
        (band["count"], one.tail is not None and band.above >= one.tail.above)
        for one in summaries
        if one.blame is not None
        for band in one.blame.all
    ]
    faster, requests = sum(n for n, is_slow in bands if not is_slow), sum(n for n, _ in bands)
    return float(100 * faster / requests)


def test_runs_without_enough_requests_have_no_tail_to_begin_with(tiny: dict[str, Any]) -> None:
    tiny["workload"] |= {"requests": 50}
    found = copyback.compare(tiny, over={"ssd.gc.victim": ["greedy", "fifo"]})
    assert [scheme.tail for scheme in found.contests[0].schemes] == [None, None]
    assert "Above p9" not in found._repr_html_()
