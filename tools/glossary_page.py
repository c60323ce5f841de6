"""Write the glossary, docs/glossary.md, from the words that the package has.

python tools/glossary_page.py             # the page
python tools/glossary_page.py --to DIR    # a copy below DIR, to compare with
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from copyback.words import glossary
from copyback.words.markdown import markdown_table

ROOT = Path(__file__).parents[1]

HEAD = """# Glossary

The terms of these pages, and the labels that a run prints. A report explains its own labels at its
end. Keys of the configuration are in the [reference](reference/configuration.md).
"""

TITLES = {"terms": "Terms", "printed": "Labels of the terminal and the report"}


def main() -> int:
    """Write the page. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT, help="where docs/glossary.md goes")
    page = parser.parse_args().to / "docs/glossary.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(HEAD + "".join(map(section, TITLES)), encoding="utf-8")
    return 0


def section(name: str) -> str:
    """Return one table of the page, in the order of the alphabet."""
    rows = sorted(glossary.tables()[name].items(), key=lambda row: row[0].lower())
    return f"\n## {TITLES[name]}\n\n{markdown_table(('term', 'meaning'), rows)}\n"


if __name__ == "__main__":
    sys.exit(main())
