"""Configurations that together raise every finding of a verdict, each with one of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback.words import verdict

if TYPE_CHECKING:
    from collections.abc import Callable


def load(tiny: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the drive in conftest under another load."""
    changed = {**tiny["workload"], **changes}
    return {
        **tiny,
        "workload": {key: value for key, value in changed.items() if value is not None},
    }


def gap(mean: str) -> dict[str, Any]:
    """Return arrivals at random."""
    return {"type": "exponential", "mean": mean}


#: A configuration that raises each finding.
RAISED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "unmapped_reads": lambda tiny: {
        **load(tiny, requests=500),
        "precondition": {"fill": 0.2, "overwrites": 0.0},
    },
    "nothing_programmed": lambda tiny: {
        **load(tiny, requests=100, footprint=0.05, read_share=0.0),
        "ssd": {**tiny["ssd"], "buffer": {"capacity": "1MiB"}},
    },
    "overload": lambda tiny: load(tiny, requests=40_000, inter_arrival=gap("60us")),
    "perhaps_overload": lambda tiny: load(tiny, requests=150, inter_arrival=gap("60us")),
    "stalls": lambda tiny: load(tiny, requests=40_000, inter_arrival=gap("1ms")),
    "bursts": lambda tiny: {
        **load(
            tiny,
            requests=20_000,
            inter_arrival=gap("30us"),
            bursts={"type": "on_off", "on": "20ms", "off": "280ms"},
        ),
        "ssd": {**tiny["ssd"], "gc": {"zero_cost": True}},
    },
    "nothing_collected": lambda tiny: {
        **load(tiny, requests=100, read_share=0.0),
        "precondition": {"fill": 0.1, "overwrites": 0.0},
    },
    "unsettled": lambda tiny: {**tiny, "precondition": {"fill": 1.0, "overwrites": 0.0}},
}


@pytest.mark.parametrize("finding", RAISED)
def test_a_configuration_raises_each(tiny: dict[str, Any], finding: str) -> None:
    """By its own numbers, said in a sentence under its label."""
    summary = copyback.run(RAISED[finding](tiny)).summary
    assert finding in summary.verdict.findings
    said = {found.key: found for found in verdict.findings(summary)}
    assert said[finding].label == verdict.MEANINGS[finding][0]
    assert said[finding].text


def test_a_flow_of_which_nothing_is_answered_raises_the_rest(tiny: dict[str, Any]) -> None:
    """The run ends before its first request; no finding is without a configuration."""
    flows = [
        {**tiny["workload"], "requests": 300},
        {**tiny["workload"], "requests": 10, "starts_at": "1h"},
    ]
    stop = {"type": "steady_state", "round": 20, "window": 2, "excursion": 10.0, "slope": 10.0}
    config = {**tiny, "workload": {"type": "flows", "flows": flows}, "stop": stop}
    summary = copyback.run(config).summary
    assert "starved" in summary.verdict.findings
    assert {*RAISED, "starved"} == set(verdict.MEANINGS)


def test_a_quiet_drive_raises_none(tiny: dict[str, Any]) -> None:
    """So that none of them is always on."""
    quiet = load(tiny, requests=40_000, inter_arrival=gap("2ms"))
    quiet["ssd"] = {**tiny["ssd"], "gc": {"preemption": "semi_preemptive"}}
    assert copyback.run(quiet).summary.verdict.findings == []
