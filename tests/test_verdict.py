"""What a run's numbers can be taken for is said first: overload, stalls, too short, not settled."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback import report
from copyback.result import Result
from copyback.words import tail, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli

#: Enough for the drive in conftest to show whether it keeps up at a load of 5% beside its limit.
REQUESTS = 40_000


def sustained(config: dict[str, Any]) -> float:
    """Return the requests a second of a closed loop that never lets the drive rest."""
    load = {**config["workload"], "requests": REQUESTS, "inter_arrival": None, "iodepth": 256}
    load = {key: value for key, value in load.items() if value is not None}
    iops = copyback.run({**config, "workload": load}).summary.throughput.iops
    assert iops is not None
    return iops


def offered(config: dict[str, Any], iops: float, requests: int = REQUESTS) -> dict[str, Any]:
    """Return the configuration with so many requests a second, at random."""
    gap = {"type": "exponential", "mean": f"{1e9 / iops:.0f}ns"}
    return {
        **config,
        "workload": {**config["workload"], "requests": requests, "inter_arrival": gap},
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_just_above_what_a_drive_sustains_is_overload_and_just_below_is_not(
    tiny: dict[str, Any], seed: int
) -> None:
    limit = sustained(tiny)
    above = copyback.run(offered(tiny, 1.05 * limit), seed=seed)
    assert "overload" in above.summary.verdict["findings"]
    load = above.summary.verdict["load"]
    assert load.state == "overload"
    assert load.offered_iops == pytest.approx(1.05 * limit, rel=0.02)
    assert load.served_lately_iops == pytest.approx(limit, rel=0.02)
    below = copyback.run(offered(tiny, 0.95 * limit), seed=seed)
    load = below.summary.verdict["load"]
    assert load.state == "sustained"
    assert "overload" not in below.summary.verdict["findings"]
    assert load.served_iops == pytest.approx(load.offered_iops, rel=0.01)


def test_what_is_called_overload_grows_with_the_run_and_what_is_not_does_not(
    tiny: dict[str, Any],
) -> None:
    limit = sustained(tiny)

    def mean(share: float, requests: int) -> float:
        result = copyback.run(offered(tiny, share * limit, requests))
        return float(result.summary.response_us.all["mean"])

    assert mean(1.1, 2 * REQUESTS) > 1.7 * mean(1.1, REQUESTS)
    assert mean(0.9, 2 * REQUESTS) < 1.2 * mean(0.9, REQUESTS)


def test_a_closed_loop_is_never_overloaded(tiny: dict[str, Any]) -> None:
    load = {key: value for key, value in tiny["workload"].items() if key != "inter_arrival"}
    result = copyback.run({**tiny, "workload": {**load, "iodepth": 256}})
    assert result.summary.verdict.load is None
    assert not {"overload", "perhaps_overload"} & set(result.summary.verdict["findings"])


@pytest.fixture(scope="module")
def stalling(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Return a part of the load that the preset comes with; collections do not yield."""
    home = tmp_path_factory.mktemp("stalls") / "out"
    result = copyback.run(
        preset="tlc-unbuffered-64gb", ssd__gc__preemption="none", workload__requests=500_000
    )
    return Result.load(result.save(home))


def test_dies_that_hold_are_no_overload(stalling: Result) -> None:
    found = stalling.summary.verdict
    assert "stalls" in found["findings"]
    assert found["load"].state == "sustained"
    assert found["load"].offered_iops == pytest.approx(2_000, rel=0.01)
    # The mean is thousands of times the median, and the longest hold explains the tail.
    every = stalling.summary["response_us"].all
    assert every.mean > 1_000 * every.p50
    assert found.holds.longest_wait_us > 0.25 * every.p99_9
    # The die that held longest did so for as long as a request waited for it, to a bin of the map.
    dies = stalling.to_polars("dies")
    bin_us = 1e6 * float(dies["end_s"][0] - dies["start_s"][0])
    spell = found.holds["longest_spell"]
    assert spell.us == pytest.approx(found.holds.longest_wait_us, abs=3 * bin_us)
    own = dies.filter((dies["die"] == spell.die) & (dies["start_s"] == spell.start_s))
    assert own["collecting_us"][0] >= 0.99 * bin_us


def test_waits_for_a_drive_without_power_are_no_stalls() -> None:
    result = copyback.run(
        preset="tlc-unbuffered-64gb",
        ssd__power__protection="none",
        ssd__power__cuts={"type": "random", "count": 4, "mean_interval": "30s"},
    )
    every = result.summary["response_us"].all
    assert result.summary["power_loss"].recovery_ms.mean > 10_000
    assert every.mean > 1_000 * every.p50
    assert "stalls" not in result.summary.verdict["findings"]


def test_it_stands_first_wherever_the_numbers_are_shown(
    stalling: Result, cli: RunCli, tmp_path: Path
) -> None:
    first = verdict.findings(stalling.summary)[0]
    assert first.label == "Stalls"
    # Its write amplification came in two waves, so nothing is promised.
    assert "the run is too unsettled to promise that of a longer one" in first.text
    page = report.render(stalling)
    assert page.index("<strong>Stalls.</strong>") < page.index("Garbage collection accounts for")
    assert "<strong>Stalls.</strong>" in report.render_fragment(stalling)
    summary = json.loads(stalling.summary.to_json())
    assert next(iter(summary)) == "verdict"
    assert summary["verdict"]["says"][0] == first.sentence
    atomic = ("--set", "ssd.gc.preemption=none", "--set", "workload.requests=500_000")
    done = cli("run", "--preset", "tlc-unbuffered-64gb", *atomic, "--out", tmp_path / "out")
    assert re.match(r"Tail .*\nStalls ", done.stdout)


