"""Tails of a comparison: the share of collections in the time of the slowest requests."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.words import units
from copyback.words.tail import COLLECTIONS, name, shares_of, true_percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from copyback.sweep.labels import Names
    from copyback.sweep.schemes import Contest, Setting

_TIMES = "tail.time_ns."
_REQUESTS = "response_us.all.count"


@dataclass(frozen=True)
class Tail:
    """Slowest requests of the runs of a scheme.

    Attributes
    ----------
    asked
        Percentile that they were to lie above.
    above
        Percentile that they do lie above.
    collections
        Share of waiting for collections in their time.
    """

    asked: float
    above: float
    collections: float


def tail_of(rows: Sequence[Mapping[str, Any]], column: Callable[[str], str]) -> Tail | None:
    """Return the tail of some runs; None if one has none, or they have different percentiles.

    Parameters
    ----------
    column
        Returns the column that has a number of theirs.
    """
    percentiles = {row.get(column("tail.above")) for row in rows}
    asked = percentiles.pop()
    if asked is None or percentiles:
        return None
    slowest, requests = (sum(row[column(key)] for row in rows) for key in ("tail.count", _REQUESTS))
    prefix = column(_TIMES)
    times: dict[str, float] = {}
    for row in rows:
        for key, ns in row.items():
            if key.startswith(prefix):
                part = key.removeprefix(prefix)
                times[part] = times.get(part, 0.0) + ns
    above = true_percentile(slowest, requests)
    return Tail(float(asked), above, shares_of(times)[COLLECTIONS])


def tail_rows(contests: Sequence[Contest], names: Names) -> list[tuple[str, str]]:
    """Return a label and a sentence on what tails wait for: the baseline's, and the extremes'.

    The mean over the loads counts. A scheme without a tail under one of them is left out.
    """
    settings = dict.fromkeys(own.setting for contest in contests for own in contest.schemes)
    found = {own: tail for own in settings if (tail := _over_loads(contests, own)) is not None}
    base = contests[0].baseline.setting
    if base not in found:
        return []
    above = name(found[base].above)
    told = f"Above {above}, {units.share(found[base].collections)} of the time is {COLLECTIONS}"
    others = sorted((own for own in found if own != base), key=lambda own: found[own].collections)
    if others:
        extremes = dict.fromkeys([others[0], others[-1]])
        each = [_of_other(found[own], above, names.of(own)) for own in extremes]
        told += f" with the baseline, {names.of(base)}; {' to '.join(each)}"
    loads = f" (means over {len(contests)} loads)" if len(contests) > 1 else ""
    return [("Tail", told + loads)]


def _over_loads(contests: Sequence[Contest], own: Setting) -> Tail | None:
    """Return the mean tail of a scheme; None if one is missing, or percentiles differ."""
    schemes = [one.by_setting[own] for one in contests if own in one.by_setting]
    tails = [scheme.tail for scheme in schemes if scheme.tail is not None]
    percentiles = {tail.asked for tail in tails}
    if len(tails) < len(schemes) or len(percentiles) != 1:
        return None
    above = statistics.fmean(tail.above for tail in tails)
    collections = statistics.fmean(tail.collections for tail in tails)
    return Tail(percentiles.pop(), above, collections)


def _of_other(tail: Tail, above: str, scheme: str) -> str:
    own = name(tail.above)
    percentile = "" if own == above else f" above {own}"
    return f"{units.share(tail.collections)}{percentile} with {scheme}"
