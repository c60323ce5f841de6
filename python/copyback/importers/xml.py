"""Reads an XML file into elements that know their lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from copyback._core import InputError
from copyback.importers.parameter import Parameter, Parameters

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass
class Element:
    """A tag with what is in it."""

    tag: str
    place: str
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def leaves(self) -> Iterator[Element]:
        """Yield the elements below that hold no other."""
        for child in self.children:
            if child.children:
                yield from child.leaves()
            else:
                yield child

    def parameters(self, path: Path) -> Parameters:
        """Return the leaves as parameters, of which none may come twice."""
        found: dict[str, Parameter] = {}
        for leaf in self.leaves():
            if leaf.tag in found:
                first = found[leaf.tag].place.rpartition(":")[2]
                raise InputError(f"{leaf.place}: {leaf.tag}: given twice; first in line {first}")
            found[leaf.tag] = Parameter(leaf.tag, leaf.text.strip(), leaf.place)
        return Parameters(found, str(path))


def read(data: bytes, path: Path) -> Element:
    """Return the outermost element of a file."""
    parser = expat.ParserCreate()
    top = Element("", str(path))
    open_elements = [top]

    def start(tag: str, _attributes: dict[str, str]) -> None:
        element = Element(tag, f"{path}:{parser.CurrentLineNumber}")
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(_tag: str) -> None:
        open_elements.pop()

    def characters(text: str) -> None:
        open_elements[-1].text += text

    def refuse(*_declared: object) -> NoReturn:
        # An entity may stand for more text than there is memory.
        raise InputError(f"{path}:{parser.CurrentLineNumber}: declares an entity; allowed: none")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except InputError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as fault:
        line = getattr(fault, "lineno", 1)
        reason = str(fault).partition(":")[0]
        raise InputError(f"{path}:{line}: is not well-formed XML: {reason}") from None
    return top.children[0]
