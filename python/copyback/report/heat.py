"""Heat maps of dies over time: what share of each interval a die collected or served the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from copyback.frame import Frame
    from copyback.result import Result

    Grid = NDArray[np.float64]

#: Most rows of a map; where there are more dies, neighbours share one.
MOST_ROWS = 96

#: Levels of a cell, one letter each; what lies behind the end of a run is blank.
LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
BLANK = " "


def context(result: Result) -> list[dict[str, Any]]:
    """Return the rows of the table that says what the map draws; none without `Result.dies`."""
    if result.dies is None or not len(result.dies):
        return []
    found = Dies(result.dies)
    whole = max(found.edges[-1] - found.edges[0], 1e-12) * 1e6
    rows = zip(
        found.labels(MOST_ROWS),
        found.rows(found.collecting.sum(axis=1, keepdims=True) / whole, MOST_ROWS)[:, 0],
        found.rows(found.serving.sum(axis=1, keepdims=True) / whole, MOST_ROWS)[:, 0],
        found.rows(found.free.min(axis=1, keepdims=True), MOST_ROWS)[:, 0],
        strict=True,
    )
    return [
        {"label": label, "collecting": float(gc), "serving": float(host), "free": float(free)}
        for label, gc, host, free in rows
    ]


def data(result: Result) -> dict[str, Any]:
    """Return the maps of a run; nothing without `Result.dies`."""
    if result.dies is None or not len(result.dies):
        return {}
    found = Dies(result.dies)
    span = np.maximum(np.diff(found.edges), 1e-12) * 1e6
    return {
        "labels": found.labels(MOST_ROWS),
        "end": float(found.edges[-1]),
        "collecting": cells(found.rows(found.collecting / span, MOST_ROWS)),
        "serving": cells(found.rows(found.serving / span, MOST_ROWS)),
        "free": cells(found.rows(found.free, MOST_ROWS)),
    }


def small_map(table: Frame, *, rows: int, columns: int, end: float) -> dict[str, Any]:
    """Return the map of collections alone, of at most so many cells, over a time that is given.

    Parameters
    ----------
    table
        As `Result.dies`.
    end
        Seconds of simulated time from the left edge to the right; what lies behind the end of the
        run is left blank.
    """
    found = Dies(table)
    edges = np.linspace(0.0, end, columns + 1)
    # Time that each die has collected until each edge, in proportion within a bin.
    totals = np.concatenate(
        [np.zeros((len(found.collecting), 1)), np.cumsum(found.collecting, axis=1)], axis=1
    )
    until = np.stack([np.interp(edges, found.edges, die) for die in totals])
    shares = np.diff(until, axis=1) / (1e6 * end / columns)
    shares[:, edges[:-1] >= found.edges[-1]] = np.nan
    return {
        "labels": found.labels(rows),
        "end": end,
        "collecting": cells(found.rows(shares, rows)),
        "mean": round(float(np.nanmean(shares)), 4),
    }


class Dies:
    """Activity of each die over time: a row a die, a column a bin.

    Parameters
    ----------
    table
        As `Result.dies`, with at least one row.

    Attributes
    ----------
    edges : numpy.ndarray
        Seconds of simulated time between the bins.
    collecting, serving : numpy.ndarray
        Microseconds in each bin.
    free : numpy.ndarray
        Free blocks at the end of each bin.
    """

    def __init__(self, table: Frame) -> None:
        columns = {name: table[name].to_numpy() for name in table.columns}
        start = columns["start_s"]
        dies = int(np.count_nonzero(start == start[0]))
        self._device, self._die = columns["device"][:dies], columns["die"][:dies]

        def grid(name: str) -> Grid:
            return np.asarray(columns[name].reshape(-1, dies).T, dtype=np.float64)

        self.edges: Grid = np.append(start[::dies], columns["end_s"][-1]).astype(np.float64)
        self.collecting = grid("collecting_us")
        self.serving = grid("serving_us")
        self.free = grid("free_blocks")

    def labels(self, most: int) -> list[str]:
        """Return what the rows are, at most so many."""
        names = [
            f"drive {device}, die {die}" if self._device[-1] else f"die {die}"
            for device, die in zip(self._device.tolist(), self._die.tolist(), strict=True)
        ]
        group = -(-len(names) // most)
        spans = [names[first : first + group] for first in range(0, len(names), group)]
        return [span[0] if len(span) == 1 else f"{span[0]} to {span[-1]}" for span in spans]

    def rows(self, cells: Grid, most: int) -> Grid:
        """Return the cells of at most so many rows: means of neighbours where there are more."""
        group = -(-len(cells) // most)
        first = np.arange(0, len(cells), group)
        sizes = np.diff(np.append(first, len(cells)))
        return np.asarray(np.add.reduceat(cells, first, axis=0) / sizes[:, None])


def cells(values: Grid) -> dict[str, Any]:
    """Return values as a string a row, a letter a cell, from nothing to the ``most`` there is."""
    most = float(np.nanmax(values, initial=0.0))
    top = len(LEVELS) - 1
    levels = np.nan_to_num(values, nan=0.0) / (most or 1.0) * top
    # A little is not nothing.
    levels = np.where(levels > 0, np.maximum(np.rint(levels), 1), 0).astype(int)
    blank = np.isnan(values)
    rows = [
        "".join(BLANK if empty else LEVELS[level] for level, empty in zip(*row, strict=True))
        for row in zip(levels.tolist(), blank.tolist(), strict=True)
    ]
    return {"rows": rows, "most": float(f"{most:.4g}")}
