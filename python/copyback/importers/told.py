"""A fault of the configuration, told in the words and at the line of the file that was imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from copyback.importers.draft import Draft
    from copyback.importers.parameter import Parameter

#: Words of faults that mean a key.
_WORDS = {"the soft threshold": "ssd.gc.soft_threshold"}


def told(draft: Draft, fault: str) -> str:
    """Return the line about a fault, which begins with a key of ours.

    Parameters
    ----------
    draft
        With the parameters that its keys are from.
    fault
        ``KEY: what is wrong with it``.
    """
    key, _, problem = fault.partition(": ")
    problem = _in_its_words(draft, problem)
    parameter = _parameter(draft, key)
    if parameter is None:
        return f"{draft.path}: cannot be run as it is: {key}: {problem}"
    found = f"{parameter.place}: {parameter.name}: found {parameter.text!r}"
    if problem.startswith(f"found {parameter.text};"):
        return found + problem.removeprefix(f"found {parameter.text}")
    if problem.startswith("found "):
        return f"{found}, which comes to {problem.removeprefix('found ')}"
    return f"{found}, with which it cannot be run: {problem}"


def _parameter(draft: Draft, key: str) -> Parameter | None:
    """Return the parameter that a key is from, or one that a part of it is from."""
    if key in draft.flow_parameters:
        return draft.flow_parameters[key]
    parts = key.split(".")
    whole = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    inside = [own for own in draft.sources if own.startswith(f"{key}.")]
    for own in [*whole, *inside]:
        for name in draft.sources.get(own, "").split(", "):
            if name in draft.parameters:
                return draft.parameters[name]
    return None


def _in_its_words(draft: Draft, problem: str) -> str:
    """Return a sentence in which keys of ours are called as in the file."""
    for key in sorted(draft.sources, key=len, reverse=True):
        if key in problem and (parameter := _parameter(draft, key)) is not None:
            problem = problem.replace(key, parameter.name)
    for words, key in _WORDS.items():
        if words in problem and (parameter := _parameter(draft, key)) is not None:
            line = parameter.place.rpartition(":")[2]
            problem = problem.replace(words, f"{parameter.name} (line {line})")
    return problem
