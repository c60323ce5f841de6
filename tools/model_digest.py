"""Writes the digest of the model: of the results that the sentinel stores.

It is the same as long as every stored cell gives the same numbers, whatever else changes in the
code.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

ROOT = Path(__file__).parent.parent
STORED = ROOT / "docs" / "reproduction" / "sentinel.csv"
DIGEST = Path("crates/copyback/src/model.txt")


def digest(stored: Path = STORED) -> str:
    """Return eight hexadecimal digits."""
    return hashlib.sha256(stored.read_bytes()).hexdigest()[:8]


def main() -> None:
    """Write the file that the crate includes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT, help="Write below this directory.")
    path = parser.parse_args().to / DIGEST
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(digest(), encoding="ascii")


if __name__ == "__main__":
    main()
