"""The section of an experiment on a paper's page: claim, choices, verdicts, tables, and whence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from copyback.words import units
from copyback.words.markdown import markdown_table
from copyback_papers import found as findings
from copyback_papers import region_plots
from copyback_papers.render import answers_table, region_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from copyback_papers.answers import Answer
    from copyback_papers.book import Book
    from copyback_papers.experiment import Experiment, OpenInput
    from copyback_papers.found import Found
    from copyback_papers.stored import Key, Run

#: Where drawings are, from the directory of the scorecard.
IMAGES = "images/reproduction"

#: Digests that are named; of more runs their number is told.
DIGESTS = 3


def heading(experiment: Experiment) -> str:
    """Return the heading of an experiment's section."""
    return f"{experiment.name}: {experiment.title}"


def anchor(experiment: Experiment) -> str:
    """Return what a link to the section ends with, as GitHub and the site make it.

    Letters, digits, hyphens and underscores stay; spaces become hyphens.
    """
    return "#" + re.sub(r"[^\w\- ]", "", heading(experiment).lower()).replace(" ", "-")


def tables_page(paper: str) -> str:
    """Return the file of the page that has the sections, beside that of the claims."""
    return f"{paper}-tables.md"


def section(book: Book, name: str) -> str:
    """Return everything that is generated of an experiment."""
    experiment = book.experiment(name)
    parts = [f"### {heading(experiment)}", _claim(experiment)]
    parts.append("\n".join(f"- {text}" for text in experiment.chosen))
    if experiment.open_inputs:
        parts.append("Open inputs, with the bounds that the text allows:")
        parts.append("\n".join(map(_open, experiment.open_inputs)))
    if name not in book.found:
        return "\n\n".join([*filter(None, parts), f"**Not run**{cost(experiment, 'quick')}."])
    found = book.found[name]
    parts.append("\n".join(_loads(found)))
    parts += [provenance(book, name), verdicts(book, name)]
    parts += _regions(book, found)
    for figure in experiment.figures:
        if (table := findings.table_of(found, figure)) is not None:
            parts += [table.title, markdown_table(table.header, table.rows)]
    return "\n\n".join(filter(None, parts))


def _claim(experiment: Experiment) -> str:
    """Return what the paper claims, told apart from what is asked beside it."""
    claims = any(one.target for one in (*experiment.checks, *experiment.regions))
    return f"*The paper:* {experiment.claim.strip()}" if claims else experiment.claim.strip()


def _regions(book: Book, found: Found) -> list[str]:
    """Return a table for each region, and the drawing of all that are numbers."""
    parts = []
    for region in region_tables(found):
        parts += [f"**{region.title}.**", markdown_table(region.header, region.rows)]
    if region_plots.drawable(found):
        picture = regions_picture(book.paper.name, found.experiment)
        parts.append(f"![{found.experiment.title}](../{IMAGES}/{picture})")
    return parts


def regions_picture(paper: str, experiment: Experiment) -> str:
    """Return the file name of the drawing of an experiment's regions, among the pictures."""
    return f"{paper}-{experiment.name}-regions.svg"


def _loads(found: Found) -> list[str]:
    """Return what workloads stand for, and those that were left out."""
    standing = [
        f"- {load.name} stands for {load.stands_for}" for load in found.loads if load.stands_for
    ]
    return [*standing, *(f"- Left out: {text}" for text in found.skipped)]


def verdicts(book: Book, name: str) -> str:
    """Return the verdicts of an experiment; what other readings give stands in columns."""
    found = book.of(name)
    table = answers_table([found])
    others = [one for one in book.experiment(name).readings if one.name in book.found]
    by_check = [{a.check: a for a in book.found[one.name].answers} for one in others]
    extra = [
        tuple(_other(answers.get(answer.check)) for answers in by_check) for answer in found.answers
    ]
    extra += [("",) * len(others)] * (len(table.rows) - len(extra))
    header = (*table.header, *(f"under {one.reading}" for one in others))
    rows = [(*row, *more) for row, more in zip(table.rows, extra, strict=True)]
    return markdown_table(header, rows) if rows else ""


def _other(answer: Answer | None) -> str:
    return f"{answer.ours}: {answer.verdict}" if answer is not None else units.MISSING


def _open(one: OpenInput) -> str:
    key = f" (`{one.key}`)" if one.key else ""
    return f"- {one.says}{key}: {', '.join(f'`{bound}`' for bound in one.bounds)}"


