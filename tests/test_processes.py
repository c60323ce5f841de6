"""What tests start ends with them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from processes import ending

ENDLESS = [sys.executable, "-c", "while True: pass"]


def test_a_process_is_killed_if_its_test_fails() -> None:
    with (
        pytest.raises(AssertionError, match="as it happens"),
        ending(subprocess.Popen(ENDLESS)) as process,
    ):
        raise AssertionError("as it happens")
    assert process.returncode is not None


def test_a_process_that_does_not_end_is_told_and_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("processes.PATIENCE", 0.1)
    with pytest.raises(subprocess.TimeoutExpired), ending(subprocess.Popen(ENDLESS)) as process:
        pass
    assert process.returncode is not None
