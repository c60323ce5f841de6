"""Results that earlier versions wrote, or none.

Summaries of schema 1 counted write amplification in pages of the flash, under the name that the
ratio of bytes has since schema 2; they do not say how many bytes were programmed.
"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

from copyback._core import Config, InputError

if TYPE_CHECKING:
    from copyback.frame import Frame
    from copyback.summary import Summary

#: The schema of the summaries that this version writes.
PRESENT = 2

#: What is said of a comparison of schema 1.
NOTE = (
    "Write amplification is left out: an earlier version ran this, and counted pages of the flash "
    "in place of bytes. Its numbers are in the column page_write_amplification; run it again for "
    "bytes."
)


def summary_of(text: bytes) -> Summary:
    """Return the summary that this version wrote into a file.

    Raises
    ------
    ValueError
        If it is none; of an earlier version's, with what to do.
    """
    import msgspec

    from copyback.inputs import typed
    from copyback.summary import Summary

    document = msgspec.json.decode(text)
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema == 1:
        raise ValueError(
            f"its summary.json is of schema 1, of an earlier version that counted write "
            f"amplification in pages; this one reads schema {PRESENT}: run its config.toml again"
        )
    if schema != PRESENT:
        raise ValueError(f"its summary.json is of schema {schema}, not of schema {PRESENT}")
    return typed.convert(document, Summary)


def check_config(text: str, name: str) -> None:
    """Refuse what is no configuration of a run: empty, cut short, or of another schema.

    Parameters
    ----------
    text
        What the file holds.
    name
        The file.

    Raises
    ------
    ValueError
        With one line.
    """
    try:
        known = json.loads(Config.load(toml=text, name=name).to_json())
    except InputError as fault:
        first, *others = str(fault).splitlines()
        raise ValueError(f"{first} (and {len(others)} more)" if others else first) from None
    # What every page tells of; a run leaves every key, but earlier versions had fewer.
    tables = tomllib.loads(text)
    needed = [("ssd", "geometry", key) for key in known["ssd"]["geometry"]]
    for path in [*needed, ("workload", "type")]:
        inner = tables
        for key in path:
            if key not in inner:
                raise ValueError(f"{name}: does not say {'.'.join(path)}, as that of a run does")
            inner = inner[key]


def is_older(frame: Frame) -> bool:
    """Whether the table of a comparison has numbers of schema 1."""
    return "write_amplification" in frame and "media_bytes_written" not in frame


def renamed(frame: Frame) -> Frame:
    """Return the table of a comparison of schema 1 with the names that its columns have now."""
    from copyback.frame import Frame

    of = {"write_amplification": "page_write_amplification"}
    return Frame({of.get(name, name): column for name, column in frame.items()})
