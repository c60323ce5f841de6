"""Navigation of the site: few pages for users, and a part of its own for developers."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import yaml

from pages import ROOT

DOCS = ROOT / "docs"
#: Parts that a user reads; what else there is stands behind them.
USERS = ("Start", "Guides", "Look up")
#: Pages about the work on Copyback, by the names that issue 58 gives them.
DEVELOPERS = {
    "amounts",
    "decisions/index",
    "guide/release",
    "mutants",
    "mutants-by-machine",
    "pairs",
    "performance",
    "searches",
    "second-opinion",
    "supply-chain",
    "validation",
}


def files(node: Any) -> list[str]:
    """Return the pages below a node of the table of contents."""
    if isinstance(node, list):
        return [file for one in node for file in files(one)]
    if not isinstance(node, dict):
        return []
    if "glob" in node:
        return [
            path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.glob(node["glob"])
        ]
    own = [node["file"]] if "file" in node else []
    return own + files(node.get("chapters", [])) + files(node.get("sections", []))


def parts() -> dict[str, list[str]]:
    """Return the pages of each part."""
    contents = yaml.safe_load((DOCS / "_toc.yml").read_text(encoding="utf-8"))
    return {part["caption"]: files(part) for part in contents["parts"]}


def test_users_find_about_25_pages() -> None:
    """A page more for them is a page less, or one that two become."""
    pages = [page for caption in USERS for page in parts()[caption]]
    assert 20 <= len(pages) <= 30, pages
    assert not DEVELOPERS & set(pages)


def test_what_developers_need_stands_in_a_part_of_its_own() -> None:
    """It comes last."""
    assert list(parts())[-1] == "For developers"
    assert set(parts()["For developers"]) >= DEVELOPERS


def test_every_page_is_in_the_navigation_once() -> None:
    """Of the site, that is: each page but the first."""
    listed = Counter(file for pages in parts().values() for file in pages)
    there = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in DOCS.rglob("*")
        if path.suffix in (".md", ".ipynb")
    }
    assert {file for file, times in listed.items() if times > 1} == set()
    assert set(listed) == there - {"index"}


def test_no_table_of_the_documentation_stands_twice() -> None:
    """Rows and all; one that is needed in two places is linked."""
    table = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
    found = Counter(
        text
        for path in DOCS.rglob("*.md")
        for text in set(table.findall(path.read_text(encoding="utf-8") + "\n"))
        if text.count("\n") > 4
    )
    assert [text for text, times in found.items() if times > 1] == []
