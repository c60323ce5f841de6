"""Lint the prose of the documentation: proselint, and a small list of our own in tools/prose.toml.

python tools/prose.py              # README.md and the pages of docs that people write
python tools/prose.py FILE ...     # some pages

Fences, code, tables, links' targets and comments are no prose and are left out. A fault is a line:
place, what was found, what to write. The exit status is 1 if there is any.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from proselint.checks import __register__ as checks
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
RULES = tomllib.loads(Path(__file__).with_name("prose.toml").read_text(encoding="utf-8"))

#: Parts of a page that are no prose: fences, comments, code, rows of tables, targets, headings.
CODE = re.compile(
    r"^ *(`{3,}).*?^ *\1|<!--.*?-->|`[^`\n]*(?:\n[^`\n]*)?`|^\|[^\n]*$|\]\([^)]*\)|^#[^\n]*$",
    re.MULTILINE | re.DOTALL,
)
#: Pages that are made of comments of the code, and of what experiments say of themselves.
MADE = re.compile(r"docs/reference/|docs/pairs\.md|docs/reproduction/.*-tables\.md$")


def main() -> int:
    """Print the faults of some pages. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", type=Path, nargs="*")
    pages = parser.parse_args().pages or written()
    CheckRegistry().register_many(checks)
    found = [fault for page in pages for fault in faults(page)]
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


def written() -> list[Path]:
    """Return the pages that people write."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if not MADE.search(page.as_posix())]


def prose(page: Path) -> str:
    """Return the prose of a page, each line where it was; a dot stands between paragraphs."""
    left = CODE.sub(blank, page.read_text(encoding="utf-8"))
    return re.sub(r"^[…]?$", ".", left, flags=re.MULTILINE)


def blank(found: re.Match[str]) -> str:
    """Return a mark for what is left out, and its line breaks."""
    return "…" + "\n" * found[0].count("\n")


def faults(page: Path) -> Iterator[str]:
    """Go through the faults of a page."""
    text = prose(page)
    config = {"max_errors": 1000, "checks": RULES["proselint"]}
    for one in LintFile(page, text).lint(config):
        yield f"{page}:{one.pos[0]}: {one.check_result.message}"
    for rule in RULES["rule"]:
        for match in re.finditer(rule["pattern"], text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{page}:{line}: found {match[0]!r}; write {rule['write']}"


if __name__ == "__main__":
    sys.exit(main())
