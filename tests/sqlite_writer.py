"""Commits rows to an SQLite database, and says which are committed, until it is killed."""

from __future__ import annotations

import sqlite3
import sys


def main() -> None:
    path, begin = sys.argv[1], int(sys.argv[2])
    database = sqlite3.connect(path, isolation_level=None)
    assert database.execute("PRAGMA journal_mode=PERSIST").fetchone() == ("persist",)
    database.execute("PRAGMA synchronous=FULL")
    row = begin
    while True:
        database.execute("BEGIN")
        database.execute("INSERT INTO rows VALUES (?, ?)", (row, f"{row} " * 300))
        database.execute("COMMIT")
        print(row, flush=True)
        row += 1


if __name__ == "__main__":
    main()
