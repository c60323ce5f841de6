"""Pages of the documentation as a reader follows them: commands are run, outputs compared.

A page is read fence by fence. `sh` is run, in a directory that has `examples` and what the page
has made so far; `python` too, each fence as a file. The lines of a `text` fence must be printed by
the command before it, in that order; `…` stands for lines, or for the end of a line, that are left
out. A comment before a fence, which readers do not see, says what is special:

    <!-- file: mine.toml -->      the fence is written to this file
    <!-- exit status: 2 -->       the command fails like this
    <!-- not run: why -->         neither run nor compared
    <!-- installed: why -->       run without its lines that install, which a test has done
    <!-- needs: fio, root -->     programs, and rights, that a machine need not have

`claims.py` says what a comment `check` holds.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
#: Lines that install Copyback, or put it on the path.
_INSTALLS = re.compile(r"(?:python3 -m venv|pip install|\. ).*")
_COMMENT = re.compile(r"<!-- (file|exit status|not run|installed|needs): (.*?) -->")


@dataclass(frozen=True)
class Fence:
    """A fence of a page: its language, its text, its line, and what a comment says of it."""

    language: str
    text: str
    line: int
    told: dict[str, str]


def fences(page: Path) -> Iterator[Fence]:
    """Go through the fences of a page."""
    told: dict[str, str] = {}
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            told = dict(_COMMENT.findall(token.content))
        elif token.type == "fence":
            assert token.map is not None
            yield Fence(token.info.strip(), token.content, token.map[0] + 1, told)
            told = {}


@dataclass
class Reader:
    """Somebody who follows a page in a directory of their own."""

    home: Path
    printed: str = ""
    faults: list[str] = field(default_factory=list)
    #: Line of each command, and what it has printed.
    outputs: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Put the examples of the repository into the directory."""
        (self.home / "examples").symlink_to(ROOT / "examples")

    def follow(self, page: Path) -> list[str]:
        """Do what a page says, after those before it. Returns what was not so, a line each."""
        for fence in fences(page):
            if "not run" not in fence.told:
                self.do(fence)
        return self.faults

    def do(self, fence: Fence) -> None:
        """Do what one fence is for."""
        if (name := fence.told.get("file")) is not None:
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fence.text, encoding="utf-8")
        elif fence.language == "sh":
            self.run(fence, ["sh", "-e", "-c", commands(fence)])
        elif fence.language == "python":
            self.run(fence, [sys.executable, self.script(fence)])
        elif fence.language == "text":
            self.compare(fence)

    def script(self, fence: Fence) -> str:
        """Write a fence to a file of its own, as readers do, and return its name."""
        name = f"line_{fence.line}.py"
        (self.home / name).write_text(fence.text, encoding="utf-8")
        return name

    def run(self, fence: Fence, command: list[str]) -> None:
        """Run a command, and keep what it prints."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            command,
            cwd=self.home,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.printed = done.stdout
        self.outputs.append((fence.line, done.stdout))
        expected = int(fence.told.get("exit status", "0"))
        if done.returncode != expected:
            self.faults.append(
                f"line {fence.line}: exit status {done.returncode}: {fence.text}{done.stdout}"
            )

    def compare(self, fence: Fence) -> None:
        """See that each line of a fence is printed, after the one before it."""
        left = iter(self.printed.splitlines())
        for number, line in enumerate(fence.text.splitlines(), fence.line + 1):
            if line.strip() not in ("", "…") and not any(is_shown(line, one) for one in left):
                self.faults.append(f"line {number}: not printed: {line}")
                return


def commands(fence: Fence) -> str:
    """Return what a fence runs; a reader who has Copyback installs it no second time."""
    return _INSTALLS.sub("", fence.text) if "installed" in fence.told else fence.text


def is_shown(line: str, printed: str) -> bool:
    """Say whether a line of a page shows a printed one."""
    if line.endswith("…"):
        return printed.startswith(line.removesuffix("…"))
    return line.rstrip() == printed.rstrip()
