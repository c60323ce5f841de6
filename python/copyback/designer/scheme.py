"""Scheme: settings whose gain is asked for, such as semi-preemptive collections."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.designer.space import Design, text_of
from copyback.inputs import policy_names
from copyback.inputs.configuration import parse_setting, setting_value, with_absolute_policies
from copyback.policies.load import KINDS, Named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.designer.study import Study

#: Beginning of ``KEY=VALUE``; a policy in Python has a dot before its class alone.
_SETTING = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+\s*=")


@dataclass(frozen=True)
class Scheme:
    """Settings that are compared with their absence.

    Attributes
    ----------
    name
        As the user gave it.
    values
        The value of each key.
    place
        Where the user gave it, as a fault says it.
    """

    name: str
    values: tuple[tuple[str, Any], ...]
    place: str

    @property
    def alone(self) -> Design:
        """The base with the scheme, and nothing of the space."""
        return self.over(Design((), {}))

    def over(self, design: Design) -> Design:
        """Return a design with the scheme in place of what it has of its keys."""
        own = {key: text_of(value, key) for key, value in self.values}
        return Design(tuple((dict(design.point) | own).items()), {})

    def study_with(self, study: Study) -> Study:
        """Return the study whose designs all have the scheme."""
        space = study.space
        for key, value in self.values:
            space = space.with_fixed(key, value)
        return replace(study, space=space)

    def study_without(self, study: Study) -> Study:
        """Return the study none of whose designs has a choice of the scheme.

        Raises
        ------
        InputError
            If the space has nothing else for a key.
        """
        space = study.space
        for key, value in self.values:
            space = space.without_option(key, value)
        return replace(study, space=space)


def scheme_of(texts: Sequence[str], place: str) -> Scheme:
    """Return the scheme that a user names.

    Parameters
    ----------
    texts
        ``KEY=VALUE``, or policies in Python.
    place
        The option or argument that names it, as a fault says it.

    Raises
    ------
    InputError
        If there is no such policy, or a key comes twice.
    """
    values = [_value(text, place) for text in texts]
    keys = [key for key, _ in values]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"{place}: found {key} twice; allowed: once")
    name = ", ".join(texts)
    return Scheme(name, tuple(values), f"{place} {name}")


def _value(text: str, place: str) -> tuple[str, Any]:
    if not _SETTING.match(text):
        name = policy_names.absolute(text)
        return _key(name, place), {"type": "python", "policy": name}
    key, value = parse_setting(text)
    return key, with_absolute_policies(setting_value(value), key)


def _key(name: str, place: str) -> str:
    """Return the key that a policy is a choice of."""
    faults = []
    for kind in KINDS:
        try:
            Named(kind, name, {}).load()
        except InputError as fault:
            faults.append(str(fault))
        else:
            return kind.key
    raise InputError(f"{place} {name}: {faults[0].partition(': ')[2].removeprefix(f'{name}: ')}")
