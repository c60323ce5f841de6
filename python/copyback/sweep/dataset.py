"""One row a run: what varied, the seed, and all numbers of the summary but the machine's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from copyback import data as names
from copyback.data.summary_numbers import numbers_of
from copyback.frame import Frame
from copyback.sweep.axes import SEED, column

if TYPE_CHECKING:
    from copyback.sweep.plan import Plan
    from copyback.sweep.store import Store

#: Names the run: its directory under ``runs``.
RUN = "run"


def dataset(plan: Plan, store: Store) -> Frame:
    """Return the rows of a plan whose runs are all in the store, in the plan's order.

    Returns
    -------
    Frame
        ``run``, a column for each key that varies, ``seed``, and the numbers under their dotted
        keys. A number that a run does not have is null.
    """
    head = {
        RUN: [run.key for run in plan.runs],
        **varied(plan),
        SEED: [run.seed for run in plan.runs],
    }
    numbers = Frame.of_rows([_numbers(store, run.key) for run in plan.runs])
    # A key that varies may be called as a number is; what was asked for comes first.
    return Frame({**head, **{name: own for name, own in numbers.items() if name not in head}})


def varied(plan: Plan) -> dict[str, list[Any]]:
    """Return the value of each key that varies for each run; None where a point does not say."""
    points = [dict(run.point) for run in plan.runs]
    return {key: column(key, (point.get(key) for point in points)) for key in plan.keys}


def _numbers(store: Store, key: str) -> dict[str, float | None]:
    text = (store.run(key) / names.SUMMARY).read_text(encoding="utf-8")
    return numbers_of(json.loads(text))
