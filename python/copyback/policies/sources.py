"""The files that a policy is made of: its own, and what these import that no package brings."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import ModuleType

#: Folders that packages are installed in.
_INSTALLED_IN = frozenset({"site-packages", "dist-packages"})

#: Packages that come with this one, and the language.
_OURS = "copyback"


def digest_of(module: ModuleType) -> str:
    """Return a digest of all that decides what a module does: its files, and what these import."""
    digest = hashlib.sha256()
    for content in contents(of_module(module)):
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def of_module(module: ModuleType) -> list[Path]:
    """Return the file of a module, or all of the package that holds it."""
    package = sys.modules.get(module.__name__.partition(".")[0])
    homes = getattr(package, "__path__", None)
    if homes is not None:
        return _files(homes)
    file = getattr(module, "__file__", None)
    return [Path(file)] if file is not None and Path(file).is_file() else []


def _files(homes: Iterable[str]) -> list[Path]:
    return sorted(path for home in homes for path in Path(home).rglob("*.py"))


def contents(files: Sequence[Path]) -> Iterator[bytes]:
    """Yield what is in files and in those that they import, then versions of installed packages."""
    met, left, packages = set(files), list(files), {_version_of_python(), installed("numpy") or ""}
    while left:
        content = left.pop(0).read_bytes()
        yield content
        for name in sorted(_imported(content)):
            about = installed(name)
            if about is not None:
                packages.add(about)
                continue
            new = [path for path in _found(name) if path not in met]
            met.update(new)
            left += new
    yield "\n".join(sorted(packages)).encode()


def _version_of_python() -> str:
    return "python {}.{}".format(*sys.version_info)


@cache
def _imported(content: bytes) -> frozenset[str]:
    """Return the modules that a source imports anywhere in it, each by the first part of its name.

    Relative imports stay in the package, all of which counts.
    """
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return frozenset()
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names.append(node.module)
    return frozenset(name.partition(".")[0] for name in names)


def _found(name: str) -> list[Path]:
    """Return the files of a module or package that lies beside the user's own."""
    spec = _spec(name)
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return _files(spec.submodule_search_locations)
    return [Path(spec.origin)] if spec.origin is not None and Path(spec.origin).is_file() else []


def _spec(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


def installed(module: str) -> str | None:
    """Return name and version of the installed package that a module is of; None of others."""
    top = module.partition(".")[0]
    if top == "__main__":
        return None
    if top in sys.stdlib_module_names or top == _OURS:
        return top
    loaded = sys.modules.get(top)
    places = [getattr(loaded, "__file__", None), *(getattr(loaded, "__path__", None) or ())]
    if loaded is None and (spec := _spec(top)) is not None:
        places = [spec.origin, *(spec.submodule_search_locations or ())]
    is_installed = any(place and _INSTALLED_IN & set(Path(place).parts) for place in places)
    return f"{top} {_version(top)}" if is_installed else None


@cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return _version_of_any(package)


def _version_of_any(package: str) -> str:
    """Return the versions of what brings a package under another name; empty if nobody says."""
    brought_by = metadata.packages_distributions().get(package, ())
    return " ".join(metadata.version(name) for name in sorted(set(brought_by)))
