"""Names of policies in Python: where a configuration has them, and who may have them run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._core import Config, InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

#: Choices that may be a class in a file.
KEYS = (
    "ssd.gc.victim.policy",
    "ssd.gc.preemption.policy",
    "ssd.ftl.placement.policy",
    "array.coordination.policy",
)

# The files below are named here once more, as whatever writes them takes long to import.

#: What a comparison has, and where its runs lie in it.
SWEEP, RUNS = "sweep.json", "runs"

#: What every result has: a run, a comparison, a calibration.
MARKERS = ("summary.json", SWEEP, "calibration.json", "evaluations.jsonl")

#: What a study has, and where its designs lie in it.
DESIGN, FRONT = "design.json", "front"

#: Sections that have such a choice.
SECTIONS = {key.partition(".")[0] for key in KEYS}


def named_by(config: Config) -> dict[str, str]:
    """Return the policies in Python of a configuration by their keys."""
    policies = (
        config.victim_policy,
        config.schedule_policy,
        config.placement_policy,
        config.coordination_policy,
    )
    return {key: found[0] for key, found in zip(KEYS, policies, strict=True) if found is not None}


def named_in(node: Any, key: str) -> Iterator[str]:
    """Yield the policies that a value of a configuration names, which `key` holds."""
    if isinstance(node, Mapping):
        for name, inner in node.items():
            yield from named_in(inner, f"{key}.{name}")
    elif key in KEYS and isinstance(node, str):
        yield node


def absolute(policy: str, directory: Path | None = None) -> str:
    """Return a policy, if it lies in a file, with the absolute path of that.

    Parameters
    ----------
    policy
        ``file.py:Class``, or another name.
    directory
        What a relative path is relative to; else the working directory.
    """
    file, _, name = policy.rpartition(":")
    if not file.endswith(".py"):
        return policy
    return f"{os.path.abspath((directory or Path()) / file)}:{name}"  # noqa: PTH100 - keeps links


def check_trusted(config: Config, path: Path, trusted: Collection[str]) -> None:
    """Refuse policies of a result that the user does not name, as a policy is code.

    Parameters
    ----------
    config
        What was read from `path`, with what was laid over it.
    path
        The file; only one of a result is looked at.
    trusted
        Policies that the user names, with absolute paths where these are relative.

    Raises
    ------
    InputError
        With a line for each.
    """
    if _is_of_result(path):
        check_named(config, path, trusted)


def check_named(config: Config, path: Path, trusted: Collection[str]) -> None:
    """Refuse policies of a file of a result that the user does not name.

    Parameters and faults are those of :func:`check_trusted`.
    """
    strange = {key: own for key, own in named_by(config).items() if own not in trusted}
    if strange:
        raise InputError(
            "\n".join(
                f"{path}: of a result, whose policies in Python are run only if you name them: "
                f"--set '{key}={policy}', or --policy '{policy}' of `copyback view`"
                for key, policy in strange.items()
            )
        )


def _is_of_result(path: Path) -> bool:
    """Whether a file lies in the directory of a run, of a comparison's or of a calibration."""
    return any(_is_result(home) for home in (path.absolute().parent, path.resolve().parent))


def _is_result(home: Path) -> bool:
    is_in_sweep = home.parent.name == RUNS and (home.parents[1] / SWEEP).exists()
    is_of_front = home.name == FRONT and (home.parent / DESIGN).exists()
    return is_in_sweep or is_of_front or any((home / marker).exists() for marker in MARKERS)
