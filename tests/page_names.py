"""Names on the pages of the documentation, and whether what they name exists.

A name is looked at where pages mark it as one: in code spans, and in fences of TOML, commands and
Python.
"""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from functools import cache
from typing import TYPE_CHECKING, Any

from pages import ROOT, fences

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Schema = dict[str, Any]

#: Folders whose files pages name, by a path from the top or by the end of one.
TREES = ["crates", "python", "tests", "tools", "experiments", "benches", "examples", "docs"]
TREES += ["packages", "fuzz", ".ci", ".github"]
#: Endings of the files in which a name that no schema has may stand.
SOURCES = {".rs", ".py", ".toml", ".sh", ".yml", ".js", ".j2"}

FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*(?:/|\.(?:rs|py))|[\w.-]+(?:/[\w.-]+)+\.\w+")
DOTTED = re.compile(r"([a-z_]+(?:\.[a-z_0-9]+)+)(?=$|[ =,;])")
WORD = re.compile(r"[A-Za-z]\w*_\w+|[A-Z]\w*[a-z]\w*|\w+(?:::\w+)+")
#: Paths that a reader makes, or fills in.
READERS, PLACEHOLDER = re.compile(r"out/|/dev/"), re.compile(r"\b(?!README|CHANGELOG)[A-Z]{2,}\b")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
SET = re.compile(r"--set '?([a-z_.0-9]+)=(\{.*?\}(?=')|[^\s'`]+)")


def spans(page: Path) -> Iterator[str]:
    """Go through what a page marks as code inside its text."""
    yield from SPAN.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


@cache
def schema(name: str) -> Schema:
    """Read one of the two schemas."""
    text = (ROOT / f"docs/reference/{name}.schema.json").read_text(encoding="utf-8")
    found: Schema = json.loads(text)
    return found


def parts(node: Schema, root: Schema) -> Iterator[Schema]:
    """Go through a node of a schema, what it refers to, and its alternatives."""
    yield node
    if "$ref" in node:
        yield from parts(root["$defs"][node["$ref"].rpartition("/")[2]], root)
    for word in ("anyOf", "oneOf", "allOf"):
        for one in node.get(word, []):
            yield from parts(one, root)


def has_key(path: list[str], node: Schema, root: Schema) -> bool:
    """Tell whether a schema knows a key, through arrays and alternatives."""
    if not path:
        return True
    for part in parts(node, root):
        others = part.get("additionalProperties")
        inner = part.get("properties", {}).get(path[0]) or (isinstance(others, dict) and others)
        if inner and has_key(path[1:], inner, root):
            return True
        if "items" in part and has_key(path[path[0].isdigit() :], part["items"], root):
            return True
    return False


def allows(value: object, node: Schema, root: Schema) -> bool:
    """Tell whether a schema knows all keys of a value, and the names that it chooses by."""
    if isinstance(value, list):
        # An array may be written out, or one table of a list stand for it.
        return all(any(allows(one, i, root) for i in _items(node, root)) for one in value)
    if isinstance(value, dict):
        known = [part for part in parts(node, root) if "properties" in part]
        return any(_has_all(value, part, root) for part in known) or _is_map(node, root)
    choices = [p for p in parts(node, root) if "const" in p or "enum" in p]
    free = any(
        "type" in p and "const" not in p and "enum" not in p and _is_simple(p["type"])
        for p in parts(node, root)
    )
    return free or any(value in (p.get("const"), *p.get("enum", [])) for p in choices)


def _items(node: Schema, root: Schema) -> list[Schema]:
    return [part["items"] for part in parts(node, root) if isinstance(part.get("items"), dict)]


def _is_map(node: Schema, root: Schema) -> bool:
    return any(p.get("type") == "object" and "properties" not in p for p in parts(node, root))


def _is_simple(kinds: str | list[str]) -> bool:
    return bool(
        {"string", "number", "integer", "boolean"}
        & {*([kinds] if isinstance(kinds, str) else kinds)}
    )


def _has_all(table: dict[str, Any], part: Schema, root: Schema) -> bool:
    known = part["properties"]
    # The preset of a workload is put in before the schema is asked.
    mine = {key: value for key, value in table.items() if key != "preset"}
    return all(key in known and allows(value, known[key], root) for key, value in mine.items())


@cache
def keyed() -> dict[str, list[Schema]]:
    """Return what the schema of a configuration says of each key, wherever it stands."""
    found: dict[str, list[Schema]] = {}
    waiting: list[Any] = [schema("configuration")]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            for key, inner in node.get("properties", {}).items():
                found.setdefault(key, []).append(inner)
        waiting += node.values() if isinstance(node, dict) else node
        waiting = [one for one in waiting if isinstance(one, dict | list)]
    return found


