"""Labels of schemes, loads and keys: by what differs, and never by a bare number."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from copyback.sweep.axes import LOAD, SCHEME, TRACE, WORKLOAD
from copyback.words.describe import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from copyback.sweep.schemes import Contest, Setting

#: A key and one of its values.
Pair = tuple[str, Any]

#: Last parts of keys that say nothing alone, or that a number of a result is called, too.
VAGUE = frozenset(
    {"blocks", "capacity", "count", "limit", "max", "mean", "min", "pages", "path", "rate", "share"}
    | {"size", "type", "value"}
)

#: Values that do not tell which key they are of.
_ANYBODY_S = frozenset({"auto", "default", "false", "none", "off", "on", "true"})

#: Keys whose values need no key before them.
_SPEAKING = frozenset({LOAD, SCHEME, TRACE, WORKLOAD})

_AS_CONFIGURED = "as configured"


class Names:
    """Names of the schemes and loads of some contests, which tell of what differs only.

    Parameters
    ----------
    contests
        All that are shown together.
    """

    def __init__(self, contests: Sequence[Contest]) -> None:
        settings = [scheme.setting for contest in contests for scheme in contest.schemes]
        loads = [contest.load for contest in contests]
        self._differing = _differing(settings) | _differing(loads)
        pairs = dict.fromkeys(pair for own in (*settings, *loads) for pair in own)
        self._keys = key_names(dict.fromkeys(key for key, _ in pairs))
        self._values = value_labels(pair for pair in pairs if pair[1] is not None)
        self._bare = _bare(self._values)

    def key(self, key: str) -> str:
        """Return what a key is called."""
        return self._keys.get(key, key)

    def value(self, pair: Pair) -> str:
        """Return what a value is called where its key is known."""
        return "–" if pair[1] is None else self._values[pair]

    def differs(self, setting: Setting) -> bool:
        """Whether there is anything in a setting that others have not."""
        return any(key in self._differing and value is not None for key, value in setting)

    def choice(self, pair: Pair) -> str:
        """Return a value that stands alone if only one key has it, else with its key."""
        return self._values[pair] if pair in self._bare else self._named(pair)

    def of(self, setting: Setting) -> str:
        """Return the name of a scheme or load: ``victim greedy, width blind``."""
        return ", ".join(map(self._named, self._told(setting))) or _AS_CONFIGURED

    def short(self, setting: Setting) -> str:
        """Return it in short, ``mine = greedy · blind``: a value alone if one key only has it."""
        own = dict(setting).get(SCHEME)
        chosen = " · ".join(self.choice(pair) for pair in self._told(setting) if pair[0] != SCHEME)
        return " = ".join(filter(None, (own, chosen))) or _AS_CONFIGURED

    def _told(self, setting: Setting) -> list[Pair]:
        known = [pair for pair in setting if pair[1] is not None]
        return [pair for pair in known if pair[0] in self._differing] or known

    def _named(self, pair: Pair) -> str:
        label = self._values[pair]
        return label if pair[0] in _SPEAKING else f"{self._keys[pair[0]]} {label}"


def setting_text(setting: Setting) -> str:
    """Return a setting that stands alone as people read it.

    >>> setting_text((("scheme", "PGC"), ("ssd.gc.victim", "fifo"), ("ssd.gc.width", "blind")))
    'PGC, victim fifo, width blind'
    >>> setting_text((("ssd.gc.preemption", '{ type = "semi_preemptive", pipeline = true }'),))
    'preemption semi_preemptive (pipeline)'
    """
    names = key_names(key for key, _ in setting)
    texts = [
        str(value) if key in (LOAD, SCHEME) else f"{names[key]} {_whole(value)}"
        for key, value in setting
        if value is not None
    ]
    return ", ".join(texts) or _AS_CONFIGURED


def key_names(keys: Iterable[str]) -> dict[str, str]:
    """Return for each key its last parts: as many as tell it from the others, and say something.

    >>> list(key_names(["ssd.gc.victim", "read.delay.mean", "write.delay.mean"]).values())
    ['victim', 'read.delay.mean', 'write.delay.mean']
    """
    all_keys = list(keys)
    return {key: _key_name(key, all_keys) for key in all_keys}


def _key_name(key: str, others: Sequence[str]) -> str:
    parts = key.split(".")
    for count in range(1, len(parts)):
        name = ".".join(parts[-count:])
        shared = sum(other == name or other.endswith(f".{name}") for other in others)
        if name not in VAGUE and shared == 1:
            return name
    return key


def value_labels(pairs: Iterable[Pair]) -> dict[Pair, str]:
    """Return a text for each value: its type, and of its parameters those that differ.

    >>> wide = '{ type = "threshold", blocks = 2, cache = "1MiB" }'
    >>> value_labels([("width", "blind"), ("width", wide)])[("width", wide)]
    'threshold'
    """
    kinds: dict[tuple[str, str], list[Pair]] = {}
    for key, value in dict.fromkeys(pairs):
        kinds.setdefault((key, _type(key, value)), []).append((key, value))
    return {
        pair: label
        for (_, kind), alike in kinds.items()
        for pair, label in zip(alike, _labels(kind, alike), strict=True)
    }


def _labels(kind: str, alike: Sequence[Pair]) -> list[str]:
    """Return the labels of values of one type."""
    if len(alike) == 1:
        return [kind]
    tables = [_table(value) or {} for _, value in alike]
    counts = Counter((name, str(own)) for table in tables for name, own in table.items())
    labels = []
    for (_, value), table in zip(alike, tables, strict=True):
        own = {n: v for n, v in table.items() if counts[n, str(v)] < len(alike)}
        labels.append(_with_parameters(kind, own) if table else value_text(value))
    # Two files of one name, say, in different places.
    return labels if len(set(labels)) == len(labels) else [_whole(value) for _, value in alike]


def _bare(labels: Mapping[Pair, str]) -> set[Pair]:
    """Return the values whose labels stand for themselves."""
    keys = Counter(label for _, label in {(key, label) for (key, _), label in labels.items()})
    return {
        pair
        for pair, label in labels.items()
        if keys[label] == 1 and label[:1].isalpha() and label.lower() not in _ANYBODY_S
    }


def _differing(settings: Sequence[Setting]) -> set[str]:
    values: dict[str, set[Any]] = {}
    for setting in settings:
        for key, value in setting:
            values.setdefault(key, set()).add(value)
    return {key for key, own in values.items() if len(own) > 1}


def _type(key: str, value: Any) -> str:
    if key == TRACE:
        return PurePath(str(value)).name
    table = _table(value)
    return value_text(value) if table is None else str(table.get("type", "table"))


def _whole(value: Any) -> str:
    """Return a value with all its parameters: ``threshold (cache 1MiB)``."""
    table = _table(value)
    return value_text(value) if table is None else _text(table)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        parameters = {name: own for name, own in value.items() if name != "type"}
        return _with_parameters(str(value.get("type", "")), parameters)
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


def _with_parameters(kind: str, parameters: Mapping[str, Any]) -> str:
    texts = [
        name if own is True else f"{name} off" if own is False else f"{name} {_text(own)}"
        for name, own in parameters.items()
        if name != "type"
    ]
    return " ".join(filter(None, (kind, f"({', '.join(texts)})" if texts else "")))


def _table(value: Any) -> dict[str, Any] | None:
    """Return a choice with parameters; None of anything else, and of a policy in Python."""
    if not str(value).startswith("{"):
        return None
    try:
        table: dict[str, Any] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return None
    return None if table.get("type") == "python" else table
