"""The files that the code of a policy says it is in."""

from __future__ import annotations

import inspect
import sys
from typing import Any


def file_of(policy: type[Any]) -> str | None:
    """Return the file that a class is in, if that is known."""
    own = files_of(policy)
    return own[0] if own else None


def files_of(policy: type[Any]) -> list[str]:
    """Return the files of a class: those that its code names, then that of its module."""
    codes = (getattr(inspect.unwrap(it), "__code__", None) for it in _functions(policy))
    places = [code.co_filename for code in codes if code is not None]
    module = getattr(sys.modules.get(policy.__module__), "__file__", None)
    return list(dict.fromkeys([*places, *([] if module is None else [module])]))


def _functions(policy: type[Any]) -> list[Any]:
    return [it for it in vars(policy).values() if inspect.isfunction(it)]
