"""A model of queues with time that shares nothing with the engine, for its reference tests.

    python tools/queues.py        # writes crates/copyback/tests/reference/queues.csv, some minutes

One server is a recursion (Lindley 1952): a request waits for what the one before it left. Two
classes, and a drive that sleeps, are loops over arrivals. Where a formula is exact it is what is
expected, and the model must agree with it; else the model is. Either way the model says how far a
run of so many requests strays: `sigma`, the relative standard deviation of a result between runs.
"""

from __future__ import annotations

import csv
import math
from collections import deque
from decimal import Decimal, getcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Times = NDArray[np.float64]

STORED = Path(__file__).parents[1] / "crates/copyback/tests/reference/queues.csv"
HEADER = "# Responses of queues; README.md says what the columns are and where they come from.\n"
PAGE_TYPES = np.array([40.0, 60.0, 90.0])
PAGES_PER_BLOCK = 96
#: Logical pages of a drive, more or less: the last ones matter to nobody.
DRIVE_PAGES = 17_000
QUANTILES = {"p90": 0.9, "p99": 0.99, "p99_9": 0.999}


class Case(NamedTuple):
    """What is simulated; times in microseconds.

    Attributes
    ----------
    name, discipline
        What the station is, and whom it serves first.
    load
        Share of the time in which a station is busy, its erases included.
    requests
        Of a run.
    drives
        That a request is spread over.
    read, program, erase
        Times; more than one of a read are those of the pages of a block in turn. 0: there are none.
    read_share
        Of the requests.
    sleeps_after, wake_up
        The drive sleeps when it has been idle for so long, and takes so long to wake up.
    """

    name: str
    discipline: str
    load: float
    requests: int
    drives: int = 1
    read: tuple[float, ...] = (50.0,)
    program: float = 0.0
    erase: float = 0.0
    read_share: float = 1.0
    sleeps_after: float = 0.0
    wake_up: float = 0.0

    def gap(self) -> float:
        """Return the mean time between requests, in whole nanoseconds."""
        write = self.program + self.erase / PAGES_PER_BLOCK
        service = self.read_share * np.mean(self.read) + (1 - self.read_share) * write
        return round(1e3 * float(service) / self.load) / 1e3


Results = dict[tuple[str, str], float]


def of_responses(responses: dict[str, Times]) -> Results:
    """Return what a summary tells of responses, by class."""
    found: Results = {}
    for name, times in responses.items():
        found[name, "mean"] = float(times.mean())
        found[name, "stddev"] = float(times.std())
        places = [math.ceil(share * len(times)) - 1 for share in QUANTILES.values()]
        at_places = np.partition(times, places)[places]
        found |= {(name, which): float(at) for which, at in zip(QUANTILES, at_places, strict=True)}
    return found


def waits(gaps: Times, service: Times) -> Times:
    """Return how long requests wait for those before them: Lindley's recursion, solved."""
    steps = np.concatenate([[0.0], service[:-1] - gaps[1:]])
    walk = np.cumsum(steps)
    least: Times = np.minimum.accumulate(walk)
    return np.asarray(walk - least)


def in_order(case: Case, rng: np.random.Generator) -> dict[str, Times]:
    """Serve reads and writes as they come; a block that is full leaves an erase to those behind."""
    gaps = rng.exponential(case.gap(), case.requests)
    is_read = rng.random(case.requests) < case.read_share
    read = np.asarray(case.read)[rng.integers(0, len(case.read), case.requests)]
    service = np.where(is_read, read, case.program)
    fills_a_block = ~is_read & (np.cumsum(~is_read) % PAGES_PER_BLOCK == 0)
    waited = waits(gaps, service + case.erase * fills_a_block)
    response = waited + service
    both = {"all": response, "read": response[is_read], "write": response[~is_read]}
    return {name: times for name, times in both.items() if len(times)}


def asleep(case: Case, rng: np.random.Generator) -> dict[str, Times]:
    """Serve reads by a drive that sleeps when it is idle: they wait until it is awake."""
    response = np.empty(case.requests)
    free_at = now = 0.0
    (service,) = case.read
    for place, gap in enumerate(rng.exponential(case.gap(), case.requests).tolist()):
        now += gap
        is_asleep = now - free_at > case.sleeps_after
        begins = now + case.wake_up if is_asleep else max(now, free_at)
        free_at = begins + service
        response[place] = free_at - now
    return {"all": response}


