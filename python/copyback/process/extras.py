"""Dependencies beyond the base, the extra that brings each, and what is said without it."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from copyback._core import InputError

#: For each library that is not in the base, what installs it.
INSTALLED_BY = {
    "distributed": "copyback[dask]",
    "matplotlib": "copyback[notebooks]",
    "pandas": "pandas",
    "polars": "copyback[polars]",
}

#: What each extra is for that several libraries serve together.
LIBRARIES = {
    "calibrate": ("polars", "scipy"),
    "design": ("optuna", "sklearn"),
    "papers": ("copyback_papers",),
}


def needed(library: str, what: str) -> Any:
    """Return a library that the base does not have.

    Parameters
    ----------
    what
        That needs it, as its user knows it.

    Raises
    ------
    InputError
        If it is not there, with the command that installs it.
    """
    _check(library, what, INSTALLED_BY[library])
    return importlib.import_module(library)


def need(extra: str, what: str) -> None:
    """Refuse what needs an extra that is not there, before any of it is done.

    Raises
    ------
    InputError
        With the command that installs it.
    """
    for library in LIBRARIES[extra]:
        _check(library, what, f"copyback[{extra}]")


def _check(library: str, what: str, brought_by: str) -> None:
    # Looked for, not loaded: some of them take a second.
    if importlib.util.find_spec(library) is None:
        raise InputError(f"{what} needs {library}: pip install '{brought_by}'")
