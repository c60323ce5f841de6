"""The page of amounts: each test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "amounts.md"

#: Where the files lie that the page names.
PLACES = [ROOT / "crates/copyback/tests", ROOT / "crates/copyback", ROOT / "tests"]


def test_every_row_names_a_test_that_is_there() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    named = [row for row in rows if not re.match(r"\| (where|---) \|", row)]
    assert len(named) > 100
    missing = [row for row in named if not _is_there(row)]
    assert not missing, "\n".join(missing)


def _is_there(row: str) -> bool:
    found = re.search(r"\| `([^`]+)::(\w+)` \|$", row)
    if found is None:
        return False
    name, test = found.groups()
    files = [place / name for place in PLACES if (place / name).is_file()]
    marked = rf"#\[test\]\n(\s*#\[[^\n]*\n)*\s*fn {test}\(|^def {test}\("
    return len(files) == 1 and re.search(marked, files[0].read_text("utf-8"), re.M) is not None
