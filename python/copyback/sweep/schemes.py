"""The rows of a sweep as people compare them: schemes side by side under the same load."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.summary import COMPARED
from copyback.sweep.axes import SEED, column, is_load
from copyback.sweep.dataset import RUN
from copyback.sweep.intervals import Estimate, estimate
from copyback.sweep.ratios import NoRatio, Ratio, ratio_of
from copyback.sweep.tails import Tail, tail_of
from copyback.words.flows import curves_of
from copyback.words.verdict import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback.frame import Frame

#: A value for each key of some columns.
Setting = tuple[tuple[str, Any], ...]


class Format(StrEnum):
    """Format in which a measure is shown."""

    TIME = auto()
    FACTOR = auto()
    COUNT = auto()
    NUMBER = auto()


@dataclass(frozen=True)
class Measure:
    """A number that schemes are compared by.

    Attributes
    ----------
    column
        Of the dataset.
    more_is_better
        Whether the greatest is the best; else the least is.
    """

    label: str
    column: str
    format: Format
    more_is_better: bool = False


#: The column that counts requests.
COUNT = "response_us.all.count"

#: The formats of numbers as they are declared.
_FORMATS = {
    "time_us": Format.TIME,
    "factor": Format.FACTOR,
    "count": Format.COUNT,
    "decimal": Format.NUMBER,
}

#: All columns of a table; those of which less is better come first.
SHOWN = tuple(
    Measure(label, column, _FORMATS[form], more_is_better)
    for label, column, form, more_is_better in COMPARED
)

#: Measures by which there are winners; less is better in all of them. A load that does not saturate
#: the drive decides the others.
MEASURES = tuple(measure for measure in SHOWN if not measure.more_is_better)

#: Columns of measures that each of several flows has, too, if it can be told.
OF_FLOWS = frozenset(measure.column for measure in SHOWN if measure.column != "flash.erases")


@dataclass(frozen=True)
class Requests:
    """Requests that schemes are compared by: all, or those of one flow.

    Attributes
    ----------
    flow
        The place of the flow among several; None of all requests.
    """

    flow: int | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures by which there are winners that these requests have."""
        return self._own(MEASURES)

    @property
    def shown(self) -> tuple[Measure, ...]:
        """All measures that these requests have."""
        return self._own(SHOWN)

    def _own(self, measures: Sequence[Measure]) -> tuple[Measure, ...]:
        return tuple(
            replace(measure, column=self.column(measure.column))
            for measure in measures
            if self.flow is None or measure.column in OF_FLOWS
        )

    @property
    def operation(self) -> str:
        """Name in `distribution.parquet`."""
        return "all" if self.flow is None else f"{curves_of(self.flow)}all"

    def column(self, name: str) -> str:
        """Return the column of the dataset that has a number of theirs."""
        return name if self.flow is None else f"flows.{self.flow}.{name}"


@dataclass(frozen=True)
class Scheme:
    """One scheme under one load.

    Attributes
    ----------
    runs
        Its runs by name, one a seed, and the requests of each.
    by_seed
        For each measure, by its label, the value of each run that has one.
    values
        Means over the seeds, likewise.
    ratios
        To the baseline's numbers, likewise; empty for the baseline itself.
    findings
        What should be known first of its numbers, by its key, and of how many runs.
    tail
        Its slowest requests; None if there are too few.
    """

    setting: Setting
    runs: dict[str, int]
    by_seed: dict[str, dict[int, float]]
    values: dict[str, Estimate]
    ratios: dict[str, Ratio | NoRatio]
    is_baseline: bool
    findings: dict[str, int]
    tail: Tail | None = None

    @property
    def seeds(self) -> int:
        """Number of runs that its numbers are means of."""
        return len(self.runs)


@dataclass(frozen=True)
class Contest:
    """The schemes under one load, the baseline among them, by the same requests."""

    load: Setting
    schemes: tuple[Scheme, ...]
    requests: Requests = Requests()

    @cached_property
    def by_setting(self) -> dict[Setting, Scheme]:
        """The schemes by their settings."""
        return {scheme.setting: scheme for scheme in self.schemes}

    @cached_property
    def baseline(self) -> Scheme:
        """Scheme that the others are compared with."""
        return next(scheme for scheme in self.schemes if scheme.is_baseline)


