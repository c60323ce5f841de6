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
from copyback.calibration.show_pairs import MEASURES, NAMES, predictors_of, table_rows
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parent.parent
STORED = ROOT / "experiments/calibration"
PAGE = Path("docs/calibration-tables.md")
HEAD = Path(__file__).with_name("calibration_page_head.md")
PAIRS = Path(__file__).with_name("calibration_page_pairs.md")

#: How far off a predicted median and p99 may be, and how many times as far as the floor's p99.
MEDIAN, TAIL, FLOORS = 0.1, 0.25, 1.2


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
    return "".join([*pieces, *simulated()])


def simulated() -> list[str]:
    """Return what calibrated simulations predict: counts, the models, then each pair."""
    stored = json.loads((STORED / "pairs-service.json").read_text(encoding="utf-8"))
    rows = [Row(**row) for row in stored["rows"]]
    models = [
        line([one["fitted"], *(units.decimal(score) for _, score in one["models"]), one["model"]])
        for one in stored["fits"]
    ]
    names = [name for name, _ in stored["fits"][0]["models"]]
    head = [line(["fitted to", *names, "chosen"]), line(["---"] * (len(names) + 2))]
    return [
        PAIRS.read_text(encoding="utf-8"),
        f"\n`python tools/calibration_pairs.py` at commit {stored['commit']}, from "
        f"`examples/{stored['config']}`; {units.share(stored['held_out'])} held out.\n\n",
        "\n".join([line(["held", "rows", "of"]), line(["---", "---:", "---:"]), *counts(rows)]),
        "\n\nScore of each model on the last of the fitted requests, which its delays were "
        "not fitted to, and the one that was chosen:\n\n",
        "\n".join([*head, *models]),
        "\n",
        *tables(rows),
    ]


def counts(rows: Sequence[Row]) -> list[str]:
    """Return how many of the rows are as near as they should be, and nearer than each rule."""
    pairs: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows:
        pairs.setdefault((row.fitted, row.predicted, row.operation), {})[row.predictor] = row
    every = list(pairs.values())
    held = {
        "median within 10%": [off(one["simulated"].p50_ratio) <= MEDIAN for one in every],
        "p99 within 25%": [off(one["simulated"].p99_ratio) <= TAIL for one in every],
        "p99 within 25%, or within 1.2 times the floor": [
            off(one["simulated"].p99_ratio) <= max(TAIL, FLOORS * off(one["drawn"].p99_ratio))
            for one in every
        ],
    }
    for rule in (name for name in NAMES if name != "simulated"):
        held[f"better score than {NAMES[rule]}"] = [
            one["simulated"].score < one[rule].score for one in every
        ]
        held[f"p99 nearer than {NAMES[rule]}"] = [
            off(one["simulated"].p99_ratio) < off(one[rule].p99_ratio) for one in every
        ]
    return [line([name, str(sum(good)), str(len(good))]) for name, good in held.items()]


def off(ratio: float) -> float:
    """Return how far a ratio is from 1."""
    return abs(ratio - 1.0)


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
