"""Which commit a stored result names, of programs that run without the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import commits


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout of one commit, with a folder of crates and a ledger."""
    (tmp_path / "crates").mkdir()
    for name in ("crates/lib.rs", "ledger.csv"):
        (tmp_path / name).write_text("as committed\n", encoding="utf-8")
    monkeypatch.setattr(commits, "ROOT", tmp_path)
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    for command in (["init", "--quiet"], ["add", "."], [*identity, "commit", "-qm", "All"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    commits.commit.cache_clear()
    return tmp_path


def test_what_a_program_stores_makes_the_commit_of_its_next_row_no_other(checkout: Path) -> None:
    first = commits.commit()
    assert len(first) == 8
    (checkout / "ledger.csv").write_text("a row\n", encoding="utf-8")
    assert commits.commit() == first
    commits.commit.cache_clear()
    assert commits.commit() == f"{first}-dirty"
    assert commits.commit(below="crates") == first
    assert commits.commit(12).startswith(first)


def test_files_that_git_does_not_know_are_no_change(checkout: Path) -> None:
    (checkout / "crates" / "notes").write_text("untracked", encoding="utf-8")
    assert not commits.commit().endswith("-dirty")
