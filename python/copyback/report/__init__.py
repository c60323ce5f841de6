"""The report: one self-contained HTML page that opens offline."""

from __future__ import annotations

import functools
import json
import math
from importlib import resources
from typing import TYPE_CHECKING, Any

from copyback.words import (
    bound,
    classes,
    declared,
    describe,
    die_lines,
    endurance,
    failures,
    faults,
    flows,
    glossary,
    power,
    steady,
    tail,
    units,
    verdict,
    waits,
)

if TYPE_CHECKING:
    import jinja2

    from copyback.result import Result

PERCENTILES = {
    "mean": "Mean",
    "p50": "Median",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p99_9": "p99.9",
    "p99_99": "p99.99",
    "max": "Max",
}


def render(result: Result) -> str:
    """Return the report page of a result."""
    from copyback.report import array, heat, plots, slowest

    config, summary = result.config, result.summary
    data = plots.data(result)
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            result=result,
            summary=summary,
            version=summary.version,
            title=describe.title(result),
            findings=verdict.findings(result.summary),
            lead=_lead(result),
            layout=describe.array(config),
            device=describe.device(config),
            placement=describe.placement(config),
            collector=describe.collector(config),
            workload=describe.workload(config),
            cards=_cards(result),
            percentiles=PERCENTILES,
            responses=describe.responses(result.summary),
            breakdowns=describe.breakdowns(result.summary),
            bands=tail.by_operation(summary.blame),
            array=array.context(result),
            flows=flows.flows(result),
            classes=classes.rows(result),
            class_columns=classes.COLUMNS,
            bound=list(bound.runs(summary)),
            no_bound=summary.bound.refused if summary.bound else [],
            dies=heat.context(result),
            late=slowest.context(result),
            late_keys=slowest.KEYS,
            tops=slowest.TOPS,
            heights=slowest.HEIGHTS,
            density=data["density"],
            notes=result.summary.notes,
            details=_details(result),
            simulator=_simulator(result),
            words=glossary.of(_labels(result)),
            command=result.summary.simulator.command,
            data=script_json(data),
            asset=asset,
        )
    )


def render_fragment(result: Result) -> str:
    """Return the key numbers as a small piece of HTML, for notebooks."""
    return (
        environment()
        .get_template("fragment.html.j2")
        .render(
            title=describe.title(result),
            findings=verdict.findings(result.summary),
            lead=_lead(result),
            cards=_cards(result),
        )
    )


