"""Runs that go on until what they report has settled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.words import steady

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import RunCli


def rounds(tiny: dict[str, Any], round_: int, **more: Any) -> dict[str, Any]:
    """Return the drive in conftest under a load in rounds."""
    requests = {"type": "until_settled", "round": round_, **more}
    gap = {"type": "exponential", "mean": "1ms"}
    return {**tiny, "workload": {**tiny["workload"], "requests": requests, "inter_arrival": gap}}


def test_it_ends_with_the_first_round_after_which_nothing_would_change(
    tiny: dict[str, Any],
) -> None:
    """As long runs of so many rounds say, one by one."""
    fresh = {**tiny, "precondition": {"fill": 1.0, "overwrites": 0.0}}
    result = copyback.run(rounds(fresh, 2_000))
    found = result.summary.settled
    assert found is not None
    assert found.reached
    assert 2 <= found.rounds < 20
    assert result.summary.requests.count >= 2_000 * found.rounds
    passing = {"unsettled", "nothing_collected", "perhaps_overload"}
    assert not passing & set(result.summary.verdict.findings)
    one = rounds(fresh, 2_000)
    one["workload"]["requests"] = 2_000
    assert passing & set(copyback.run(one).summary.verdict.findings)


def test_a_bound_ends_it_and_says_so(tiny: dict[str, Any]) -> None:
    """A drive that is hardly filled collects nothing."""
    empty = {**rounds(tiny, 20, most_rounds=3), "precondition": {"fill": 0.1, "overwrites": 0.0}}
    summary = copyback.run(empty).summary
    assert summary.requests.count == 60
    assert summary.settled is not None
    assert not summary.settled.reached
    assert any("the run ended after 3 rounds of 20 requests" in note for note in summary.notes)
    assert steady.settled(summary) == [
        ("Settled", "no: ended after 3 rounds of 20 requests, of at most 3")
    ]


def test_a_number_takes_the_place_of_rounds(tiny: dict[str, Any]) -> None:
    """As whoever sets it expects."""
    result = copyback.run(rounds(tiny, 100), workload__requests=70)
    assert result.summary.requests.count == 70
    assert result.summary.settled is None


def test_a_ramp_is_no_round(tiny: dict[str, Any]) -> None:
    """Its requests are not measured, and say nothing of what is."""
    config = rounds(tiny, 2_000)
    config["workload"]["ramp"] = "10s"
    summary = copyback.run(config).summary
    assert summary.settled is not None
    assert summary.settled.reached
    assert summary.requests.count >= 2_000 * summary.settled.rounds
    assert "unsettled" not in summary.verdict.findings


def test_two_rules_are_refused(tiny: dict[str, Any]) -> None:
    """One of them would end the run, and nobody could say which."""
    stop = {"type": "steady_state", "round": "100ms"}
    with pytest.raises(copyback.InputError, match=r"workload\.requests: found \"until_settled\""):
        copyback.run({**rounds(tiny, 100), "stop": stop})


def test_what_looks_at_a_workload_alone_says_that_it_took_the_most(
    cli: RunCli, tmp_path: Path
) -> None:
    """Only a simulation tells how many rounds there are."""
    toml = tmp_path / "rounds.toml"
    toml.write_text(
        """
ssd.geometry.blocks_per_plane = 32
[workload]
requests = { type = "until_settled", round = 40, most_rounds = 3 }
inter_arrival = "1ms"
"""
    )
    told = " ".join(cli("trace", "info", toml).stdout.split())
    assert "Requests 120 " in told
    assert "workload.requests: at most 3 rounds of 40 requests" in told
