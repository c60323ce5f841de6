"""Steady states in words, for terminal and report: of a run, and of its preparation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from copyback.summary import RoundsSummary, SteadyWindow, Summary

#: What is measured in a round: how a person calls it.
METRICS = {
    "iops": "IOPS",
    "bandwidth": "bandwidth",
    "mean_response": "mean response time",
    "write_amplification": "write amplification",
}

#: Why a run ended that is not steady.
ENDS = {
    "most_rounds": "the most that were allowed",
    "read_only": "then a drive became read-only",
    "workload": "then there were no more requests",
}


def rows(summary: Summary, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a run's rule found; nothing if no rule could end it."""
    found = summary.steady_state
    if found is None:
        return []
    metric = METRICS[found.metric]
    length = config["stop"]["round"]
    unit = "" if isinstance(length, str) else " requests"
    rounds = f"{units.count(found.rounds)} rounds of {length}{unit}"
    if found.reached:
        outcome = f"{metric} is steady after {rounds}"
    else:
        outcome = f"{metric} is not steady after {rounds}, {ENDS[found.ended_by]}"
    window = found.window
    if window is None:
        return [("Outcome", outcome)]
    there = (
        f"{units.rate(window.iops)} IOPS · {units.decimal(window.mib_per_s)} MiB/s · mean "
        f"{units.time_us(window.mean_response_us)} · write amplification "
        f"{units.factor(window.write_amplification)}"
    )
    return [
        ("Outcome", outcome),
        (f"Rounds {window.first_round} to {window.last_round}", there),
        ("Spread", strays(window)),
    ]


def preparation(summary: Summary) -> list[tuple[str, str]]:
    """Return how overwriting until that was steady ended; nothing if it had a set end."""
    found = summary.precondition
    if found is None:
        return []
    devices = found.devices
    steady = sum(device.reached for device in devices)
    told = [device.rounds for device in devices]
    rounds = f"{min(told)} to {max(told)}" if min(told) < max(told) else f"{min(told)}"
    which = "write amplification" if len(devices) == 1 else f"{steady} of {len(devices)} drives"
    state = "steady" if steady else "not steady"
    text = f"{which} {state} after {rounds} rounds of overwrites"
    if len(devices) > 1 or devices[0].write_amplification is None:
        return [("Outcome", text)]
    mean = units.factor(devices[0].write_amplification)
    return [("Outcome", f"{text}, at {mean}"), ("Spread", strays(devices[0]))]


def facts(summary: Summary, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return all of it in a line each."""
    told = {
        "Prepared": preparation(summary),
        "Steady state": rows(summary, config),
        "Settled": settled(summary),
        "Unserved": unserved(summary),
    }
    return [
        (label, " · ".join(text for _, text in found)) for label, found in told.items() if found
    ]


def settled(summary: Summary) -> list[tuple[str, str]]:
    """Return after how many rounds a run ended that goes on until it has settled; else nothing."""
    found = summary.settled
    if found is None:
        return []
    rounds = f"{units.count(found.rounds)} rounds of {units.count(found.round)} requests"
    most = units.count(found.most_rounds)
    if found.reached:
        return [("Settled", f"after {rounds}, of at most {most}")]
    return [("Settled", f"no: ended after {rounds}, of at most {most}")]


def unserved(summary: Summary) -> list[tuple[str, str]]:
    """Return how many requests the rule that ended the run left waiting; nothing if none."""
    count = summary.requests.unserved
    if not count:
        return []
    return [("Unserved", f"{units.count(count)} requests had arrived and waited as the run ended")]


def strays(window: SteadyWindow | RoundsSummary) -> str:
    """Return how far the values of a window lie apart."""
    if window.slope is None:
        return "not known, as some rounds had nothing to measure"
    slope = f"{100 * window.slope:+.1f} %".replace("-", "−")
    return (
        f"excursion {units.share(window.excursion)}, slope {slope}, deviation "
        f"{units.share(window.deviation)}"
    )
