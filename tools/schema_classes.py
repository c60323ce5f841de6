"""Writes a class for each table of a schema: ``summary.py``, or ``trace/statistics.py``.

Takes the name of the schema, ``summary`` or ``statistics``. Asks the compiled module for it, so
that it works while the classes do not. Writes to standard output.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from copyback import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

#: For each schema its text, and what the module of its classes says of itself.
SCHEMAS = {
    "summary": (
        _core.summary_schema,
        "The numbers of a run: a class for each table of ``summary.json``.",
    ),
    "statistics": (
        _core.statistics_schema,
        "Statistics of a workload: a class for each table of ``copyback trace info --json``.",
    ),
}

HEAD = '''\
"""{about}

Generated from the schema that the simulator tells by ``make generated``; do not edit.
"""

from __future__ import annotations

from typing import Literal

{imports}from copyback.data.section import {sections}
'''

SCALARS = {
    "integer": "int",
    "number": "float",
    "string": "str",
    "boolean": "bool",
    "null": "None",
}
WIDTH = 100

#: How a number is written that has this in its key, if its declaration does not say it
#: (`copyback.words.declared.FORMATS`); others go by their types.
FORMATS = {
    r"(^|_)bytes(_|$)": "size",
    r"(?<!per)_s$": "time_s",
    r"_us$": "time_us",
    r"(^|_)share$": "share",
}

#: What stands behind the classes if any number is declared as one that runs are compared by.
COMPARED = """\


