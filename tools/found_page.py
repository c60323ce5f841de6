"""Write what is stored of hidden drives as the generated part of docs/drives/found.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drive_found import AIM, BUDGET, FIT, HIDDEN, RAMP, SECONDS, is_right, judged

from copyback.calibration.search.known import Verdict
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Drive = dict[str, Any]


def page(stored: Mapping[str, Any]) -> str:
    """Return what is generated of the page."""
    drives: list[Drive] = stored["drives"]
    pieces = [
        _answer(drives),
        f"Run by `python tools/drive_found.py` at commit {drives[0]['commit']}: {BUDGET} "
        f"evaluations a drive, {SECONDS:g} s of each rate measured after {RAMP:g} s that are not. "
        f"All took {sum(one['cpu_seconds'] for one in drives) / 60:.0f} minutes of "
        "one core.",
        "\n".join(_ranges()),
        "\n".join(_parameters(drives)),
        "Each cell: hidden → found (its interval). **Bold**: the interval does not hold the "
        "hidden value. In brackets: does not count, as it is not determined; † is at the end of "
        "its range, ‡ not identifiable.",
        "\n".join(_table(drives)),
        "\n".join(_served(drives)),
        "## Before intervals were mended",
        _before(stored["before"]),
        "\n".join(_table(stored["before"])),
    ]
    return "\n\n".join(pieces) + "\n"


def right(drives: Sequence[Drive]) -> int:
    """Return the number of drives that are right."""
    return sum(map(is_right, drives))


def counts(drives: Sequence[Drive], key: str | None = None) -> dict[str, int]:
    """Return how many parameters, or those of a key, are inside, outside, or do not count."""
    found = {"inside": 0, "outside": 0, Verdict.UNKNOWN.value: 0, Verdict.AT_END.value: 0}
    for drive in drives:
        for one, _, inside in judged(drive):
            if key in (None, one["key"]):
                name = "inside" if inside else "outside"
                found[one["verdict"] if inside is None else name] += 1
    return found


def _answer(drives: Sequence[Drive]) -> str:
    number, of = right(drives), counts(drives)
    counted = of["inside"] + of["outside"]
    reached = "reached" if number >= AIM else "missed"
    return (
        f"**Of {len(drives)} drives, {number} have all their hidden parameters within the "
        f"intervals** of those that are called determined. The aim was {AIM}: {reached}. Of "
        f"{counted + of[Verdict.UNKNOWN] + of[Verdict.AT_END]} parameters, {counted} are "
        f"determined, and {of['inside']} of these are inside; {of[Verdict.UNKNOWN]} are not "
        f"identifiable, and {of[Verdict.AT_END]} are at the end of their range."
    )


def _before(drives: Sequence[Drive]) -> str:
    missed = sum(not is_right(drive) for drive in drives)
    return (
        f"At commit {drives[0]['commit']} the first {len(drives)} of ten other drives were looked "
        f"at, and {missed} were missed. The run was stopped there, intervals were mended, and the "
        "ten drives above were drawn."
    )


def _ranges() -> list[str]:
    lines = ["| parameter | hidden between | looked for between |", "| --- | --- | --- |"]
    for key, (low, high) in HIDDEN.items():
        asked = FIT[key].replace("..", " and ")
        lines.append(f"| `{key}` | {_shown(low)} and {_shown(high)} | {asked} |")
    return lines


def _parameters(drives: Sequence[Drive]) -> list[str]:
    lines = [
        "| parameter | inside | outside | not identifiable | at the end of its range | "
        "off by, median | interval, median width |",
        "| --- |" + " ---: |" * 6,
    ]
    for key in HIDDEN:
        told = " | ".join(map(str, counts(drives, key).values()))
        off, width = _median_off(drives, key)
        lines.append(f"| `{key}` | {told} | {off} | {width} |")
    return lines


def _median_off(drives: Sequence[Drive], key: str) -> tuple[str, str]:
    """Return by how much values that count are off, and how wide their intervals are."""
    own = [
        (one, true)
        for drive in drives
        for one, true, inside in judged(drive)
        if one["key"] == key and inside is not None
    ]
    if not own:
        return "", ""
    off = sorted(max(one["value"] / true, true / one["value"]) - 1 for one, true in own)
    widths = sorted(one["interval"][1] / one["interval"][0] for one, _ in own)
    middle = len(own) // 2
    return units.share(off[middle]), f"a factor of {widths[middle]:.2f}"


def _table(drives: Sequence[Drive]) -> list[str]:
    heads = " | ".join(f"`{key}`" for key in HIDDEN)
    lines = [
        f"| drive | measured by | {heads} | loss | right |",
        "| ---: | --- |" + " --- |" * len(HIDDEN) + " ---: | --- |",
    ]
    for drive in drives:
        how = "fio, served" if drive["served"] else "simulation"
        cells = " | ".join(_cell(*row) for row in judged(drive))
        verdict = "yes" if is_right(drive) else "no"
        lines.append(f"| {drive['number']} | {how} | {cells} | {drive['loss']:.3f} | {verdict} |")
    return lines


def _cell(one: Mapping[str, Any], true: float, inside: bool | None) -> str:
    low, high = map(_shown, one["interval"])
    text = f"{_shown(true)} → {_shown(one['value'])} ({low} to {high})"
    if inside is None:
        return f"[{text}] {'†' if one['verdict'] == Verdict.AT_END else '‡'}"
    return text if inside else f"**{text}**"


def _shown(value: float) -> str:
    """Return a parameter as people read it: a share, or nanoseconds as a time."""
    return f"{value:.3f}" if value < 1 else units.time_us(value / 1e3)


def _served(drives: Sequence[Drive]) -> list[str]:
    lines = [
        "| drive | fio | drive's clock slower | taken off each latency | the server says, on the "
        "host's clock |",
        "| ---: | --- | ---: | ---: | --- |",
    ]
    for drive in drives:
        facts = drive["served"]
        if facts:
            said = "; ".join(line.removeprefix("copyback: ") for line in facts["said"])
            offset = units.time_us(facts["offset_us"])
            lines.append(
                f"| {drive['number']} | {facts['fio']} | {facts['slower']} times | {offset} | "
                f"{said} |"
            )
    return lines
