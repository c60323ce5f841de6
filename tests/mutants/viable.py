"""Which mutants compile: the compiler is asked until nothing is left that it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from mutants import suites, tree
from mutants.doubled import blocks, doubled

if TYPE_CHECKING:
    from pathlib import Path

    from mutants.listed import Change

MOST_ROUNDS = 40
#: What has a switch, or calls what has one, cannot be called where constants are made.
NOT_CONST = "E0015"
ORDINARY = tree.WORK / "ordinary.json"


class Mutated:
    """A copy of the sources with mutants in it.

    Attributes
    ----------
    at
        Where it is; the compiler is asked elsewhere, so that what is built stays as it is.
    changes
        The mutants that are in it, by number.
    refused
        What the compiler said of those that it refused.
    ordinary
        Lines of each file that make a function `const` that can be so no more.
    texts
        Of the files that are not as they were.
    """

    def __init__(self, at: Path, changes: dict[int, Change]) -> None:
        self.at, self.asked, self.changes = at, tree.WORK / "asked", dict(changes)
        self.refused: dict[int, str] = {}
        self.ordinary = ordinary_before()
        self.texts: dict[str, str] = {}
        for _ in range(MOST_ROUNDS):
            self.write()
            errors = self.errors()
            if not errors:
                tree.written(self.at, self.texts)
                return
            self.mend(errors)
        sys.exit(f"after {MOST_ROUNDS} rounds mutants still do not compile")

    def write(self) -> None:
        """Write the mutants that are left."""
        files = {change.file for change in self.changes.values()} | set(self.ordinary)
        self.texts = {file: self.text(file) for file in files}
        tree.written(self.asked, self.texts)

    def text(self, file: str) -> str:
        """Return the text of a file with its mutants."""
        here = {number: one for number, one in self.changes.items() if one.file == file}
        text = tree.not_const(doubled(tree.source(file), here))
        for line in self.ordinary.get(file, ()):
            text = text.replace(line, line.replace("const fn", "fn", 1))
        return text

    def errors(self) -> list[dict[str, Any]]:
        """Ask the compiler."""
        told = subprocess.run(
            ["cargo", "check", "--package", "copyback", "--lib", "--message-format=json"],
            cwd=self.asked,
            env=suites.environment("check"),
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [json.loads(line) for line in told.stdout.splitlines()]
        found = [line["message"] for line in lines if line["reason"] == "compiler-message"]
        errors = [one for one in found if one["level"] == "error" and one["spans"]]
        if told.returncode != 0 and not errors:
            sys.exit(told.stderr)
        return errors

    def mend(self, errors: list[dict[str, Any]]) -> None:
        """Leave out the mutants that errors lie in; if none, make functions ordinary."""
        where = {file: blocks(text) for file, text in self.texts.items()}
        refused = {
            number: error["message"]
            for error in errors
            for span in error["spans"]
            for number, lines in where.get(file_of(span), {}).items()
            if span["is_primary"] and span["line_start"] in lines
        }
        print(f"{len(errors)} errors, {len(refused)} mutants that do not compile", flush=True)
        self.refused |= refused
        self.changes = {n: one for n, one in self.changes.items() if n not in refused}
        if refused:
            return
        for error in errors:
            if (error["code"] or {}).get("code") != NOT_CONST:
                sys.exit(error["rendered"])
            self.make_ordinary(error)

    def make_ordinary(self, error: dict[str, Any]) -> None:
        """Note that the function that an error lies in can be `const` no more."""
        span = next(span for span in error["spans"] if span["is_primary"])
        text = (self.asked / span["file_name"]).read_text(encoding="utf-8").split("\n")
        for line in reversed(text[: span["line_start"]]):
            if "const fn" in line:
                self.ordinary.setdefault(file_of(span), []).append(line)
                ORDINARY.write_text(json.dumps(self.ordinary), encoding="utf-8")
                return
        sys.exit(error["rendered"])


def ordinary_before() -> dict[str, list[str]]:
    """Return what was found before: a tree that is the same as then is not built again."""
    found: dict[str, list[str]] = {}
    if ORDINARY.exists():
        found = json.loads(ORDINARY.read_text(encoding="utf-8"))
    return found


def file_of(span: dict[str, Any]) -> str:
    """Return a file as changes name it."""
    return str(span["file_name"]).removeprefix(f"{tree.SOURCE}/")
