"""Completion for the shell: presets, keys of a configuration, and their values.

Everything is from the configuration's schema, and nothing heavy is imported for it. A callback that
the shell waits for must not fail: what cannot be found is not offered.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from copyback import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: By which the shell asks: ``complete_bash`` and its like.
VARIABLE = "_COPYBACK_COMPLETE"

#: Characters at which bash cuts words apart, though they are one to us.
_BREAKS = "=:"


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """Answer a shell, if one asks; else nothing is different."""
    if VARIABLE not in os.environ:
        yield
        return
    from typer._completion_classes import completion_init

    completion_init()
    given = _join_words() if os.environ[VARIABLE] == "complete_bash" else ""
    answer = io.StringIO()
    try:
        with contextlib.redirect_stdout(answer):
            yield
    finally:
        lines = answer.getvalue().splitlines(keepends=True)
        sys.stdout.write("".join(line.removeprefix(given) for line in lines))


def _join_words() -> str:
    """Undo that bash cuts ``--set ssd.gc.victim=fifo`` into four words.

    Returns
    -------
    str
        What of our last word bash has in words of its own, and does not want to be given again.
    """
    words = os.environ.get("COMP_WORDS", "").split("\n")
    try:
        current = int(os.environ.get("COMP_CWORD", ""))
    except ValueError:
        return ""
    joined: list[str] = []
    is_open = False
    for word in words[: current + 1]:
        is_break = bool(word) and set(word) <= set(_BREAKS)
        if joined and (is_break or is_open):
            joined[-1] += word
        else:
            joined.append(word)
        is_open = is_break
    os.environ["COMP_WORDS"] = "\n".join(joined)
    os.environ["COMP_CWORD"] = str(len(joined) - 1)
    last = words[current] if current < len(words) else ""
    is_break = set(last) <= set(_BREAKS)
    given = joined[-1] if is_break else joined[-1].removesuffix(last)
    # Of an option that is written --preset=NAME, its value is completed.
    return given.partition("=")[2] if given.startswith("--") else given


def offered(candidates: Iterable[str], incomplete: str) -> list[str]:
    """Return those that go on from what has been typed."""
    return [name for name in candidates if name.startswith(incomplete)]


def presets(incomplete: str) -> list[str]:
    """Return drives that a configuration may start from."""
    return offered((name for name, _, _ in _core.presets()), incomplete)


def workloads(incomplete: str) -> list[str]:
    """Return workloads that come with the package."""
    return offered((name for name, _, _ in _core.workload_presets()), incomplete)


def all_presets(incomplete: str) -> list[str]:
    """Return drives and workloads."""
    return presets(incomplete) + workloads(incomplete)


def formats(incomplete: str) -> list[str]:
    """Return formats of traces."""
    return offered(Schema().values("workload.format"), incomplete)


def settings(incomplete: str) -> list[str]:
    """Return settings: ``KEY=`` until the key is whole, then ``KEY=VALUE``."""
    key, equals, _ = incomplete.partition("=")
    schema = Schema()
    if not equals:
        return offered((f"{known}=" for known in schema.keys_from(key)), incomplete)
    return offered([f"{key}={value}" for value in schema.values(key)], incomplete)


def axes(incomplete: str) -> list[str]:
    """Return what ``--over`` takes: ``KEY=A,B,C``, of which the last value is completed."""
    key, equals, listed = incomplete.partition("=")
    if not equals:
        loads = [f"{name}=" for name in ("workload", "trace")]
        return offered(loads, incomplete) + settings(incomplete)
    before = listed.rpartition(",")[0]
    chosen = set(before.split(","))
    start = f"{key}={before}," if before else f"{key}="
    names = [name for name, _, _ in _core.workload_presets()] if key == "workload" else None
    values = Schema().values(key) if names is None else names
    return offered([start + value for value in values if value not in chosen], incomplete)


def keys(incomplete: str) -> list[str]:
    """Return ``KEY=``, where a range follows."""
    return offered((f"{known}=" for known in Schema().keys_from(incomplete)), incomplete)


class Schema:
    """The keys of a configuration and what may be written for them."""

    def __init__(self) -> None:
        self._root = json.loads(_core.json_schema())

    def keys_from(self, start: str) -> Iterator[str]:
        """Yield the keys that begin so: parameters of a choice only once its own key is typed."""
        for key, node in self._keys("", self._root):
            if key.startswith(start):
                yield key
            if start.startswith(f"{key}."):
                inside = self._parameters(node)
                yield from (f"{key}.{name}" for name in inside if f"{key}.{name}".startswith(start))

    def _keys(self, path: str, table: Any) -> Iterator[tuple[str, Any]]:
        for name, node in table.get("properties", {}).items():
            key = f"{path}.{name}" if path else name
            inner = self._resolved(node)
            if "properties" in inner:
                yield from self._keys(key, inner)
            elif key == "workload":
                for parameter, held in self._parameters(node).items():
                    yield f"{key}.{parameter}", held
            else:
                yield key, node

    def _parameters(self, node: Any) -> dict[str, Any]:
        """Return the parameters of every variant of a choice."""
        found: dict[str, Any] = {}
        for variant in self._variants(node):
            found |= variant.get("properties", {})
        return found

    def _variants(self, node: Any) -> Iterator[Any]:
        node = self._resolved(node)
        parts = node.get("oneOf", []) + node.get("anyOf", [])
        if not parts:
            yield node
        for part in parts:
            yield from self._variants(part)

    def _resolved(self, node: Any) -> Any:
        while "$ref" in node:
            node = self._root["$defs"][node["$ref"].rpartition("/")[2]]
        return node

    def _node(self, key: str) -> Any:
        node = self._root
        for name in key.split("."):
            node = self._parameters(node).get(name)
            if node is None:
                return None
        return node

    def values(self, key: str) -> list[str]:
        """Return what may be written for a key, if that can be listed; else its default."""
        if key in ("preset", "workload.preset"):
            known = _core.presets() if key == "preset" else _core.workload_presets()
            return [name for name, _, _ in known]
        node = self._node(key)
        if node is None:
            return []
        found = [name for variant in self._variants(node) for name in _names(variant)]
        default = node.get("default")
        if not found and isinstance(default, str | int | float):
            found = [str(default)]
        return list(dict.fromkeys(found))


def _names(variant: Any) -> list[str]:
    """Return the words that may be written for a variant as they are."""
    if variant.get("type") == "boolean":
        return ["true", "false"]
    words = [variant["const"]] if "const" in variant else variant.get("enum", [])
    if len(variant.get("required", [])) == 1 and "type" in variant.get("properties", {}):
        words = [variant["properties"]["type"].get("const")]
    return [word for word in words if isinstance(word, str)]
