"""Reads a tournament file: a study, the schemes that are compared, and the bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field

from copyback.designer.scheme import Scheme
from copyback.designer.study_file import study_of
from copyback.inputs import toml_file
from copyback.inputs.tables import Table, read
from copyback.sweep.sweep_file import Homes, located

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from copyback.designer.study import Load, Study

SCHEMES, BOUNDS = "schemes", "bounds"


class _Entrants(Table, frozen=True):
    """Tables that a tournament file has beside its study."""

    schemes: Annotated[dict[str, Annotated[dict[str, Any], Meta(min_length=1)]], Meta(min_length=1)]
    bounds: dict[str, Annotated[dict[str, Any], Meta(min_length=1)]] = field(default_factory=dict)


@dataclass(frozen=True)
class TournamentFile:
    """Content of a tournament file.

    Attributes
    ----------
    study
        The space, its workloads, and the budget of each search.
    schemes
        What is compared with the best design: settings that are added to the base.
    bounds
        What nobody can build: settings that are added to the best design.
    """

    study: Study
    schemes: tuple[Scheme, ...]
    bounds: tuple[Scheme, ...]

    def study_of(self, load: Load) -> Study:
        """Return the study of one workload. Who wins needs no surrogate."""
        return replace(self.study, loads=(load,), held_back=0)


def read_tournament(path: Path) -> TournamentFile:
    """Read a tournament file.

    Raises
    ------
    InputError
        With the file, the key, what was found and what is allowed.
    """
    return toml_file.read(path, lambda table: tournament_of(table, path.parent))


def tournament_of(table: Mapping[str, Any], home: Path) -> TournamentFile:
    """Return the tournament that a table says; its paths are relative to a directory.

    Raises
    ------
    InputError
        With the key, what was found and what is allowed.
    """
    own = {name: table[name] for name in (SCHEMES, BOUNDS) if name in table}
    entrants = read(own, _Entrants)
    study = study_of({name: part for name, part in table.items() if name not in own}, home)
    homes = Homes(home, home)
    return TournamentFile(
        study,
        _schemes(entrants.schemes, SCHEMES, homes),
        _schemes(entrants.bounds, BOUNDS, homes),
    )


def _schemes(
    tables: Mapping[str, Mapping[str, Any]], place: str, homes: Homes
) -> tuple[Scheme, ...]:
    return tuple(
        Scheme(
            name,
            tuple((key, located(key, value, homes)) for key, value in own.items()),
            f"{place}.{name}",
        )
        for name, own in tables.items()
    )
