"""Verdict on a run's numbers, in sentences that all outputs share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from copyback.summary import RunHoldsSummary, Summary
from copyback.words import units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from copyback.summary import FlowSummary, LoadSummary, SpellSummary

#: What may have been found of a run: the key under `verdict.findings` in `summary.json`, a label,
#: and what it means for whoever compares.
MEANINGS = {
    "starved": (
        "Starved",
        "a flow had requests to make, and none of them was completed",
    ),
    "unmapped_reads": (
        "Unmapped reads",
        "pages were read that hold no data, which takes no time of the flash; such response times "
        "are not those of a drive that holds data",
    ),
    "nothing_programmed": (
        "No flash",
        "the drive's DRAM took all that was written, and no page was programmed",
    ),
    "overload": (
        "Overload",
        "more arrived than the drive could serve; such response times grow with the length of the "
        "run and cannot be compared",
    ),
    "perhaps_overload": (
        "Overload?",
        "the run is too short to tell whether the drive keeps up",
    ),
    "stalls": (
        "Stalls",
        "the tail comes from dies that collect and hold their requests meanwhile",
    ),
    "bursts": (
        "Bursts",
        "the tail comes from more requests at a time than the drive can serve, which wait for one "
        "another",
    ),
    "nothing_collected": (
        "No GC",
        "pages were programmed, but no block was collected",
    ),
    "unsettled": (
        "Not settled",
        "write amplification changed so much that a longer run may give another number",
    ),
}


@dataclass(frozen=True)
class Finding:
    """Finding that a reader of the numbers should know first.

    Attributes
    ----------
    key
        As in `summary.json`.
    label
        In a word or two.
    text
        A sentence or two, with this run's numbers.
    """

    key: str
    label: str
    text: str

    @property
    def sentence(self) -> str:
        """The label and what it stands for."""
        return f"{self.label}: {self.text}"


def findings(summary: Summary | FlowSummary) -> list[Finding]:
    """Return what was found of a run, or of one of its flows, the gravest first.

    Parameters
    ----------
    summary
        That of the run, or an item of its ``flows``.
    """
    return [
        Finding(key, MEANINGS[key][0], _TEXTS[key](summary)) for key in summary.verdict.findings
    ]


def _starved(summary: Summary | FlowSummary) -> str:
    if not isinstance(summary, Summary):
        return "It had requests to make, and none of them was completed."
    names = [
        flow.name or str(flow.flow)
        for flow in summary.flows or []
        if "starved" in flow.verdict.findings
    ]
    flows = "Flow" if len(names) == 1 else "Flows"
    return (
        f"{flows} {', '.join(names)} had requests to make, and none of them was completed: others "
        "held the queue, or the run ended before. A queue for each flow (host.queues) shares the "
        "drive; a longer run may get to them."
    )


def _unmapped_reads(summary: Summary | FlowSummary) -> str:
    assert isinstance(summary, Summary), "only of a whole run"
    requests = summary.requests
    return (
        f"{units.share(requests.unmapped_page_reads / requests.page_reads)} of the pages that were "
        "read held no data, as they were never written or were trimmed. Their reads take no time "
        "of the flash, so response times and throughput are not those of a drive that holds data. "
        "Fill the drive first (precondition.fill = 1.0), or read only what is written (offset and "
        "footprint of the workload)."
    )


def _nothing_programmed(summary: Summary | FlowSummary) -> str:
    written = units.size(summary.requests.write_bytes)
    return (
        f"No page was programmed: the drive's DRAM took all of the {written} written. The "
        "numbers are those of its write buffer and say nothing of flash or garbage collection; "
        "write more than it holds (ssd.buffer.capacity)."
    )


def _longest_spell(summary: Summary | FlowSummary) -> SpellSummary | None:
    """Return the longest time in which a die only collected; None of a flow."""
    holds = summary.verdict.holds
    return holds.longest_spell if isinstance(holds, RunHoldsSummary) else None


def _overload(summary: Summary | FlowSummary) -> str:
    load = summary.verdict.load
    assert load is not None
    most = units.rate(load.served_lately_iops)
    return (
        f"{units.rate(load.offered_iops)} requests a second arrive and {most} are served. The "
        "backlog grows as long as the run lasts, to "
        f"{units.count(load.backlog.at_last_arrival)} requests. These response times tell "
        f"how long the run was, not how fast the drive is; it can serve some {most} a second."
    )


def _perhaps_overload(summary: Summary | FlowSummary) -> str:
    load = summary.verdict.load
    assert load is not None
    waiting = units.count(load.backlog.at_last_arrival)
    text = (
        "The run is too short to tell whether the drive keeps up: of "
        f"{units.count(summary.requests.count)} requests {waiting} waited when the last one "
        "arrived"
    )
    spell = _longest_spell(summary)
    if spell is not None and load.backlog.drift is None:
        text += (
            f", and a die collects for up to {units.time_us(spell.us)} of the "
            f"{units.time_s(load.arrivals_s)} in which they did"
        )
    return f"{text}. A longer run can tell."


def _stalls(summary: Summary | FlowSummary) -> str:
    verdict, every = summary.verdict, summary.response_us.all
    keeps_up = _keeps_up(verdict.load, set(verdict.findings))
    text = (
        f"{keeps_up}The median is {units.time_us(every.p50)}, the mean "
        f"{units.time_us(every.mean)} and p99.9 {units.time_us(every.p99_9)}, because dies "
        "that collect hold their requests, one of them for "
        f"{units.time_us(verdict.holds.longest_wait_us)}"
    )
    spell = _longest_spell(summary)
    if spell is None:
        return f"{text}."
    drive = f" of drive {spell.device}" if "devices" in summary else ""
    return (
        f"{text}. Die {spell.die}{drive} did nothing but collect for "
        f"{units.time_us(spell.us)}, from {units.time_s(spell.start_s)} on."
    )


def _bursts(summary: Summary | FlowSummary) -> str:
    load, every = summary.verdict.load, summary.response_us.all
    assert load is not None
    return (
        f"Of the {units.rate(load.offered_iops)} requests a second so many meet at a die or a "
        f"channel now and then that they wait for one another, and are served later. The median is "
        f"{units.time_us(every.p50)}, the mean {units.time_us(every.mean)} and p99.9 "
        f"{units.time_us(every.p99_9)}."
    )


def _keeps_up(load: LoadSummary | None, found: set[str]) -> str:
    """Return how a drive that is not overloaded does; nothing of a closed loop."""
    if load is None or load.state == "undecided":
        return ""
    which = f"the {units.rate(load.offered_iops)} requests a second that"
    if load.state == "sustained" and not {"unsettled", "nothing_collected"} & found:
        return f"The drive serves {which} arrive, and the backlog does not grow with the run. "
    why = "short" if load.state == "caught_up" else "unsettled"
    return (
        f"The drive caught up with {which} arrived; the run is too {why} to promise that of a "
        "longer one. "
    )


def _nothing_collected(summary: Summary | FlowSummary) -> str:
    assert isinstance(summary, Summary), "only of a whole run"
    written = units.size(summary.requests.write_bytes)
    programmed = units.count(summary.flash.programs)
    return (
        f"No block was collected: the {programmed} pages that were programmed, for {written} "
        "written, found room in free blocks. The numbers say nothing of garbage collection; a "
        "longer run can, or a drive that was written more before (precondition.fill, "
        "precondition.overwrites)."
    )


def _unsettled(summary: Summary | FlowSummary) -> str:
    assert isinstance(summary, Summary), "only of a whole run"
    found = summary.verdict.write_amplification
    assert found is not None
    parts = [part for part in found.by_part if part is not None]
    return (
        f"Write amplification is {units.factor(summary.write_amplification)} in the whole run "
        f"and {units.factor(found.last_half)} in its last half; of its tenths, with as many "
        f"writes in each, the least has {units.factor(min(parts))} and the most "
        f"{units.factor(max(parts))}. A longer run may give another number."
    )


_TEXTS: Mapping[str, Callable[[Summary | FlowSummary], str]] = {
    "starved": _starved,
    "unmapped_reads": _unmapped_reads,
    "nothing_programmed": _nothing_programmed,
    "overload": _overload,
    "perhaps_overload": _perhaps_overload,
    "stalls": _stalls,
    "bursts": _bursts,
    "nothing_collected": _nothing_collected,
    "unsettled": _unsettled,
}
