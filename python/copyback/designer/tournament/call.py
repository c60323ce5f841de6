"""The function ``copyback.tournament``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback.data.result_directory import ResultDirectory
from copyback.designer.tournament import files
from copyback.designer.tournament.result import Tournament
from copyback.designer.tournament.tournament_file import read_tournament, tournament_of
from copyback.inputs.arguments import CONFIG, COUNT, PATH, TEXT, check
from copyback.inputs.arguments import path as argument_path
from copyback.sweep.memory import memory_of
from copyback.sweep.where import Where

if TYPE_CHECKING:
    import os


def tournament(
    file: Mapping[str, Any] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    memory: str | None = None,
) -> Tournament:
    """Search for each workload the best design of a space, and the best with each scheme.

    It is ``copyback tournament`` as a function, and needs the extra ``design``.

    Parameters
    ----------
    file
        A tournament file, or a dictionary of the same shape: a study with ``schemes`` and
        ``bounds``. Paths in a dictionary are relative to the current directory.
    out
        Directory for all runs and the page; a tournament that was stopped goes on from there. Else
        it is temporary, and goes with the result.
    jobs, dask, memory
        As of :func:`compare`.

    Returns
    -------
    Tournament

    Raises
    ------
    InputError
        If the file is at fault, the base has a scheme, or nothing can be built with one.

    Examples
    --------
    >>> import copyback
    >>> found = copyback.tournament("examples/design/tournament/drive.toml")  # doctest: +SKIP
    >>> found.to_polars()                                                     # doctest: +SKIP
    """
    check(
        "tournament",
        file=(file, CONFIG),
        out=(out, PATH.or_none()),
        jobs=(jobs, COUNT.or_none()),
        dask=(dask, TEXT.or_none()),
        memory=(memory, TEXT.or_none()),
    )
    if isinstance(file, Mapping):
        asked = tournament_of(dict(file), Path())
    else:
        asked = read_tournament(argument_path("tournament", file, "file"))
    with ResultDirectory(out, "copyback-tournament-") as home:
        content = files.carry_out(
            asked,
            home.path,
            Where(jobs, dask, memory_of(memory)),
            command="copyback.tournament()",
            on_failed=lambda text, _: warnings.warn(text, stacklevel=2),
            on_batch=lambda *_: None,
        )
        return home.goes_with(Tournament(content, home.path))
