"""Content of a page's sliders: each choice of the space, and the surrogates as numbers.

The script of the page puts a row of numbers together as `codes` does, and sends it through the
trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.designer import answer
from copyback.designer.codes import ABSENT, along
from copyback.designer.space import Span, text_of
from copyback.inputs.configuration import to_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from copyback.designer.found import Found
    from copyback.designer.space import Domain
    from copyback.designer.study import Study
    from copyback.designer.surrogate import Surrogate

#: Most steps of a slider.
_STEPS = 41

#: Digits of what is written of a tree.
_DIGITS = 5

#: What a control exists beside: another one, and its options.
Beside = tuple[str, list[str]] | None


def sliders(found: Found) -> dict[str, Any] | None:
    """Return what the page needs to say what a design would come to; None without surrogates."""
    if not found.surrogates:
        return None
    return {
        "controls": [
            control
            for key in found.study.space.keys
            for control in _controls(found, key.key, key.key, key.domain, _sorted(key.beside))
        ],
        "command": _command(found.study),
        "begin": dict(found.chosen.design.picks) if found.chosen is not None else {},
        "models": [_model(own) for own in found.surrogates],
    }


def _command(study: Study) -> list[str]:
    """Return the words that run the base under the first workload."""
    base = ["--preset", study.preset] if study.base is None else [str(study.base)]
    settings = [f"{key}={text}" for key, text in (*study.settings, *study.loads[0].settings)]
    return ["copyback", "run", *base, *(word for one in settings for word in ("--set", one))]


def _sorted(beside: tuple[str, frozenset[str]] | None) -> Beside:
    return None if beside is None else (beside[0], sorted(beside[1]))


def _controls(
    found: Found, name: str, key: str, domain: Domain, beside: Beside
) -> Iterator[dict[str, Any]]:
    """Yield a choice or range, and the parameters of its options."""
    inner = name.rpartition(".")[2] if name != key else None
    own = {"name": name, "key": key, "inner": inner, "label": answer.name_of(found, name)}
    if isinstance(domain, Span):
        yield {**own, "beside": beside, "absent": ABSENT, "steps": _steps(domain, key, inner)}
        return
    options = [[one.label, _text(one.value, key, inner)] for one in domain.options]
    yield {**own, "beside": beside, "options": options}
    for option in domain.options:
        for parameter, its in option.parameters:
            below = f"{name}.{option.label}.{parameter}"
            yield from _controls(found, below, key, its, (name, [option.label]))


def _text(value: Any, key: str, inner: str | None) -> str:
    """Return a value as a setting has it, or as a table in one."""
    return text_of(value, key) if inner is None else to_toml(value)


def _steps(span: Span, key: str, inner: str | None) -> list[list[Any]]:
    """Return the steps of a slider: the pick, its code and the text of its value."""
    low, high, step = span.range.least, span.range.most, span.range.step
    way = np.geomspace if span.is_log else np.linspace
    values: Sequence[float] = [float(one) for one in way(low, high, _STEPS)]
    if span.range.is_whole:
        values = sorted({round(one / step) * step for one in values})
    picks = [value / step if span.range.is_whole else value for value in values]
    return [
        [pick, round(along(pick * step, span), _DIGITS), _text(span.value_of(pick), key, inner)]
        for pick in picks
    ]


def _model(own: Surrogate) -> dict[str, Any]:
    return {
        "place": own.place,
        "floor": own.floor,
        "width": own.width,
        "trees": [_tree(tree) for tree in own.model.estimators_],
    }


def _tree(estimator: Any) -> list[list[float]]:
    """Return a tree: for each node its column (-1 of a leaf), its threshold or value, its right.

    The left one of a node comes next after it.
    """
    tree = estimator.tree_
    return [
        tree.feature.clip(-1).tolist(),
        [
            float(f"{(value if is_leaf else threshold):.{_DIGITS}g}")
            for is_leaf, threshold, value in zip(
                tree.feature < 0, tree.threshold, tree.value[:, 0, 0], strict=True
            )
        ],
        tree.children_right.tolist(),
    ]
