"""What an experiment draws, and the table of numbers under each drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from copyback.papers.fields import Fields
    from copyback.result import TableName

#: The ways to draw. Lines and bars show one measure of each variant; a stack shows several parts;
#: a distribution shows the share of requests at or below a response time; a series runs over
#: time; a density shows how bandwidth spreads over the rows of the series; a microscope looks at
#: each request and at what single drives of an array did meanwhile.
KINDS = ("lines", "bars", "stack", "distribution", "series", "density", "microscope")

#: What a distribution is of: the response times of all requests, or their excess over the bound.
OPERATIONS = ("all", "excess_all")

#: The table of a run that a kind needs beside the summary; a microscope needs more than this one.
TABLES: dict[str, TableName] = {
    "distribution": "distribution",
    "series": "series",
    "density": "series",
    "microscope": "requests",
}


@dataclass(frozen=True)
class Figure:
    """One drawing.

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
        Of a distribution: one of `OPERATIONS`.
    parts
        Of a stack: name and measure of each part.
    window_ms
        Of a microscope: the time that it looks at.
    drives
        Of a microscope: the drives that it looks at.
    """

    name: str
    title: str
    kind: str
    measure: str
    axis: str
    scale: float
    logarithmic: bool
    normalise: str | None
    operation: str
    parts: tuple[tuple[str, str], ...]
    variants: tuple[str, ...]
    workloads: tuple[str, ...]
    points: tuple[str, ...]
    window_ms: tuple[int, ...]
    drives: tuple[int, ...]

    @property
    def table(self) -> TableName | None:
        """The table of a run that it draws from; None if the summary is enough."""
        return TABLES.get(self.kind)

    def names(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Yield the names of variants, points and workloads that it uses."""
        yield "variants", self.variants + ((self.normalise,) if self.normalise else ())
        yield "points", self.points
        yield "workloads", self.workloads


def read_figure(fields: Fields) -> Figure:
    """Read a figure."""
    figure = Figure(
        name=fields.text("name"),
        title=fields.text("title"),
        kind=fields.one_of("kind", KINDS),
        measure=fields.text("measure", "response_us.all.mean"),
        axis=fields.text("axis", "mean response time (ms)"),
        scale=fields.take("scale", float, 1.0),
        logarithmic=fields.take("logarithmic", bool, False),
        normalise=fields.optional_text("normalise"),
        operation=fields.one_of("operation", OPERATIONS, OPERATIONS[0]),
        parts=tuple((name, str(m)) for name, m in fields.table("parts").rest().items()),
        variants=fields.texts("variants"),
        workloads=fields.texts("workloads"),
        points=fields.texts("points"),
        window_ms=fields.numbers("window_ms", []),
        drives=fields.numbers("drives", []),
    )
    if (figure.kind == "stack") != bool(figure.parts):
        raise fields.fault("parts", "a stack needs a table of parts, other kinds have none")
    if figure.kind == "microscope" and (len(figure.window_ms) != 2 or not figure.drives):
        raise fields.fault("window_ms", "a microscope needs a window of two times, and drives")
    fields.end()
    return figure
