"""Commands that keep the reproduction's pages: ``publish``, ``pages``, ``check``, ``sentinel``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from copyback.commands.options import Jobs  # noqa: TC001 - Typer reads it
from copyback.data.outputs import replace_file
from copyback.sweep.where import Where
from copyback_papers.options import Name, Out, ScaleName, home_of

if TYPE_CHECKING:
    from collections.abc import Callable

Docs = Annotated[
    Path, typer.Option(metavar="DIR", help="Where templates, stored results and the sentinel are.")
]
DOCS = Path("docs/reproduction")


def publish(
    paper: Name,
    scale: ScaleName = "quick",
    out: Out = None,
    docs: Docs = DOCS,
    add: Annotated[
        bool, typer.Option("--add", help="Keep what is stored of runs that --out does not hold.")
    ] = False,
) -> None:
    """Store the results of runs in --out, and write the pages of all papers from what is stored.

    Nothing is stored if it contradicts itself, or what is stored already.
    """
    from copyback_papers import book, contradictions, output, pages, stored_files
    from copyback_papers.catalogue import load_paper

    chosen = load_paper(paper)
    pages.check_publishable(docs, chosen.name)
    home = home_of(out, chosen, scale)
    results = book.open_book(docs, paper).results
    found = output.load_results(chosen, scale, home)
    for one in found:
        results[scale].replace(one, keep=add)
    shown = book.book_of(chosen, results)
    contradictions.refuse(
        pages.contradictions_of(docs, shown), [one.experiment.name for one in found]
    )
    stored_files.save(docs / book.RESULTS, chosen, results[scale])
    for one in found:
        print(f"Stored       {one.experiment.name}")
    for one in found:
        # Pages show the largest scale that is stored, and so do their pictures.
        stored = shown.found.get(one.experiment.name)
        if stored is not None and stored.scale == scale:
            pages.draw(docs, one, stored, chosen.name)
    write_pages(docs)


def write_pages(
    docs: Docs = DOCS,
    to: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write below it; else beside --docs.")
    ] = None,
) -> None:
    """Write the pages of all papers again from stored results alone."""
    from copyback_papers import pages

    for name, text in pages.render(docs).items():
        path = (docs.parent if to is None else to) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
        print(f"Page         {path}")


def check(
    paper: Annotated[str | None, typer.Argument(metavar="[PAPER]", help="One; else all.")] = None,
    docs: Docs = DOCS,
) -> None:
    """Say where stored results contradict themselves: exit status 1 if they do."""
    from copyback_papers import pages
    from copyback_papers.book import open_book

    many = 0
    for name in (paper,) if paper is not None else pages.PAPERS:
        for one in pages.contradictions_of(docs, open_book(docs, name)):
            many += 1
            print(f"{name}: {one}")
    print(f"Contradictions  {many}")
    if many:
        raise typer.Exit(1)


def sentinel(
    docs: Docs = DOCS,
    update: Annotated[
        bool, typer.Option("--update", help="Store what the cells give now.")
    ] = False,
    jobs: Jobs = None,
) -> None:
    """Run a few cells of every paper again: exit status 1 if a number is not the stored one."""
    from copyback_papers import sentinel as cells

    stored = cells.load(docs / cells.FILE)
    now = cells.run_again(stored, Where(jobs=jobs))
    moved = cells.moved(stored, now)
    for one in moved:
        print(f"Moved        {one}")
    print(f"Sentinel     {len(now.cells)} cells, {len(moved)} numbers moved")
    if update:
        cells.save(now)
    elif moved:
        raise typer.Exit(1)


#: Each command and its name.
COMMANDS: dict[Callable[..., None], str] = {
    publish: "publish",
    write_pages: "pages",
    check: "check",
    sentinel: "sentinel",
}
