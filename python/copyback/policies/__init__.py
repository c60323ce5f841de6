"""Victim, schedule and placement policies, and coordinators of arrays, written in Python.

A policy is a class; a configuration names it, and everything else (runs, audits, comparisons,
reports) treats it like one of the built-in policies. ``docs/guide/policies-in-python.md`` goes from
an idea to a figure.
"""

from copyback.policies.base import Device
from copyback.policies.coordination import (
    Array,
    Collect,
    CoordinationPolicy,
    Done,
    Moment,
    MustCollect,
    Report,
    RunsShort,
    State,
    Stop,
)
from copyback.policies.placement import FOREVER, Block, Blocks, PlacementPolicy
from copyback.policies.schedule import Admit, Point, SchedulePolicy, Situation
from copyback.policies.victim import Plane, VictimPolicy

__all__ = [
    "FOREVER",
    "Admit",
    "Array",
    "Block",
    "Blocks",
    "Collect",
    "CoordinationPolicy",
    "Device",
    "Done",
    "Moment",
    "MustCollect",
    "PlacementPolicy",
    "Plane",
    "Point",
    "Report",
    "RunsShort",
    "SchedulePolicy",
    "Situation",
    "State",
    "Stop",
    "VictimPolicy",
]
