"""Pages of what was found, in Markdown and in HTML."""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING

import jinja2

from copyback.words.markdown import markdown_table
from copyback_papers import agreement, start
from copyback_papers import found as findings
from copyback_papers.agreement import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from copyback_papers.answers import Answer
    from copyback_papers.catalogue import Paper
    from copyback_papers.found import Found
    from copyback_papers.ranking import Ranked
    from copyback_papers.regions import Mapped

#: Marks what rests on a run inside its start transient.
DAGGER = "†"

#: The column that says whether our interval holds what the paper says.
HOLDS = "holds the paper's"

ANSWERS = ("figure", "what", "paper", "ours", "interval", HOLDS, "verdict", "spread or rules")


def answers_table(found: Sequence[Found]) -> findings.Table:
    """Return the table "paper / ours / verdict" of some experiments."""
    answers = [answer_row(one, answer) for one in found for answer in one.answers]
    rankings = [ranking_row(ranked) for one in found for ranked in one.rankings]
    return findings.Table("Paper and ours", ANSWERS, (*answers, *rankings))


def answer_row(found: Found, answer: Answer) -> tuple[str, ...]:
    """Return the row of an answer."""
    target = answer.check.target
    return (
        target.figure if target else found.experiment.name,
        _what(answer),
        answer.paper,
        ours(found, answer),
        answer.interval,
        answer.holds,
        str(answer.verdict),
        "; ".join(filter(None, (answer.part, answer.note))),
    )


def ours(found: Found, answer: Answer) -> str:
    """Return what we found; a dagger if it rests on a run inside its start transient."""
    return f"{answer.ours} {DAGGER}" if found.is_transient(answer) else answer.ours


def region_tables(found: Found) -> list[findings.Table]:
    """Return a table for each region: the claim judged at each point."""
    return [_region_table(found, one) for one in found.regions]


def _region_table(found: Found, mapped: Mapped) -> findings.Table:
    target = mapped.target
    against = f" against {target.baseline}" if target.baseline else ""
    title = (
        f"Region of {target.figure}, {target.label}: {target.scheme}{against}: {mapped.sentence}"
    )
    header = (found.experiment.axis, *ANSWERS[2:])
    rows = [
        (
            mapped.region.remark(point),
            *answer_row(found, answer)[2:],
        )
        for point, answer in mapped.answers.items()
    ]
    return findings.Table(title, header, tuple(rows))


def ranking_row(ranked: Ranked) -> tuple[str, ...]:
    """Return the row of a rank correlation."""
    what = f"{ranked.ranking.says}: rank correlation (Spearman)"
    over = f"over {ranked.rows} rows"
    return (ranked.ranking.figure, what, "1", ranked.ours, "", "", str(Verdict.NONE), over)


def _what(answer: Answer) -> str:
    check = answer.check
    if check.rules or not check.target:
        return check.question
    return f"{check.question}: {check.target.compared}"


def markdown(paper: Paper, found: Sequence[Found], pictures: dict[str, list[str]]) -> str:
    """Return the page of some experiments in Markdown.

    Parameters
    ----------
    pictures
        Paths of the drawings of each experiment, relative to the page.
    """
    return _environment().get_template("page.md.j2").render(**_context(paper, found, pictures))


def html(paper: Paper, found: Sequence[Found], pictures: dict[str, list[str]]) -> str:
    """Return the same page in HTML; it refers to the drawings, which lie beside it."""
    return _environment().get_template("page.html.j2").render(**_context(paper, found, pictures))


def _context(
    paper: Paper, found: Sequence[Found], pictures: dict[str, list[str]]
) -> dict[str, object]:
    return {
        "paper": paper,
        "experiments": [
            {
                "found": one,
                "experiment": one.experiment,
                "pictures": pictures.get(one.experiment.name, []),
                "answers": answers_table([one]),
                "regions": region_tables(one),
                "tables": [
                    table
                    for figure in one.experiment.figures
                    if (table := findings.table_of(one, figure)) is not None
                ],
            }
            for one in found
        ],
        "answers": answers_table(found),
        "rule": f"{agreement.RULE} {DAGGER} {start.MEANING}.",
        "markdown_table": markdown_table,
    }


@functools.cache
def _environment() -> jinja2.Environment:
    folder = resources.files("copyback_papers") / "templates"
    names = ("page.md.j2", "page.html.j2", "table.html.j2")
    sources = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    return jinja2.Environment(
        loader=jinja2.DictLoader(sources),
        autoescape=jinja2.select_autoescape(enabled_extensions=("html.j2",)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
