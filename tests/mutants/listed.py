"""What cargo-mutants would change, and a sample of it in an order that a seed decides."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

from mutants import tree

#: Of the simulator's sources: collections, what lies where, the rooms of a drive, and the rest.
AREAS = {
    "gc": ("collector/", "victim/"),
    "ftl": ("ftl/",),
    "rooms of the drive": ("flash/", "scheduler/", "observer/", "drive/", "ssd/", "backend/"),
    "array": (
        "array/",
        "layout/",
    ),
    "placement": ("placement/",),
    "buffer": ("buffer.rs",),
}
#: Of the order in which they are drawn.
SEED = 26


@dataclass(frozen=True)
class Change:
    """One change that cargo-mutants would make.

    Attributes
    ----------
    name
        What is changed, and in which file and function; no other has this name.
    file, line
        Where, below the simulator's sources.
    function, span
        Where the function and what is replaced begin and end: lines and columns, from 1.
    returns
        The type that the function returns, as it is written.
    replacement
        What stands there instead.
    """

    name: str
    file: str
    line: int
    function: dict[str, Any]
    span: dict[str, Any]
    returns: str
    replacement: str

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.file}:{self.line}"


def version() -> str:
    """Return the name and version of the tool, without which nothing can be listed."""
    told = subprocess.run(
        ["cargo", "mutants", "--version"], check=False, capture_output=True, text=True
    )
    if told.returncode != 0:
        sys.exit("this needs cargo-mutants: cargo install --locked cargo-mutants")
    return told.stdout.strip()


def area(file: str) -> str:
    """Return the area of a file."""
    return next(name for name, starts in AREAS.items() if file.startswith(starts))


def all_changes() -> list[Change]:
    """Return the tool's whole list for the areas."""
    patterns = [tree.SOURCE / start for starts in AREAS.values() for start in starts]
    filters = [
        option
        for path in patterns
        for option in ("-f", str(path) if path.suffix else f"{path}/**/*.rs")
    ]
    command = ["cargo", "mutants", "--list", "--json", "--package", "copyback", *filters]
    told = subprocess.run(command, cwd=tree.ROOT, check=True, capture_output=True, text=True)
    counted: Counter[str] = Counter()
    return [change(entry, counted) for entry in json.loads(told.stdout)]


def change(entry: dict[str, Any], counted: Counter[str]) -> Change:
    """Read an entry of the list; those that read alike in one file are numbered."""
    file = entry["file"].removeprefix(f"{tree.SOURCE}/")
    line = entry["span"]["start"]["line"]
    what = entry["name"].partition(": ")[2]
    name = f"{file}: {what}"
    counted[name] += 1
    return Change(
        name=name if counted[name] == 1 else f"{name}, {counted[name]}",
        file=file,
        line=line,
        function=entry["function"] or {},
        span=entry["span"],
        returns=(entry["function"] or {}).get("return_type", ""),
        replacement=entry["replacement"],
    )


def drawn(changes: list[Change], count: int) -> list[Change]:
    """Return the first ``count`` in an order that depends on the seed and the names alone."""

    def key(one: Change) -> str:
        return hashlib.sha256(f"{SEED}/{one.name}".encode()).hexdigest()

    return sorted(changes, key=key)[:count]
