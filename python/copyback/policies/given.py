"""Policies that a program hands over as classes: their names, and their way to other processes.

A configuration is text. A class that can be imported is named by its module; one that only the
program has (it is defined in a script, in a notebook or in a function) gets a name of its own,
which holds a digest of what the class does. Such a class is known in this process, and goes to
others by value.
"""

from __future__ import annotations

import importlib.util
import pickle
import sys
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.policies.coordination import CoordinationPolicy
from copyback.policies.placement import PlacementPolicy
from copyback.policies.schedule import SchedulePolicy
from copyback.policies.victim import VictimPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

#: What a policy may be derived from.
BASES = (VictimPolicy, SchedulePolicy, PlacementPolicy, CoordinationPolicy)

#: How the names of classes begin that only programs have.
PLACE = "given/"

_DIGITS = 16

_known: dict[str, type[Any]] = {}


def name_of(policy: type[Any]) -> str:
    """Return the name of a class for a configuration.

    Raises
    ------
    InputError
        If it is no policy.
    """
    if not issubclass(policy, BASES):
        allowed = ", ".join(f"copyback.{base.__name__}" for base in BASES)
        found = f"{policy.__module__}.{policy.__qualname__}"
        raise InputError(f"found the class {found}; allowed: one derived from {allowed}")
    module = sys.modules.get(policy.__module__)
    if module is not None and _is_imported_as(module, policy):
        return f"{policy.__module__}:{policy.__name__}"
    from copyback.policies.fingerprint import digest_of

    name = f"{PLACE}{digest_of(policy)[:_DIGITS]}:{policy.__name__}"
    _known[name] = policy
    return name


def _is_imported_as(module: ModuleType, policy: type[Any]) -> bool:
    """Whether another process that imports the module gets the class."""
    return getattr(module, policy.__qualname__, None) is policy and _is_found(module)


def _is_found(module: ModuleType) -> bool:
    if module.__name__ == "__main__":
        return False
    try:
        spec = importlib.util.find_spec(module.__name__.partition(".")[0])
    except (ImportError, ValueError):
        return False
    package = sys.modules.get(module.__name__.partition(".")[0], module)
    return spec is not None and spec.origin == getattr(package, "__file__", None)


def is_given(name: str) -> bool:
    """Whether a name is one of a class that only a program has."""
    return name.startswith(PLACE)


def find(name: str) -> type[Any] | None:
    """Return the class of a name; None if no program in this process has given it."""
    return _known.get(name)


def digest_in(name: str) -> str:
    """Return the digest in the name of a class."""
    return name.removeprefix(PLACE).partition(":")[0]


def packed(names: Iterable[str]) -> dict[str, bytes]:
    """Return those classes among the names that only this program has, for other processes."""
    return {name: _by_value(_known[name]) for name in names if name in _known}


def _by_value(policy: type[Any]) -> bytes:
    import cloudpickle

    module = sys.modules.get(policy.__module__)
    if module is None or module.__name__ == "__main__" or _is_found(module):
        return _pickled(policy)
    # A module that others cannot import, such as one of a test: what it holds goes along.
    is_new = module.__name__ not in cloudpickle.list_registry_pickle_by_value()
    cloudpickle.register_pickle_by_value(module)
    try:
        return _pickled(policy)
    finally:
        if is_new:
            cloudpickle.unregister_pickle_by_value(module)


def _pickled(policy: type[Any]) -> bytes:
    import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(policy)
    except Exception as fault:
        said = " ".join(str(fault).split())
        raise InputError(
            f"{policy.__qualname__}: cannot be sent to other processes: {said}; allowed: a class "
            "whose values can be pickled, or one in a file (file.py:Class)"
        ) from None
    return content


def unpack(policies: Mapping[str, bytes]) -> None:
    """Take the classes that another process has packed."""
    for name, content in policies.items():
        if name not in _known:
            _known[name] = _unpickled(name, content)


def _unpickled(name: str, content: bytes) -> type[Any]:
    # What cloudpickle writes is a pickle that imports cloudpickle where it is read.
    try:
        policy: type[Any] = pickle.loads(content)
    except Exception as fault:
        said = " ".join(str(fault).split())
        raise InputError(
            f"{name}: cannot be read by another process: {type(fault).__name__}: {said}; allowed: "
            "a class that uses what this process can import, too"
        ) from None
    return policy
