"""Surrogate workloads beside the nearest real relative of what they stand for."""

from __future__ import annotations

import csv
import tempfile
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from msgspec import field

import copyback
from copyback.inputs.tables import Table, read
from copyback.words import units
from copyback.words.markdown import markdown_table
from copyback_papers.experiment_files import read_toml
from copyback_papers.traits import Bursts, Places, bursts, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EXPERIMENTS = Path(__file__).parent / "experiments"

#: Which surrogate stands for what, and where its relative is.
DECLARED = EXPERIMENTS / "surrogates.toml"

#: What was measured of each.
MEASURED = EXPERIMENTS / "surrogates.csv"

#: Requests of a surrogate that its burstiness is measured over.
MANY = 1_000_000

#: Requests that addresses are measured over, of a surrogate without a relative.
USUAL = 50_000


class Relative(Table, frozen=True):
    """Piece of a real trace.

    Attributes
    ----------
    trace
        File below the directory of traces.
    says
        What it is.
    workload
        Keys of the workload that reads it.
    """

    trace: str
    says: str
    workload: dict[str, Any] = field(default_factory=dict)


class Surrogate(Table, frozen=True):
    """Preset of a workload that is generated.

    Attributes
    ----------
    drive
        Preset of the drive that its paper's experiments have it on.
    relative
        Name of its nearest relative; None if there is none.
    footprint
        Share of the drive that they let it cover.
    """

    drive: str
    relative: str | None = None
    footprint: float = 1.0


class Declared(Table, frozen=True):
    """Content of the file."""

    relatives: dict[str, Relative]
    surrogates: dict[str, Surrogate]


@dataclass(frozen=True)
class Measured:
    """Traits of one workload, and over how many requests its addresses were measured."""

    requests: int
    bursts: Bursts
    places: Places

    @property
    def numbers(self) -> dict[str, float]:
        """All numbers by their names."""
        return {"requests": self.requests, **asdict(self.bursts), **asdict(self.places)}


def declared() -> Declared:
    """Return surrogates and relatives."""
    return read(read_toml(DECLARED), Declared, DECLARED)


def of_relative(one: Relative, traces: Path) -> Measured:
    """Measure a piece of a real trace."""
    keys = {"type": "trace", "path": str(traces / one.trace), "beyond_device": "wrap"}
    requests = _requests({"preset": "pagc-2016", "workload": {**keys, **one.workload}})
    return Measured(requests.height, bursts(requests), places(requests))


def of_surrogate(one: Surrogate, workload: Mapping[str, Any], requests: int) -> Measured:
    """Measure a surrogate.

    Parameters
    ----------
    workload
        Its workload in the shape of a configuration, such as ``{"preset": NAME}``.
    requests
        Of so many addresses are measured: as many as its relative has.
    """
    many = _requests(
        {
            "preset": one.drive,
            "seed": 1,
            "workload": {**workload, "footprint": one.footprint, "requests": MANY},
        }
    )
    return Measured(requests, bursts(many), places(many.head(requests)))


def _requests(config: dict[str, Any]) -> pl.DataFrame:
    """Return the requests of a configuration's workload."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "requests.parquet"
        copyback.convert_trace(config, path)
        return pl.read_parquet(path)


def load(path: Path = MEASURED) -> dict[str, Measured]:
    """Return what is stored, by the names of surrogates and relatives."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row.pop("name"): _measured(row) for row in csv.DictReader(file)}


def _measured(row: dict[str, str]) -> Measured:
    numbers = {key: float(text) for key, text in row.items()}
    bursty, placed = ({f.name: numbers[f.name] for f in fields(kind)} for kind in (Bursts, Places))
    return Measured(int(numbers["requests"]), Bursts(**bursty), Places(**placed))


def save(measured: Mapping[str, Measured], path: Path = MEASURED) -> None:
    """Store what was measured."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("name", *next(iter(measured.values())).numbers))
        for name, one in measured.items():
            writer.writerow((name, *(f"{number:.6g}" for number in one.numbers.values())))


HEADER = (
    *("workload", "requests/s", "within 5 ms", "50 ms", "1 s", "gaps under 1 ms"),
    *("requests", "touched", "written", "run", "busiest planes"),
)


def table(told: Declared, measured: Mapping[str, Measured]) -> str:
    """Return the page's table: each relative, and below it the surrogates that it is nearest to."""
    rows: list[tuple[str, ...]] = []
    for name, relative in told.relatives.items():
        rows.append(_row(f"**{name}**: {relative.says}", measured[name]))
        rows += _rows(told, measured, name)
    rows.append(("**no relative**", *[""] * (len(HEADER) - 1)))
    return markdown_table(HEADER, [*rows, *_rows(told, measured, None)])


def _rows(
    told: Declared, measured: Mapping[str, Measured], relative: str | None
) -> Iterable[tuple[str, ...]]:
    for name, one in told.surrogates.items():
        if one.relative == relative:
            yield _row(f"`{name}`", measured[name])


def _row(name: str, one: Measured) -> tuple[str, ...]:
    rate, *multiples, gaps = astuple(one.bursts)
    touched, written, run, planes = astuple(one.places)
    return (
        *(name, units.significant(rate), *map(units.significant, multiples), units.share(gaps)),
        *(units.count(one.requests), f"{units.significant(touched)} MiB"),
        *(f"{units.significant(written)} MiB", units.significant(run), units.share(planes)),
    )
