"""``_core.pyi`` describes the compiled module: the same names, the same parameters."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import copyback
from copyback import _core

STUB = ast.parse(Path(copyback.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
CONSTANTS = {
    node.target.id
    for node in STUB.body
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
}


def parameters(function: ast.FunctionDef) -> list[tuple[str, bool]]:
    """Return names of parameters and whether each has a default."""
    names = [argument.arg for argument in function.args.args]
    required = len(names) - len(function.args.defaults)
    found = [(name, index >= required) for index, name in enumerate(names)]
    return [pair for pair in found if pair[0] not in {"self", "cls"}]


def real_parameters(function: object) -> list[tuple[str, bool]]:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    return [
        (name, parameter.default is not inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if name not in {"self", "cls"}
    ]


def test_names() -> None:
    ours = {"__model__", "__version__"}
    real = {name for name in dir(_core) if not name.startswith("_") or name in ours}
    assert real == set(CLASSES) | set(FUNCTIONS) | CONSTANTS


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions(name: str) -> None:
    assert real_parameters(getattr(_core, name)) == parameters(FUNCTIONS[name])


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes(name: str) -> None:
    real = getattr(_core, name)
    described = {
        node.name: node for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)
    }
    if not issubclass(real, BaseException):
        public = {member for member in vars(real) if not member.startswith("_")}
        assert public == {member for member in described if not member.startswith("_")}
    for member, function in described.items():
        is_property = any(
            isinstance(decorator, ast.Name) and decorator.id == "property"
            for decorator in function.decorator_list
        )
        if member == "__new__":
            assert real_parameters(real) == parameters(function)
        elif not is_property:
            assert real_parameters(getattr(real, member)) == parameters(function)


def test_exceptions() -> None:
    assert issubclass(_core.InputError, ValueError)
    assert issubclass(_core.SimulationError, RuntimeError)
    assert copyback.InputError is _core.InputError
