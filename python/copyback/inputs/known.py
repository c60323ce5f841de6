"""Presets to choose from: :func:`presets`."""

from __future__ import annotations

from typing import Literal

from copyback import _core
from copyback._core import InputError


def presets(of: Literal["drives", "workloads"] = "drives") -> dict[str, str]:
    """Return the names of presets, each with a line that says what it is.

    Parameters
    ----------
    of
        ``"drives"``, for the argument `preset`; or ``"workloads"``, for `workload`.

    Raises
    ------
    InputError
        If there are no presets of that.

    Examples
    --------
    >>> import copyback
    >>> "tlc-nvme-64gb" in copyback.presets()
    True
    """
    lists = {"drives": _core.presets, "workloads": _core.workload_presets}
    if of not in lists:
        raise InputError(f"presets(): of: found {of!r}; allowed: 'drives' or 'workloads'")
    return {name: about for name, about, _ in lists[of]()}