def test_a_run_that_collects_nothing_says_so(tiny: dict[str, Any]) -> None:
    empty = {**tiny, "precondition": {"fill": 0.1, "overwrites": 0.0}}
    empty["workload"] = {**tiny["workload"], "requests": 100}
    found = copyback.run(empty)
    assert found.summary.gc.collections == 0
    assert "nothing_collected" in found.summary.verdict["findings"]
    reads = copyback.run({**empty, "workload": {**empty["workload"], "read_share": 1.0}})
    assert "nothing_collected" not in reads.summary.verdict["findings"]
    assert "nothing_collected" not in copyback.run(tiny).summary.verdict["findings"]


def test_write_amplification_that_still_rises_has_not_settled(tiny: dict[str, Any]) -> None:
    # A drive that was filled in order begins to collect blocks of which little is valid.
    fresh = copyback.run({**tiny, "precondition": {"fill": 1.0, "overwrites": 0.0}})
    assert "unsettled" in fresh.summary.verdict["findings"]
    parts = fresh.summary.verdict["write_amplification"].by_part
    assert fresh.write_amplification is not None
    assert parts[0] < fresh.write_amplification < parts[-1]
    long = copyback.run(offered(tiny, 3_000))
    found = long.summary.verdict["write_amplification"]
    assert "unsettled" not in long.summary.verdict["findings"]
    assert found.settled
    # A run twice as long gives the same, within what was called uncertain.
    twice = copyback.run(offered(tiny, 3_000, 2 * REQUESTS)).write_amplification
    assert long.write_amplification == pytest.approx(twice, rel=2 * found.uncertainty)


def test_a_settled_drive_with_stalls_is_said_to_keep_up(tiny: dict[str, Any]) -> None:
    found = verdict.findings(copyback.run(offered(tiny, 1_000)).summary)
    assert [finding.key for finding in found] == ["stalls"]
    assert "requests a second that arrive, and the backlog does not grow" in found[0].text


def test_a_run_that_catches_up_within_a_few_stalls_promises_nothing() -> None:
    # Half of the requests come before the first collection: far more than the drive can sustain.
    def run(requests: int) -> Result:
        return copyback.run(
            preset="tlc-unbuffered-64gb",
            ssd__gc__preemption="none",
            workload__inter_arrival__mean="80us",
            workload__requests=requests,
        )

    result = run(500_000)
    assert result.summary.verdict["load"].state == "caught_up"
    told = verdict.findings(result.summary)[0].text
    assert "caught up" in told
    assert "too short to promise that of a longer one" in told
    assert run(2_000_000).summary.verdict["load"].state == "overload"


def test_a_comparison_says_which_rows_cannot_be_compared(
    tiny: dict[str, Any], cli: RunCli, tmp_path: Path
) -> None:
    limit = sustained(tiny)
    over = {"workload.inter_arrival.mean": [f"{1e9 / limit / share:.0f}ns" for share in (0.5, 1.2)]}
    base = offered(tiny, limit)
    found = copyback.compare(base, over=over, out=tmp_path / "sweep", jobs=1)
    calm, busy = (contest.schemes[0] for contest in found.contests)
    assert "overload" not in calm.findings
    assert busy.findings["overload"] == 1
    assert found.frame["verdict.overload"].to_list() == [None, 1.0]
    page = (tmp_path / "sweep" / "report.html").read_text(encoding="utf-8")
    assert "<strong>Overload.</strong> 1 of 2 runs" in page
    winners = (tmp_path / "sweep" / "winners.md").read_text(encoding="utf-8")
    assert "**Overload.** 1 of 2 runs" in winners
    again = cli("report", tmp_path / "sweep")
    assert again.stderr == ""


def test_collections_that_take_less_of_the_mean_than_of_the_tail_are_stalls(
    tiny: dict[str, Any],
) -> None:
    load = {**tiny["workload"], "requests": 40_000, "inter_arrival": "2ms", "read_share": 0.95}
    summary = copyback.run({**tiny, "workload": load}).summary
    parts, times = summary.breakdown_us, summary.response_us.all
    collections = parts.gc_same_plane + parts.gc_other_plane + parts.late
    assert collections < 0.5 * (times.mean or 0)
    assert summary.tail is not None
    assert tail.shares(summary.tail)["waiting for collections"] > 0.9
    assert "stalls" in summary.verdict.findings
    free = copyback.run({**tiny, "workload": load}, ssd__gc__zero_cost=True).summary
    assert (free.response_us.all.p99_9 or math.inf) < 0.1 * (times.p99_9 or 0)
    assert "stalls" not in free.verdict.findings


def test_more_at_a_time_than_a_drive_serves_are_bursts(tiny: dict[str, Any]) -> None:
    """Hundreds of requests arrive in a fiftieth of a second, and then none for a while."""
    load: dict[str, Any] = {
        **tiny["workload"],
        "requests": 20_000,
        "inter_arrival": {"type": "exponential", "mean": "30us"},
        "bursts": {"type": "on_off", "on": "20ms", "off": "280ms"},
    }
    summary = copyback.run({**tiny, "workload": load}, ssd__gc__zero_cost=True).summary
    assert summary.verdict.load is not None
    assert summary.verdict.load.state == "sustained"
    [found] = verdict.findings(summary)
    assert found.label == "Bursts"
    assert "wait for one another" in found.text
    even = {**load, "inter_arrival": "1ms"}
    del even["bursts"]
    smooth = copyback.run({**tiny, "workload": even}, ssd__gc__zero_cost=True).summary
    assert "bursts" not in smooth.verdict.findings
