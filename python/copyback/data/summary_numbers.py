"""The numbers of a summary as columns of a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


#: Numbers that depend on the machine, or name the run and not what it did.
_LEFT_OUT = ("simulator.", "schema", "seed")


def numbers_of(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return what a run did in numbers: those of its summary under dotted keys, and some more."""
    found = {key: value for key, value in flatten(summary) if not key.startswith(_LEFT_OUT)}
    made = (
        array_measures,
        collection_measures,
        idle_measures,
        steady_measures,
        flow_measures,
        class_measures,
        verdict_measures,
    )
    return found | {key: number for of in made for key, number in of(summary).items()}


def flatten(summary: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float | None]]:
    """Yield every number of a summary under its dotted key.

    >>> dict(flatten({"gc": {"erases": 3, "idle": None}, "notes": []}))
    {'gc.erases': 3, 'gc.idle': None}
    """
    for key, value in summary.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        elif value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            yield f"{prefix}{key}", value


def array_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return what is made from the lists that only the summary of an array has.

    Shares of time are with no drive collecting, some, and all; drives are how many collect together
    while some do.

    >>> array_measures({"collecting_together": [0.5, 0.3, 0.2]})["array.drives_together"]
    1.4
    """
    shares = summary.get("collecting_together")
    if shares is None:
        return {"array.devices": 1.0}
    some = math.fsum(shares[1:])
    together = math.fsum(count * share for count, share in enumerate(shares))
    return {
        "array.devices": float(len(shares) - 1),
        "array.collecting.none": shares[0],
        "array.collecting.some": some,
        "array.collecting.all": shares[-1],
        "array.drives_together": together / some if some else None,
    }


def collection_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the collections that were made in advance, in short gaps and in long idle periods.

    >>> collection_measures({"gc": {"kinds": {"look_ahead": 2, "compaction": 3}}})
    {'gc.in_advance': 5}
    """
    kinds = summary["gc"]["kinds"]
    return {"gc.in_advance": kinds["look_ahead"] + kinds["compaction"]}


def idle_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the share of long ones among the idle periods that are long enough to be used.

    >>> idle_measures({"idle_time": {"short": {"periods": 3}, "long": {"periods": 1}}})
    {'idle_time.long_share': 0.25}
    """
    found = summary.get("idle_time")
    if found is None:
        return {}
    long = found["long"]["periods"]
    usable = found["short"]["periods"] + long
    return {"idle_time.long_share": long / usable if usable else None}


def steady_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return whether a run, and all of its preparation, became steady: one or zero.

    >>> steady_measures({"steady_state": {"reached": True}})
    {'steady_state.reached': 1.0}
    """
    found: dict[str, float | None] = {}
    if "steady_state" in summary:
        found["steady_state.reached"] = float(summary["steady_state"]["reached"])
    if "precondition" in summary:
        devices = summary["precondition"]["devices"]
        found["precondition.reached"] = float(all(device["reached"] for device in devices))
        found["precondition.rounds"] = float(max(device["rounds"] for device in devices))
    return found


def flow_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the numbers of each flow.

    >>> flow_measures({"flows": [{"flow": 0, "throughput": {"iops": 5.0}}]})
    {'flows.0.throughput.iops': 5.0}
    """
    return {
        key: value
        for flow in summary.get("flows", [])
        for key, value in flatten(flow, f"flows.{flow['flow']}.")
        if key != f"flows.{flow['flow']}.flow"
    }


def class_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the numbers of each class of the placement.

    >>> class_measures({"placement": {"classes": [{"victims": 3, "takes_host": True}]}})
    {'placement.class_0.victims': 3}
    """
    found = (summary.get("placement") or {}).get("classes", [])
    return {
        key: value
        for number, of_class in enumerate(found)
        for key, value in flatten(of_class, f"placement.class_{number}.")
    }


def verdict_measures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Return what a run was found to be: one for each finding.

    >>> verdict_measures({"verdict": {"findings": ["stalls"]}})
    {'verdict.stalls': 1.0}
    """
    found = (summary.get("verdict") or {}).get("findings", [])
    return {f"verdict.{finding}": 1.0 for finding in found}
