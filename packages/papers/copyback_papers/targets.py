"""Claims of the papers: ``targets.csv``, one row a number or a shape."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback._core import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: The unit of a claim that has no number.
SHAPE = "shape"

COLUMNS = ("paper", "figure", "workload", "quantity", "scheme", "baseline", "value", "unit")


@dataclass(frozen=True)
class Target:
    """One claim of a paper.

    Attributes
    ----------
    value
        The number, in `unit`; the least of a range; None of a shape.
    most
        The greatest of a range; None of a single number.
    """

    paper: str
    figure: str
    workload: str
    quantity: str
    scheme: str
    baseline: str
    value: float | None
    unit: str
    most: float | None = None

    @property
    def label(self) -> str:
        """The claim in a line."""
        return f"{self.workload}: {self.quantity}"

    @property
    def compared(self) -> str:
        """The scheme, and what it is compared with."""
        return f"{self.scheme} against {self.baseline}" if self.baseline else self.scheme

    def matches(self, wanted: Mapping[str, str]) -> bool:
        """Return whether it has all these columns."""
        return all(getattr(self, key, None) == value for key, value in wanted.items())

    def nearest(self, number: float) -> float | None:
        """Return what of the claim is nearest to a number: the claim itself, if it is no range."""
        if self.value is None or self.most is None:
            return self.value
        return min(max(number, self.value), self.most)


def read_targets(path: Path, paper: str) -> tuple[Target, ...]:
    """Return the claims of one paper.

    Raises
    ------
    InputError
        If the file is no table of claims.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    found = []
    for number, row in enumerate(rows, start=1):
        if tuple(row) != COLUMNS:
            raise InputError(f"{path}: row {number}: columns needed: {','.join(COLUMNS)}")
        if row["paper"] == paper:
            found.append(_target(row))
    return tuple(found)


#: Two numbers and what lies between, such as ``131-311``.
RANGE = re.compile(r"([\d.]+)-([\d.]+)")


def _target(row: Mapping[str, str]) -> Target:
    text = row["value"]
    least, most = found.groups() if (found := RANGE.fullmatch(text)) else (text, "")
    return Target(
        paper=row["paper"],
        figure=row["figure"],
        workload=row["workload"],
        quantity=row["quantity"],
        scheme=row["scheme"],
        baseline=row["baseline"],
        value=float(least) if least else None,
        unit=row["unit"],
        most=float(most) if most else None,
    )


def find_target(targets: Sequence[Target], wanted: Mapping[str, str], where: str) -> Target:
    """Return the one claim that has all these columns.

    Raises
    ------
    InputError
        If none has, or several have.
    """
    found = [target for target in targets if target.matches(wanted)]
    if len(found) != 1:
        raise InputError(f"{where}: {len(found)} rows of targets.csv match {dict(wanted)}, not one")
    return found[0]
