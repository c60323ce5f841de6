"""The tournament's pages: cells of what its command wrote, and prose that is held to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from copyback import InputError
from copyback_papers import tournament_page
from copyback_papers.book import RESULTS

DOCS = Path(__file__).parents[1] / "docs/reproduction"

WRITTEN = """\
# The tournament

## Arrays

2 schemes under 1 loads, 3 seeds. More of it.

**Not settled.** 3 of 6 runs: write amplification changed.

### Arrays: mean

| load | winner | mean | on demand |
| --- | --- | --- | --- |
| TPC-C | PGC = greedy | 237 µs | 157× |

### Arrays: all loads together

| scheme | mean |
| --- | --- |
| PGC = greedy | 1.00× (1.) |
| on demand | 9.00× (2.) |
| FIFO | – |

### Arrays: what each choice does

| key | value | mean |
| --- | --- | --- |
| `ssd.gc.victim` | fifo | 3.78× |

6 runs, 1 s of CPU time, commit `abc`.
"""


@pytest.fixture
def tables(tmp_path: Path) -> tournament_page.Tables:
    (tmp_path / tournament_page.STORED).write_text(WRITTEN)
    found = tournament_page.load(tmp_path)
    assert found is not None
    return found


def test_prose_names_cells(tables: tournament_page.Tables) -> None:
    assert tables.preface("Arrays") == "2 schemes under 1 loads, 3 seeds"
    assert tables.cost("Arrays") == "6 runs, 1 s of CPU time, commit `abc`."
    assert tables.overall("Arrays", "PGC", "mean") == "1.00×"
    assert tables.place("Arrays", "on demand", "mean") == "2"
    with pytest.raises(InputError, match="Arrays: mean: FIFO is not ranked"):
        tables.place("Arrays", "FIFO", "mean")
    assert tables.remark("Arrays", "Not settled") == "3 of 6 runs"
    with pytest.raises(InputError, match="nothing is 'Overload'"):
        tables.remark("Arrays", "Overload")
    assert tables.first("Arrays", "mean") == "PGC = greedy"
    assert tables.choice("Arrays", "ssd.gc.victim", "fifo", "mean") == "3.78×"
    assert tables.load("Arrays", "mean", "TPC-C", "on demand") == "157×"


def test_what_prose_says_in_words_is_held_to_what_was_found(
    tables: tournament_page.Tables,
) -> None:
    assert tables.below("Arrays", "mean", "PGC", "on demand") == ""
    with pytest.raises(InputError, match=r"not in this order: on demand \(2\.\), PGC \(1\.\)"):
        tables.below("Arrays", "mean", "on demand", "PGC")
    with pytest.raises(InputError, match=r"0 rows of .'scheme': 'TC-PaGC'., mean"):
        tables.overall("Arrays", "TC-PaGC", "mean")
    with pytest.raises(InputError, match="no section 'Drives'"):
        tables.preface("Drives")
    assert tournament_page.said("drives", "64") == "64"
    with pytest.raises(InputError, match=r"drives.toml does not say '65'"):
        tournament_page.said("drives", "65")


def test_nothing_is_stored_where_there_is_no_file(tmp_path: Path) -> None:
    assert tournament_page.load(tmp_path) is None
    assert tournament_page.load(DOCS / RESULTS) is not None
