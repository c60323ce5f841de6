"""The tournament: the sweeps of this folder, and who wins where, on one page."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._core import InputError
from copyback.data import SUMMARY
from copyback.data.outputs import replace_file
from copyback.frame import Frame
from copyback.inputs.arguments import path as argument_path
from copyback.sweep.axes import TRACE, Point
from copyback.sweep.comparison import Comparison, run_plan
from copyback.sweep.plan import Plan, make_plan
from copyback.sweep.standings import standings
from copyback.sweep.store import is_sweep, run_directory
from copyback.sweep.sweep_file import SweepFile, read_sweep
from copyback.words import units

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from copyback.sweep.where import Where

HOME = Path(__file__).parent
PAGE = "tournament.md"


@dataclass(frozen=True)
class Part:
    """One sweep of the tournament.

    Attributes
    ----------
    plan
        Its runs, all of their configurations checked.
    absent
        Loads that are left out because their trace is not there.
    """

    name: str
    title: str
    baseline: Point
    plan: Plan
    absent: tuple[str, ...]


#: The sweep files, in their order on the page.
TITLES = {
    "drives": "Page-mapped drives",
    "mappings": "Mappings",
    "arrays": "Arrays",
    "placements": "Placements",
}


def plans(names: Sequence[str], *, quick: bool, traces: Path | None) -> list[Part]:
    """Return parts of the tournament, ready to run.

    Parameters
    ----------
    names
        Of the parts; all if there are none.
    quick
        A small drive and fewer choices: minutes on two cores.
    traces
        The directory of real traces; loads whose trace is not there are left out.

    Raises
    ------
    InputError
        If there is no such part or directory.
    """
    if traces is not None and not traces.is_dir():
        raise InputError(f"{traces}: no such directory")
    strangers = [name for name in names if name not in TITLES]
    if strangers:
        raise InputError(f"no part {strangers[0]!r}; there are {', '.join(TITLES)}")
    return [_part(name, quick=quick, traces=traces) for name in names or TITLES]


def _part(name: str, *, quick: bool, traces: Path | None) -> Part:
    file = read_sweep(HOME / f"{name}.toml", quick=quick, traces=traces)
    absent = tuple(load for load, settings in file.design.loads.items() if _is_absent(settings))
    loads = {load: own for load, own in file.design.loads.items() if load not in absent}
    design = replace(file.design, loads=loads)
    return Part(name, TITLES[name], design.baseline, _plan(replace(file, design=design)), absent)


def _is_absent(settings: Point) -> bool:
    return any(key == TRACE and not Path(text).is_file() for key, text in settings)


def _plan(file: SweepFile) -> Plan:
    return make_plan(
        file.config,
        file.design.points(),
        preset=file.preset,
        named=file.design.named,
        settings=file.settings,
        skip_refused=file.skip_refused,
    )


def run(
    parts: Sequence[Part],
    out: Path,
    where: Where,
    *,
    command: str,
    progress: Callable[[Part], AbstractContextManager[Callable[[float], None]]],
    on_failed: Callable[[str, Exception], None] = lambda *_: None,
) -> Path:
    """Run what is missing of each part, each in its directory, and write the page of all.

    Parameters
    ----------
    on_failed
        Told a sentence on runs that cannot be done, and the fault.

    Returns
    -------
    Path
        The page, in Markdown.
    """
    found = []
    for part in parts:
        with progress(part) as tell:
            found.append(
                run_plan(
                    part.plan,
                    out / part.name,
                    where,
                    baseline=part.baseline,
                    command=command,
                    on_progress=tell,
                    on_failed=on_failed,
                )
            )
    return replace_file(out / PAGE, page(parts, found).encode())


def page(parts: Sequence[Part], found: Sequence[Comparison]) -> str:
    """Return who wins in each part, in Markdown."""
    pairs = zip(parts, found, strict=True)
    sections = [
        standings(own.contests, part.title, level=2) + f"\n{_provenance(own)}\n"
        for part, own in pairs
    ]
    return "\n".join(["# The tournament\n", *sections])


@dataclass(frozen=True, repr=False)
class Tournament:
    """A tournament that has been run.

    Attributes
    ----------
    parts
        What was found in each part, by its name.
    """

    parts: dict[str, Comparison]

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Tournament:
        """Read what ``copyback tournament --out`` left.

        Raises
        ------
        InputError
            If the directory holds no part of a tournament.
        """
        home = argument_path("Tournament.load", directory, "directory")
        there = [name for name in TITLES if is_sweep(home / name)]
        if not there:
            raise InputError(f"{home}: holds no part of a tournament ({', '.join(TITLES)})")
        return cls({name: Comparison.load(home / name) for name in there})

    @property
    def frame(self) -> Frame:
        """One row a run: ``part``, and the columns of its comparison."""
        return Frame.joined(
            [
                Frame({"part": [name] * len(found.frame), **dict(found.frame.items())})
                for name, found in self.parts.items()
            ]
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow C stream."""
        return self.frame.__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each row by column, as ``pandas.DataFrame(found)`` takes them."""
        return self.frame.iter_rows()

    def __repr__(self) -> str:
        runs = (f"{name}: {len(found.frame)} runs" for name, found in self.parts.items())
        return f"Tournament({', '.join(runs)})"

    def _repr_html_(self) -> str:
        from copyback.sweep.fragment import render_fragment

        return "".join(
            render_fragment(found.contests, TITLES[name]) for name, found in self.parts.items()
        )


def _provenance(found: Comparison) -> str:
    """Return how many runs a part was, which simulators did them, and what they cost."""
    runs = [run_directory(found.directory, run) / SUMMARY for run in found.frame["run"]]
    simulators = [json.loads(run.read_bytes())["simulator"] for run in runs]
    spent = units.time_s(sum(one["cpu_s"] for one in simulators))
    commits = sorted({one.get("commit") or "unknown" for one in simulators})
    told = ", ".join(f"`{one}`" for one in commits)
    return f"{len(runs):,} runs, {spent} of CPU time, commit {told}."
