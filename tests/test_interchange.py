"""What notebooks and other libraries get: pieces of HTML, and Arrow C streams."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

import copyback
from conftest import tiny_config
from copyback.sweep.fragment import MOST_ROWS, render_fragment
from test_report import Page

if TYPE_CHECKING:
    from copyback.sweep.comparison import Comparison


class Stranger:
    """Offers a stream and nothing else, so that whoever reads it has to take that way."""

    def __init__(self, table: object) -> None:
        self._stream = table.__arrow_c_stream__  # type: ignore[attr-defined]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._stream(requested_schema)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return copyback.compare(
        tiny_config(),
        over={"ssd.gc.victim": ["greedy", "fifo"], "workload.read_share": [0.2, 0.6]},
        seeds=2,
        out=tmp_path_factory.mktemp("found") / "sweep",
        workload__requests=800,
    )


def test_a_comparison_is_a_stream_of_its_rows(found: Comparison) -> None:
    assert pl.DataFrame(Stranger(found)).to_dicts() == list(found.frame.iter_rows())


def test_a_run_is_a_stream_of_one_row_like_those_of_a_comparison(found: Comparison) -> None:
    run = found.frame["run"][0]
    row = pl.DataFrame(Stranger(found.result(run)))
    assert row.height == 1
    of_comparison = found.frame.row(0)
    shared = set(row.columns) & set(of_comparison)
    assert {"seed", "response_us.all.p99_9", "write_amplification", "gc.erases"} <= shared
    own = row.row(0, named=True)
    assert all(own[name] == of_comparison[name] for name in shared)


def test_tables_of_a_run_are_streams(found: Comparison) -> None:
    result = found.result(found.frame["run"][0])
    for table in (result.series, result.distribution, result.dies):
        assert table is not None
        assert pl.DataFrame(Stranger(table)).to_dict(as_series=False) == table.to_dict()


def test_a_comparison_shows_its_answer_and_all_loads_in_a_notebook(found: Comparison) -> None:
    shown = found._repr_html_()
    page = Page(shown)
    assert page.tags.count("tr") == 1 + 2
    assert "p99" in shown
    assert "geometric mean over 2 loads" in shown
    assert "<td>0.0 %</td>" in shown
    one = render_fragment(found.contests[:1], "One <load>")
    assert "read_share" in one
    assert "One &lt;load&gt;" in one
    assert "its 95% interval" in one


def test_of_many_schemes_a_notebook_shows_the_first(found: Comparison) -> None:
    contest = found.contests[0]
    first = contest.schemes[0]
    many = tuple(
        replace(first, setting=(("ssd.gc.victim", f"v{place}"),), is_baseline=place == 0)
        for place in range(MOST_ROWS + 5)
    )
    shown = render_fragment([replace(contest, schemes=many)])
    assert Page(shown).tags.count("tr") == 1 + MOST_ROWS
    assert "5 more schemes" in shown


def test_a_search_is_shown_by_its_answer() -> None:
    searched = copyback.search(
        tiny_config(),
        least="ssd.ftl.over_provisioning=0.25..0.5",
        where="WA < 100",
        workload__requests=300,
    )
    assert "The least over_provisioning with WA below 100.000 is 0.25" in searched._repr_html_()
    assert pl.DataFrame(Stranger(searched)).height == 2