#: What runs are compared by; those of which less is better come first.
COMPARED = (
{}
)
"""

#: What is to be read first comes first: what the numbers can be taken for.
FIRST = ("verdict", "says")


class Classes:
    """The classes of a schema, each after those that it refers to."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.known: dict[str, dict[str, Any]] = schema["$defs"]
        self.written: dict[str, str] = {}
        self.write(schema["title"], schema)

    def write(self, name: str, schema: dict[str, Any]) -> None:
        """Write a class and what it refers to, unless it is written."""
        if name in self.written:
            return
        required = schema.get("required", [])
        keys = sorted(schema["properties"], key=lambda key: (key not in FIRST, key))
        fields = [self.field(key, schema["properties"][key], key in required) for key in keys]
        about = docstring(schema["description"], "    ")
        line = [f"    LINE = {json.dumps(schema['line'])}"] if "line" in schema else []
        shown = [f"        {one}," for one in self.shown(schema)]
        shown = ["    SHOWN = (", *shown, "    )"] if shown else []
        self.written[name] = "\n".join(
            [f"class {name}(Section, kw_only=True):", about, "", *line, *shown, *fields]
        )

    def shown(self, table: dict[str, Any]) -> Iterator[str]:
        """Yield what is shown of a table as it is declared: numbers, and whole tables."""
        for key in in_order(table):
            number = table["properties"][key]
            texts = {what: template(text, key, table) for what, text in said(number).items()}
            if texts:
                told = ", ".join(f"{what}={json.dumps(text)}" for what, text in texts.items())
                yield f"Shown({json.dumps(key)}, {told})"
            # The numbers of a run stand in groups, which the page names.
            elif "$defs" not in table and self.shows(self.kind(number).removesuffix(" | None")):
                yield f"Shown({json.dumps(key)}, is_table=True)"

    def compared(self, table: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
        """Yield what runs are compared by: the head of its column, and its line in the module."""
        for key in in_order(table):
            number = table["properties"][key]
            inner = self.known.get(number.get("$ref", "").removeprefix("#/$defs/"), {})
            if better := number.get("compared"):
                texts = said(number)
                form = template(texts["cell"], key, table).removesuffix("}").partition(":")[2]
                more = ", more_is_better=True" if better == "more" else ""
                head = texts["head"]
                yield head, f'    Compared({json.dumps(head)}, "{path}{key}", "{form}"{more}),'
            elif "properties" in inner:
                yield from self.compared(inner, f"{path}{key}.")

    def shows(self, name: str) -> bool:
        """Return whether a type is a class of which something is shown row by row."""
        return "row=" in self.written.get(name, "") or "is_table" in self.written.get(name, "")

    def field(self, key: str, schema: dict[str, Any], is_required: bool) -> str:
        """Return the lines of one key; a missing one is None, unless null means something there."""
        kind = self.kind(schema)
        if not is_required:
            is_nullable = kind.endswith(" | None")
            kind = kind.removesuffix(" | None")
            kind += " | UnsetType | None = UNSET" if is_nullable else " | None = None"
        lines = [f"    {key}: {kind}"]
        if len(lines[0]) > WIDTH:
            lines = [f"    {key}: (", f"        {kind}", "    )"]
        if "description" in schema:
            lines.append(docstring(schema["description"], "    "))
        return "\n".join(lines)

    def kind(self, schema: dict[str, Any]) -> str:
        """Return the type of a value."""
        if "$ref" in schema:
            return self.referred(schema["$ref"].removeprefix("#/$defs/"))
        if "enum" in schema or "oneOf" in schema:
            names = schema.get("enum") or [one["const"] for one in schema["oneOf"]]
            return f"Literal[{', '.join(map(json.dumps, names))}]"
        if "anyOf" in schema:
            return " | ".join(map(self.kind, schema["anyOf"]))
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return " | ".join(
            f"list[{self.kind(schema['items'])}]" if kind == "array" else SCALARS[kind]
            for kind in kinds
        )

    def referred(self, name: str) -> str:
        """Return the type of a definition: its class if it is a table."""
        found = self.known[name]
        if "properties" not in found:
            return self.kind(found)
        self.write(name, found)
        return name


def in_order(table: dict[str, Any]) -> dict[str, None]:
    """Return the keys of a table as they are declared; those that may be missing come last."""
    return dict.fromkeys([*table.get("required", ()), *table["properties"]])


def said(number: dict[str, Any]) -> dict[str, str]:
    """Return where a number is shown, as the fields of `Shown`."""
    label, _, row = number.get("page", "").partition(": ")
    head, _, cell = number.get("column", "").partition(": ")
    texts = {
        "condition": number.get("if", ""),
        "label": label,
        "row": row or ("{}" if label else ""),
        "phrase": number.get("line", ""),
        "head": head,
        "cell": cell or ("{}" if head else ""),
        "meaning": number.get("meaning", ""),
    }
    return {what: text for what, text in texts.items() if text}


def template(text: str, key: str, table: dict[str, Any]) -> str:
    """Return a text with key and format of each number: those of `key` where there is no key.

    >>> numbers = {"hits": {"type": "integer"}, "hit_us": {"type": "number"}}
    >>> template("{} in {hit_us}, {:rate} a second", "hits", {"properties": numbers})
    '{hits:count} in {hit_us:time_us}, {hits:rate} a second'
    """

    def written(found: re.Match[str]) -> str:
        name, given = found[1] or key, found[2]
        kind = table["properties"][name].get("type", "")
        usual = "count" if "integer" in kind else "decimal"
        by_name = (of for part, of in FORMATS.items() if re.search(part, name))
        return f"{{{name}:{given or next(by_name, usual)}}}"

    return re.sub(r"\{(\w*):?([^}]*)\}", written, text)


def docstring(text: str, indent: str) -> str:
    """Return a docstring whose first sentence is a line of its own if the text needs several."""
    room = WIDTH - len(indent) - 6
    text = re.sub(r"\b[nN]ull\b", "None", " ".join(text.split()))
    first, stop, rest = text.partition(". ")
    if len(text) <= room or not stop:
        lines = textwrap.wrap(text, room)
    else:
        lines = [*textwrap.wrap(f"{first}.", room), "", *textwrap.wrap(rest, room)]
    end = f"\n{indent}" if len(lines) > 1 else ""
    filled = f"\n{indent}".join(lines).replace(f"\n{indent}\n", "\n\n")
    return f'{indent}"""{filled}{end}"""'


def module(schema: dict[str, Any], about: str) -> str:
    """Return the module of a schema, which says this of itself."""
    classes = Classes(schema)
    written = "\n\n\n".join(classes.written.values())
    # What has the same head, as percentiles of several times do, is compared in the first place.
    compared: dict[str, str] = {}
    for head, line in classes.compared(schema):
        compared.setdefault(head, line)
    if lines := sorted(compared.values(), key=lambda line: "more" in line):
        written += COMPARED.format("\n".join(lines))
    imports = "from msgspec import UNSET, UnsetType\n\n" if "UNSET" in written else ""
    used = {"Compared": "  Compared(", "Section": "(Section", "Shown": "  Shown("}
    sections = ", ".join(name for name, text in used.items() if text in written)
    head = HEAD.format(about=about, imports=imports, sections=sections)
    return f"{head}\n\n{written}"


def main() -> None:
    """Write the module."""
    schema, about = SCHEMAS[sys.argv[1]]
    print(module(json.loads(schema()), about))


if __name__ == "__main__":
    main()
