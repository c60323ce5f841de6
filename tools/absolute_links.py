"""Make the links of a page absolute, for readers who do not have the repository beside it.

    python tools/absolute_links.py README.md https://host/owner/name REVISION

An index of packages shows the README alone. Who builds a release knows where the repository is.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

#: A link or picture of Markdown that leads to a file: no address, and no place on the page itself.
LINK = re.compile(r"(!?)(\[[^\]]*\]\()(?![a-z]+:|#)([^)\s]+)")


def absolute(text: str, repository: str, revision: str) -> str:
    """Return a page whose links lead to the files of a revision.

    >>> absolute("[a](docs/a.md#b), [c](#d) ![e](f.png)", "https://h/o/n", "v1")
    '[a](https://h/o/n/blob/v1/docs/a.md#b), [c](#d) ![e](https://h/o/n/raw/v1/f.png)'
    """

    def moved(found: re.Match[str]) -> str:
        picture, start, target = found.groups()
        return f"{picture}{start}{repository}/{'raw' if picture else 'blob'}/{revision}/{target}"

    return LINK.sub(moved, text)


def main() -> None:
    """Rewrite the page in its place."""
    page, repository, revision = sys.argv[1:]
    path = Path(page)
    path.write_text(absolute(path.read_text("utf-8"), repository, revision), "utf-8")


if __name__ == "__main__":
    main()
