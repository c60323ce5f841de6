"""Victim, schedule and placement policies written in Python.

A policy is a class; a configuration names it, and everything else (runs, audits, comparisons,
reports) treats it like one of the built-in policies. ``docs/guide/policies-in-python.md`` goes from
an idea to a figure.
"""

from copyback.policies.base import Device
from copyback.policies.placement import FOREVER, Block, Blocks, PlacementPolicy
from copyback.policies.schedule import Admit, Point, SchedulePolicy, Situation
from copyback.policies.victim import Plane, VictimPolicy

__all__ = [
    "FOREVER",
    "Admit",
    "Block",
    "Blocks",
    "Device",
    "PlacementPolicy",
    "Plane",
    "Point",
    "SchedulePolicy",
    "Situation",
    "VictimPolicy",
]
