"""The report page: whole, self-contained, readable by a machine."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

import copyback
from copyback import report
from copyback.frame import Frame
from copyback.report import plots
from copyback.report.thinned import MAX_INTERVALS
from copyback.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

VOID = {"meta", "link", "br", "hr", "img", "input", "rect"}


class Page(HTMLParser):
    """Collects what the tests ask about, and checks that elements nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in {"src", "href", "action", "srcset"}:
                self.links.append(value or "")

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def embedded(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.fixture(scope="module")
def result() -> Result:
    from conftest import tiny_config

    return copyback.run(tiny_config())


def test_the_page_is_whole_and_loads_nothing(result: Result) -> None:
    text = report.render(result)
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    plots_and_parts = {"cdf", "latency", "bandwidth", "free", "amplification", "erases"}
    assert plots_and_parts | {"main", "breakdown", "config", "command", "words"} <= set(page.ids)
    assert page.links == ["data:,", "#main", "#words", "https://github.com/leeoniya/uPlot"]
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert "url(" not in text
    assert page.tags.count("h1") == 1


def test_the_page_holds_the_numbers_as_text_too(result: Result) -> None:
    text = report.render(result)
    from copyback.words import units

    times = result.summary.response_us
    for value in (times.all.mean, times.read.p99, times.write.p99_99):
        assert units.time_us(value).replace(" ", "\u202f") in text
    assert result.summary.config_digest in text
    assert "<noscript>" in text


def test_plots_have_a_bounded_number_of_points(result: Result) -> None:
    data = embedded(report.render(result))
    for columns in (data["cdf"], data["time"]):
        lists = [column for column in columns.values() if isinstance(column, list)]
        assert lists
        assert len({len(column) for column in lists}) == 1
        assert len(lists[0]) * 5 <= 6_000


def test_thinning_keeps_sums_and_extremes(result: Result) -> None:
    rows = 10_007
    random = np.random.default_rng(1)
    columns = {name: random.random(rows) for name in result.series.columns}
    columns["start_s"] = np.arange(rows, dtype=float)
    columns["requests"] = np.ones(rows)
    columns["erases"] = random.integers(0, 5, rows).astype(float)
    long = Result(result.summary, result.config_toml, {**result._tables, "series": Frame(columns)})
    thin = plots.timeline(long)
    assert len(thin["start"]) <= MAX_INTERVALS
    assert sum(thin["erases"]) == columns["erases"].sum()
    assert max(thin["max"]) == pytest.approx(columns["response_max_us"].max(), rel=1e-4)
    first = slice(0, -(-rows // MAX_INTERVALS))
    mean = columns["response_mean_us"][first].mean()
    assert thin["mean"][0] == pytest.approx(mean, rel=1e-4)


def test_curves_are_quantiles(result: Result) -> None:
    curve = plots.distribution(result)
    tail = np.array(curve["tail"], dtype=float)
    times = np.array(curve["all"], dtype=float)
    assert np.all(np.diff(times) >= 0)
    at_p99 = float(np.interp(2.0, tail, times))
    assert at_p99 == pytest.approx(result.summary.response_us.all.p99, rel=0.05)
    assert times[-1] == pytest.approx(result.summary.response_us.all.max, rel=0.01)


def test_hostile_text_stays_text(result: Result) -> None:
    evil = "</script><script>alert(1)</script>"
    simulator = msgspec.structs.replace(result.summary.simulator, command=evil)
    summary = msgspec.structs.replace(result.summary, simulator=simulator)
    config = result.config_toml + f"# {evil}\n"
    text = report.render(Result(summary, config, result._tables))
    assert "<script>alert" not in text
    Page(text)


def test_a_run_of_reads_only(tiny: dict[str, Any]) -> None:
    result = copyback.run(tiny, workload__read_share=1.0)
    assert "write" not in plots.distribution(result)
    Page(report.render(result))


def test_a_run_of_writes_only(tiny: dict[str, Any]) -> None:
    Page(report.render(copyback.run(tiny, workload__read_share=0.0)))


def test_a_run_of_one_request(tiny: dict[str, Any]) -> None:
    Page(report.render(copyback.run(tiny, workload__requests=1)))
