"""Bound of the write amplification: the same configuration with an oracle for placement.

The oracle knows when each page dies. A bound is not a formula but a legal run: the drive, its
spare, its victim policy and its load are those of the configuration, and each class takes an open
block on every plane. In the last run victims are chosen by the future, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from copyback._core import Config, InputError
from copyback.inputs.configuration import resolved, to_toml
from copyback.simulation.driver import Driver
from copyback.summary import BoundRunSummary, BoundSummary

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from copyback._core import Progress

    Display = Callable[[], AbstractContextManager[Callable[[Progress], None]]]

#: Numbers of classes that are run, besides as many as fit.
CLASSES = (6, 16)

#: The least and most classes of an oracle.
LEAST, MOST = 2, 128

#: The victim policy that knows the future.
FORESIGHT = "foresight"

#: Drives full of writes up to which classes tell lives apart. Less leaves much of what lives long
#: in the last class, more makes the others wide (tests/test_classes.py).
SPAN = 8


def bound(
    config: Config,
    *,
    state: Path | None = None,
    threads: int = 1,
    display: Display,
) -> BoundSummary:
    """Run a configuration with an oracle for placement, and return what that comes to.

    Parameters
    ----------
    config
        The configuration; its placement is of no importance.
    state
        A prepared device to start from.
    threads
        Drives that are prepared at the same time.
    display
        Shows the progress of one run.

    Returns
    -------
    BoundSummary
        Without runs if the oracle is refused, with a sentence that says why.
    """
    found = BoundSummary(runs=[], refused=[])
    span = SPAN * blocks_per_plane(config)

    def run(classes: int, *, foreseen: bool) -> None:
        growth = growth_of(classes, span)
        asked = oracle(config, classes, growth, foreseen=foreseen)
        driver = Driver(asked, state=state, threads=threads)
        with display() as tell:
            driver.run(on_progress=tell)
        written = driver.summary("").write_amplification
        found.runs.append(
            BoundRunSummary(
                classes=classes,
                growth=growth,
                victims_foreseen=foreseen,
                write_amplification=written,
            )
        )

    try:
        most = most_classes(config)
        for classes in sorted({min(number, most) for number in (*CLASSES, most)}):
            run(classes, foreseen=False)
    except InputError as fault:
        found.refused.append(reason(fault))
    try:
        run(best_classes(found, config), foreseen=True)
    except InputError as fault:
        # What concerns the placement has been told already.
        if reason(fault) not in found.refused:
            found.refused.append(reason(fault))
    return found


def best_classes(found: BoundSummary, config: Config) -> int:
    """Return the number of classes with which least was written, or as many as usual.

    Raises
    ------
    InputError
        If an oracle is refused, whatever chooses the victims.
    """
    written = [(run.write_amplification, run.classes) for run in found.runs]
    known = [(factor, classes) for factor, classes in written if factor is not None]
    if known:
        return min(known)[1]
    return min(CLASSES[-1], most_classes(config, foreseen=True))


def oracle(config: Config, classes: int, growth: float, *, foreseen: bool = False) -> Config:
    """Return the configuration with an oracle of so many classes for placement.

    With `foreseen`, victims are chosen by the future, too.

    Raises
    ------
    InputError
        If the future depends on the run, or so many open blocks do not fit.
    """
    placement = {"type": "oracle", "classes": classes, "growth": growth}
    settings = [("ssd.ftl.placement", to_toml(placement))]
    if foreseen:
        settings.append(("ssd.gc.victim", to_toml(FORESIGHT)))
    return Config.load(toml=config.to_toml(), settings=settings)


def most_classes(config: Config, *, foreseen: bool = False) -> int:
    """Return how many classes leave the drive enough spare.

    Raises
    ------
    InputError
        If not even two do, or an oracle is refused for another reason.
    """
    oracle(config, LEAST, 1.0, foreseen=foreseen)
    fits, is_too_many = LEAST, MOST + 1
    while is_too_many - fits > 1:
        middle = (fits + is_too_many) // 2
        try:
            oracle(config, middle, 1.0, foreseen=foreseen)
            fits = middle
        except InputError:
            is_too_many = middle
    return fits


def blocks_per_plane(config: Config) -> int:
    """Return the blocks of a plane."""
    return int(resolved(config)["ssd"]["geometry"]["blocks_per_plane"])


def growth_of(classes: int, span: float) -> float:
    """Return the growth with which all classes but the last are `span` blocks wide together.

    The first is one block wide.

    >>> growth_of(3, 5.0), growth_of(9, 8.0)
    (4.0, 1.0)
    >>> 1.0 < growth_of(128, 8000.0) < 1.1
    True
    """

    def width(growth: float) -> float:
        # No further than matters: a high power of a wide growth is no number any more.
        total, next_one = 0.0, 1.0
        for _ in range(classes - 1):
            total += next_one
            if total > span:
                break
            next_one *= growth
        return total

    low, high = 1.0, 1000.0
    if width(low) >= span:
        return low
    if width(high) <= span:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if width(middle) < span else (low, middle)
    return round(high, 4)


def reason(fault: InputError) -> str:
    """Return the first sentence of a refusal.

    >>> from copyback import InputError
    >>> reason(InputError('config: ssd.ftl.placement: found "oracle" with 2 flows; allowed: one'))
    'ssd.ftl.placement: found "oracle" with 2 flows; allowed: one'
    """
    line = str(fault).splitlines()[0]
    # The line is one of a text that nobody has seen.
    return re.sub(r"^(config: |configuration:\d+: |--set )", "", line)
