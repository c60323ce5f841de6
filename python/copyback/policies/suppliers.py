"""Makers of the policies in Python that a configuration names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from copyback.policies.bridge import ScheduleHooks, VictimHooks
from copyback.policies.coordinating import CoordinationHooks
from copyback.policies.load import COORDINATORS, PLACEMENTS, SCHEDULES, VICTIMS, named_in
from copyback.policies.placing import PlacementHooks

if TYPE_CHECKING:
    from copyback._core import Config
    from copyback.policies.bridge import Hooks
    from copyback.policies.load import Kind

#: Makers of policies, for `_core.Simulation`, by the key that names them.
Suppliers = dict[str, Callable[..., Any]]

_HOOKS: dict[Kind, type[Hooks]] = {
    VICTIMS: VictimHooks,
    SCHEDULES: ScheduleHooks,
    PLACEMENTS: PlacementHooks,
    COORDINATORS: CoordinationHooks,
}


def suppliers(config: Config) -> Suppliers:
    """Return what makes the policies in Python that a configuration names."""
    return {named.kind.key: _HOOKS[named.kind](named).make for named in named_in(config)}