@functools.cache
def environment() -> jinja2.Environment:
    """Return where the pages' templates and their filters are."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("copyback.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        time_us=spaced(units.time_us),
        count=units.count,
        share=spaced(units.share),
        factor=units.factor,
        decimal=units.decimal,
        sentence=sentence,
    )
    return environment


def sentence(text: str) -> str:
    """Return a remark of the terminal as a sentence of its own.

    >>> sentence("it is overloaded; --baseline KEY=VALUE chooses another")
    'It is overloaded; --baseline KEY=VALUE chooses another.'
    """
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def spaced(format_: Any) -> Any:
    """Join number and unit with a space that does not break."""
    return lambda value: format_(value).replace(" ", "\u202f")


def asset(name: str) -> Any:
    """Return a file of this package as text that needs no escaping."""
    import markupsafe

    text = resources.files("copyback.report").joinpath(name).read_text(encoding="utf-8")
    return markupsafe.Markup(text)


def script_json(data: dict[str, Any]) -> Any:
    """Return data as JSON that cannot end the script element it stands in."""
    import markupsafe

    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return markupsafe.Markup(text.replace("<", "\\u003c"))


#: The share of the mean response time, waited outside the drive, that is worth a sentence.
MUCH_OUTSIDE = 0.05


def _lead(result: Result) -> str:
    """Return the answer to "what does collection do to my requests?" in a sentence or two."""
    summary = result.summary
    every = summary.response_us.all
    said = tail.sentence(summary)
    sentences = [said] if said else []
    means = describe.breakdowns(summary).get("all")
    if means:
        share = math.fsum(part.share for part in means if part.key in describe.GC_PARTS)
        if share == 0:
            sentences.append("No request waited for garbage collection.")
        else:
            sentences.append(
                f"Garbage collection accounts for {units.share(share)} of the mean response time."
            )
            if describe.is_closed_loop(result.config):
                late = math.fsum(part.mean_us for part in means if part.key in describe.GC_PARTS)
                sentences.append(
                    "That is the most that could be gained: in a closed loop each request comes "
                    f"when another has ended, so collections also put off arrivals, by "
                    f"{units.time_us(late)} each, and without them more requests would wait for "
                    "one another."
                )
        outside = math.fsum(part.share for part in means if part.key == "host_queue")
        if share > 0 and outside >= MUCH_OUTSIDE:
            sentences.append(
                f"Another {units.share(outside)} is spent outside the drive, whose queue would be "
                "full without collections, too."
            )
    rarity, key = ("ten thousand", "p99_99") if every["count"] >= 10_000 else ("a hundred", "p99")
    if every["count"] >= 100 and every.p50:
        sentences.append(
            f"One request in {rarity} takes {units.time_us(every[key])} or more, "
            f"{units.significant(every[key] / every.p50, 2)} times the median."
        )
    return " ".join(sentences)


def _cards(result: Result) -> list[dict[str, str]]:
    summary = result.summary
    times = summary.response_us.all
    gc = summary.gc
    throughput = summary.throughput

    def card(label: str, value: str, note: str) -> dict[str, str]:
        number, _, unit = value.partition(" ")
        return {"label": label, "number": number, "unit": unit, "note": note}

    return [
        card("Mean response", units.time_us(times.mean), f"median {units.time_us(times.p50)}"),
        card("p99", units.time_us(times.p99), f"p99.9 {units.time_us(times.p99_9)}"),
        card("p99.99", units.time_us(times.p99_99), f"max {units.time_us(times.max)}"),
        card(
            "Throughput",
            f"{units.decimal(throughput.mib_per_s)} MiB/s",
            f"{units.rate(throughput.iops)} IOPS",
        ),
        card(
            "Write amplification",
            units.factor(summary.write_amplification),
            f"{units.size(summary.media_bytes_written)} to flash",
        ),
        card("Collections", units.count(gc.collections), f"{units.count(gc.erases)} erases"),
    ]


def _details(result: Result) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the counts of the run, in groups."""
    summary = result.summary
    kinds = [(label.capitalize(), units.count(number)) for label, number in waits.kinds(summary)]
    groups = [
        ("Host", declared.rows(summary.requests, summary.throughput)),
        ("Flash", declared.rows(summary.flash, summary)),
        (
            "Collection",
            declared.rows(summary.gc, summary.slc_cache) + die_lines.rows(summary) + kinds,
        ),
        ("Wear (erases of a block)", declared.rows(summary.wear)),
        ("Mapping table in flash", declared.rows(summary.mapping)),
        *_on_request(result),
    ]
    return [(name, rows) for name, rows in groups if rows]


def _labels(result: Result) -> list[str]:
    """Return the labels of the page that need words: those without a meaning beside them."""
    heads = ["Device", "Placement", "Collector", "Workload"]
    pace = ["Pace", "Set point", "Reads ahead"] if result.summary.gc.pacing is not None else []
    cards = [card["label"] for card in _cards(result)]
    findings = [finding.label for finding in verdict.findings(result.summary)]
    groups = [label for _, rows in _details(result) for label, _ in rows]
    return [*findings, *heads, *pace, *cards, *groups, *(label for label, _ in _simulator(result))]


def _on_request(result: Result) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the groups of numbers that not every run has."""
    summary = result.summary
    long = [("Worst of each window", waits.worst(summary)), ("Excess", waits.excess(summary))]
    idle = [
        *waits.periods(summary),
        *((label.capitalize(), units.share(share)) for label, share in waits.uses(summary)),
    ]
    return [
        ("Endurance", endurance.rows(summary)),
        ("Placement", declared.rows(summary.placement)),
        ("Power loss", power.rows(summary)),
        ("Faults of the flash", faults.rows(summary)),
        ("Drives of the array", failures.facts(summary)),
        ("Steady state", steady.rows(summary, result.config) + steady.unserved(summary)),
        ("Rounds until settled", steady.settled(summary)),
        ("Preparation", steady.preparation(summary)),
        ("Long waits", [(label, text) for label, text in long if text]),
        ("Idle time, and what dies do meanwhile", idle),
    ]


def _simulator(result: Result) -> list[tuple[str, str]]:
    figures = result.summary.simulator
    speed = units.rate(figures.page_operations_per_cpu_s)
    return [
        ("Speed", f"{speed} page operations per CPU second"),
        ("Page operations", units.count(figures.page_operations)),
        ("Events", units.count(figures.events)),
        ("CPU time", units.time_s(figures.cpu_s)),
        ("Wall time", units.time_s(figures.wall_s)),
        ("Peak memory", f"{units.count(figures.get('peak_rss_mib'))} MiB"),
    ]
