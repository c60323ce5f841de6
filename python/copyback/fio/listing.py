"""Listing of the job files in a folder: ``python -m copyback.fio.listing FOLDER``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback._core import Config, InputError
from copyback.fio.workload import Job, read_job_file, settings_of_job
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The drive that is large enough for all but a few of fio's examples.
PRESET = "tlc-nvme"

#: What job files ask the environment for.
VARIABLES = {"FIO_RW": "randrw", "FIO_IODEPTH": "16", "FIO_BS": "4k"}

#: Kinds of addresses.
_RANDOM = {"uniform": "at random", "random_map": "at random, each block once a pass"}

#: Notes that say nothing of what is simulated.
_ASIDE = "fio: without effect"

_HEAD = """\
# fio's example jobs

What `copyback run --preset {preset} --fio-job FILE` makes of each of the {all} job files in the
folder `examples` of fio's sources: {taken} run. Where a job asks the environment, it finds
{variables}. `python -m copyback.fio.listing FOLDER` writes this page, and a test
compares it with what the program says (`COPYBACK_FIO_EXAMPLES` names the folder).

## Those that run
"""


def taken(path: Path) -> tuple[Job, list[tuple[str, str]]]:
    """Read a job file and check its settings, as ``run`` does.

    Raises
    ------
    InputError
        If the file is refused.
    """
    job = read_job_file(path, _capacity())
    settings, _ = settings_of_job(path, _capacity())
    Config.load(preset=PRESET, settings=settings)
    return job, settings


def _capacity() -> int:
    return Config.load(preset=PRESET).capacity_bytes


def page(folder: Path) -> str:
    """Return the page about the job files in a folder."""
    runs, refusals = [], []
    files = sorted(folder.glob("*.fio"))
    for path in files:
        try:
            job, _ = taken(path)
        except InputError as fault:
            line = str(fault).splitlines()[0].removeprefix(f"{path}:")
            refusals.append(f"- `{path.name}`, line {line.replace(': ', ', ', 1)}")
        else:
            runs.append("\n".join(_entry(path.name, job)))
    variables = ", ".join(f"`{name}={value}`" for name, value in VARIABLES.items())
    head = _HEAD.format(preset=PRESET, all=len(files), taken=len(runs), variables=variables)
    return "\n".join([head, *runs, "", "## Those that are refused, and why", "", *refusals, ""])


def _entry(name: str, job: Job) -> Iterator[str]:
    yield f"- `{name}`: {simulated(job)}"
    for note in job.notes:
        if not note.startswith(_ASIDE):
            yield f"  - {note.removeprefix('fio: ')}"


def simulated(job: Job) -> str:
    """Return what a job file has become in a line: equal flows together, in order."""
    flows = job.workload.get("flows", [job.workload])
    groups: list[tuple[str, list[int]]] = []
    for number, flow in enumerate(flows):
        words = _flow(flow)
        if groups and groups[-1][0] == words:
            groups[-1][1].append(number)
        else:
            groups.append((words, [number]))
    parts = [f"{len(of)} × {words}" if len(of) > 1 else words for words, of in groups]
    if len(parts) > 6:
        parts = [*parts[:3], f"… ({len(parts) - 4} more)", parts[-1]]
    ends = ["until steady"] if job.stop is not None else []
    return "; ".join(parts + ends)


def _flow(flow: Mapping[str, Any]) -> str:
    facts = [_pace(flow), _operations(flow), _sizes(flow["request_size"]), _order(flow)]
    facts.append(f"over {_extent(flow['footprint'])}")
    if "starts_at" in flow:
        facts.append(f"from {_seconds(flow['starts_at'])}")
    if "starts_after" in flow:
        facts.append("after those before it")
    if "ramp" in flow:
        facts.append(f"{_seconds(flow['ramp'])} of it a ramp")
    if "duration" in flow:
        facts.append(f"for {_seconds(flow['duration'])}")
    if "thinktime" in flow:
        facts.append(f"with pauses of {_seconds(flow['thinktime']['time'])}")
    if "io_size" in flow:
        facts.append(f"{units.size(int(flow['io_size'].removesuffix('B')))} at most")
    if flow["requests"] != "unlimited":
        facts.append(f"{units.count(flow['requests'])} requests at most")
    return ", ".join(facts)


def _pace(flow: Mapping[str, Any]) -> str:
    if "iodepth" not in flow:
        return "an open loop"
    limited = " at a limited rate" if "rate" in flow else ""
    return f"iodepth {flow['iodepth']}{limited}"


def _extent(share: float) -> str:
    return "the whole drive" if share == 1 else units.size(round(share * _capacity()))


def _operations(flow: Mapping[str, Any]) -> str:
    if flow["trim_share"]:
        return "trims"
    if "trim_before_write" in flow:
        return "writes after trims"
    share = flow["read_share"]
    return {1.0: "reads", 0.0: "writes"}.get(share, f"{share:.0%} reads")


def _sizes(size: Any) -> str:
    if isinstance(size, str):
        return f"of {units.size(int(size.removesuffix('B')))}"
    if size["type"] == "by_operation":
        return f"{_sizes(size['read'])} (reads), {_sizes(size['write'])} (writes)"
    sizes = sorted(int(one.removesuffix("B")) for one in size["sizes"])
    ends = dict.fromkeys([units.size(sizes[0]), units.size(sizes[-1])])
    return f"of {' to '.join(ends)}"


def _order(flow: Mapping[str, Any]) -> str:
    if "sequential_run" in flow:
        return f"at random, {flow['sequential_run']} in sequence"
    if flow["sequential_share"] == 0:
        kind = flow["address"]["type"]
        return _RANDOM.get(kind, f"at random ({kind})")
    skip = flow.get("sequential_skip")
    return "in sequence" if skip is None else f"in sequence {skip['type']} with gaps"


def _seconds(text: str) -> str:
    return f"{int(text.removesuffix('ns')) / 1e9:g} s"


if __name__ == "__main__":
    for variable, value in VARIABLES.items():
        os.environ.setdefault(variable, value)
    sys.stdout.write(page(Path(sys.argv[1])))
