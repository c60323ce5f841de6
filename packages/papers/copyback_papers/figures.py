"""Drawings of an experiment, and the table of numbers under each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import field

from copyback.inputs.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from copyback.data import TableName

#: The table of a run that a kind needs beside the summary; a microscope needs more than this one.
TABLES: dict[str, TableName] = {
    "distribution": "distribution",
    "series": "series",
    "density": "series",
    "microscope": "requests",
}


class Figure(Table, frozen=True):
    """One drawing.

    Lines and bars show one measure of each variant; a stack shows several parts; a distribution
    shows the share of requests at or below a response time; a series runs over time; a density
    shows how bandwidth spreads over the rows of the series; a microscope looks at each request and
    at what single drives of an array did meanwhile.

    Attributes
    ----------
    name
        The figure of the paper, and the file's name.
    measure
        A key of ``summary.json``, or two joined by `` / ``; of a series, a column.
    axis
        What is drawn upwards, with its unit.
    scale
        Measures are multiplied by this.
    normalise
        The variant that is one; None for absolute numbers.
    operation
        Of a distribution: the response times of all requests, or their excess over the bound.
    parts
        Of a stack: name and measure of each part.
    window_ms
        Of a microscope: the time that it looks at.
    drives
        Of a microscope: the drives that it looks at.
    """

    name: str
    title: str
    kind: Literal["lines", "bars", "stack", "distribution", "series", "density", "microscope"]
    measure: str = "response_us.all.mean"
    axis: str = "mean response time (ms)"
    scale: float = 1.0
    logarithmic: bool = False
    normalise: str | None = None
    operation: Literal["all", "excess_all"] = "all"
    parts: dict[str, str] = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    window_ms: tuple[int, ...] = ()
    drives: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if (self.kind == "stack") != bool(self.parts):
            raise ValueError("parts: a stack needs a table of parts, other kinds have none")
        if self.kind == "microscope" and (len(self.window_ms) != 2 or not self.drives):
            raise ValueError("window_ms: a microscope needs a window of two times, and drives")

    @property
    def table(self) -> TableName | None:
        """The table of a run that it draws from; None if the summary is enough."""
        return TABLES.get(self.kind)

    def names(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Yield the names of variants, points and workloads that it uses."""
        yield "variants", self.variants + ((self.normalise,) if self.normalise else ())
        yield "points", self.points
        yield "workloads", self.workloads
