"""Write docs/calibration-tables.md from the stored results of experiments/calibration.

python tools/calibration_page.py                # writes it where it belongs
python tools/calibration_page.py --to DIR       # a copy below DIR, to compare with
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback.calibration.floor import Row
from copyback.calibration.show_pairs import MEASURES, predictors_of, table_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parent.parent
STORED = ROOT / "experiments/calibration"
PAGE = Path("docs/calibration-tables.md")
HEAD = Path(__file__).with_name("calibration_page_head.md")


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT)
    options = parser.parse_args()
    (options.to / PAGE).parent.mkdir(parents=True, exist_ok=True)
    (options.to / PAGE).write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page."""
    pieces = [HEAD.read_text(encoding="utf-8")]
    for times in ("service", "response"):
        stored = json.loads((STORED / f"floor-{times}.json").read_text(encoding="utf-8"))
        pieces.append(f"\n## The floor: {times} times\n\n{source(stored, times)}\n")
        pieces += tables([Row(**row) for row in stored["rows"]])
    return "".join(pieces)


def source(stored: dict[str, Any], times: str) -> str:
    """Return where a stored result comes from."""
    return (
        f"`copyback trace floor nexus5-twitter.txt.gz nexus5-Installing.txt.gz --times {times} "
        f"--halves --json` at commit {stored['commit']}."
    )


def tables(rows: Sequence[Row]) -> list[str]:
    """Return a table for each measure."""
    return [
        "\n".join(
            [
                "",
                line([name, "predicts", "", "requests", *predictors_of(rows)]),
                line(["---"] * 4 + ["---:"] * len(predictors_of(rows))),
                *(line(cells) for cells in table_rows(rows, measure)),
                "",
            ]
        )
        for measure, name in MEASURES.items()
    ]


def line(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
