"""Warns of a load that reads what the imported drive does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from copyback.words import units

if TYPE_CHECKING:
    from copyback.importers.draft import Draft


def warn(draft: Draft, simulator: str) -> None:
    """Say in a line that reads will find no data, and what to set, if the load reads.

    The other simulators read such pages from the flash all the same.
    """
    fill = float(draft.values["precondition.fill"])
    if not any(_reads_beyond(load, fill) for load in _loads(draft)):
        return
    holds = f"data in the first {units.share(fill)} of its pages" if fill else "no data"
    draft.warn(
        f"the drive holds {holds} (precondition.fill = {fill:g}): reads of pages that were not "
        f"written take no time of the flash, where {simulator} reads them as if they had been; "
        "set precondition.fill = 1.0 for that"
    )


def _loads(draft: Draft) -> list[dict[str, Any]]:
    """Return the tables of the flows; one that may be anything if the draft has no load."""
    load = draft.nested().get("workload", {})
    return list(load.get("flows", [load]))


def _reads_beyond(load: dict[str, Any], fill: float) -> bool:
    """Return whether a flow reads pages that are not filled; of a trace, whether none is."""
    if load.get("type") != "synthetic":
        return fill == 0
    return bool(load["read_share"]) and load.get("offset", 0.0) + load["footprint"] > fill
