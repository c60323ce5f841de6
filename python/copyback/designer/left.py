"""Rest of a study, for designs that are run from its page.

The study's file may be gone: `design.json` has the base under each workload, as the search ran it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from copyback._core import InputError
from copyback.inputs.configuration import parse_setting
from copyback.inputs.policy_names import DESIGN
from copyback.inputs.tables import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


#: Weight of a workload, which has an end.
Weight = Annotated[float, Meta(gt=0, le=sys.float_info.max)]


class LeftObjective(msgspec.Struct, frozen=True):
    """Measure of a study."""

    measure: str
    column: str


class Left(msgspec.Struct, frozen=True):
    """Entries of `design.json` that it takes to run a design.

    Attributes
    ----------
    workloads
        Weight of each.
    keys
        Of the space.
    runs
        For each workload the configuration of the base.
    """

    objectives: tuple[LeftObjective, ...]
    workloads: dict[str, Weight]
    keys: tuple[str, ...]
    runs: dict[str, str]


def is_study(directory: Path) -> bool:
    """Whether a directory holds a study."""
    return (directory / DESIGN).is_file()


def left(directory: Path) -> Left:
    """Return what a study has left.

    Raises
    ------
    InputError
        With the file, and what is wrong with it.
    """
    path = directory / DESIGN
    found = read_json(path, Left)
    if found.runs.keys() != found.workloads.keys():
        raise InputError(
            f"{path}: runs: found other workloads than in workloads; allowed: the same"
        )
    return found


def settings_in(own: Left, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the settings of a design.

    Raises
    ------
    InputError
        If one is of a key that the study does not choose.
    """
    settings = [parse_setting(text) for text in texts]
    for key, _ in settings:
        if key not in own.keys:
            raise InputError(f"{key}: found outside the study; allowed: {', '.join(own.keys)}")
    return settings
