"""What an experiment draws, and the table of numbers under each drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from copyback.papers.fields import Fields

#: The ways to draw. Lines and bars show one measure of each variant; a stack shows several parts;
#: a distribution shows the share of requests at or below a response time; a series runs over time.
KINDS = ("lines", "bars", "stack", "distribution", "series")

#: The table that a kind needs beside the summary.
TABLES = {"distribution": "distribution", "series": "series"}


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
    parts
        Of a stack: name and measure of each part.
    """

    name: str
    title: str
    kind: str
    measure: str
    axis: str
    scale: float
    logarithmic: bool
    normalise: str | None
    parts: tuple[tuple[str, str], ...]
    variants: tuple[str, ...]
    workloads: tuple[str, ...]
    points: tuple[str, ...]

    @property
    def table(self) -> str | None:
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
        parts=tuple((name, str(m)) for name, m in fields.table("parts").rest().items()),
        variants=fields.texts("variants"),
        workloads=fields.texts("workloads"),
        points=fields.texts("points"),
    )
    if (figure.kind == "stack") != bool(figure.parts):
        raise fields.fault("parts", "a stack needs a table of parts, other kinds have none")
    fields.end()
    return figure
