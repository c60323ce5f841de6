"""Report on an array: its drives, who collects together, how steady it is."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from copyback.data.density import kernel_density
from copyback.words import describe, units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from copyback.result import Result

    Column = NDArray[np.float64]

#: Fewest windows whose density says anything.
LEAST_WINDOWS = 30

#: Points of the density, and how many deviations it reaches.
DENSITY_POINTS = 241
REACH = 4.0

#: Columns of a drive's strip, and the shades in which it says how much of a column it collected.
STRIP_COLUMNS = 1_000
SHADES = 4


@dataclass(frozen=True)
class Strip:
    """When a drive collected, as an SVG path for each shade; the last is the darkest."""

    label: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Strips:
    """The strips of all drives, one under the other."""

    rows: tuple[Strip, ...]
    row_height: int
    end: str

    @property
    def height(self) -> int:
        """Height of all in units of the drawing."""
        return self.row_height * len(self.rows)


def context(result: Result) -> dict[str, Any] | None:
    """Return what the page's section on the array shows; None of a single drive."""
    drives = describe.drives(result)
    if not drives:
        return None
    shares = describe.together(result.summary)
    return {
        "drives": drives,
        "is_rated": any(drive.years is not None for drive in drives),
        "together": [
            {"label": label, "share": share, "depth": index / max(len(shares) - 1, 1)}
            for index, (label, share) in enumerate(shares)
        ],
        "bandwidth": describe.steadiness(result.summary),
        "strips": strips(result),
    }


def density(result: Result) -> dict[str, Any]:
    """Return the density of the bandwidth over windows, in deviations from its mean (Z score).

    Windows are rows of the series, put together until they are as long as the configured window.
    Empty if there are too few, or if all are alike.
    """
    windows, seconds = bandwidth_windows(result)
    if len(windows) < LEAST_WINDOWS or not windows.std() > 0:
        return {}
    scores = (windows - windows.mean()) / windows.std()
    z = np.linspace(-REACH, REACH, DENSITY_POINTS)
    normal = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return {
        "z": np.round(z, 4).tolist(),
        "density": np.round(kernel_density(scores, z), 5).tolist(),
        "normal": np.round(normal, 5).tolist(),
        "windows": len(windows),
        "window": units.time_s(seconds),
    }


def bandwidth_windows(result: Result) -> tuple[Column, float]:
    """Return the bytes of each window that has ended, and its length in seconds."""
    table = result.series
    start = table["start_s"].to_numpy()
    if len(start) < 2:
        return np.zeros(0), 0.0
    row = median(np.diff(start).tolist())
    rows = max(round(result.summary.bandwidth.window_s / row), 1)
    total = table["read_bytes"].to_numpy() + table["write_bytes"].to_numpy()
    whole = (len(total) - 1) // rows * rows
    windows = total[:whole].reshape(-1, rows).sum(axis=1)
    return windows.astype(np.float64), row * rows


def strips(result: Result) -> Strips | None:
    """Return when each drive collected; None if the run did not keep it."""
    table = result.collections
    if table is None:
        return None
    device = table["device"].to_numpy()
    begin, end = (table[name].to_numpy() / 1e9 for name in ("begin_ns", "end_ns"))
    whole = max(result.summary.throughput.simulated_s, 1e-9)
    drives = describe.drives(result)
    row_height = 16 if len(drives) <= 16 else 6
    rows = [
        Strip(
            drive.label,
            _paths(_covered(begin[device == i], end[device == i], whole), i, row_height),
        )
        for i, drive in enumerate(drives)
    ]
    return Strips(tuple(rows), row_height, units.time_s(whole))


def _covered(begin: Column, end: Column, whole: float) -> Column:
    """Return the share of each column of a strip in which the drive collected."""
    edges = np.linspace(0.0, whole, STRIP_COLUMNS + 1)
    # Time collected until each edge: intervals of a drive don't overlap and come in order.
    lengths = np.concatenate([[0.0], np.cumsum(end - begin)])
    index = np.searchsorted(begin, edges)
    until = lengths[index]
    inside = index > 0
    until[inside] -= np.maximum(end[index[inside] - 1] - edges[inside], 0.0)
    return np.clip(np.diff(until) / (whole / STRIP_COLUMNS), 0.0, 1.0)


def _paths(covered: Column, row: int, height: int) -> tuple[str, ...]:
    shade = np.ceil(covered * SHADES).astype(int)
    top, tall = row * height + 1, height - 2
    paths = []
    for wanted in range(1, SHADES + 1):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], shade == wanted, [0]]).astype(int)))
        runs = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        paths.append("".join(f"M{a} {top}h{b - a}v{tall}h{a - b}z" for a, b in runs))
    return tuple(paths)
