"""Pages of what is stored, from templates in which every number is a macro's."""

from __future__ import annotations

import re
import traceback
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from copyback._core import InputError
from copyback.sweep.axes import SEED
from copyback_papers import (
    agreement,
    contradictions,
    outside,
    scales,
    scorecard,
    sections,
    start,
)
from copyback_papers.book import open_book, said
from copyback_papers.render import DAGGER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from copyback_papers.book import Book
    from copyback_papers.contradictions import Contradiction
    from copyback_papers.found import Found

TEMPLATES = "templates"
INDEX = "index.md.j2"

#: Where drawings are, from the directory of the scorecard.
IMAGES = Path(sections.IMAGES)

#: The papers of the scorecard, in its order.
PAPERS = (
    "fifo-mqsim",
    "pgc-2011",
    "pagc-2016",
    "harmonia-2012",
    "agc-dgc-2012",
    "fdp",
    "sepbit-2022",
    "midas-2024",
    "ioda-2021",
)

NOTE = (
    "<!-- Written by `copyback paper pages` from stored results and a template: do not edit. -->\n"
)

#: A picture as a template names it: experiment and figure.
PICTURE = re.compile(r"""picture\("([^"]+)", *"([^"]+)\"""")


def render(docs: Path, papers: Sequence[str] = PAPERS) -> dict[str, str]:
    """Return the pages by their path from the directory above, made of stored results alone.

    Parameters
    ----------
    docs
        The directory of templates and stored results.
    papers
        Names of papers, or their directories.

    Raises
    ------
    InputError
        If a template names a cell that is not stored, with its file and line.
    """
    books = [open_book(docs, name) for name in papers]
    card = {"scorecard": partial(scorecard.scorecard, books, docs.name)}
    pages = {f"{docs.name}.md": _render(docs, INDEX, card)}
    for book in books:
        pages |= render_book(docs, book)
    return pages


def render_book(docs: Path, book: Book) -> dict[str, str]:
    """Return the pages of one paper by their path.

    Raises
    ------
    InputError
        If a template names a cell that is not stored, or says what is not so.
    """
    return {
        f"{docs.name}/{page}": _render(docs, f"{page}.j2", _context(docs, book))
        for page in pages_of(book.paper.name)
    }


def pages_of(paper: str) -> tuple[str, str]:
    """Return the files of a paper's pages: its claims, and the tables behind them."""
    return f"{paper}.md", sections.tables_page(paper)


def _context(docs: Path, book: Book) -> dict[str, object]:
    """Return what a paper's template may name."""
    return {
        "paper": book.paper,
        "quick": "quick" in book.scales,
        "signs": scales.signs(book.by_scale["quick"], book.by_scale["full"]),
        "cell": book.cell,
        "times": book.times,
        "faster": book.faster,
        "ours": book.ours,
        "at": book.at,
        "value": book.value,
        "number": book.number,
        "said": said,
        "given": book.given,
        "ran": book.ran,
        "claims": partial(scorecard.claim_table, book),
        "standings": partial(scorecard.standings, book),
        "readings": partial(scorecard.readings_table, book),
        "elsewhere": partial(scorecard.elsewhere, book),
        "citation": partial(scorecard.citation, book),
        "lengths": partial(scorecard.lengths, book),
        "section": partial(sections.section, book),
        "picture": partial(_picture, book),
        "not_run": partial(sections.not_run, book),
        "unanswered": partial(_unanswered, book),
        "outside": partial(outside.table, docs),
    }


def _picture(book: Book, experiment: str, figure: str, alt: str) -> str:
    """Return a drawing, of what is stored."""
    known = {one.name for one in book.experiment(experiment).figures}
    if figure not in known:
        there = ", ".join(sorted(known)) or "none"
        raise InputError(f"experiment {experiment!r} draws no {figure!r}; there are: {there}")
    if experiment not in book.found:
        return ""
    return f"![{alt}](../{IMAGES}/{book.paper.name}-{figure}.svg)"


def _unanswered(book: Book) -> str:
    """Return claims that no experiment answers, and why."""
    lines = [f"- {one.figure}, {one.label}: {why}" for one, why in book.paper.unanswered]
    return "\n".join(["## Not answered", "", *lines]) if lines else ""


def contradictions_of(docs: Path, book: Book) -> list[Contradiction]:
    """Return the contradictions of a paper, its pages included.

    Raises
    ------
    InputError
        If a page cannot be made, or says what is not so.
    """
    render_book(docs, book)
    templates = [docs / TEMPLATES / f"{page}.j2" for page in pages_of(book.paper.name)]
    return contradictions.contradictions(book, templates)


def check_publishable(docs: Path, paper: str) -> None:
    """Refuse, before anything is written, what would end half-way.

    Raises
    ------
    InputError
        If the directory is not that of the pages.
    """
    for page in pages_of(paper):
        template = docs / TEMPLATES / f"{page}.j2"
        if not template.is_file():
            raise InputError(f"{template}: no such template: is {docs} where the pages are?")


def draw(docs: Path, found: Found, stored: Found, paper: str) -> None:
    """Draw the figures of an experiment that the templates of its paper show.

    Parameters
    ----------
    found
        Of the runs that are there: series and single requests are theirs.
    stored
        Of all runs that are stored, of which numbers are drawn.
    """
    from copyback_papers import plots, region_plots

    templates = [docs / TEMPLATES / f"{page}.j2" for page in pages_of(paper)]
    shown = {
        figure
        for template in templates
        for one, figure in PICTURE.findall(template.read_text(encoding="utf-8"))
        if one == found.experiment.name
    }
    folder = docs.parent / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    first = found.frame[SEED].min() == stored.frame[SEED].min()
    for figure in found.experiment.figures:
        # A series is of the first seed; where that was not run again, its picture stays.
        if figure.name in shown and (figure.table is None or first):
            source = stored if figure.table is None else found
            plots.draw(source, figure, folder / f"{paper}-{figure.name}.svg")
    if region_plots.drawable(stored) and not found.experiment.reading:
        region_plots.draw(stored, folder / sections.regions_picture(paper, found.experiment))


def _render(docs: Path, name: str, context: Mapping[str, object]) -> str:
    folder = docs / TEMPLATES
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(rule=agreement.RULE, transient=f"{DAGGER} {start.MEANING}")
    try:
        text = environment.get_template(name).render(context)
    except jinja2.TemplateNotFound as fault:
        raise InputError(f"{folder}: no template {fault.name}") from None
    except jinja2.TemplateSyntaxError as fault:
        raise InputError(f"{fault.filename}:{fault.lineno}: {fault.message}") from None
    except (InputError, TypeError, jinja2.UndefinedError) as fault:
        raise InputError(f"{_place(fault, folder / name)}: {fault}") from None
    return NOTE + re.sub(r"\n{3,}", "\n\n", text)


def _place(fault: BaseException, page: Path) -> str:
    """Return the template and the line that a fault passed through."""
    frames = [
        frame
        for frame in traceback.extract_tb(fault.__traceback__)
        if Path(frame.filename).parent == page.parent
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(page)
