"""Finds what transactions of a database waited for, in the requests of the drive below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.report import slowest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from copyback.result import Result

#: Requests of a transaction that are told.
TOLD = 3

#: Sentences that are told of a request.
REASONS = 2

#: The share of transactions that counts as the slowest.
SLOWEST = 0.01

#: Parts of a response that collections are to blame for.
COLLECTING = ("gc_same_plane_ns", "gc_other_plane_ns", "late_ns")


@dataclass(frozen=True)
class Transactions:
    """When transactions began and ended, on the drive's clock."""

    begin_ns: NDArray[np.float64]
    end_ns: NDArray[np.float64]

    @classmethod
    def logged(cls, files: Iterable[Path], begun_unix_ns: int, slower: float) -> Transactions:
        """Read the logs of pgbench.

        Parameters
        ----------
        begun_unix_ns
            When the drive's clock began, as the drive's log says.
        slower
            How many times slower it runs than the host's.
        """
        lines = [line for path in files for line in path.read_text().splitlines()]
        # Client, number, microseconds, script, and the end: seconds since 1970 and microseconds.
        table = np.array([line.split()[:6] for line in lines], dtype=np.int64)
        end = table[:, 4] * 1_000_000_000 + table[:, 5] * 1_000 - begun_unix_ns
        return cls((end - table[:, 2] * 1_000) / slower, end / slower)

    @property
    def took_us(self) -> NDArray[np.float64]:
        """How long each took, in microseconds."""
        return (self.end_ns - self.begin_ns) / 1e3

    def __len__(self) -> int:
        return len(self.end_ns)


def percentiles(times_us: NDArray[np.float64]) -> dict[str, float]:
    """Return the percentiles that are stored; each is a time that was measured."""
    shares = {"p50": 50, "p90": 90, "p99": 99, "max": 100}
    return {
        name: float(np.percentile(times_us, share, method="higher"))
        for name, share in shares.items()
    }


def behind_collections(transactions: Transactions, run: Result) -> NDArray[np.float64]:
    """Return for each transaction the share of its time in which a request waited for collections.

    A request counts from its arrival to its end if collections took more than half of that.
    Whose request it was nobody knows: a transaction also waits for those of others.
    """
    table = run.requests
    assert table is not None
    collecting = sum(table[name].values.astype(np.float64) for name in COLLECTING)
    return share_with(transactions, run, collecting > table["response_ns"].values / 2)


def on_drive(transactions: Transactions, run: Result) -> NDArray[np.float64]:
    """Return for each transaction the share of its time in which the drive had any request."""
    assert run.requests is not None
    return share_with(transactions, run, run.requests["response_ns"].values > 0)


def share_with(
    transactions: Transactions, run: Result, counts: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return for each transaction the share of its time in which the drive had a certain request.

    Parameters
    ----------
    counts
        Which of the run's requests are meant.
    """
    table = run.requests
    assert table is not None
    arrival, response = (
        table[name].values.astype(np.float64) for name in ("arrival_ns", "response_ns")
    )
    spans = joined(arrival[counts], (arrival + response)[counts])
    length = transactions.end_ns - transactions.begin_ns
    return (covered(spans, transactions.end_ns) - covered(spans, transactions.begin_ns)) / length


def joined(
    begin: NDArray[np.float64], end: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return spans with those joined that overlap, in order."""
    order = np.argsort(begin)
    begin, end = begin[order], np.maximum.accumulate(end[order])
    first = np.ones(len(begin), bool)
    first[1:] = begin[1:] > end[:-1]
    last = np.ones(len(begin), bool)
    last[:-1] = first[1:]
    return begin[first], end[last]


def covered(
    spans: tuple[NDArray[np.float64], NDArray[np.float64]], until: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how much of the time before each instant lies in the spans, which do not overlap."""
    begin, end = spans
    before = np.concatenate([[0.0], np.cumsum(end - begin)])
    number = np.searchsorted(begin, until, side="right")
    last = np.maximum(number - 1, 0)
    beyond = np.maximum(end[last] - until, 0) if len(end) else np.zeros(len(until))
    return before[number] - np.where(number > 0, beyond, 0)


def waiting(transactions: Transactions, run: Result) -> dict[str, Any]:
    """Return how much of their time the slowest transactions, and all, waited for collections."""
    shares = behind_collections(transactions, run)
    took = transactions.took_us
    many = max(round(len(took) * SLOWEST), 1)
    tail = np.argsort(took)[-many:]
    return {
        "slowest": many,
        "slowest_share": float(shares[tail].sum() / many),
        "all_share": float(shares.mean()),
        "slowest_drive": float(on_drive(transactions, run)[tail].mean()),
        "slowest_met": float(np.median(met_by(transactions, run)[tail])),
        "all_met": float(np.median(met_by(transactions, run))),
        "all_drive": float(on_drive(transactions, run).mean()),
    }


def explained(transactions: Transactions, run: Result) -> dict[str, Any]:
    """Return the slowest transaction, with the slowest requests of the drive meanwhile."""
    number = int(np.argmax(transactions.took_us))
    begin, end = transactions.begin_ns[number] / 1e3, transactions.end_ns[number] / 1e3
    assert run.slowest is not None
    met = [
        request
        for request in run.slowest
        if request["arrival_us"] < end and request["arrival_us"] + request["response_us"] > begin
    ]
    return {
        "took_us": float(end - begin),
        "share": float(behind_collections(transactions, run)[number]),
        "drive": float(on_drive(transactions, run)[number]),
        "requests_met": int(met_by(transactions, run)[number]),
        "slow_requests": len(met),
        "requests": [told(request, begin) for request in spread(met)],
    }


def met_by(transactions: Transactions, run: Result) -> NDArray[np.int64]:
    """Return how many requests came to the drive during each transaction."""
    assert run.requests is not None
    arrivals = np.sort(run.requests["arrival_ns"].values.astype(np.float64))
    return np.searchsorted(arrivals, transactions.end_ns) - np.searchsorted(
        arrivals, transactions.begin_ns
    )


def spread(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the slowest requests of which none overlaps another: those that came one by one."""
    chosen: list[dict[str, Any]] = []
    for request in requests:
        begin, end = request["arrival_us"], request["arrival_us"] + request["response_us"]
        if len(chosen) < TOLD and all(
            end <= other["arrival_us"] or begin >= other["arrival_us"] + other["response_us"]
            for other in chosen
        ):
            chosen.append(request)
    return sorted(chosen, key=lambda request: float(request["arrival_us"]))


def told(request: dict[str, Any], begin_us: float) -> dict[str, Any]:
    """Return what is stored of a request."""
    return {
        "request": request["request"],
        "operation": request["operation"],
        "bytes": request["bytes"],
        "after_us": float(request["arrival_us"] - begin_us),
        "response_us": request["response_us"],
        "reasons": slowest.reasons(request, several_drives=False)[:REASONS],
    }


def of_drive(summary: Any) -> dict[str, dict[str, float]]:
    """Return the percentiles of a drive's responses that are stored, in microseconds."""
    return {
        operation: {name: float(summary(operation, name)) for name in ("p50", "p90", "p99", "max")}
        for operation in ("read", "write")
    }
