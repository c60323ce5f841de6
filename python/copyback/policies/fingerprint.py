"""A digest of what a class does: the same wherever it stands, another if any of it changes.

It covers the code of the class and of what it is derived from, and whatever that code names:
functions, other classes and values of the program, files beside it. Of installed packages it
covers name and version. Line numbers and places of files are no part of it.
"""

from __future__ import annotations

import copyreg
import hashlib
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.policies import sources

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What says of a class where it stands, or is made anew by each interpreter.
_NO_PART = frozenset(
    {"__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "_abc_impl"}
    | {"__static_attributes__", "__annotations__", "__annotate_func__", "__annotations_cache__"}
)

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))


def digest_of(policy: type[Any]) -> str:
    """Return the digest of a class."""
    found = _Digest()
    found.add(policy)
    return found.hexdigest()


class _Digest:
    """Takes whatever a class is made of, each object once."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        # With the objects: a number of one that is gone is given again.
        self._met: dict[int, tuple[int, object]] = {}

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def _say(self, *words: object) -> None:
        for word in words:
            content = word if isinstance(word, bytes) else repr(word).encode()
            self._hash.update(b"%d:" % len(content) + content)

    def add(self, it: Any) -> None:
        """Take an object."""
        if isinstance(it, _PLAIN):
            self._say(type(it).__name__, it)
        elif id(it) in self._met:
            self._say("again", self._met[id(it)][0])
        else:
            self._met[id(it)] = (len(self._met), it)
            self._add_new(it)

    def _add_new(self, it: Any) -> None:
        for kinds, take in _TAKEN.items():
            if isinstance(it, kinds):
                take(self, it)
                return
        self.add(type(it))
        if hasattr(it, "__wrapped__"):
            self.add(it.__wrapped__)
        else:
            self._add_parts(it)

    def _add_parts(self, it: Any) -> None:
        """Take what an object would be made of again from a file."""
        reduce = copyreg.dispatch_table.get(type(it))
        try:
            parts = it.__reduce_ex__(4) if reduce is None else reduce(it)
        except Exception as fault:
            # What no file can hold is known by its type alone.
            self._say(type(fault).__name__)
            return
        for part in (parts,) if isinstance(parts, str) else parts:
            self.add(list(part) if isinstance(part, Iterator) else part)

    def _add_class(self, it: type[Any]) -> None:
        self._say("class", it.__name__)
        if self._is_of_others(it):
            return
        self._add_each(it.__bases__)
        for name, value in sorted(vars(it).items()):
            if name not in _NO_PART:
                self._say(name)
                self.add(value)

    def _is_of_others(self, it: Any) -> bool:
        """Take an installed package by its version, and say whether the object is of one."""
        about = sources.installed(it.__module__ or "builtins")
        if about is not None:
            self._say(about, it.__module__, it.__qualname__)
        return about is not None

    def _add_function(self, it: types.FunctionType) -> None:
        self._say("function")
        if self._is_of_others(it):
            return
        self.add(it.__code__)
        self._add_each((it.__defaults__, it.__kwdefaults__))
        for cell in it.__closure__ or ():
            self._add_cell(cell)
        for name in sorted(_named(it.__code__) & it.__globals__.keys()):
            self._say(name)
            self.add(it.__globals__[name])

    def _add_cell(self, cell: types.CellType) -> None:
        try:
            self.add(cell.cell_contents)
        except ValueError:
            self._say("empty")

    def _add_code(self, it: types.CodeType) -> None:
        self._say(it.co_code, it.co_names, it.co_varnames, it.co_freevars, it.co_cellvars)
        self._say(it.co_argcount, it.co_posonlyargcount, it.co_kwonlyargcount, it.co_flags)
        self._say(it.co_exceptiontable)
        self._add_each(it.co_consts)

    def _add_module(self, it: types.ModuleType) -> None:
        about = sources.installed(it.__name__)
        self._say("module", it.__name__, about)
        if about is None:
            self._say(*sources.contents(sources.of_module(it)))

    def _add_each(self, items: Iterable[Any]) -> None:
        for item in items:
            self.add(item)
        self._say("end")

    def _add_mapping(self, it: dict[Any, Any]) -> None:
        self._say("mapping")
        self._add_each(part for pair in it.items() for part in pair)

    def _add_set(self, it: frozenset[Any] | set[Any]) -> None:
        # In an order that no seed of Python's own decides.
        self._say("set", *sorted(_alone(item) for item in it))

    def _add_array(self, it: np.ndarray[Any, Any]) -> None:
        self._say("array", it.dtype.str, it.shape, it.tobytes())

    def _add_property(self, it: property) -> None:
        self._add_each((it.fget, it.fset, it.fdel))

    def _add_method(self, it: Any) -> None:
        self._say(type(it).__name__)
        self.add(it.__func__)

    def _add_built_in(self, it: Any) -> None:
        self._say(getattr(it, "__module__", None), it.__qualname__)


def _alone(it: Any) -> str:
    found = _Digest()
    found.add(it)
    return found.hexdigest()


def _named(code: types.CodeType) -> set[str]:
    """Return the names that code uses, and the code inside it."""
    return set(code.co_names).union(*map(_named, _inner(code)))


def _inner(code: types.CodeType) -> Iterator[types.CodeType]:
    return (value for value in code.co_consts if isinstance(value, types.CodeType))


_TAKEN: dict[Any, Any] = {
    type: _Digest._add_class,
    types.FunctionType: _Digest._add_function,
    types.CodeType: _Digest._add_code,
    types.ModuleType: _Digest._add_module,
    (tuple, list): _Digest._add_each,
    dict: _Digest._add_mapping,
    (frozenset, set): _Digest._add_set,
    np.ndarray: _Digest._add_array,
    property: _Digest._add_property,
    (classmethod, staticmethod, types.MethodType): _Digest._add_method,
    (types.BuiltinFunctionType, types.MethodDescriptorType): _Digest._add_built_in,
    (types.WrapperDescriptorType, types.MemberDescriptorType): _Digest._add_built_in,
    types.GetSetDescriptorType: _Digest._add_built_in,
}