def provenance(book: Book, name: str) -> str:
    """Return which scale, simulator and configurations an experiment's numbers come from."""
    runs = book.runs_of(name)
    scale = book.of(name).scale
    note = book.experiment(name).scales[scale].note.rstrip(".")
    digests = sorted({run.config_digest for run in runs.values()})
    shown = ", ".join(f"`{digest[:8]}`" for digest in digests[:DIGESTS])
    more = f" and {len(digests) - DIGESTS} more" if len(digests) > DIGESTS else ""
    commits = ", ".join(f"`{one}`" for one in sorted({shortened(r.commit) for r in runs.values()}))
    spent = units.time_s(sum(run.cpu_s for run in runs.values()))
    inside = sum(not run.start.is_past for run in runs.values())
    told = [
        f"{len(runs)} runs, {seeds_of(runs)}, {inside} of them inside the start transient (†)",
        f"commit {commits}",
        f"configurations {shown}{more}",
        f"{spent} of CPU time",
    ]
    named = f"**{scale.capitalize()} scale**" + (f": {note}" if note else "")
    return f"{named}. {'; '.join(told)}."


def seeds_of(runs: Iterable[Key]) -> str:
    """Return the seeds of some runs.

    >>> from copyback_papers.stored import Key
    >>> seeds_of([Key("8a", "", "8", "PGC", 2), Key("8a", "", "8", "PGC", 1)])
    'seeds 1, 2'
    """
    seeds = sorted({key.seed for key in runs})
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"


def shortened(commit: str) -> str:
    """Return a commit as pages name it.

    >>> shortened("00f6ecc2b1f5d36f4f0d9a64c9ad5e5bb45c5f36-dirty")
    '00f6ecc2b1f5-dirty'
    """
    digest, _, dirty = commit.partition("-")
    return digest[:12] + ("-dirty" if dirty else "") if digest else "unknown"


def not_run(book: Book) -> str:
    """Return what was not run, or not in full, and about what it would cost."""
    lines = [
        line(book, one, anchor(experiment))
        for line in (_not_run, _seeds_left, _not_doubled)
        for experiment in book.paper.experiments
        for one in (experiment, *experiment.readings)
    ]
    kept = list(filter(None, lines))
    return "\n".join(["## Not run", "", *kept]) if kept else ""


def _seeds_left(book: Book, experiment: Experiment, link: str) -> str:
    """Return which seeds of full scale are not stored, at the cost of those that are."""
    if _scale(book, experiment) != "full":
        return ""
    runs = book.runs_of(experiment.name)
    there = {key.seed for key in runs}
    left = [str(one) for one in experiment.scales["full"].seeds if one not in there]
    if not left:
        return ""
    minutes = _minutes(runs) / len(there) * len(left)
    named = f"seed{'s' if len(left) > 1 else ''} {', '.join(left)}"
    return f"- [{experiment.name}]({link}): {named} (about {_told(minutes)})"


def _not_doubled(book: Book, experiment: Experiment, link: str) -> str:
    """Return that an experiment of claims was not run with twice the requests."""
    claimed = any(check.target for check in experiment.checks)
    if not claimed or experiment.reading or _scale(book, experiment) != "full":
        return ""
    if experiment.name in book.by_scale["double"]:
        return ""
    runs = book.runs_of(experiment.name)
    minutes = 2 * _minutes(runs) / len({key.seed for key in runs})
    return f"- [{experiment.name}]({link}): twice the requests (about {_told(minutes)})"


def _scale(book: Book, experiment: Experiment) -> str:
    """Return the scale at which pages show an experiment; empty if it was not run."""
    return book.of(experiment.name).scale if experiment.name in book.found else ""


def _minutes(runs: Mapping[Key, Run]) -> float:
    return sum(run.cpu_s for run in runs.values()) / 60


def _told(minutes: float) -> str:
    return f"{units.significant(minutes)} CPU minutes"


def _not_run(book: Book, experiment: Experiment, link: str) -> str:
    found = book.found.get(experiment.name)
    if found is not None and found.scale == "full":
        return ""
    what = "not run" if found is None else "not at full scale"
    return f"- [{experiment.name}]({link}): {what}{cost(experiment, 'full')}"


def cost(experiment: Experiment, scale: str) -> str:
    """Return about what a scale of an experiment costs, if that is known."""
    minutes = experiment.scales[scale].cpu_minutes
    return f" ({scale}: about {units.significant(minutes)} CPU minutes)" if minutes else ""
