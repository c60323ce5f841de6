"""Effects of keys on the numbers that are fitted, by evaluations around the best one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from copyback.calibration.certainty import LEAST_OWN, own_shares
from copyback.calibration.search.known import AS_GOOD, Effect
from copyback.calibration.search.near import NEAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback.calibration.search.aim import Aim
    from copyback.calibration.search.kept import Evaluation
    from copyback.calibration.search.span import Span

#: Evaluations for each key: one at each end of its range, and one on each side of the best value.
EACH = 4


def around(spans: Sequence[Span], best: Sequence[float]) -> list[tuple[float, ...]]:
    """Return the points that differ from the best one in a single key, `EACH` for each key."""
    return [
        (*best[:index], span.value(place), *best[index + 1 :])
        for index, span in enumerate(spans)
        for own in (span.place(best[index]),)
        for place in (0.0, 1.0, max(own - NEAR, 0.0), min(own + NEAR, 1.0))
    ]


def effects(
    spans: Sequence[Span], aim: Aim, best: Evaluation, tried: Sequence[Evaluation]
) -> list[Effect]:
    """Return the effect of each key.

    A key has an effect if some number changes by more than 2% at an end of its range or nearby.
    Another can take its place if the other keys can undo all but 2% of what it does nearby.

    Parameters
    ----------
    tried
        Evaluations of the points around the best one.
    """
    whole = aim.logs(best.found)
    changes = np.array([aim.logs(one.found) - whole for one in tried])
    groups = np.nan_to_num(changes).reshape(len(spans), EACH, -1)
    there = [bool((np.abs(group) > AS_GOOD).any()) for group in groups]
    slopes = np.array([group[3] - group[2] for group in groups]).T
    usable = [
        key for key, is_there in enumerate(there) if is_there and (np.abs(slopes[:, key]) > 0).any()
    ]
    others: dict[int, str] = {}
    if len(usable) > 1:
        own, alike = own_shares(slopes[:, usable], aim.weights)
        for key, share, other in zip(usable, own, alike, strict=True):
            if share < LEAST_OWN:
                others[key] = spans[usable[other]].key
    return [Effect(is_there, others.get(key)) for key, is_there in enumerate(there)]
