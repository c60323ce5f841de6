"""Makers of the policies in Python that a configuration names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.policies.bridge import ScheduleHooks, VictimHooks
from copyback.policies.coordinating import CoordinationHooks
from copyback.policies.load import PLACEMENTS, SCHEDULES, VICTIMS, named_in
from copyback.policies.placing import PlacementHooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback._core import Config


@dataclass
class Suppliers:
    """Makers of a configuration's policies in Python, for `_core.Simulation`."""

    victims: Callable[..., Any] | None = None
    schedule: Callable[..., Any] | None = None
    placement: Callable[..., Any] | None = None
    coordinator: Callable[..., Any] | None = None


def suppliers(config: Config) -> Suppliers:
    """Return what makes the policies in Python that a configuration names."""
    made = Suppliers()
    for named in named_in(config):
        if named.kind is VICTIMS:
            made.victims = VictimHooks(named).make
        elif named.kind is SCHEDULES:
            made.schedule = ScheduleHooks(named).make
        elif named.kind is PLACEMENTS:
            made.placement = PlacementHooks(named).make
        else:
            made.coordinator = CoordinationHooks(named).make
    return made
