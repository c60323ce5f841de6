"""Pages that readers follow command by command do what they say (tests/pages.py)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pages import ROOT, Reader, fences

if TYPE_CHECKING:
    from pathlib import Path

#: Those whose commands take seconds, and need nothing but what the repository has.
FOLLOWED = [
    "README.md",
    "docs/guide/artefact.md",
    "docs/guide/compare.md",
    "docs/guide/endurance.md",
    "docs/guide/examples.md",
    "docs/guide/faults.md",
    "docs/guide/figures.md",
    "docs/guide/getting-started.md",
    "docs/guide/hdr-histograms.md",
    "docs/guide/policies-in-python.md",
    "docs/guide/steady-state.md",
    "docs/guide/timeline.md",
    "docs/guide/traces.md",
    "docs/guide/troubleshooting.md",
    "docs/guide/tutorial.md",
]


@pytest.mark.parametrize("page", FOLLOWED)
def test_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    """Its commands end as it says, and print what it shows."""
    assert Reader(tmp_path).follow(ROOT / page) == []


def test_what_is_not_as_a_page_says_is_told(tmp_path: Path) -> None:
    """A command that fails, a line that is not printed or not in that place, and no others."""
    page = tmp_path / "page.md"
    page.write_text(
        """<!-- file: two.txt -->
```toml
first
second and more
```

```sh
cat two.txt
```

```text
first
second …
```

```text
second and more
first
```

<!-- exit status: 3 -->
```sh
exit 3
```

```sh
exit 4
```

<!-- not run: it is not there -->
```sh
exit 5
```
"""
    )
    home = tmp_path / "home"
    home.mkdir()
    assert Reader(home).follow(page) == [
        "line 18: not printed: first",
        "line 26: exit status 4: exit 4\n",
    ]


def test_every_comment_of_a_page_is_one_that_is_understood() -> None:
    """One that is mistyped would say nothing."""
    for page in FOLLOWED:
        text = (ROOT / page).read_text(encoding="utf-8")
        comments = re.findall(r"^<!-- (?!speed)", text, re.MULTILINE)
        assert sum(len(fence.told) for fence in fences(ROOT / page)) == len(comments), page
