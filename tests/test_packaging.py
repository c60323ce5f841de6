"""The Dockerfile and the conda recipe: their steps end in a command that runs, without Docker.

Each stage of the Dockerfile is a folder, and each of a Python image has an empty environment. Steps
run as a shell of the image would run them, with none of this machine's variables but those that say
how package indexes are reached. Rust is the machine's own in place of the image's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCKERFILE = ROOT / "Dockerfile"
RECIPE = ROOT / "recipe/recipe.yaml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

#: Beginnings of variables that say how a machine reaches package indexes.
NETWORK = ("PIP_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http", "no_proxy")
#: What an image's own Rust is found by: the machine's takes its place.
OF_RUST = "ENV CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup PATH=/usr/local/cargo/bin:"


def instructions(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the instructions of a Dockerfile, with what follows each."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            yield word, rest.strip()


def environment(home: Path) -> dict[str, str]:
    """Make an empty environment and return the variables of a shell that uses it."""
    subprocess.run([sys.executable, "-m", "venv", home / "env"], check=True)
    cargo = shutil.which("cargo")
    assert cargo is not None, "needs a Rust toolchain"
    kept = {key: text for key, text in os.environ.items() if key.startswith(NETWORK)}
    rust = {key: os.environ[key] for key in ("CARGO_HOME", "RUSTUP_HOME") if key in os.environ}
    rust |= {} if rust else {"HOME": str(Path.home())}
    path = (str(home / "env/bin"), str(Path(cargo).parent), "/usr/bin", "/bin")
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    return {
        "HOME": str(home),
        "CARGO_TARGET_DIR": target,
        "COPYBACK_CACHE": "off",
        **kept,
        **rust,
        "PATH": os.pathsep.join(path),
    }


def context(home: Path) -> Path:
    """Copy what a clone has to a folder of its own."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, home / name)
    return home


@dataclass
class Stage:
    """Folder that stands for the file system of a stage."""

    root: Path
    variables: dict[str, str]
    work: Path = field(init=False)

    def __post_init__(self) -> None:
        self.work = self.root

    def path(self, name: str) -> Path:
        """Return where a path of the image lies."""
        return self.root / name.lstrip("/") if name.startswith("/") else self.work / name

    def shell(self, command: str) -> str:
        """Run a command of a shell and return what it prints."""
        done = subprocess.run(
            ["sh", "-e", "-c", command],
            cwd=self.work,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout


def copied(source: Path, target: Path) -> None:
    """Copy a file, or what is in a folder, as COPY does."""
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def built(dockerfile: Path, files: Path, home: Path) -> Stage:
    """Carry out the steps of a Dockerfile, and return its last stage."""
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    for word, rest in instructions(dockerfile):
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            root = home / (name or "last")
            root.mkdir()
            variables = environment(root) if image.startswith("python:") else {}
            stage = stages[name] = Stage(root, variables)
            continue
        assert stage is not None
        if word == "WORKDIR":
            stage.work = stage.path(rest)
            stage.work.mkdir(parents=True, exist_ok=True)
        elif word == "RUN":
            stage.shell(rest)
        elif word == "COPY" and not rest.startswith("--from=rust "):
            flag, _, others = rest.partition(" ")
            named = flag.startswith("--from=")
            source, target = (others if named else rest).split()
            home_of = stages[flag.removeprefix("--from=")].path(source) if named else files / source
            copied(home_of, stage.path(target))
    assert stage is not None
    return stage


def recipe() -> dict[str, Any]:
    """Return the recipe, with its version in place of the expressions that stand for it."""
    text = RECIPE.read_text(encoding="utf-8")
    version = yaml.safe_load(text)["context"]["version"]
    loaded: dict[str, Any] = yaml.safe_load(text.replace("${{ version }}", version))
    return loaded


def test_the_dockerfile_has_no_step_that_is_not_carried_out_here() -> None:
    known = {"FROM", "COPY", "WORKDIR", "RUN", "ENV", "ENTRYPOINT", "CMD"}
    steps = list(instructions(DOCKERFILE))
    assert {word for word, _ in steps} == known
    assert [f"ENV {rest}" for word, rest in steps if word == "ENV"] == [f"{OF_RUST}$PATH"]
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    assert ("FROM", f"rust:{rust['rust-version']}-bookworm AS rust") in steps


def test_the_recipe_asks_for_what_the_package_asks_for() -> None:
    asked = recipe()
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    project = PROJECT["project"]
    assert asked["package"] == {"name": project["name"], "version": workspace["package"]["version"]}
    needed = [f"python {project['requires-python']}", *project["dependencies"]]
    run = asked["requirements"]["run"]
    assert [one.replace(" ", "") for one in run] == [one.replace(" ", "") for one in needed]
    host = {one.replace(" ", "") for one in asked["requirements"]["host"]}
    assert host > set(PROJECT["build-system"]["requires"])
    assert asked["about"]["summary"] == project["description"]
    assert asked["about"]["license"] == project["license"]


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="steps of a shell")
def test_the_steps_of_both_end_in_a_command_that_runs(tmp_path: Path) -> None:
    files = context(tmp_path / "files")
    image = built(DOCKERFILE, files, tmp_path)
    assert "Simulate garbage collection" in image.shell("copyback --help")
    assert not list(image.work.glob("wheels"))

    # The recipe's own, from what the image was built from: most of it is built already.
    asked = recipe()
    home = tmp_path / "conda"
    home.mkdir()
    made = Stage(home, environment(home))
    made.work = tmp_path / "build/src"
    needed = [one.replace(" ", "") for one in asked["requirements"]["host"] if "python" not in one]
    needed += [one.replace(" ", "") for one in asked["requirements"]["run"] if "python" not in one]
    made.shell(f"pip install {' '.join(repr(one) for one in needed)}")
    for command in asked["build"]["script"]:
        made.shell(command)
    python, scripts = asked["tests"]
    made.work = home / "tests"
    for name in scripts["files"]["source"]:
        copied(files / name, made.work / name)
    for name in python["python"]["imports"]:
        made.shell(f"python -c 'import {name}'")
    made.shell("pip check")
    printed = [made.shell(command) for command in scripts["script"]]
    assert printed[0].startswith(f"copyback {asked['package']['version']} ")
    assert "Collections" in printed[1]
