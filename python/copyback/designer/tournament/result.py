"""Result of a tournament, as ``copyback.tournament`` returns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.designer.result import ratio_columns
from copyback.designer.tournament import files, standing, tables
from copyback.frame import Frame
from copyback.inputs.arguments import path as argument_path
from copyback.sweep.tabular import Tabular

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from copyback.designer.tournament.standing import Content, Standing, UnderLoad


@dataclass(frozen=True, repr=False, eq=False)
class Tournament(Tabular):
    """Result of a tournament. As a table it has a row for each design under each workload.

    Attributes
    ----------
    directory
        Directory with the numbers (``tournament.json``), the page (``tournament.md``), and the
        study of each search.
    """

    _content: Content
    directory: Path

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Tournament:
        """Read what ``copyback tournament --out`` left.

        Raises
        ------
        InputError
            If the directory holds no tournament.
        """
        home = argument_path("Tournament.load", directory, "directory")
        return cls(standing.load(home / files.NUMBERS), home)

    def sentences(self) -> dict[str, str]:
        """Return for each workload who wins, and how far the schemes are from that."""
        return {own.load: tables.sentence(self._content, own) for own in self._content.contests}

    @property
    def frame(self) -> Frame:
        """The designs that were run with fresh seeds.

        A row for each workload, design and objective: the scheme and what the design is of it, the
        objective, its score (the geometric mean over the seeds), the ratio to the best design and
        the ends of its interval, or why there is none; whether it is the best, why it may not be
        built, and its settings as text.
        """
        return Frame.of_rows(
            [
                row
                for own in self._content.contests
                for one in own.standings
                for row in self._of(own, one)
            ]
        )

    def _of(self, own: UnderLoad, one: Standing) -> Iterator[dict[str, Any]]:
        for place, goal in enumerate(self._content.objectives):
            yield {
                "load": own.load,
                "scheme": one.scheme,
                "of": str(one.kind),
                "objective": goal.measure,
                "score": one.score(place),
                **ratio_columns(one.ratio(place) or one.refused),
                "best": one == own.winner,
                "flaw": one.flaw,
                "design": "; ".join(f"{key}={value}" for key, value in one.settings.items()),
            }

    def _rows(self) -> Frame:
        return self.frame

    def __repr__(self) -> str:
        from copyback.sweep.shown import in_lines

        loads = len(self._content.contests)
        told = " ".join(f"{load}: {text}" for load, text in self.sentences().items())
        return in_lines(f"Tournament({loads} workloads)", told)
