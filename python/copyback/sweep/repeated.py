"""Whether policies in Python do the same the second time: what an audited run of a sweep checks."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

from copyback._core import InputError
from copyback.inputs.policy_names import named_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback._core import Config

SUMMARY = "summary.json"
#: What a summary tells of the machine.
MACHINE = "simulator"


def policies_to_check(config: Config, config_toml: str) -> Sequence[str]:
    """Return the names of the policies in Python of a configuration, if it is audited."""
    policies = list(named_by(config).values())
    is_audited = bool(policies) and tomllib.loads(config_toml).get("audit", False)
    return policies if is_audited else []


def check(policies: Sequence[str], first: Mapping[str, bytes], again: Mapping[str, bytes]) -> None:
    """See that two runs of one configuration, given as their files, found out the same.

    Raises
    ------
    InputError
        If they did not.
    """
    names = sorted(first.keys() | again.keys())
    differ = [name for name in names if _said(name, first) != _said(name, again)]
    if differ:
        raise InputError(
            f"{' and '.join(policies)}: a second run of the same configuration differs in "
            f"{', '.join(differ)}; allowed: what follows from the configuration, the trace and "
            "`self.random`, with nothing kept from one run to the next"
        )


def _said(name: str, files: Mapping[str, bytes]) -> object:
    """Return what a file says, what it tells of the machine left out."""
    if name != SUMMARY or name not in files:
        return files.get(name)
    summary = json.loads(files[name])
    summary.pop(MACHINE, None)
    return summary
