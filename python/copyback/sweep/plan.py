"""From the points of a sweep to checked configurations, and the keys under which runs are kept."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from copyback._core import Config, InputError
from copyback.inputs import configuration
from copyback.inputs.layers import check_used, plain, under
from copyback.policies.load import PLACEMENTS, VICTIMS, named_in
from copyback.sweep.axes import LOAD, SCHEME, SEED, Point, is_load, layers_of
from copyback.sweep.dependencies import check_unchanged, dependencies, key_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from copyback.sweep.axes import Named
    from copyback.sweep.dependencies import Dependencies


@dataclass(frozen=True)
class Run:
    """One simulation of a sweep.

    Attributes
    ----------
    key
        Names what decides its result, which is what it depends on.
    point
        What of the sweep's keys it has, but for the seed.
    resolved
        The configuration as a table, which would take as long to read again as a short run.
    needs
        What it depends on, as it was when the sweep was planned.
    """

    key: str
    point: Point
    config: Config
    resolved: Mapping[str, Any]
    needs: Dependencies

    def check_unchanged(self) -> None:
        """Refuse the run if anything that it depends on has changed since.

        Raises
        ------
        InputError
            With what has.
        """
        check_unchanged(self.needs, dependencies(self.config, self.resolved["workload"]))

    @property
    def seed(self) -> int:
        """Seed of every random stream."""
        return int(self.resolved["seed"])

    @property
    def state_digest(self) -> str:
        """Digest of the prepared device."""
        kinds = (VICTIMS, PLACEMENTS)
        named = [policy for policy in named_in(self.config) if policy.kind in kinds]
        sources = "".join(policy.digest() for policy in named)
        digest = self.config.state_digest
        return hashlib.sha256((digest + sources).encode()).hexdigest()[:32] if named else digest

    def also(self, other: Run) -> Run:
        """Return this run as the point of `other` too, which came to the same configuration."""
        own = dict(self.point)
        names = [dict(run.point).get(SCHEME) for run in (self, other)]
        if None not in names and names[0] != names[1]:
            raise InputError(f"schemes.{names[1]}: is the same as schemes.{names[0]}")
        return replace(self, point=tuple({**dict(other.point), **own}.items()))


@dataclass(frozen=True)
class Plan:
    """All simulations of a sweep.

    Attributes
    ----------
    keys
        The keys that vary, in the order in which they were named.
    runs
        In the order of the points. Those with the same key are one simulation.
    refused
        Points that make no sense, and why, if those were to be left out.
    """

    keys: tuple[str, ...]
    runs: tuple[Run, ...]
    refused: tuple[str, ...]


def make_plan(
    base: Mapping[str, Any] | str | os.PathLike[str] | None,
    points: Sequence[Point],
    *,
    preset: str | None = None,
    named: Named | None = None,
    settings: Sequence[tuple[str, str]] = (),
    skip_refused: bool = False,
    merged: bool = True,
) -> Plan:
    """Return the simulations of a sweep, all of their configurations checked.

    Parameters
    ----------
    base
        The configuration that the points are laid over.
    points
        What varies.
    preset
        Name of a preset, in place of a file or as the base of a dictionary.
    named
        What the names among them stand for.
    settings
        Laid over the base under every point: a point replaces of them only what it sets itself.
    skip_refused
        Leave out points that the simulator refuses, as long as one is left.
    merged
        Take points that come to the same configuration as one run.

    Raises
    ------
    InputError
        If a configuration is wrong, with the point; if nothing is left; if a setting would be lost.
    """
    shared = [part for one in plain(settings) for part in one.parts()]
    laid = {point: layers_of(point, named or {}) for point in points}
    check_used(shared, list(laid.values()))
    runs: list[Run] = []
    refused: list[tuple[Point, str]] = []
    for point in points:
        own = [pair for layer in under(shared, laid[point]) for pair in layer.settings]
        try:
            config = configuration.load(base, preset=preset, settings=own)
        except InputError as fault:
            refused += [(point, line) for line in str(fault).splitlines()]
            continue
        resolved = configuration.resolved(config)
        needs = dependencies(config, resolved["workload"])
        runs.append(Run(key_of(needs), _without_seed(point), config, resolved, needs))
    if not runs or (refused and not skip_refused):
        raise InputError("\n".join(reasons(refused)) or "a sweep needs at least one point")
    keys = dict.fromkeys(key for point in points for key, _ in point if key != SEED)
    names_first = sorted(keys, key=lambda key: key not in (LOAD, SCHEME))
    kept = merge(runs) if merged else runs
    return Plan(tuple(names_first), tuple(kept), tuple(_sentences(refused)))


def merge(runs: Iterable[Run]) -> Iterable[Run]:
    """Return runs with those of one configuration as one, the point of which has both points."""
    found: dict[str, Run] = {}
    for run in runs:
        found[run.key] = found[run.key].also(run) if run.key in found else run
    return found.values()


def reasons(refused: Iterable[tuple[Point, str]]) -> list[str]:
    """Return each reason once, behind what the points have in common that it holds for."""
    points: dict[str, list[Point]] = {}
    for point, line in refused:
        points.setdefault(line, []).append(point)
    return [f"{_common(own)}: {line}" for line, own in points.items()]


def _common(points: Sequence[Point]) -> str:
    shared = tuple(pair for pair in points[0] if all(pair in point for point in points))
    if len(points) == 1:
        return text_of(shared)
    name = text_of(shared) if shared else f"{text_of(points[0])} and others"
    return f"{name} ({len(points)} runs)"


def _sentences(refused: Sequence[tuple[Point, str]]) -> Iterator[str]:
    """Yield each reason once, with the schemes that it holds for."""
    reasons: dict[str, dict[Point, None]] = {}
    for point, line in refused:
        scheme = tuple(pair for pair in point if pair[0] != SEED and not is_load(pair[0]))
        reasons.setdefault(line, {})[scheme or _without_seed(point)] = None
    for line, schemes in reasons.items():
        more = f" and {len(schemes) - 1} more" if len(schemes) > 1 else ""
        yield f"{text_of(next(iter(schemes)))}{more}: {line}"


def text_of(point: Point) -> str:
    """Return a point as people read it; the only one of its kind has no name."""
    return ", ".join(f"{key}={text}" for key, text in point if text) or "the configuration as it is"


def _without_seed(point: Point) -> Point:
    return tuple((key, text) for key, text in point if key != SEED)
