"""The least or greatest value of a key under which a number stays within a bound, by bisection."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from copyback._core import InputError
from copyback.data.result_directory import ResultDirectory
from copyback.inputs import configuration
from copyback.inputs.arguments import CONFIG, COUNT, NUMBER, PATH, SEEDS, TEXT, check
from copyback.inputs.arguments import path as argument_path
from copyback.sweep.answer import number
from copyback.sweep.axes import Axis, column
from copyback.sweep.bounds import Bound, Range, check_measure, parse_bound, parse_range
from copyback.sweep.comparison import Comparison, run_plan
from copyback.sweep.design import Design, numbered_seeds
from copyback.sweep.intervals import Estimate, estimate
from copyback.sweep.labels import key_names
from copyback.sweep.memory import memory_of
from copyback.sweep.plan import make_plan
from copyback.sweep.store import MARKER, add_fact, described
from copyback.sweep.tabular import Tabular
from copyback.sweep.where import Where

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from copyback.frame import Frame

#: Entry of a directory's description that says what a search found.
SEARCH = "search"

#: How near the two values are between which the bound begins to hold, as a share of the range.
WITHIN = 0.01

#: How much coarser the ends of the interval are looked for.
COARSER = 2


@dataclass(frozen=True)
class Probe:
    """Result at one value."""

    value: float
    measured: Estimate


@dataclass(frozen=True)
class _Found:
    """Fields of a search that its directory keeps beside the runs."""

    bound: Bound
    range: Range
    value: float | None
    beyond: float | None
    low: float | None
    high: float | None
    probes: tuple[Probe, ...]


@dataclass(frozen=True, repr=False)
class SearchResult(_Found, Tabular):
    """Result of a search.

    Attributes
    ----------
    value
        The least (or greatest) value run that holds the bound; None if none does.
    beyond
        The nearest value run that does not; None if all do.
    low, high
        Between these values, by the interval over seeds, the bound begins to hold; None with one
        seed, or where that is out of the range.
    probes
        Everything that was run, by value.
    comparison
        The same as a comparison, with the page.
    """

    comparison: Comparison

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> SearchResult:
        """Read what a finished search left.

        Raises
        ------
        InputError
            If the directory holds none.
        """
        home = argument_path("SearchResult.load", directory, "directory")
        facts = described(home).get(SEARCH)
        if facts is None:
            raise InputError(f"{home}: holds a comparison, and no search")
        try:
            found = msgspec.convert(facts, _Found)
        except msgspec.ValidationError as fault:
            raise InputError(f"{home / MARKER}: {SEARCH}: {fault}") from None
        fields = {name: getattr(found, name) for name in _Found.__dataclass_fields__}
        return cls(**fields, comparison=Comparison.load(home))

    def _keep(self) -> None:
        """Write down what the search found beside its runs."""
        facts = {name: getattr(self, name) for name in _Found.__dataclass_fields__}
        add_fact(self.comparison.directory, SEARCH, msgspec.to_builtins(facts))

    def _rows(self) -> Frame:
        return self.comparison.frame

    def plot(self, *, width: float | None = None) -> Figure:
        """Draw what was measured at each value, the bound, and the value that was found.

        Parameters
        ----------
        width
            Inches; else as wide as it needs.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``savefig`` writes it.

        Raises
        ------
        InputError
            Without matplotlib.
        """
        from copyback.figures.of_search import of_search

        check("SearchResult.plot", width=(width, NUMBER.or_none()))
        return of_search(self, width)

    def __repr__(self) -> str:
        from copyback.sweep.shown import in_lines

        runs = f"{len(self.comparison.frame)} runs of {len(self.probes)} values"
        return in_lines(f"SearchResult({runs})", self.sentence())

    def _repr_html_(self) -> str:
        from copyback.sweep.fragment import render_fragment

        return render_fragment(self.comparison.contests, self.sentence().removesuffix("."))

    def sentence(self) -> str:
        """Return the answer."""
        name = key_names([self.range.key])[self.range.key]
        which = "least" if self.range.wants_least else "greatest"
        text = self.range.shown
        ends = f"{text(self.range.least)} to {text(self.range.most)}"
        if self.value is None:
            return f"No {name} from {ends} has {self.bound}: {self._told(self._extreme())}."
        opening = f"The {which} {name} with {self.bound} is {text(self.value)}"
        if self.beyond is None:
            return (
                f"{opening}, the end of the range: {self._told(self.value)}; "
                "a wider range may hold more."
            )
        interval = ""
        if self.low is not None and self.high is not None:
            interval = f" With 95% confidence it is between {text(self.low)} and {text(self.high)}."
        return f"{opening}: {self._told(self.value)}, {self._told(self.beyond)}.{interval}"

    def _extreme(self) -> float:
        return self.range.most if self.range.wants_least else self.range.least

    def _told(self, value: float) -> str:
        found = next(probe.measured for probe in self.probes if probe.value == value)
        half = found.half_width
        more = "" if half is None else f" ± {number(self.bound.measure, half)}"
        told = number(self.bound.measure, found.mean)
        limit = self.bound.limit
        is_beyond = found.mean > limit if self.bound.is_upper else found.mean < limit
        if is_beyond and told == number(self.bound.measure, limit):
            # Rounded, it would seem to hold the bound.
            told = f"{'above' if self.bound.is_upper else 'below'} {told} by less than is shown"
        return f"{told}{more} at {self.range.shown(value)}"


@dataclass
class _Search:
    """Probes values, each once."""

    range: Range
    bound: Bound
    within: float
    evaluate: Callable[[Sequence[float]], Mapping[float, Estimate]]
    known: dict[float, Estimate] = field(default_factory=dict)

    def probe(self, *values: float) -> None:
        if any(value not in self.known for value in values):
            self.known.update(self.evaluate([*self.known, *values]))

    def edge(
        self, holds: Callable[[Estimate], bool], within: float
    ) -> tuple[float | None, float | None]:
        """Return the outermost value that holds, and the nearest to it that does not."""
        ends = [self.range.least, self.range.most]
        outer, inner = ends if self.range.wants_least else ends[::-1]
        if holds(self.known[outer]):
            return outer, None
        if not holds(self.known[inner]):
            return None, inner
        fails, good = self._nearest(outer, inner, holds)
        while True:
            low, high = min(fails, good), max(fails, good)
            middle = self.range.between(low, high, within)
            if middle is None:
                return good, fails
            self.probe(middle)
            fails, good = (fails, middle) if holds(self.known[middle]) else (middle, good)

    def _nearest(
        self, outer: float, inner: float, holds: Callable[[Estimate], bool]
    ) -> tuple[float, float]:
        """Return two neighbours among what is known of which only the inner one holds."""
        values = sorted(self.known, reverse=not self.range.wants_least)
        fails, good = outer, inner
        for value in reversed(values):
            if not holds(self.known[value]):
                fails = value
                break
            good = value
        return fails, good


def _ends(bound: Bound) -> tuple[Callable[[Estimate], bool], Callable[[Estimate], bool]]:
    """Return whether a bound holds at the better end of an interval, and at the worse one."""

    def end(found: Estimate, sign: int) -> float:
        return found.mean + sign * (found.half_width or 0.0)

    better, worse = (-1, 1) if bound.is_upper else (1, -1)
    return (
        lambda found: bound.holds(end(found, better)),
        lambda found: bound.holds(end(found, worse)),
    )


def find(
    within_range: Range,
    bound: Bound,
    evaluate: Callable[[Sequence[float]], Mapping[float, Estimate]],
    within: float = WITHIN,
) -> tuple[_Search, tuple[float | None, ...]]:
    """Return what was probed, and value, neighbour, and the ends of the interval."""
    search_ = _Search(within_range, bound, within, evaluate)
    search_.probe(within_range.least, within_range.most)
    value, beyond = search_.edge(lambda found: bound.holds(found.mean), within)
    low = high = None
    if value is not None and beyond is not None and search_.known[value].half_width is not None:
        perhaps, surely = (search_.edge(end, COARSER * within) for end in _ends(bound))
        # Where it may hold the value beyond is the end; where it surely does, the value itself.
        first, last = perhaps[1] if perhaps[1] is not None else perhaps[0], surely[0]
        if first is not None and last is not None:
            low, high = min(first, last), max(first, last)
    return search_, (value, beyond, low, high)


def search(
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    *,
    where: str,
    least: str | None = None,
    most: str | None = None,
    within: float = WITHIN,
    seeds: int | Sequence[int] | None = None,
    preset: str | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    memory: str | None = None,
    **overrides: Any,
) -> SearchResult:
    """Find the least or greatest value of a key under which a number stays within a bound.

    The range is halved again and again, so that a dozen values are run and not a grid of them. The
    number must go one way over the range.

    Parameters
    ----------
    config
        A TOML file, or a dictionary of the same shape.
    where
        The bound, such as ``"p99.9 < 5ms"``: a measure of a comparison, or a dotted key of the
        summary.
    least, most
        The key and its range, ``"ssd.ftl.over_provisioning=0.05..0.4"``: whether the least value
        is looked for, or the greatest. One of the two.
    within
        How near the two values are between which the bound begins to hold, as a share of the
        range (of its logarithm, if it spans a factor of eight or more).
    seeds
        Run each value with the seeds 1 to this, or with these: the bound is for the mean over them.
    preset, out, jobs, dask, memory, **overrides
        As of :func:`compare`.

    Returns
    -------
    SearchResult

    Raises
    ------
    InputError
        If the input is at fault, or a run could not be done.

    Examples
    --------
    >>> import copyback
    >>> found = copyback.search(
    ...     {"workload": {"type": "synthetic", "requests": 500}},
    ...     least="ssd.ftl.over_provisioning=0.2..0.6",
    ...     where="WA < 100",
    ...     ssd__geometry__blocks_per_plane=32,
    ... )
    >>> found.value
    0.2
    """
    check(
        "search",
        config=(config, CONFIG),
        where=(where, TEXT),
        least=(least, TEXT.or_none()),
        most=(most, TEXT.or_none()),
        within=(within, NUMBER),
        seeds=(seeds, SEEDS.or_none()),
        preset=(preset, TEXT.or_none()),
        out=(out, PATH.or_none()),
        jobs=(jobs, COUNT.or_none()),
        dask=(dask, TEXT.or_none()),
        memory=(memory, TEXT.or_none()),
    )
    wanted = chosen_range(least, most)
    with ResultDirectory(out, "copyback-search-") as home:
        found = run_search(
            Base(config, preset, tuple(configuration.keyword_settings(overrides))),
            wanted,
            parse_bound(where),
            home.path,
            Where(jobs, dask, memory_of(memory)),
            seeds=numbered_seeds(seeds),
            within=within,
            command="copyback.search()",
            on_failed=lambda text, _: warnings.warn(text, stacklevel=2),
            kept=out is not None,
        )
        home.goes_with(found.comparison)
    return found


def chosen_range(least: str | None, most: str | None) -> Range:
    """Return the range of the one of the two that is given."""
    text = most if least is None else least
    if text is None or (least is not None and most is not None):
        raise InputError("a search needs either --least KEY=LOW..HIGH or --most KEY=LOW..HIGH")
    return parse_range(text, wants_least=least is not None)


@dataclass(frozen=True)
class Base:
    """The configuration that a search varies."""

    config: Mapping[str, Any] | str | os.PathLike[str] | None
    preset: str | None
    settings: tuple[tuple[str, str], ...]


def run_search(
    base: Base,
    wanted: Range,
    bound: Bound,
    directory: Path,
    where: Where,
    *,
    seeds: tuple[int, ...],
    within: float,
    command: str,
    on_failed: Callable[[str, Exception], None],
    on_round: Callable[[Sequence[float]], None] = lambda _: None,
    kept: bool = True,
) -> SearchResult:
    """Run what a search needs, all of it in one directory, and return what it found."""
    if not 0 < within < 1:
        raise InputError(f"--within {within}: a share of the range is needed, such as 0.01")
    last: list[Comparison] = []

    def evaluate(values: Sequence[float]) -> dict[float, Estimate]:
        on_round(values)
        texts = tuple(wanted.text(value) for value in sorted(values))
        design = Design(grid=(Axis(wanted.key, texts),), seeds=seeds)
        plan = make_plan(
            base.config, design.points(), preset=base.preset, settings=list(base.settings)
        )
        found = run_plan(
            plan, directory, where, command=command, on_failed=on_failed, kept=kept, page=False
        )
        last[:] = [found]
        return _estimates(found, wanted, bound, sorted(values))

    search_, (value, beyond, low, high) = find(wanted, bound, evaluate, within)
    (comparison,) = last
    comparison.report()
    probes = tuple(Probe(v, search_.known[v]) for v in sorted(search_.known))
    result = SearchResult(bound, wanted, value, beyond, low, high, probes, comparison)
    result._keep()
    return result


def _estimates(
    found: Comparison, wanted: Range, bound: Bound, values: Sequence[float]
) -> dict[float, Estimate]:
    """Return the mean over seeds at each value."""
    check_measure(bound.measure, found.frame.columns)
    if found.failed:
        raise InputError("\n".join(found.failed))
    numbers: dict[float, list[float]] = {value: [] for value in values}
    by_text = dict(zip(column(wanted.key, map(wanted.text, values)), values, strict=True))
    for row in found.frame.iter_rows():
        value = by_text[row[wanted.key]]
        measured = row[bound.measure.column]
        if measured is None:
            place = f"{wanted.key}={wanted.text(value)}"
            raise InputError(f"--where: {bound.measure.label} has no value at {place}")
        numbers[value].append(float(measured))
    return {value: estimate(own) for value, own in numbers.items()}
