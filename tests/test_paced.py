"""Paced collections: the rate in the summary, over time, in the terminal and on the page."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import copyback
from copyback import report
from copyback.words import console
from terminal import printed

# A small drive of one die of four planes, and more writes than it can take.
CONFIG: dict[str, Any] = {
    "audit": True,
    "ssd": {
        "geometry": {
            "channels": 1,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": 4,
            "blocks_per_plane": 40,
            "pages_per_block": 64,
            "page_size": "4KiB",
        },
        "ftl": {"over_provisioning": 0.25, "allocation": "dynamic"},
        "gc": {"soft_threshold": {"blocks": 5}},
    },
    "precondition": {"fill": 1.0, "overwrites": 1.0},
    "workload": {
        "type": "synthetic",
        "requests": 20_000,
        "request_size": "4KiB",
        "read_share": 0.2,
        "sequential_share": 0.0,
        "iodepth": 16,
    },
}


def run(preemption: Any) -> copyback.Result:
    """Return the result of the small drive with one way to yield."""
    return copyback.run(CONFIG, ssd__gc__preemption=preemption)


@pytest.fixture(scope="module")
def paced() -> copyback.Result:
    """Return the result with paced collections."""
    return run("paced")


def test_the_rate_is_what_is_moved_and_erased_for_each_page(paced: copyback.Result) -> None:
    """What pages were charged is what was done, if nothing but charges lets collections go on."""
    summary = paced.summary
    pacing = summary.gc.pacing
    assert pacing is not None
    done = summary.gc.pages_moved + summary.gc.erases
    assert pacing.steps_charged == pytest.approx(done, rel=0.05)
    pages = summary.flash.host_programs
    assert pacing.steps_per_page == pytest.approx(pacing.steps_charged / pages)
    assert 0 < pacing.throttled <= pages
    assert summary.gc.stalled_us == 0


def test_the_series_adds_up_to_the_summary(paced: copyback.Result) -> None:
    """Each row has what was charged in it."""
    pacing = paced.summary.gc.pacing
    assert pacing is not None
    table = paced.series
    assert float(np.sum(table["gc_steps_charged"].to_numpy())) == pytest.approx(
        pacing.steps_charged
    )
    assert int(np.sum(table["throttled_writes"].to_numpy())) == pacing.throttled


def test_the_page_and_the_terminal_show_it(paced: copyback.Result) -> None:
    """A chart over time, and a line."""
    page = report.render(paced)
    assert 'id="pace"' in page
    assert re.search(r'"pace": ?\[', page)
    assert "steps of collections for each page of the host" in printed(console.overview(paced))


def test_nobody_else_has_it() -> None:
    """Other schemes have neither the column nor the chart."""
    other = run("partial")
    assert other.summary.gc.pacing is None
    assert "gc_steps_charged" not in other.series.columns
    assert 'id="pace"' not in report.render(other)


def test_the_longest_wait_is_a_few_moves_and_not_a_block(paced: copyback.Result) -> None:
    """Under a load that no drive sustains, paced writes wait less at most than any other's."""
    longest = {name: _longest(run(name)) for name in ("none", "partial")}
    own = _longest(paced)
    assert all(own < other for other in longest.values()), (own, longest)


def _longest(result: copyback.Result) -> float:
    longest = result.summary.response_us.write.max
    assert longest is not None
    return longest
