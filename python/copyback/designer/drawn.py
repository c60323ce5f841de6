"""Designs drawn evenly from the space after the search, by which the surrogate is judged.

The search asks for good designs: how wrong a model is for those says little of the others.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from copyback.designer.sampler import RandomChooser
from copyback.designer.scores import Measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.designer.runs import Runner
    from copyback.designer.space import Design
    from copyback.designer.study import Study

#: Draws for a design that the configuration does not refuse, and that was not drawn before.
_DRAWS = 20


def run_drawn(study: Study, runner: Runner) -> tuple[Measured, ...]:
    """Run as many designs as the study holds back, as the search does; fewer if there are none."""
    found: list[Measured] = []
    left = _different(study)
    while missing := study.held_back - len(found):
        batch = list(islice(left, missing))
        if not batch:
            break
        outcomes = runner.measure(batch, study.search_length, study.seeds[:1])
        found += [one for one in outcomes if isinstance(one, Measured)]
    return tuple(found)


def _different(study: Study) -> Iterator[Design]:
    """Yield designs, each once; those that the search has run may be among them."""
    chooser = RandomChooser(study.seed + 1)
    seen: set[Design] = set()
    for _ in range(_DRAWS * study.held_back):
        design = study.space.choose(chooser)
        if design not in seen:
            seen.add(design)
            yield design