def wrong_settings(text: str) -> list[str]:
    """Return the settings of a piece of TOML that no configuration can have.

    A key at its top may be one of a configuration, or of any table of it.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return []
    if "objectives" in table:
        return []  # a study, whose tables have names of their own
    root, everywhere = schema("configuration"), keyed()
    return [
        f"{key} = {value}"
        for key, value in table.items()
        if key in everywhere and not any(allows(value, node, root) for node in everywhere[key])
    ]


@cache
def files() -> frozenset[str]:
    """Return the files and folders of the repository, each by every end of its path."""
    found = set()
    for path in (p for tree in TREES for p in [ROOT / tree, *(ROOT / tree).rglob("*")]):
        names = path.relative_to(ROOT).parts
        found |= {"/".join(names[first:]) for first in range(len(names))}
    return frozenset(found | {path.name for path in ROOT.iterdir()})


@cache
def sources(*trees: str) -> list[str]:
    """Read the files of these folders in which a name that no schema has may stand."""
    return [
        path.read_text(encoding="utf-8")
        for tree in trees
        for path in sorted((ROOT / tree).rglob("*"))
        if path.suffix in SOURCES and path.name != "test_page_names.py"
    ]


@cache
def words() -> frozenset[str]:
    """Return every word of the sources, and every key of the schemas."""
    texts = [*sources(*TREES), *(json.dumps(schema(name)) for name in ("configuration", "summary"))]
    return frozenset(word for text in texts for word in re.findall(r"\w+", text))


@cache
def quoted() -> frozenset[str]:
    """Return the paths of names that the sources have in quotes, as those of columns."""
    dotted = re.compile(r"""["'`]([a-z_]+(?:\.[a-z_0-9]+)+)""")
    return frozenset(
        name
        for text in sources("packages", "python", "crates/copyback-workload/src")
        for name in dotted.findall(text)
    )


@cache
def options() -> dict[str, frozenset[str]]:
    """Return the options of each command, and under "" those of all."""
    text = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
    sections = re.split(r"^#+ `copyback ([a-z -]+)`$", text, flags=re.MULTILINE)
    found = {
        name: frozenset(OPTION.findall(section))
        for name, section in zip(sections[1::2], sections[2::2], strict=True)
    }
    return {**found, "": frozenset(OPTION.findall(text))}


def wrong_command(line: str) -> list[str]:
    """Return the options of a line of the shell that its command of Copyback does not have."""
    found = re.match(r"\$? ?copyback((?: [a-z][a-z-]*)+)(.*)", line)
    if not found:
        return []
    named, rest = found.groups()
    known = [name for name in options() if name and f"{named} ".startswith(f" {name} ")]
    if not known:
        return [f"copyback{named}"]
    # What is behind a pipe or a second command is another program's.
    mine = re.split(r"[|;&]", rest)[0]
    has = options()[max(known, key=len)]
    wrong = [f"copyback{named} {option}" for option in OPTION.findall(mine) if option not in has]
    for key, value in SET.findall(mine):
        text = value if re.match(r"[\d{\[]|true$|false$", value) else json.dumps(value)
        if not has_key(key.split("."), schema("configuration"), schema("configuration")):
            wrong.append(f"--set {key}")
        wrong += wrong_settings(f"{key} = {text}")
    return wrong


def is_key(name: str) -> bool:
    """Tell whether a path of keys is one of a configuration, a summary or a table of results."""
    path = name.split(".")
    return name in quoted() or any(
        has_key(path, schema(which), schema(which)) for which in ("configuration", "summary")
    )


def is_attribute(name: str) -> bool:
    """Tell whether `copyback.a.b` leads to something."""
    at: object = importlib.import_module("copyback")
    for place, part in enumerate(path := name.split(".")[1:]):
        try:
            at = getattr(at, part)
        except AttributeError:
            try:
                at = importlib.import_module(".".join(["copyback", *path[: place + 1]]))
            except ImportError:
                return False
    return True


def roots() -> set[str]:
    """Return the keys with which a path into a configuration or a summary begins."""
    return {key for which in ("configuration", "summary") for key in schema(which)["properties"]}


def wrong_span(code: str) -> list[str]:
    """Return what a code span names that does not exist."""
    if PATH.fullmatch(code):
        theirs = READERS.match(code) or PLACEHOLDER.search(code)
        return [] if theirs or code.rstrip("/") in files() else [code]
    wrong = wrong_command(code) + wrong_settings(code)
    if not code.startswith("copyback "):
        wrong += [o for o in OPTION.findall(code) if " " not in code and o not in options()[""]]
    if WORD.fullmatch(code.removesuffix("()")):
        wrong += [word for word in re.findall(r"\w+", code) if word not in words()]
    if found := DOTTED.match(code):
        name = found[1]
        if name.startswith("copyback."):
            wrong += [] if name in quoted() or is_attribute(name) else [name]
        elif name.split(".")[0] in roots() and not is_key(name):
            wrong.append(name)
    return wrong


def wrong_names(page: Path) -> list[str]:
    """Return what a page names that does not exist."""
    wrong = [name for code in spans(page) for name in wrong_span(code)]
    for fence in fences(page):
        if fence.language == "toml":
            wrong += wrong_settings(fence.text)
        if fence.language == "sh":
            for line in fence.text.replace("\\\n", " ").splitlines():
                wrong += wrong_command(line)
        if fence.language == "python":
            used = re.findall(r"\bcopyback\.[a-zA-Z_]\w*", fence.text)
            wrong += [name for name in used if not is_attribute(name)]
    return sorted(set(wrong))
