"""What a page cites is there: files, headings and decisions."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Folders of text that may cite a decision, and the files at the top.
TREES = ["crates", "python", "tests", "tools", "experiments", "benches", "examples", "docs"]
TEXT = {".rs", ".py", ".md", ".toml", ".j2", ".html", ".js", ".css", ".json", ".ipynb"}

#: A link of Markdown that leads to a file or heading of the repository.
LINK = re.compile(r"\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]+))?\)")
#: The word and a number, which may be in a link or on the next line of a comment.
CITED = re.compile(r"\b[Dd]ecisions?\s+(?:[#/*]+\s*)*\[?(\d+)\b")
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)

DECISIONS = ROOT / "docs/decisions"
#: The most pages and words that decisions may take; what is older is in the repository's history.
MOST_PAGES, MOST_WORDS = 25, 12_000


def texts() -> Iterator[Path]:
    """Go through the files that people write, or that are written from them."""
    yield from sorted(ROOT.glob("*.md"))
    for tree in TREES:
        for path in sorted((ROOT / tree).rglob("*")):
            if path.suffix in TEXT and "node_modules" not in path.parts and path.is_file():
                yield path


@cache
def headings(page: Path) -> frozenset[str]:
    """Return what links may name on a page, as the site and repositories make it of headings."""
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    found = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in found)
    return frozenset(
        re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-") for text in plain
    )


def broken_links(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    broken = []
    for file, heading in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target = page.parent / file if file else page
        if not target.exists() or (
            heading and target.suffix == ".md" and heading not in headings(target)
        ):
            broken.append(f"{file}#{heading}" if heading else file)
    return broken


def numbers() -> set[int]:
    """Return the numbers of the decisions that are there."""
    return {int(page.name[:4]) for page in DECISIONS.glob("[0-9]*.md")}


def test_every_link_of_a_page_leads_somewhere() -> None:
    """To a file of the repository, and to a heading of it."""
    # Parts of pages in `tools` have the links of the page that they become.
    pages = [p for p in texts() if p.suffix == ".md" and ROOT / "tools" not in p.parents]
    found = {str(page.relative_to(ROOT)): broken_links(page) for page in pages}
    assert {page: links for page, links in found.items() if links} == {}


def test_every_decision_that_is_cited_is_there() -> None:
    """In prose, and in the comments of the code."""
    there = numbers()
    lost = [
        f"{path.relative_to(ROOT)}: decision {number}"
        for path in texts()
        for number in CITED.findall(path.read_text(encoding="utf-8"))
        if int(number) not in there
    ]
    assert lost == []


def test_every_decision_is_listed() -> None:
    """On the page of decisions, under its title, and once."""
    listed = (DECISIONS / "index.md").read_text(encoding="utf-8")
    for page in sorted(DECISIONS.glob("0*.md")):
        number, _, title = page.read_text(encoding="utf-8").partition("\n")[0][2:].partition(". ")
        assert listed.count(f"| {number} | [{title}]({page.name}) |\n") == 1, page.name


def test_decisions_stay_few() -> None:
    """A page that nobody asks about makes the others harder to find."""
    pages = list(DECISIONS.glob("*.md"))
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
    assert len(pages) - 1 <= MOST_PAGES
    assert words <= MOST_WORDS


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("[a](b.md)", ["b.md"]),
        ("[a](page.md#no)", ["page.md#no"]),
        ("# A `b` [c](page.md)\n[a](#a-b-c) [d](https://d.example)", []),
        ("```text\n[a](b.md)\n```", []),
    ],
)
def test_a_link_that_leads_nowhere_is_found(text: str, broken: list[str], tmp_path: Path) -> None:
    """A file, or a heading, that is not there; neither addresses nor fences."""
    page = tmp_path / "page.md"
    page.write_text(text)
    headings.cache_clear()
    assert broken_links(page) == broken


@pytest.mark.parametrize(
    "text", ["(decision {})", "decisions [{}](a.md)", "// Decision\n/// {}", "# decision\n# {}"]
)
def test_a_citation_is_found_in_prose_and_comments(text: str) -> None:
    """On one line or over two."""
    assert CITED.findall(text.format(999)) == ["999"]
