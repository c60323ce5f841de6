"""Pages that readers follow command by command do what they say (tests/pages.py)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from claims import wrong_checks
from pages import ROOT, Reader, fences

if TYPE_CHECKING:
    from pathlib import Path

#: Those whose commands take seconds, and need nothing but what the repository has.
FOLLOWED = [
    "docs/faq.md",
    "docs/guide/arrays.md",
    "docs/guide/artefact.md",
    "docs/guide/calibrate.md",
    "docs/guide/compare.md",
    "docs/guide/design.md",
    "docs/guide/endurance.md",
    "docs/guide/examples.md",
    "docs/guide/faults.md",
    "docs/guide/figures.md",
    "docs/guide/getting-started.md",
    "docs/guide/honest-baseline.md",
    "docs/guide/leaderboard.md",
    "docs/guide/llm-cache.md",
    "docs/guide/policies-in-python.md",
    "docs/guide/postgresql.md",
    "docs/guide/service-on-raid.md",
    "docs/guide/steady-state.md",
    "docs/guide/timeline.md",
    "docs/guide/traces.md",
    "docs/guide/tutorial.md",
    "docs/guide/your-own-drive.md",
]


#: Pages that a newcomer follows one after the other, in one folder.
FIRST = ["README.md", "docs/guide/getting-started.md", "docs/guide/tutorial.md"]


@pytest.mark.parametrize("page", FOLLOWED)
def test_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    """Its commands end as it says, and print what it shows; what it says of that is so."""
    reader = Reader(tmp_path)
    assert reader.follow(ROOT / page) == []
    assert wrong_checks((ROOT / page).read_text(encoding="utf-8"), reader) == []


def test_the_first_pages_are_followed_in_one_folder(tmp_path: Path) -> None:
    """A file or a result of one page is not in the way of the next."""
    newcomer = Reader(tmp_path)
    for page in FIRST:
        newcomer.outputs.clear()
        assert newcomer.follow(ROOT / page) == [], page
        assert wrong_checks((ROOT / page).read_text(encoding="utf-8"), newcomer) == [], page


def test_lines_that_install_are_left_to_the_test(tmp_path: Path) -> None:
    """The others of the fence are run."""
    page = tmp_path / "page.md"
    page.write_text(
        """<!-- installed: the tests bring their own interpreter -->
```sh
python3 -m venv env && . env/bin/activate
pip install nothing-of-this-name-*.whl
exit 5
```
"""
    )
    home = tmp_path / "home"
    home.mkdir()
    (fault,) = Reader(home).follow(page)
    assert fault.startswith("line 2: exit status 5: ")
    assert not (home / "env").exists()


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
    for page in {*FIRST, *FOLLOWED}:
        text = (ROOT / page).read_text(encoding="utf-8")
        comments = re.findall(r"^<!-- (?!speed|check|generated|hour)", text, re.MULTILINE)
        assert sum(len(fence.told) for fence in fences(ROOT / page)) == len(comments), page
