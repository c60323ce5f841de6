"""From the name of a policy in a configuration to its class."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import sys
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.policies import given, sources
from copyback.policies.coordination import CoordinationPolicy
from copyback.policies.faults import fault
from copyback.policies.placement import PlacementPolicy
from copyback.policies.schedule import SchedulePolicy
from copyback.policies.victim import VictimPolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from copyback._core import Config


@dataclass(frozen=True)
class Kind:
    """A kind of policy: the key, the group of entry points, the base class."""

    key: str
    group: str
    base: type[Any]


VICTIMS: Kind = Kind("ssd.gc.victim", "copyback.victims", VictimPolicy)
SCHEDULES: Kind = Kind("ssd.gc.preemption", "copyback.schedules", SchedulePolicy)
PLACEMENTS: Kind = Kind("ssd.ftl.placement", "copyback.placements", PlacementPolicy)
COORDINATORS: Kind = Kind("array.coordination", "copyback.coordinators", CoordinationPolicy)
KINDS = (VICTIMS, SCHEDULES, PLACEMENTS, COORDINATORS)


class Named:
    """A policy that a configuration names.

    Parameters
    ----------
    kind
        What it is to be.
    reference
        ``file.py:Class``, ``package.module:Class``, or a registered name.
    parameters
        What the class is made with.
    """

    def __init__(self, kind: Kind, reference: str, parameters: dict[str, Any]) -> None:
        self.kind = kind
        self.about = f"{kind.key}.policy: {reference}"
        self.parameters = parameters
        self._reference = reference

    def load(self) -> type[Any]:
        """Return the class.

        Raises
        ------
        InputError
            If there is none, it is of another kind, or it does not take the parameters.
        """
        base, policy = self.kind.base, self._find()
        if not (inspect.isclass(policy) and issubclass(policy, base)):
            allowed = f"a class derived from copyback.{base.__name__}"
            raise self._refused(f"found {policy!r}; allowed: {allowed}")
        if inspect.isabstract(policy):
            missing = ", ".join(sorted(getattr(policy, "__abstractmethods__", ())))
            raise self._refused(f"the class has no {missing}, which it must have")
        signature = inspect.signature(policy)
        try:
            signature.bind(None, None, **self.parameters)
        except TypeError as error:
            takes = ", ".join(list(signature.parameters)[2:]) or "none"
            raise self._refused(f"parameters: {error}; allowed: {takes}") from None
        return policy

    def source_digest(self) -> str:
        """Return a digest of the source: of the file, or of all of the package that holds it."""
        policy = self.load()
        if given.is_given(self._reference):
            return given.digest_in(self._reference)
        digest = hashlib.sha256()
        for path in sources.of_module(sys.modules[policy.__module__]):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def digest(self) -> str:
        """Return a digest of the source and of all that it imports: of what decides its answers."""
        policy = self.load()
        if given.is_given(self._reference):
            return given.digest_in(self._reference)
        return sources.digest_of(sys.modules[policy.__module__])

    def _find(self) -> Any:
        if given.is_given(self._reference):
            return self._given()
        place, colon, name = self._reference.rpartition(":")
        if not colon:
            return self._registered()
        load = _file if place.endswith(".py") else importlib.import_module
        module = self._attempt(lambda: load(place), place)
        if not hasattr(module, name):
            raise self._refused(f"there is no {name} in {place}")
        return getattr(module, name)

    def _given(self) -> Any:
        policy = given.find(self._reference)
        if policy is None:
            raise self._refused(
                "a class that a program has given, and that only such a program knows; allowed: "
                "the class itself, from a program, or file.py:Class"
            )
        return policy

    def _registered(self) -> Any:
        known = registered(self.kind)
        if self._reference not in known:
            names = ", ".join(known) or "none"
            raise self._refused(
                f"no installed package has registered that under {self.kind.group} ({names}); "
                "allowed: a registered name, file.py:Class, package.module:Class"
            )
        return self._attempt(known[self._reference].load)

    def _attempt(self, load: Callable[[], Any], file: str | None = None) -> Any:
        try:
            return load()
        except OSError as error:
            raise self._refused(str(error.strerror or error)) from None
        except (Exception, SystemExit) as error:
            raise fault(self.about, "import", error, file) from error

    def _refused(self, problem: str) -> InputError:
        return InputError(f"{self.about}: {problem}")


def named_in(config: Config) -> list[Named]:
    """Return the policies in Python that a configuration names."""
    found = (
        (VICTIMS, config.victim_policy),
        (SCHEDULES, config.schedule_policy),
        (PLACEMENTS, config.placement_policy),
        (COORDINATORS, config.coordination_policy),
    )
    return [Named(kind, name[0], json.loads(name[1])) for kind, name in found if name is not None]


def registered(kind: Kind) -> dict[str, metadata.EntryPoint]:
    """Return the policies that installed packages have registered, by name."""
    points = sorted(metadata.entry_points(group=kind.group), key=lambda point: point.name)
    return {point.name: point for point in points}


def all_registered() -> dict[Kind, list[tuple[str, str]]]:
    """Return name and meaning of every registered policy, of the kinds that have any."""
    found = {kind: [(name, _meaning(kind, name)) for name in registered(kind)] for kind in KINDS}
    return {kind: policies for kind, policies in found.items() if policies}


def _meaning(kind: Kind, name: str) -> str:
    try:
        policy = Named(kind, name, {})._find()
    except InputError as fault:
        return f"cannot be loaded: {fault}"
    return (inspect.getdoc(policy) or "").partition("\n")[0]


def _file(place: str) -> ModuleType:
    return _executed(place, Path(place).read_bytes())


@cache
def _executed(place: str, source: bytes) -> ModuleType:
    """Return a file as a module; an edited one is another."""
    name = f"copyback_policy_{hashlib.sha256(source).hexdigest()[:16]}"
    module = ModuleType(name)
    module.__file__ = place
    # Where dataclasses, among others, look for the module of a class.
    sys.modules[name] = module
    exec(compile(source, place, "exec"), module.__dict__)
    return module
