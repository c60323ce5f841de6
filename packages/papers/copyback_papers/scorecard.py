"""Counts of claims: all papers on one screen, and a table of the claims of one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from copyback.words import units
from copyback.words.markdown import markdown_table
from copyback_papers import render
from copyback_papers.agreement import Verdict
from copyback_papers.claims import Standing
from copyback_papers.marks import Kind
from copyback_papers.readings import joint, nowhere
from copyback_papers.sections import anchor, seeds_of, shortened, tables_page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from copyback_papers.book import Book
    from copyback_papers.claims import Claim, Given


#: Kinds of claims that are counted beside the others.
APART = (Kind.SEEN, Kind.NO_TRACE)


def scorecard(books: Iterable[Book], folder: str) -> str:
    """Return one row a paper: how many claims it has, and what became of them.

    Parameters
    ----------
    folder
        Where the papers' pages are, from the page that the scorecard is on.
    """
    header = (
        *("paper", "claims", *Standing, "best other reading", "nowhere", "without a region"),
        *(f"{kind} (reproduced)" for kind in APART),
        *(f"{Kind.NO_CLAIM}", "moves with twice the requests", render.DAGGER, "scale"),
    )
    return markdown_table(header, [_row(book, folder) for book in books])


def _row(book: Book, folder: str) -> tuple[str, ...]:
    counted = [_counted(book, standing, folder) for standing in Standing]
    link = f"[{book.paper.name}]({folder}/{book.paper.name}.md)"
    inside = sum(claim.is_transient for claim in book.counted)
    scale = ", ".join(book.scales) or "not run"
    without = sum(claim.is_open for claim in book.counted)
    doubled = [claim for claim in book.counted if claim.doubled is not None]
    moved = f"{sum(claim.has_moved for claim in doubled)} of {len(doubled)}" if doubled else ""
    none = str(len(book.marked(Kind.NO_CLAIM)))
    apart = [_apart(book, kind) for kind in APART]
    return (
        *(link, str(len(book.counted)), *counted, _best(book)),
        *(str(len(nowhere(book.counted, book.tried))), str(without), *apart),
        *(none, moved, str(inside), scale),
    )


def _best(book: Book) -> str:
    """Return what the best single other reading reproduces, and of how many that were tried."""
    if not book.tried:
        return ""
    best = book.tried[0]
    reproduced, near = (best.count(one) for one in (Verdict.REPRODUCED, Verdict.NEAR))
    if not reproduced + near:
        return f"none of {len(book.tried)} tried"
    counts = f"{reproduced} of {len(best.verdicts)} asked, {near} near"
    return f"{counts}: `{best.name}`, of {len(book.tried)} tried"


def standings(book: Book) -> str:
    """Return what the joint reading, and the best of the others, comes to."""
    claims = book.counted
    near = sum(one.standing is Standing.NEAR for one in claims)
    reproduced = sum(one.standing is Standing.REPRODUCED for one in claims)
    told = f"Reproduced: {reproduced} of {len(claims)}; near: {near}."
    if not book.tried:
        return told
    best = book.tried[0]
    also = joint(claims, best.verdicts)
    beside = f"; of these {len(best.verdicts)} the joint one reproduces {also}"
    return (
        f"{told} Best single other reading: {_best(book)}{beside}. "
        f"Not even near under any: {len(nowhere(claims, book.tried))}."
    )


def readings_table(book: Book) -> str:
    """Return what each reading that was tried reproduces by itself; empty if none was."""
    header = (
        "reading",
        "claims asked",
        "reproduced",
        "near",
        "the joint reading reproduces of them",
    )
    rows = [
        (
            *(one.name, str(len(one.verdicts))),
            *(str(one.count(verdict)) for verdict in (Verdict.REPRODUCED, Verdict.NEAR)),
            str(joint(book.counted, one.verdicts)),
        )
        for one in book.tried
    ]
    return f"## Readings tried\n\n{markdown_table(header, rows)}" if rows else ""


def _apart(book: Book, kind: Kind) -> str:
    """Return how many claims are counted apart, and how many of them are reproduced."""
    there = book.marked(kind)
    reproduced = sum(claim.standing is Standing.REPRODUCED for claim in there)
    return f"{len(there)} ({reproduced})" if there else "0"


def _counted(book: Book, standing: Standing, folder: str) -> str:
    """Return how many claims have a standing, and the experiments that contradict."""
    there = [claim for claim in book.counted if claim.standing is standing]
    names: Iterable[str] = ()
    if standing is Standing.CONTRADICTED:
        by = {c.experiment.name: c.experiment for c in there if c.experiment is not None}
        page = f"{folder}/{tables_page(book.paper.name)}"
        names = [f"[{name}]({page}{anchor(one)})" for name, one in by.items()]
    return f"{len(there)} ({', '.join(names)})" if names else str(len(there))


def claim_table(book: Book) -> str:
    """Return the claims of a paper in short, each with its verdict and a link to its tables.

    What most of them compare is said once, above the table.
    """
    usual = _usual(book)
    header = ("claim", "paper", "ours (95% interval)", render.HOLDS, "verdict", "tables")
    columns = [one.column for one in book.paper.experiments if one.column]
    rows = [
        (*_claim_row(book, claim, usual), *(_beside(claim, column) for column in columns))
        for claim in book.claims
    ]
    table = markdown_table((*header, *columns), rows)
    return f"Unless a claim says otherwise, it compares {usual}.\n\n{table}" if usual else table


def _usual(book: Book) -> str:
    """Return the two schemes that most claims compare; empty if claims name one each."""
    compared = [claim.target.compared for claim in book.claims]
    pairs = Counter(one for one in compared if " against " in one).most_common(1)
    return pairs[0][0] if pairs else ""


def _claim_row(book: Book, claim: Claim, usual: str) -> tuple[str, ...]:
    where, named = _tables(book, claim), _named(claim, usual)
    if claim.joint is None:
        return (named, claimed(claim), "", "", _verdict(claim), where)
    answer = claim.joint.answer
    return (named, answer.paper, _ours(claim.joint), answer.holds, _verdict(claim), where)


def _ours(given: Given) -> str:
    """Return an answer with its interval."""
    ours = render.ours(given.found, given.answer)
    interval = ", ".join(filter(None, (given.answer.interval, given.answer.part)))
    return f"{ours} ({interval})" if interval else ours


def _beside(claim: Claim, column: str) -> str:
    """Return what a column beside the claims has of one; empty if it asks nothing of it."""
    given = claim.beside.get(column)
    return f"{_ours(given)}: {given.answer.verdict}" if given else ""


def _verdict(claim: Claim) -> str:
    """Return what became of a claim, and whether it is counted."""
    verdict = str(claim.standing if claim.joint is None else claim.joint.answer.verdict)
    if claim.mark is None:
        return verdict
    if claim.mark.kind is Kind.NO_CLAIM:
        return f"{Kind.NO_CLAIM} ({claim.mark.why})"
    return f"{verdict} ({claim.mark.kind})"


def _named(claim: Claim, usual: str = "") -> str:
    """Return what a claim is about, and what it compares if that is not the usual."""
    target = claim.target
    compared = "" if target.compared == usual else f": {target.compared}"
    return f"{target.figure}: {target.label}{compared}"


def _tables(book: Book, claim: Claim) -> str:
    """Return a link to what is stored of a claim, or to why nothing is."""
    page = tables_page(book.paper.name)
    if claim.experiment is None:
        return f"[why]({page}#not-answered)"
    return f"[{claim.experiment.name}]({page}{anchor(claim.experiment)})"


def elsewhere(book: Book) -> str:
    """Return what claims come to with twice the requests, other readings and other values."""
    rows = [row for row in map(_elsewhere_row, book.claims) if any(row[1:])]
    header = ("claim", "twice the requests", "other readings", "regions")
    return f"## Claims under other readings\n\n{markdown_table(header, rows)}" if rows else ""


def _elsewhere_row(claim: Claim) -> tuple[str, ...]:
    others = "; ".join(f"{o.reading}: {o.answer.ours}: {o.answer.verdict}" for o in claim.others)
    regions = "; ".join(
        f"[{one.experiment.name}]({anchor(one.experiment)}): {one.mapped.sentence}"
        for one in claim.regions
    )
    return (_named(claim), _doubled(claim), others, regions)


def _doubled(claim: Claim) -> str:
    """Return what twice the requests give; empty if they were not run."""
    if claim.doubled is None:
        return ""
    ours = render.ours(claim.doubled.found, claim.doubled.answer)
    return f"{ours}: {claim.doubled.answer.verdict}"


def lengths(book: Book) -> str:
    """Return whether twice the requests move a verdict, and of which claims."""
    doubled = [claim for claim in book.claims if claim.doubled is not None]
    if not doubled:
        return ""
    many = f"{len(doubled)} of {len(book.claims)} claims were run with twice the requests, too"
    moved = [f"{c.target.figure}: {c.target.label}" for c in doubled if c.has_moved]
    if not moved:
        return f"{many}: no verdict moves."
    verb = "moves" if len(moved) == 1 else "move"
    return f"{many}: {len(moved)} {verb} ({'; '.join(moved)})."


def claimed(claim: Claim) -> str:
    """Return what the paper says, of a claim that has no answer."""
    target = claim.target
    if target.value is None:
        return target.unit
    most = f" to {units.significant(target.most)}" if target.most is not None else ""
    return f"{units.significant(target.value)}{most} {target.unit}"


def citation(book: Book) -> str:
    """Return what a citation needs: the paper, our commit and version, the scale."""
    runs = book.runs.values()
    if not runs:
        return f"- Paper: {book.paper.title}. {book.paper.source}\n- Copyback: nothing was run."
    commits = sorted({shortened(run.commit) for run in runs})
    versions = sorted({run.version for run in runs})
    spent = units.time_s(sum(run.cpu_s for run in runs))
    lines = [
        f"Paper: {book.paper.title}. {book.paper.source}",
        f"Copyback {', '.join(versions)}, commit {', '.join(f'`{one}`' for one in commits)}",
        f"Scale: {', '.join(book.scales)}; {seeds_of(book.runs)}; {len(runs)} runs, "
        f"{spent} of CPU time",
        f"Joint reading: {book.paper.reading.name}",
    ]
    return "\n".join(f"- {line}" for line in lines)