def spread(case: Case, rng: np.random.Generator) -> dict[str, Times]:
    """Read a page of each drive; a request ends with the last. Pages in turn take other times."""
    gaps = rng.exponential(case.gap(), case.requests)
    first = rng.integers(0, case.drives * (DRIVE_PAGES - 1), case.requests)
    ends = np.zeros(case.requests)
    for drive in range(case.drives):
        chunk = first + (drive - first) % case.drives
        service = np.asarray(case.read)[chunk // case.drives % len(case.read)]
        ends = np.maximum(ends, waits(gaps, service) + service)
    return {"all": ends}


def reads_first(case: Case, rng: np.random.Generator) -> dict[str, Times]:
    """Serve reads before writes; those that preempt do so at once, and at no cost."""
    preempts = case.discipline == "read_first_preemptive"
    (read,) = case.read
    times = np.cumsum(rng.exponential(case.gap(), case.requests)).tolist()
    is_read = (rng.random(case.requests) < case.read_share).tolist()
    responses: dict[bool, list[float]] = {True: [], False: []}
    reads: deque[float] = deque()
    writes: deque[float] = deque()
    now, place, left = 0.0, 0, case.program
    while place < len(times) or reads or writes:
        if not reads and not writes:
            now = max(now, times[place])
        while place < len(times) and times[place] <= now:
            (reads if is_read[place] else writes).append(times[place])
            place += 1
        if reads:
            now += read
            responses[True].append(now - reads.popleft())
        elif preempts and place < len(times) and times[place] < now + left:
            left -= times[place] - now
            now = times[place]
        else:
            now += left
            left = case.program
            responses[False].append(now - writes.popleft())
    return {"read": np.array(responses[True]), "write": np.array(responses[False])}


MODELS: dict[str, Callable[[Case, np.random.Generator], dict[str, Times]]] = {
    "one_die": in_order,
    "page_types": in_order,
    "erases": in_order,
    "sleeps": asleep,
    "spread": spread,
    "two_classes": reads_first,
}


def one_die(load: float, requests: int) -> Case:
    """Return reads of one time: M/D/1."""
    return Case("one_die", "in_order", load, requests)


def cases() -> Iterator[tuple[Case, list[tuple[str, str]], int]]:
    """Name each case, what is looked at, and how many runs the model makes."""
    tails = [("all", "p90"), ("all", "p99"), ("all", "p99_9"), ("all", "stddev")]
    for load, millions in ((0.3, 1), (0.5, 1), (0.7, 2), (0.8, 4)):
        yield one_die(load, millions * 10**6), tails, 40
    for load, millions in ((0.5, 1), (0.7, 2), (0.8, 4)):
        case = Case("page_types", "in_order", load, millions * 10**6, read=tuple(PAGE_TYPES))
        yield case, [("all", "mean"), ("all", "stddev"), ("all", "p99"), ("all", "p99_9")], 40
    for load, millions in ((0.1, 1), (0.3, 1), (0.5, 1), (0.7, 2)):
        for after, time in ((0.001, 200.0), (100.0, 1000.0)):
            case = Case(
                "sleeps", "in_order", load, millions * 10**6, sleeps_after=after, wake_up=time
            )
            yield case, [("all", "mean"), ("all", "p99")], 10
    for drives in (2, 4):
        for load, millions in ((0.3, 1), (0.5, 1), (0.7, 2)):
            case = Case(
                "spread", "in_order", load, millions * 10**6, drives, read=tuple(PAGE_TYPES)
            )
            yield case, [("all", "mean"), ("all", "p99"), ("all", "p99_9")], 40
    for share, classes in ((0.0, ["write"]), (0.5, ["read", "write"])):
        for load, millions in ((0.3, 1), (0.5, 1), (0.7, 2)):
            case = Case(
                "erases",
                "in_order",
                load,
                millions * 10**6,
                program=200.0,
                erase=2000.0,
                read_share=share,
            )
            yield case, [(one, what) for one in classes for what in ("mean", "p99")], 40
    for discipline in ("read_first", "read_first_preemptive"):
        for share in (0.5, 0.9):
            for load in (0.5, 0.7):
                case = Case("two_classes", discipline, load, 10**6, program=200.0, read_share=share)
                looked_at = [(one, what) for one in ("read", "write") for what in ("mean", "p99")]
                yield case, looked_at, 8


def formula(case: Case, class_: str, what: str) -> tuple[float, str] | None:
    """Return what is exact, and whose formula it is; None where there is none."""
    rate = 1 / case.gap()
    if case.name == "one_die" and what in QUANTILES:
        share = QUANTILES[what]
        return quantile_of_constant_service(rate, case.read[0], share), "Erlang"
    if case.name in {"one_die", "page_types"} and what in {"mean", "stddev"}:
        mean, deviation = pollaczek_khinchine(rate, np.asarray(case.read))
        return (mean, "Pollaczek-Khinchine") if what == "mean" else (deviation, "Takacs")
    if case.name == "sleeps" and what == "mean":
        return set_up(case, rate), "M/G/1 with set-up times"
    if case.name == "two_classes" and what == "mean":
        return of_two_classes(case, rate, class_)
    return None


def pollaczek_khinchine(rate: float, service: Times) -> tuple[float, float]:
    """Return mean and standard deviation of the response of M/G/1 (Takacs 1962 for the second)."""
    first, second, third = (float((service**power).mean()) for power in (1, 2, 3))
    left = 1 - rate * first
    wait = rate * second / (2 * left)
    square = 2 * wait**2 + rate * third / (3 * left)
    return wait + first, math.sqrt(square - wait**2 + second - first**2)


def set_up(case: Case, rate: float) -> float:
    """Return the mean response of M/G/1 whose server has to wake up first (Welch 1964)."""
    (service,) = case.read
    sleeps = math.exp(-rate * case.sleeps_after)
    first, second = sleeps * case.wake_up, sleeps * case.wake_up**2
    wait = rate * service**2 / (2 * (1 - rate * service))
    return service + wait + (2 * first + rate * second) / (2 * (1 + rate * first))


def of_two_classes(case: Case, rate: float, class_: str) -> tuple[float, str]:
    """Return the mean response of a class: Cobham's, or of those who preempt and resume."""
    rates = np.array([rate * case.read_share, rate * (1 - case.read_share)])
    times = np.array([case.read[0], case.program])
    loads, residuals = rates * times, rates * times**2 / 2
    above, below = 1 - loads[0], 1 - loads.sum()
    is_read = class_ == "read"
    if case.discipline == "read_first":
        waited = residuals.sum() / (above if is_read else above * below)
        return float(waited + times[0 if is_read else 1]), "Cobham"
    if is_read:
        return float(times[0] + residuals[0] / above), "preemptive-resume"
    return float(times[1] / above + residuals.sum() / (above * below)), "preemptive-resume"


def quantile_of_constant_service(rate: float, service: float, share: float) -> float:
    """Return a quantile of the response of M/D/1, by bisection of the distribution of its wait.

    The sum has positive terms only (Franx 2001): its coefficients are how many requests wait.
    """
    getcontext().prec = 60
    waiting = distribution_of_waiting(rate * service, 400)
    low, high = 0.0, 300 * service
    while high - low > 1e-9 * service:
        middle = (low + high) / 2
        if share_that_waits_at_most(middle, rate, service, waiting) < share:
            low = middle
        else:
            high = middle
    return high + service


def distribution_of_waiting(load: float, most: int) -> list[Decimal]:
    """Return the probabilities that at most 0, 1, ... requests wait, of M/D/1."""
    load_ = Decimal(load)
    come = [(-load_).exp()]
    for count in range(1, most + 2):
        come.append(come[-1] * load_ / count)
    # Of the requests in the system, by what those who leave see.
    there = [1 - load_]
    there.append(there[0] * (1 / come[0] - 1))
    for count in range(1, most):
        earlier = sum(there[one] * come[count + 1 - one] for one in range(2, count + 1))
        there.append((there[count] - (there[0] + there[1]) * come[count] - earlier) / come[0])
    at_most, waiting = there[0], []
    for one in there[1:]:
        at_most += one
        waiting.append(at_most)
    return waiting


def share_that_waits_at_most(
    time: float, rate: float, service: float, waiting: list[Decimal]
) -> Decimal:
    """Return the distribution function of the wait of M/D/1."""
    whole = int(time / service)
    rest = Decimal(rate) * (Decimal(whole + 1) * Decimal(service) - Decimal(time))
    term, total = (-rest).exp(), Decimal(0)
    for place in range(whole + 1):
        total += waiting[whole - place] * term
        term *= rest / (place + 1)
    return total


def row(case: Case, looked_at: tuple[str, str], runs: list[Results]) -> list[str]:
    """Return a row: what is expected, from where, and how far a run strays."""
    found = np.array([run[looked_at] for run in runs])
    mean, deviation = float(found.mean()), float(found.std(ddof=1))
    exact = formula(case, *looked_at)
    expected, source = exact or (mean, "recursion")
    # The model must agree.
    strays = 5 * deviation / math.sqrt(len(runs)) + 1e-6 * mean
    if abs(expected - mean) > strays:
        raise AssertionError((case, looked_at, expected, mean, strays))
    times = (case.program, case.erase, case.read_share, case.sleeps_after, case.wake_up)
    return [
        case.name,
        case.discipline,
        *looked_at,
        f"{case.load:g}",
        str(case.requests),
        str(case.drives),
        "|".join(f"{time:g}" for time in case.read),
        *(f"{time:g}" for time in times),
        f"{case.gap():g}",
        f"{expected:.7g}",
        f"{deviation / mean:.2g}",
        source,
    ]


COLUMNS = (
    "case,discipline,class,metric,load,requests,drives,read_us,program_us,erase_us,read_share,"
    "sleeps_after_us,wake_up_us,gap_us,expected,sigma,source"
)


def main() -> None:
    """Simulate and store."""
    rng = np.random.default_rng(1)
    with STORED.open("w", newline="", encoding="utf-8") as file:
        file.write(HEADER)
        file.write(COLUMNS + "\n")
        table = csv.writer(file, lineterminator="\n")
        for case, looked_at, count in cases():
            runs = [of_responses(MODELS[case.name](case, rng)) for _ in range(count)]
            for one in looked_at:
                table.writerow(found := row(case, one, runs))
                print(*found, flush=True)


if __name__ == "__main__":
    main()
