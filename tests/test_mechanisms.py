"""The page of the papers' mechanisms: its counts, the files it links, the keys it names."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from copyback_papers.catalogue import shipped

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "mechanisms.md").read_text(encoding="utf-8")
SCHEMA = json.loads((DOCS / "reference/configuration.schema.json").read_text(encoding="utf-8"))

#: `fdp` is a measurement of a drive that somebody else built: it states no mechanism. Of two
#: others only the abstracts could be had, of `ioda-2021` the artefact alone.
PAPERS = sorted(set(shipped()) - {"fdp", "sepbit-2022", "midas-2024", "ioda-2021"})

MISSING = "What a paper says and Copyback does not have"
KEY = re.compile(r"`((?:array|host|metrics|precondition|ssd|workload)\.[\w.]+)(?: = ([^`]+))?`")


class Standing(Enum):
    """What becomes of a sentence: the word with which its row begins to say where it lives."""

    AS_SAID = ""
    CHOICE = "Choice: "
    IN_PART = "In part: "
    NOT_MODELLED = "Not modelled."


@dataclass(frozen=True)
class Row:
    """A sentence of a paper that states a mechanism."""

    paper: str
    section: str
    says: str
    lives: str
    differs: str

    @property
    def standing(self) -> Standing:
        words = [one for one in Standing if one.value and self.lives.startswith(one.value)]
        return words[0] if words else Standing.AS_SAID


def sections() -> dict[str, str]:
    """Return what stands under each heading."""
    parts = re.split(r"^## (.*)$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]


def table(text: str) -> list[list[str]]:
    """Return the rows of the first table of a text."""
    lines = text[text.index("\n|") :].strip().splitlines()
    return [cells(line) for line in takewhile(lambda line: line.startswith("|"), lines)][2:]


def rows() -> list[Row]:
    papers = {name: text for name, text in sections().items() if name != MISSING}
    return [Row(name, *row) for name, text in papers.items() for row in table(text)]


def tally(chosen: list[Row]) -> list[int]:
    """Return how many rows there are, and how many of each standing."""
    standings = Counter(row.standing for row in chosen)
    return [len(chosen), *(standings[standing] for standing in Standing)]


def test_every_paper_has_a_table() -> None:
    assert sorted(sections().keys() - {MISSING}) == PAPERS


def test_the_first_paragraph_counts_the_rows() -> None:
    first = re.sub(r"\[.*\Z", "", PAGE.split("\n\n")[1], flags=re.DOTALL)
    assert [int(count) for count in re.findall(r"\d+", first)] == tally(rows())


def test_the_counts_of_each_paper_are_those_of_its_rows() -> None:
    stated = {re.sub(r"\[(.*)\]\(.*\)", r"\1", row[0]): row[1:] for row in table(PAGE)}
    for name in PAPERS:
        of_paper = [row for row in rows() if row.paper == name]
        assert [int(count) for count in stated[name]] == tally(of_paper), name


def test_a_row_says_where_it_lives_and_what_differs() -> None:
    for row in rows():
        assert row.section, row
        assert row.says, row
        if row.standing is not Standing.NOT_MODELLED:
            assert "](../crates/" in row.lives, row
            assert bool(row.differs) == (row.standing is not Standing.AS_SAID), row


def test_what_is_not_modelled_is_listed() -> None:
    listed = re.findall(r"^- (\S+), (.*?): (.*)$", sections()[MISSING], flags=re.MULTILINE)
    missing = [row for row in rows() if row.standing is Standing.NOT_MODELLED]
    assert len(listed) == len(missing)
    for row in missing:
        of_section = [text for paper, section, text in listed if (paper, section) == row_key(row)]
        assert any(text.startswith(row.says) for text in of_section), row


def row_key(row: Row) -> tuple[str, str]:
    return row.paper, row.section


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#]+)", PAGE)
    assert [link for link in links if not (DOCS / link).is_file()] == []


def variants(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all that it may be instead, without references."""
    if "$ref" in schema:
        yield from variants(SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")])
    yield schema
    for one in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from variants(one)


def named(schema: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = [
        one["properties"][name] for one in variants(schema) if name in one.get("properties", {})
    ]
    return [one for schema in found for one in variants(schema)]


def resolve(key: str) -> list[dict[str, Any]]:
    """Return every schema that `key` may have; none if there is no such key."""
    schemas = [SCHEMA]
    for name in key.split("."):
        schemas = [one for schema in schemas for one in named(schema, name)]
    return schemas


def choices(schemas: list[dict[str, Any]]) -> set[str]:
    """Return the words that a key takes, if it takes certain ones only."""
    words = {word for one in schemas for word in (one.get("const"), *one.get("enum", ()))}
    types = {
        one["properties"]["type"].get("const")
        for one in schemas
        if "type" in one.get("properties", {})
    }
    return {word for word in words | types if isinstance(word, str)}


def test_keys_and_their_choices_are_in_the_schema() -> None:
    found = KEY.findall(PAGE)
    assert len(found) > 100
    for key, value in found:
        schemas = resolve(key)
        assert schemas, f"there is no key {key}"
        if value.startswith('"') and choices(schemas):
            assert value.strip('"') in choices(schemas), f"{key} = {value}"


@pytest.mark.parametrize(
    "key", ["ssd.gc.victims", "ssd.gc.victim.e", "array.protocol.register.margin"]
)
def test_keys_that_are_not_there_are_noticed(key: str) -> None:
    assert resolve(key) == []
