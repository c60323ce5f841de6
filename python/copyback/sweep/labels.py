"""Short names of schemes, for tables of many."""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import TYPE_CHECKING, Any

from copyback.sweep.axes import SCHEME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.sweep.schemes import Contest, Setting

#: A short text for each value of each key.
Labels = dict[tuple[str, Any], str]


def labels_of(contests: Sequence[Contest]) -> Labels:
    """Return labels: the type of a value, if no other value of its key is of that type."""
    pairs = dict.fromkeys(
        pair
        for contest in contests
        for scheme in contest.schemes
        for pair in scheme.setting
        if pair[1] is not None
    )
    types = Counter((key, _type(value)) for key, value in pairs)
    return {
        (key, value): _type(value) if types[key, _type(value)] == 1 else _plain(value)
        for key, value in pairs
    }


def _type(value: Any) -> str:
    table = _table(value)
    return str(table.get("type", value)) if table else str(value)


def _plain(value: Any) -> str:
    """Return a table as people read it: ``threshold (cache 1MiB)``."""
    table = _table(value)
    if not table or "type" not in table:
        return str(value)
    more = ", ".join(
        key if own is True else f"{key} {own}" for key, own in table.items() if key != "type"
    )
    return f"{table['type']} ({more})"


def _table(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, str) or not value.startswith("{"):
        return None
    try:
        table = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return None
    return table if isinstance(table, dict) else None


def short_name(setting: Setting, labels: Labels) -> str:
    """Return a scheme in short: its name, if it has one, and the labels of its choices."""
    name = dict(setting).get(SCHEME)
    chosen = " · ".join(
        labels[pair] for pair in setting if pair[0] != SCHEME and pair[1] is not None
    )
    return " = ".join(filter(None, (f"**{name}**" if name else "", chosen))) or "as configured"
