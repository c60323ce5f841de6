"""Long waits, kinds of collections and the use of idle time in words, for terminal and report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from copyback.words import units

if TYPE_CHECKING:
    from copyback.summary import IdlePeriodsSummary, Summary

#: Why blocks are collected: the key under `gc` in `summary.json`, and how a person says it.
KINDS = {
    "on_demand": "on demand",
    "joined": "joined",
    "forced": "asked for by the array",
    "look_ahead": "looked ahead to",
    "compaction": "in long idle periods",
    "delayed": "put off and caught up",
    "array_idle": "while the array was idle",
}

#: What dies do while their drive has no command.
ACTIVITIES = {
    **{key: label for key, label in KINDS.items() if key != "joined"},
    "wear_levelling": "wear levelling",
    "refresh": "refreshing data",
    "cached_pages": "writing cached pages",
    "nothing": "nothing",
}

#: Classes of idle periods in `summary.json`, and how a person says them.
PERIODS = {"unused": "too short to use", "short": "short", "long": "long"}


def kinds(summary: Summary) -> list[tuple[str, int]]:
    """Return how many blocks were collected for each reason that there was.

    None if all of them were collected on demand.
    """
    gc = summary.gc
    idle = {key: gc.kinds[key] for key in ("look_ahead", "compaction", "delayed")}
    counts = {
        **{key: gc[key] for key in ("on_demand", "joined", "forced")},
        **idle,
        "array_idle": gc.idle - sum(idle.values()),
    }
    found = [(label, counts[key]) for key, label in KINDS.items() if counts[key]]
    return found if gc.collections > gc.on_demand else []


def excess(summary: Summary) -> str | None:
    """Return in a line what requests took beyond the bound; None if there is none."""
    found = summary.excess_wait_us
    if found is None:
        return None
    every = found.all
    facts = [f"{units.count(every.count)} requests ({units.share(every.share)})"]
    if every.count:
        facts += [
            f"{units.time_us(every.total)} in all",
            f"{units.time_us(every.mean)} each",
            f"up to {units.time_us(every.max)}",
        ]
    return f"beyond {units.time_us(found.bound_us)}: {' · '.join(facts)}"


def worst(summary: Summary) -> str | None:
    """Return in a line the worst response times of windows; None if there is one window only."""
    found = summary.worst_response_us
    if found.all.windows < 2:
        return None
    every = found.all
    return (
        f"{units.time_us(every.min)} to {units.time_us(every.max)} · mean "
        f"{units.time_us(every.mean)} over {units.count(every.windows)} windows of "
        f"{units.time_s(found.window_s)}"
    )


def periods(summary: Summary) -> list[tuple[str, str]]:
    """Return idle time by the length of its periods; nothing if it was not kept account of."""
    found = summary.idle_time
    if found is None:
        return []
    whole = found.busy_us + found.all.us
    rows = [("Without a command", _periods(found.all, whole))]
    rows += [
        (label.capitalize(), _periods(found[key], whole))
        for key, label in PERIODS.items()
        if found[key].periods
    ]
    return rows


def _periods(of: IdlePeriodsSummary, whole: float) -> str:
    share = units.share(of.us / whole) if whole else units.MISSING
    return f"{share} in {units.count(of.periods)}"


def uses(summary: Summary) -> list[tuple[str, float]]:
    """Return the share of die time for each use that idle time was put to."""
    found = summary.idle_time
    if found is None:
        return []
    times = dict(found.all.die_us.items())
    whole = math.fsum(times.values())
    return [(label, times[key] / whole) for key, label in ACTIVITIES.items() if times.get(key)]


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Return the lines of the terminal."""
    by_kind = " · ".join(f"{units.count(count)} {label}" for label, count in kinds(summary))
    rows = [
        ("By kind", by_kind),
        ("Worst", worst(summary) or ""),
        ("Excess wait", excess(summary) or ""),
        ("Idle time", " · ".join(f"{label.lower()} {text}" for label, text in periods(summary))),
        (
            "Idle dies",
            " · ".join(f"{label} {units.share(share)}" for label, share in uses(summary)),
        ),
    ]
    return [(label, text) for label, text in rows if text]
