"""Refuses an imported configuration that cannot run, and lowers thresholds that leave no room."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from copyback._core import Config, InputError
from copyback.importers.told import told

if TYPE_CHECKING:
    from copyback.importers.draft import Draft

_SOFT = "ssd.gc.soft_threshold"
_HARD = "ssd.gc.hard_threshold"
_SPACE = "ssd.ftl.over_provisioning"


def check(draft: Draft) -> None:
    """Refuse what cannot be run, in one line, in the words of the file."""
    if fault := _fault(draft):
        raise InputError(told(draft, fault))


def fit_thresholds(draft: Draft) -> None:
    """Lower thresholds that the over-provisioning does not cover, the later one only if it must be.

    Other simulators start such a drive; it then collects without end, or is never full.
    """
    if not _lacks_space(draft):
        return
    asked = {key: draft.values[key] for key in (_SOFT, _HARD)}
    if not _lower(draft, _SOFT, least=_blocks(draft, _HARD)):
        draft.values.update(asked)
        lowest = {"blocks": 1}
        draft.values[_SOFT] = lowest
        if not _lower(draft, _HARD, least=1):
            draft.values.update(asked)
            return
    for key, before in asked.items():
        after = draft.values[key]
        if after != before:
            draft.approximate(
                draft.sources.get(key, key),
                f"{_words(before)} must be free at {draft.values[_SPACE]:g} spare, which would "
                "leave no "
                f"room for the host's data: {_words(after)}, the most that does",
            )


def _words(threshold: dict[str, int]) -> str:
    return f"{threshold['blocks']} blocks of a plane"


def _blocks(draft: Draft, key: str) -> int:
    return int(draft.values[key]["blocks"])


def _lower(draft: Draft, key: str, least: int) -> bool:
    """Give a threshold the most blocks that fit; whether any do."""
    low, high = least, _blocks(draft, key)
    best = None
    while low <= high:
        middle = (low + high) // 2
        draft.values[key] = {"blocks": middle}
        if key == _HARD:
            draft.values[_SOFT] = {"blocks": middle}
        if _lacks_space(draft):
            high = middle - 1
        else:
            best, low = middle, middle + 1
    if best is not None:
        draft.values[key] = {"blocks": best}
        if key == _HARD:
            draft.values[_SOFT] = {"blocks": best}
    return best is not None


def _lacks_space(draft: Draft) -> bool:
    fault = _fault(draft)
    return fault is not None and fault.startswith(f"{_SPACE}: ")


def _fault(draft: Draft) -> str | None:
    """Return the first thing that is wrong with the configuration."""
    try:
        Config.load(json=json.dumps(draft.nested()))
    except InputError as fault:
        return str(fault).splitlines()[0].removeprefix("config: ")
    return None