def baseline_of(
    varied: Mapping[str, Sequence[Any]], baseline: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Return what the baseline has, as columns of results have it.

    Parameters
    ----------
    varied
        The values of each key that varies.
    baseline
        Settings of the baseline, as the user gave them.

    Raises
    ------
    InputError
        If no scheme is like that.
    """
    wanted: dict[str, Any] = {}
    for key, text in baseline:
        there = ", ".join(key for key in varied if not is_load(key)) or "none"
        if is_load(key):
            raise InputError(
                f"baseline: {key} tells workloads apart, each of which has the baseline among its "
                f"schemes; allowed: a key that tells schemes apart; these vary: {there}"
            )
        if key not in varied:
            raise InputError(f"baseline: {key} does not vary between schemes; these do: {there}")
        value = column(key, [text])[0]
        if value not in varied[key]:
            allowed = ", ".join(map(str, dict.fromkeys(varied[key])))
            raise InputError(f"baseline: {key} is never {text}; it is {allowed}")
        wanted[key] = value
    return wanted


def contests(
    frame: Frame,
    keys: Sequence[str],
    baseline: Mapping[str, Any] | None = None,
    requests: Requests = Requests(),
) -> list[Contest]:
    """Return the schemes of a sweep, a contest for each load, in the order of the rows.

    Parameters
    ----------
    frame
        The dataset.
    keys
        The keys that vary.
    baseline
        What the baseline has, as far as it is said; else the first scheme of each load.
    requests
        By whose requests they are compared.
    """
    wanted = dict(baseline or {})
    load_keys = [key for key in keys if is_load(key)]
    scheme_keys = [key for key in keys if not is_load(key)]
    groups: dict[Setting, dict[Setting, list[dict[str, Any]]]] = {}
    for row in frame.iter_rows():
        load = tuple((key, row[key]) for key in load_keys)
        scheme = tuple((key, row[key]) for key in scheme_keys)
        groups.setdefault(load, {}).setdefault(scheme, []).append(row)
    return [_contest(load, schemes, wanted, requests) for load, schemes in groups.items()]


def flow_contests(
    frame: Frame, keys: Sequence[str], baseline: Mapping[str, Any] | None = None
) -> list[Contest]:
    """Return the contests of each flow, flow by flow; none if no run has several."""
    flows = 0
    while Requests(flows).column(COUNT) in frame.columns:
        flows += 1
    each = (contests(frame, keys, baseline, Requests(flow)) for flow in range(flows))
    return [contest for found in each for contest in found]


def _contest(
    load: Setting,
    rows: dict[Setting, list[dict[str, Any]]],
    wanted: dict[str, Any],
    requests: Requests,
) -> Contest:
    fitting = [setting for setting in rows if wanted.items() <= dict(setting).items()]
    base = fitting[0] if fitting else next(iter(rows))
    schemes = [
        _scheme(setting, rows[setting], rows[base], requests, is_baseline=setting == base)
        for setting in rows
    ]
    return Contest(load, tuple(schemes), requests)


def _scheme(
    setting: Setting,
    rows: list[dict[str, Any]],
    base: list[dict[str, Any]],
    requests: Requests,
    *,
    is_baseline: bool,
) -> Scheme:
    by_seed = {measure.label: _by_seed(rows, measure) for measure in requests.shown}
    by_seed = {label: values for label, values in by_seed.items() if values}
    values = {label: estimate(list(own.values())) for label, own in by_seed.items()}
    ratios = {
        measure.label: ratio_of([(by_seed[measure.label], _by_seed(base, measure))])
        for measure in requests.shown
        if measure.label in by_seed and not is_baseline
    }
    runs = {row[RUN]: int(row[requests.column(COUNT)] or 0) for row in rows}
    found = {key: sum(bool(row.get(f"verdict.{key}")) for row in rows) for key in MEANINGS}
    findings = {key: number for key, number in found.items() if number}
    tail = tail_of(rows, requests.column)
    return Scheme(setting, runs, by_seed, values, ratios, is_baseline, findings, tail)


def _by_seed(rows: list[dict[str, Any]], measure: Measure) -> dict[int, float]:
    return {
        row[SEED]: float(row[measure.column]) for row in rows if row.get(measure.column) is not None
    }
