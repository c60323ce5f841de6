"""One experiment: a figure, a table or a question of a paper.

It says what the paper claims, what it leaves open and what was chosen, the settings of every run,
what is drawn, and which rows of ``targets.csv`` it answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field, structs

from copyback.inputs import configuration
from copyback.inputs.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from copyback_papers.checks import Check
    from copyback_papers.figures import Figure
    from copyback_papers.ranking import Ranking
    from copyback_papers.regions import Region

#: Dotted keys of a configuration and their values as TOML, in the order in which they are laid.
Settings = tuple[tuple[str, str], ...]

#: Named rows of settings, as a file has them.
Tables = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A named row of settings: a variant, or a point of the swept parameter."""

    name: str
    settings: Settings


@dataclass(frozen=True)
class Load:
    """Load of the host.

    Attributes
    ----------
    at
        Settings of single points under this workload, laid over the point's own.
    stands_for
        What of the paper it stands for, and how well; None if it is what the paper used.
    trace
        File of a real trace, below the directory of traces; None of a workload that is generated.
    """

    name: str
    settings: Settings
    at: dict[str, Settings]
    stands_for: str | None
    trace: str | None


class Scale(Table, frozen=True):
    """Scale of the simulations.

    Attributes
    ----------
    note
        What differs from the paper's setting, in a sentence.
    cpu_minutes
        About what all of it costs, estimated before it is run; None if nobody knows.
    seeds
        Each run is repeated with each.
    shorter
        Numbers of requests that settings give are divided by this.
    longer
        They are multiplied by this.
    set
        Settings laid over the configuration, under workloads, points and variants.
    points, workloads
        Names of those that are run; all if empty.
    variants
        Settings of single variants at this scale, laid over the variant's own.
    """

    note: str = ""
    cpu_minutes: Annotated[float, Meta(gt=0)] | None = None
    seeds: tuple[Annotated[int, Meta(ge=0)], ...] = (0,)
    shorter: Annotated[int, Meta(ge=1)] = 1
    longer: Annotated[int, Meta(ge=1)] = 1
    set: dict[str, Any] = field(default_factory=dict)
    points: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    variants: Tables = field(default_factory=dict)


class OpenInput(Table, frozen=True):
    """Input that a paper's text leaves open.

    Attributes
    ----------
    says
        What is open, and what was chosen.
    key
        The setting that it is, if it is one.
    bounds
        The values that the text allows: the least and the greatest, or all of them.
    """

    says: str
    bounds: Annotated[tuple[Any, ...], Meta(min_length=2)]
    key: str | None = None


class Reading(Table, frozen=True):
    """A named reading of a paper's text.

    Attributes
    ----------
    reason
        Why the text can be read like this.
    set
        Settings laid over those of the scale, under workloads, points and variants.
    """

    reason: str
    set: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """Experiment as one file describes it.

    Attributes
    ----------
    name
        The file's name without ``.toml``; what ``copyback paper run PAPER NAME`` takes.
    config
        The configuration under all settings, in the shape of a dictionary.
    open_inputs
        What the paper leaves open, with the bounds within which its text lets it move.
    axis
        What the points are points of; empty if there is one.
    rankings
        Tables of the paper whose order is compared with ours.
    regions
        Claims that are judged at each point by itself.
    reading
        The name of the reading; empty of the paper's joint one.
    readings
        The experiment under other readings of the paper's text; verdicts are never mixed.
    column
        Title of a column beside the claims that its answers stand in, counted nowhere: of other
        workloads than the paper's. Empty if its answers are those that are counted.
    """

    name: str
    path: Path
    title: str
    claim: str
    chosen: tuple[str, ...]
    open_inputs: tuple[OpenInput, ...]
    config: dict[str, Any]
    variants: tuple[Case, ...]
    axis: str
    points: tuple[Case, ...]
    workloads: tuple[Load, ...]
    scales: dict[str, Scale]
    figures: tuple[Figure, ...]
    checks: tuple[Check, ...]
    rankings: tuple[Ranking, ...] = ()
    regions: tuple[Region, ...] = ()
    reading: str = ""
    readings: tuple[Experiment, ...] = ()
    column: str = ""


def laid_over(experiment: Experiment, settings: Mapping[str, Any]) -> Experiment:
    """Return an experiment with more settings over those of its scales."""
    scales = {
        name: structs.replace(scale, set={**scale.set, **settings})
        for name, scale in experiment.scales.items()
    }
    return replace(experiment, scales=scales)


def read_as(experiment: Experiment, name: str, reading: Reading) -> Experiment:
    """Return an experiment under another reading: an experiment of its own, named after both."""
    named = replace(
        experiment,
        name=f"{experiment.name}@{name}",
        reading=name,
        title=f"{experiment.title} (reading: {name})",
        chosen=(*experiment.chosen, f"Reading {name}: {reading.reason}"),
    )
    return laid_over(named, reading.set)


def as_settings(table: Mapping[str, Any]) -> Settings:
    """Return a table of dotted keys of a configuration as settings."""
    return tuple((key, configuration.to_toml(value)) for key, value in table.items())
