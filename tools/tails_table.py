"""Table of docs/drives/tails.md: what tails are said to wait for beside what collections cost."""

from __future__ import annotations

from typing import Any

from copyback.words import tail, units

COLLECTIONS = next(iter(tail.CAUSES))

#: Shares and falls that are so close agree.
WITHIN = 0.1


def tails(stored: dict[str, Any]) -> str:
    """Return what is generated of the page."""
    rows = stored["rows"]
    near = sum(abs(gap(row)) <= WITHIN for row in rows)
    above = sum(gap(row) > WITHIN for row in rows)
    lines = [
        "| drive | load | preemption | p99.9 | collections above it | without cost "
        "| p99.9 falls by | where both differ |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | --- |",
        *(line(row) for row in rows),
    ]
    return (
        f"Measured by `python tools/drive_tails.py` at commit {stored['commit']}. Of {len(rows)} "
        f"configurations both agree within {units.share(WITHIN)} of the time in {near}; in {above} "
        f"collections have a larger share than p99.9 falls by, and in {len(rows) - near - above} "
        "a smaller one.\n\n" + "\n".join(lines) + "\n"
    )


def fall(row: dict[str, Any]) -> float:
    """Return the share of p99.9 that is gone when collections take no time."""
    return 1 - float(row["ideal_p99_9_us"]) / float(row["p99_9_us"])


def gap(row: dict[str, Any]) -> float:
    """Return how much larger the share of collections is than the fall."""
    return float(row["shares"][COLLECTIONS]) - fall(row)


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    cells = [
        f"[{row['drive']}]({row['drive']}.md)" if row["drive"] in PAGES else row["drive"],
        units.share(row["share"]),
        row["schedule"],
        units.time_us(row["p99_9_us"]),
        units.share(row["shares"][COLLECTIONS]),
        units.time_us(row["ideal_p99_9_us"]),
        units.share(fall(row)),
        cause(row),
    ]
    return f"| {' | '.join(cells)} |"


#: Drives that have a page of their own.
PAGES = ("femu-bbssd", "intel-s4500", "intel-s4500")


def cause(row: dict[str, Any]) -> str:
    """Return what else the tails of both runs wait for; nothing where share and fall agree."""
    if abs(gap(row)) <= WITHIN:
        return ""
    rest = {key: share for key, share in row["shares"].items() if key != COLLECTIONS}
    return f"with cost {most(rest)}; without, {most(row['ideal_shares'])}"


def most(shares: dict[str, float]) -> str:
    """Return the largest share and its cause."""
    largest = max(shares, key=shares.__getitem__)
    return f"{units.share(shares[largest])} {largest}"
