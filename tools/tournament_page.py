"""The page of the tournament, of what `copyback tournament` has found.

`examples/design/tournament/NAME.json` is the `tournament.json` of NAME.toml; docs/tournament.md is
written from both and a head:

    copyback tournament examples/design/tournament/drive.toml --out out/drive
    python tools/tournament_page.py --store out/drive drive
    python tools/tournament_page.py                           # writes docs/tournament.md
"""

from __future__ import annotations

import argparse
from pathlib import Path

from copyback.data.outputs import replace_file
from copyback.designer.tournament import standing, tables
from copyback.designer.tournament.files import NUMBERS

ROOT = Path(__file__).parents[1]
HOME = ROOT / "examples/design/tournament"
HEAD = Path(__file__).with_name("tournament_head.md")
PAGE = Path("docs/tournament.md")

#: Title of each part.
PARTS = {"drive": "Page-mapped drives", "array": "Arrays of five drives"}


def main() -> int:
    """Store a result, or write the page. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", nargs=2, metavar=("DIR", "NAME"), help="store what was found")
    parser.add_argument("--to", type=Path, default=ROOT, help="directory of the page")
    given = parser.parse_args()
    if given.store is not None:
        found, name = given.store
        standing.write(standing.load(Path(found) / NUMBERS), HOME / f"{name}.json")
        return 0
    path = given.to / PAGE
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, page().encode())
    return 0


def page() -> str:
    """Return the page of what is stored."""
    found = {name: HOME / f"{name}.json" for name in PARTS}
    parts = [
        tables.page(standing.load(path), PARTS[name], level=2).strip()
        for name, path in found.items()
        if path.exists()
    ]
    return "\n\n".join([HEAD.read_text(encoding="utf-8").strip(), *parts]) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
