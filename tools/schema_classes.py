"""Writes a class for each table of a schema: ``summary.py``, or ``trace/statistics.py``.

Takes the name of the schema, ``summary`` or ``statistics``. Asks the compiled module for it, so
that it works while the classes do not. Writes to standard output.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from typing import Any

from copyback import _core

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

{imports}from copyback.data.section import Section
'''

SCALARS = {
    "integer": "int",
    "number": "float",
    "string": "str",
    "boolean": "bool",
    "null": "None",
}
WIDTH = 100

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
        required = set(schema.get("required", ()))
        keys = sorted(schema["properties"], key=lambda key: (key not in FIRST, key))
        fields = [self.field(key, schema["properties"][key], key in required) for key in keys]
        about = docstring(schema["description"], "    ")
        self.written[name] = "\n".join(
            [f"class {name}(Section, kw_only=True):", about, "", *fields]
        )

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


def main() -> None:
    """Write the module."""
    schema, about = SCHEMAS[sys.argv[1]]
    written = "\n\n\n".join(Classes(json.loads(schema())).written.values())
    imports = "from msgspec import UNSET, UnsetType\n\n" if "UNSET" in written else ""
    print(HEAD.format(about=about, imports=imports), written, sep="\n\n")


if __name__ == "__main__":
    main()
