"""Victim and schedule policies written in Python.

A policy is a class; a configuration names it, and everything else (runs, audits, comparisons,
reports) treats it like one of the built-in policies. ``docs/guide/policies-in-python.md`` goes from
an idea to a figure.
"""

from copyback.policies.base import Device
from copyback.policies.schedule import Admit, Point, SchedulePolicy, Situation
from copyback.policies.victim import Plane, VictimPolicy

__all__ = ["Admit", "Device", "Plane", "Point", "SchedulePolicy", "Situation", "VictimPolicy"]
