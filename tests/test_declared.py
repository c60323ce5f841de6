"""Numbers that are declared once: class, page, terminal and comparison have them."""

from __future__ import annotations

import json
import string
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from copyback import summary
from copyback._core import summary_schema
from copyback.data.section import Section
from copyback.words import declared

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import schema_classes

TABLES = [
    table
    for table in vars(summary).values()
    if isinstance(table, type) and issubclass(table, Section) and table.SHOWN
]

#: What a field of a struct in Rust, with such an attribute, adds to the schema.
ADDED = {
    "description": "Bytes of reads that the cache served.",
    "type": "integer",
    "page": "Read from it: {} of {capacity_bytes}",
    "line": "{} read from it",
    "if": "read_bytes > 0",
    "column": "SLC reads",
    "compared": "more",
}


def with_added() -> Any:
    """Return the classes of a schema in which the SLC cache has one number more."""
    schema = json.loads(summary_schema())
    table = schema["$defs"]["SlcCacheSummary"]
    table["properties"]["read_bytes"] = ADDED
    table["required"].append("read_bytes")
    written = types.ModuleType("with_added")
    sys.modules[written.__name__] = written  # where annotations are looked up
    exec(schema_classes.module(schema, "A test."), written.__dict__)
    return written


def test_a_number_of_the_schema_is_shown_wherever_it_says_so() -> None:
    found = with_added()
    keys = dict.fromkeys(found.SlcCacheSummary.__struct_fields__, 4096)
    cache = found.SlcCacheSummary(**keys)
    assert declared.rows(cache)[-1] == ("Read from it", "4 KiB of 4 KiB")
    assert declared.line(cache)[0][1].endswith(" · 4 KiB read from it")
    assert declared.columns(found.SlcCacheSummary) == [("SLC reads", "")]
    assert declared.cells(cache) == ["4 KiB"]
    unread = found.SlcCacheSummary(**{**keys, "read_bytes": 0})
    assert declared.rows(unread) == declared.rows(cache)[:-1]
    more = found.Compared("SLC reads", "slc_cache.read_bytes", "size", more_is_better=True)
    assert set(found.COMPARED) - set(summary.COMPARED) == {more}


def test_a_declaration_names_numbers_of_its_table() -> None:
    schema = json.loads(summary_schema())
    schema["$defs"]["SlcCacheSummary"]["properties"]["folded_bytes"]["page"] = "Folded: {pages}"
    with pytest.raises(KeyError, match="pages"):
        schema_classes.module(schema, "A test.")


@pytest.mark.parametrize("table", TABLES)
def test_conditions_and_formats_are_known(table: type[Section]) -> None:
    for shown in table.SHOWN:
        key, _, bound = shown.condition.partition(" > ")
        assert key in {"", *table.__struct_fields__}
        assert bound in {"", "0"}
        for text in (shown.row, shown.phrase, shown.cell):
            for _, _, form, _ in string.Formatter().parse(text):
                assert form in {None, ".2f", *declared.FORMATS}


def test_a_missing_table_shows_nothing() -> None:
    assert declared.rows(None) == declared.line(None) == []
