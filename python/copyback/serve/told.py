"""Report on a served drive when it ends."""

from __future__ import annotations

from typing import Any

from copyback.words import units


def lateness(found: dict[str, Any]) -> list[str]:
    """Return lines that say how late answers were, beside how long they were meant to take."""
    if not found["answers"]:
        return ["nobody was answered"]
    late, meant = found["late_us"], found["meant_us"]

    def row(times: dict[str, float]) -> str:
        names = (
            ("p50", "median"),
            ("p90", "p90"),
            ("p99", "p99"),
            ("p99_9", "p99.9"),
            ("max", "most"),
        )
        return ", ".join(f"{said} {units.time_us(times[name])}" for name, said in names)

    lines = [
        f"{units.count(found['answers'])} answers came late by, on the host's clock: {row(late)}",
        f"they were meant to take, on the host's clock: {row(meant)}",
    ]
    if not found["believable"]:
        lines.append(unbelievable(found))
    return lines


def unbelievable(found: dict[str, Any]) -> str:
    """Return why a run is not to be believed."""
    late, meant = found["late_us"]["p50"], found["meant_us"]["p50"]
    return (
        "this run is not to be believed: half of the answers came later than they should by "
        f"{units.time_us(late)} or more, which is over a tenth of the median response of "
        f"{units.time_us(meant)}, so that what programs saw is this machine's doing; serve it "
        "--slower"
    )
