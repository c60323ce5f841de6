"""Where a profile-guided wheel cannot be built, a plain one is, and the reason is said."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from absolute_links import absolute

COMPILER = "rustc 1.95.0\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\nLLVM version: 22.1.2\n"


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Load the script, on a machine that has a compiler and nothing of LLVM's."""
    path = Path(__file__).parents[1] / "tools" / "release_wheel.py"
    spec = importlib.util.spec_from_file_location("release_wheel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answers = {"-vV": COMPILER, "--print": f"{tmp_path}/lib\n", "--version": "LLVM version 14.0.6"}
    monkeypatch.setattr(module, "output", lambda command: answers[command[1]])
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    monkeypatch.delenv("CARGO_BUILD_TARGET", raising=False)
    return module


def test_a_plain_wheel_is_built_and_the_reason_said(
    release: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built: list[Any] = []
    monkeypatch.setattr(release, "build", lambda *given: built.append(given))
    monkeypatch.setattr(release.sys, "argv", ["release_wheel.py", "uv"])
    assert release.main() == 0
    assert built == [(release.released("uv", release.ROOT / "dist"), "")]
    assert "no llvm-profdata of LLVM 22" in capsys.readouterr().out


def test_a_tool_of_another_llvm_is_not_taken(
    release: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        release.shutil, "which", lambda name: name if name == "llvm-profdata" else None
    )
    with pytest.raises(release.NotHereError, match="LLVM 22"):
        release.profdata()


def test_the_systems_tool_of_the_same_llvm_is_taken(
    release: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        release.shutil, "which", lambda name: name if name == "llvm-profdata-22" else None
    )
    monkeypatch.setattr(
        release, "output", lambda command: {"-vV": COMPILER}.get(command[1], "LLVM version 22.1.8")
    )
    assert release.profdata() == Path("llvm-profdata-22")


def test_what_cannot_be_run_here_cannot_be_trained(
    release: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARGO_BUILD_TARGET", "aarch64-unknown-linux-gnu")
    with pytest.raises(release.NotHereError, match="aarch64-unknown-linux-gnu can't be run here"):
        release.profdata()


def test_a_wheel_of_linux_is_for_other_machines_too(
    release: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[Any] = []
    monkeypatch.setattr(
        release.subprocess, "run", lambda command, **given: ran.append((command, given))
    )
    monkeypatch.setattr(release.sys, "platform", "linux")
    release.build(release.released("uv", tmp_path), "")
    ((command, given),) = ran
    assert command[command.index("--out") + 1] == str(tmp_path)
    assert command[-2:] == ["--compatibility", "manylinux_2_17"]
    assert given["env"]["CARGO_TARGET_DIR"] == str(release.ROOT / "target" / "zig")
    monkeypatch.setattr(release.sys, "platform", "darwin")
    assert "--zig" not in release.released("uv", tmp_path)


def test_what_is_trained_is_for_this_machine_and_its_functions_have_the_same_names(
    release: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(release.sys, "platform", "linux")
    command = release.to_be_trained("uv", tmp_path)
    assert "--zig" not in command
    assert command[command.index("--target") + 1] == "x86_64-unknown-linux-gnu"


def test_tools_of_a_release_are_of_the_same_versions_everywhere(release: ModuleType) -> None:
    root = Path(__file__).parents[1]
    workflow = (root / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert f"MATURIN: {release.MATURIN}\n" in workflow
    assert f"ZIG: {release.ZIG}\n" in workflow
    assert f'requires = ["{release.MATURIN}"]' in (root / "pyproject.toml").read_text("utf-8")


def test_links_of_the_readme_lead_to_the_files_of_a_revision() -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    moved = absolute(readme, "https://host/owner/name", "v1")
    assert "(https://host/owner/name/blob/v1/docs/" in moved
    assert not re.findall(r"\]\((?!https?:|#)", moved)
    assert absolute("![a](b.png)", "h", "v1") == "![a](h/raw/v1/b.png)"
