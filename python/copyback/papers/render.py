"""Pages of what was found, in Markdown and in HTML."""

from __future__ import annotations

import functools
from importlib import resources
from typing import TYPE_CHECKING

from copyback.markdown import markdown_table
from copyback.papers import found as findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jinja2

    from copyback.papers.catalogue import Paper
    from copyback.papers.checks import Answer
    from copyback.papers.found import Found

ANSWERS = ("figure", "what", "paper", "ours", "verdict", "spread or rules")


def answers_table(found: Sequence[Found]) -> findings.Table:
    """Return the table "paper / ours / verdict" of some experiments."""
    rows = [
        (
            answer.check.target.figure if answer.check.target else one.experiment.name,
            _what(answer),
            answer.paper,
            answer.ours,
            str(answer.verdict),
            answer.note,
        )
        for one in found
        for answer in one.answers
    ]
    return findings.Table("Paper and ours", ANSWERS, tuple(rows))


def _what(answer: Answer) -> str:
    check = answer.check
    if check.rules or not check.target:
        return check.question
    against = f" against {check.target.baseline}" if check.target.baseline else ""
    return f"{check.question}: {check.target.scheme}{against}"


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
                "tables": [
                    table
                    for figure in one.experiment.figures
                    if (table := findings.table_of(one, figure)) is not None
                ],
            }
            for one in found
        ],
        "answers": answers_table(found),
        "markdown_table": markdown_table,
    }


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    folder = resources.files("copyback.papers") / "templates"
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
