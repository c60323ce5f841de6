"""Files of data sheets: a row a figure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from copyback._core import InputError, size_bytes
from copyback.calibration.sheet.figures import FIGURES, Figure, Measure, State
from copyback.inputs import configuration, toml_file
from copyback.inputs.tables import Table, hint
from copyback.inputs.tables import read as read_table

if TYPE_CHECKING:
    from pathlib import Path

#: Key of a sheet that is no row: where its figures are from.
SOURCE = "source"

#: Statistics that a latency may be, by the keys of a summary, and their shares of requests.
QUANTILES = {
    "p50": 0.5,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p99_9": 0.999,
    "p99_99": 0.9999,
    "p99_999": 0.99999,
}
MEAN = "mean"

#: Bytes that sizes of requests are multiples of.
SECTOR = 512


class _Fields(Table, frozen=True):
    """Content of a row."""

    value: Any = None
    figure: str | None = None
    iodepth: Annotated[int, msgspec.Meta(ge=1, le=65536)] | None = None
    request_size: str | None = None
    read_share: float | None = None
    statistic: str | None = None
    state: str | None = None


@dataclass(frozen=True)
class Row:
    """Row of a data sheet.

    Attributes
    ----------
    name
        Name of the row, by which it is fitted or not.
    published
        Value in the unit of the figure's measure.
    text
        Value as it was written.
    iodepth
        Outstanding requests; None if as many as the queue of the interface takes.
    statistic
        Statistic of a latency.
    state
        State of the drive; None if that of the figure.
    """

    name: str
    figure: Figure
    published: float
    text: str
    request_size: int
    iodepth: int | None
    read_share: float
    statistic: str
    state: State | None


@dataclass(frozen=True)
class Sheet:
    """Data sheet of a drive.

    Attributes
    ----------
    name
        The file, for people.
    digest
        Digest of its bytes.
    source
        Where the figures are from; empty if the file does not say.
    rows
        In the order of the file.
    """

    name: str
    digest: str
    source: str
    rows: list[Row]

    def at(self, name: str) -> Row:
        """Return the row of a name."""
        return next(row for row in self.rows if row.name == name)


def read(path: Path) -> Sheet:
    """Read a data sheet.

    Raises
    ------
    InputError
        If the file cannot be read, or a row makes no sense.
    """
    text = configuration.read_text(path)
    found = toml_file.table(path, text)
    source = found.pop(SOURCE, "")
    if not isinstance(source, str):
        raise InputError(f"{path}: {SOURCE}: found {source!r}; allowed: a text")
    if not found:
        raise InputError(f"{path}: found no row; allowed: one or more of {', '.join(FIGURES)}")
    rows = [_row(name, value, path) for name, value in found.items()]
    return Sheet(str(path), hashlib.sha256(text.encode()).hexdigest(), source, rows)


def _row(name: str, value: Any, path: Path) -> Row:
    """Return a row: its value alone, or a table with more."""
    table = value if isinstance(value, dict) else {"value": value}
    fields = read_table(table, _Fields, path, name)
    try:
        figure = _figure(name, fields)
        published, text = _published(fields.value, figure.measure)
        return Row(
            name=name,
            figure=figure,
            published=published,
            text=text,
            request_size=_size(fields.request_size, figure),
            iodepth=fields.iodepth or figure.iodepth,
            read_share=_share(fields.read_share, figure),
            statistic=_statistic(fields.statistic, figure),
            state=_state(fields, figure),
        )
    except InputError as fault:
        raise InputError(f"{path}: {name}{fault}") from None


def _figure(name: str, fields: _Fields) -> Figure:
    asked = fields.figure or name
    if asked in FIGURES:
        return FIGURES[asked]
    if fields.figure is not None:
        raise InputError(f".figure: found {asked!r}; {hint(asked, FIGURES)}")
    raise InputError(f": no figure of a sheet; {hint(name, FIGURES)}; or a table with figure")


def _published(value: Any, measure: Measure) -> tuple[float, str]:
    """Return a value in the unit of a measure, and its text."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (isinstance(value, str) or (is_number and measure is Measure.IOPS)):
        if value is None:
            raise InputError(".value: missing; the figure of the sheet is needed")
        example = {Measure.RATE: '"500MB/s"', Measure.LATENCY: '"110us"'}.get(measure, '"72K"')
        raise InputError(f": found {value!r}; allowed: a text such as {example}")
    try:
        found = measure.read(str(value))
    except typer.BadParameter as fault:
        raise InputError(f": {fault.message}") from None
    scale = {Measure.RATE: 1e6, Measure.LATENCY: 1e3}.get(measure, 1.0)
    return found.value / scale, found.text


def _size(text: str | None, figure: Figure) -> int:
    if text is None:
        return figure.request_size
    try:
        size = size_bytes(text)
    except InputError as fault:
        raise InputError(f".request_size: {fault}") from None
    if size <= 0 or size % SECTOR:
        raise InputError(f".request_size: found {text!r}; allowed: a multiple of {SECTOR}B")
    return size


def _share(share: float | None, figure: Figure) -> float:
    if share is None:
        return figure.read_share
    if not figure.has_shares:
        named = ", ".join(name for name, one in FIGURES.items() if one.has_shares)
        raise InputError(f".read_share: found {share:g}; allowed: beside {named}")
    least, most = (0.0, 1.0) if figure.measure is Measure.IOPS else _ends(figure)
    if not least <= share <= most or (figure.measure is Measure.IOPS and share in (0.0, 1.0)):
        raise InputError(f".read_share: found {share:g}; allowed: a share that has both operations")
    return share


def _ends(figure: Figure) -> tuple[float, float]:
    """Return the shares of reads between which the operation of a latency is done."""
    return (1e-6, 1.0) if figure.operation == "read" else (0.0, 1.0 - 1e-6)


def _statistic(name: str | None, figure: Figure) -> str:
    if name is None:
        return MEAN
    allowed = (MEAN, *QUANTILES) if figure.measure is Measure.LATENCY else ()
    if name not in allowed:
        words = ", ".join(allowed) or "only of a latency"
        raise InputError(f".statistic: found {name!r}; allowed: {words}")
    return name


def _state(fields: _Fields, figure: Figure) -> State | None:
    if fields.state is None:
        return None
    reads = figure.read_share > 0.0 or (fields.read_share or 0.0) > 0.0
    allowed = [one.value for one in State if not (one is State.EMPTY and reads)]
    if fields.state not in allowed:
        raise InputError(f".state: found {fields.state!r}; allowed: {', '.join(allowed)}")
    return State(fields.state)
