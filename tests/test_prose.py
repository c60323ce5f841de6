"""Linter of prose: every page that people write passes, and a seeded fault does not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def lint(*pages: Path) -> subprocess.CompletedProcess[str]:
    asked = [sys.executable, "tools/prose.py", *map(str, pages)]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_pages_pass() -> None:
    done = lint()
    assert (done.returncode, done.stderr.strip()) == (0, "")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It says what who cites it needs.", "found 'what who'; write who does what"),
        ("The page is put off.", "found 'put off'; write the field's word"),
        ("The file is written anew.", "found 'anew'; write again"),
        ("A fault is told in a line.", "found 'is told'; write reported"),
        # These are proselint's own.
        ("The run went on and and ended.", "a phrase is repeated"),
        ("It is very unique.", "Comparison of an uncomparable"),
    ],
)
def test_a_seeded_fault_fails(text: str, fault: str, tmp_path: Path) -> None:
    """By its place, under a heading and a fence that are no prose."""
    page = tmp_path / "page.md"
    page.write_text(f"# A page is told\n\n```sh\nput off anew\n```\n\n| is told |\n\n{text}\n")
    done = lint(page)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{page}:9: ")
    assert fault in line


def test_what_is_no_prose_passes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# It is told\n\n`put off` and [a link](anew.md).\n\n| is told | anew |\n")
    assert lint(page).returncode == 0
