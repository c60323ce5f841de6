"""The Python packages have rooms: a small root, no circle of imports, each module alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGES = (ROOT / "python", ROOT / "packages/papers")


#: The file of each module, by its name.
MODULES = {
    ".".join(file.relative_to(home).with_suffix("").parts).removesuffix(".__init__"): file
    for home in PACKAGES
    for file in sorted(home.rglob("*.py"))
}


def imported(file: Path) -> Iterator[str]:
    """Yield what a module imports, its functions as well, but not what is for types alone."""
    left: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while left:
        one = left.pop()
        if isinstance(one, ast.Import):
            yield from (alias.name for alias in one.names)
        elif isinstance(one, ast.ImportFrom) and one.module is not None:
            inner = (f"{one.module}.{alias.name}" for alias in one.names)
            yield from (name if name in MODULES else one.module for name in inner)
        elif not (isinstance(one, ast.If) and "TYPE_CHECKING" in ast.unparse(one.test)):
            left += ast.iter_child_nodes(one)


def parents(module: str) -> list[str]:
    """Return the packages that a module lies in: they are imported before it."""
    parts = module.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def test_modules_use_one_another_in_no_circle() -> None:
    graph = {}
    for name, file in MODULES.items():
        asked = set(imported(file))
        # The packages of what is imported come first, but for those that this one lies in, too.
        around = {package for other in asked for package in parents(other)} - set(parents(name))
        graph[name] = (asked | around) & set(MODULES) - {name}
    # Raises what goes in a circle.
    assert set(TopologicalSorter(graph).static_order()) == set(MODULES)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_each_module_can_be_imported_alone() -> None:
    # Each in a process that has imported none of the others; what takes long is loaded before.
    code = (
        "import os, sys, importlib, numpy, typer, jinja2, rich.console, msgspec\n"
        "for name in sys.argv[1:]:\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        assert not any(other.startswith('copyback') for other in sys.modules)\n"
        "        importlib.import_module(name)\n"
        "        os._exit(0)\n"
        "    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):\n"
        "        print(name)\n"
    )
    command = [sys.executable, "-c", code, *MODULES]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_root_is_small() -> None:
    # A module goes to the room that it is about. Those at the root are what users keep: their
    # pickles name them.
    assert sorted(path.stem for path in (ROOT / "python/copyback").glob("*.py")) == [
        "__init__",
        "__main__",
        "column",
        "frame",
        "result",
        "summary",
    ]


def test_the_base_only_asks_whether_the_package_of_the_papers_is_there() -> None:
    users = [
        name
        for name, file in MODULES.items()
        if name.partition(".")[0] == "copyback"
        and any(other.startswith("copyback_papers") for other in imported(file))
    ]
    assert users == []
