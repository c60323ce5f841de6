"""Pages of what is stored: the scorecard, and a page a paper, from templates that refer to cells."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from copyback import units
from copyback._core import InputError
from copyback.markdown import markdown_table
from copyback.papers import found as findings
from copyback.papers import stored
from copyback.papers.agreement import Verdict
from copyback.papers.catalogue import load_paper
from copyback.papers.measures import Cell
from copyback.papers.render import ANSWERS, answers_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from copyback.papers.catalogue import Paper
    from copyback.papers.experiment import Experiment
    from copyback.papers.found import Found
    from copyback.papers.targets import Target

RESULTS = "results"
TEMPLATES = "templates"
INDEX = "index.md.j2"
#: The papers of the scorecard, in its order.
PAPERS = ("fifo-mqsim", "pgc-2011", "pagc-2016", "harmonia-2012", "agc-dgc-2012")

NOTE = "<!-- Written by `copyback paper pages` from stored results and a template: do not edit. -->\n"


@dataclass
class Book:
    """A paper and what is stored of it."""

    paper: Paper
    results: stored.Stored
    found: Mapping[str, Found]

    def experiment(self, name: str) -> Experiment:
        """Return an experiment by its name."""
        for one in self.paper.everything:
            if one.name == name:
                return one
        raise InputError(f"{self.paper.name} has no experiment {name!r}")

    def of(self, name: str) -> Found:
        """Return what was found; an error if nothing is stored."""
        self.experiment(name)
        if name not in self.found:
            raise InputError(f"nothing is stored of experiment {name!r} of {self.paper.name}")
        return self.found[name]

    def value(
        self,
        name: str,
        variant: str,
        *,
        workload: str = "",
        point: str = "",
        measure: str = "response_us.all.mean",
    ) -> float:
        """Return the number of one cell: its mean over seeds."""
        found = self.of(name)
        cell = Cell(workload, point, variant)
        if cell not in found.measures:
            raise InputError(f"no cell {name} / {workload} / {point} / {variant} is stored")
        number = found.measures.mean(cell, measure)
        if number != number:
            raise InputError(f"no {measure} is stored of {name} / {workload} / {point} / {variant}")
        return number

    def cell(self, name: str, variant: str, *, scale: float = 1.0, **where: str) -> str:
        """Return the number of a cell as text."""
        return units.significant(self.value(name, variant, **where) * scale)

    def times(self, name: str, variant: str, baseline: str, **where: str) -> str:
        """Return how many times a variant's number is that of another under the same load."""
        base = self.value(name, baseline, **where)
        if not base:
            raise InputError(f"{name}: {baseline} is zero: nothing is a multiple of it")
        return units.significant(self.value(name, variant, **where) / base)

    def ours(self, name: str, number: int) -> str:
        """Return our answer to a check of an experiment, counted from one."""
        answers = self.of(name).answers
        if not 1 <= number <= len(answers):
            raise InputError(f"{name} has {len(answers)} answers, none is number {number}")
        return answers[number - 1].ours

    def given(self, name: str, text: str) -> str:
        """Return a figure that the experiment's own file or the claims have, as they have it."""
        where = self.experiment(name).path
        claims = {str(t.value) for t in self.paper.targets} | {f"{t.value:g}" for t in self.paper.targets if t.value}
        if text not in where.read_text(encoding="utf-8") and text not in claims:
            raise InputError(f"{where.name} and the claims do not say {text!r}")
        return text

    def section(self, name: str, *, under: str = "") -> str:
        """Return everything generated of an experiment: verdicts, tables, and where they are from."""
        experiment = self.experiment(name)
        anchor = f"### {experiment.name}: {experiment.title}"
        parts = [anchor, experiment.claim.strip(), under]
        parts.append("\n".join(f"- {text}" for text in experiment.chosen))
        if experiment.open_inputs:
            parts.append("Open inputs, with the bounds that the text allows:")
            parts.append("\n".join(_open(one) for one in experiment.open_inputs))
        if name not in self.found:
            return "\n\n".join([*filter(None, parts), "**Not run yet**: nothing is stored."])
        found = self.found[name]
        parts += [self.provenance(name), self.verdicts(name)]
        for figure in experiment.figures:
            if (table := findings.table_of(found, figure)) is not None:
                parts += [f"{table.title}", markdown_table(table.header, table.rows)]
        return "\n\n".join(filter(None, parts))

    def verdicts(self, name: str) -> str:
        """Return the table "paper / ours / verdict" of an experiment; other readings are columns."""
        found = self.of(name)
        table = answers_table([found])
        others = [one for one in self.experiment(name).readings if one.name in self.found]
        header = (*ANSWERS, *(f"under {one.name.partition('@')[2]}" for one in others))
        by_check = [{a.check: a for a in self.found[one.name].answers} for one in others]
        rows = [
            (*row, *(_other(answers.get(answer.check)) for answers in by_check))
            for row, answer in zip(table.rows, found.answers, strict=True)
        ]
        return markdown_table(header, rows) if rows else ""

    def provenance(self, *names: str) -> str:
        """Return which simulator, configurations and scale some experiments come from."""
        runs = self.results.runs_of(names)
        scales = sorted({run.scale for run in runs})
        commits = sorted({run.commit[:12] + ("-dirty" if "dirty" in run.commit else "") for run in runs})
        digests = sorted({run.config_digest for run in runs})
        shown = ", ".join(f"`{digest[:8]}`" for digest in digests[:3])
        shown += f" and {len(digests) - 3} more" if len(digests) > 3 else ""
        seeds = sorted({key[4] for key in self.results.runs if key[0] in names})
        cost = sum(float(run.cpu_s) for run in runs)
        note = self.experiment(names[0]).scales[scales[0]].note
        return (
            f"*{'**Quick scale**' if 'quick' in scales else 'Scale ' + scales[0]}"
            f"{': ' + note.rstrip('.') if note else ''}. {len(runs)} runs, seeds "
            f"{', '.join(map(str, seeds))}; commit {', '.join(f'`{c}`' for c in commits)}; "
            f"configurations {shown}; {units.significant(cost)} CPU s.*"
        )

    def picture(self, experiment: str, figure: str, alt: str) -> str:
        """Return a drawing, if it was drawn."""
        self.experiment(experiment)
        return f"![{alt}](../images/reproduction/{self.paper.name}-{figure}.svg)"

    def standing(self) -> str:
        """Return a warning if any of what is stored is of quick scale, and what the reading is."""
        joint = self.paper.reading
        text = f"**Joint reading: {joint.name}.** {joint.reason}"
        if any(run.scale == "quick" for run in self.results.runs.values()):
            text = (
                "> **Of quick scale.** Numbers below marked so come from small drives, short runs and one seed: they show"
                " that the machinery works and which way an effect points, and settle no claim. The full-scale run"
                " takes their place.\n\n" + text
            )
        return text

    def unanswered(self) -> str:
        """Return claims that no experiment answers, and why."""
        lines = [f"- {t.figure}, {t.label}: {why}" for t, why in self.paper.unanswered]
        return "\n".join(["## Not answered", "", *lines]) if lines else ""

    def tally(self) -> Counter[str]:
        """Return how many of the claims have each standing."""
        return Counter(self._standing(target) for target in self.paper.targets)

    def _standing(self, target: Target) -> str:
        joint, others = None, []
        for experiment in self.paper.everything:
            if experiment.name not in self.found:
                continue
            for answer in self.found[experiment.name].answers:
                if answer.check.target != target:
                    continue
                if "@" in experiment.name:
                    others.append(answer.verdict)
                else:
                    joint = answer.verdict
        if joint is None:
            return "unanswered"
        if joint is not Verdict.REPRODUCED and Verdict.REPRODUCED in others:
            return "another reading"
        return str(joint)


#: A picture as a template names it: experiment and figure.
PICTURE = re.compile(r"""picture\("([^"]+)", *"([^"]+)\"""")


def pictures(docs: Path, paper: str, experiment: str) -> list[str]:
    """Return the figures of an experiment that a paper's template shows."""
    text = (docs / TEMPLATES / f"{paper}.md.j2").read_text(encoding="utf-8")
    return [figure for one, figure in PICTURE.findall(text) if one == experiment]


def picture_path(docs: Path, paper: str, figure: str) -> Path:
    """Return where a drawing of the pages is."""
    return docs.parent / "images" / "reproduction" / f"{paper}-{figure}.svg"


def _open(one: Any) -> str:
    key = f" (`{one.key}`)" if one.key else ""
    return f"- {one.says}{key}: {', '.join(f'`{bound}`' for bound in one.bounds)}"


def _other(answer: Any) -> str:
    return f"{answer.ours}: {answer.verdict}" if answer is not None else "–"


def open_book(docs: Path, name: str) -> Book:
    """Return a paper and what is stored of it below the directory of the pages."""
    paper = load_paper(name)
    results = stored.load(docs / RESULTS, paper)
    given = {one.name: results.of(one) for one in paper.everything}
    return Book(paper, results, {key: found for key, found in given.items() if found is not None})


def render(docs: Path) -> dict[str, str]:
    """Return the pages by their path from the directory above, made of stored results alone.

    Raises
    ------
    InputError
        If a template names a cell that is not stored, with its file and line.
    """
    books = [open_book(docs, name) for name in PAPERS]
    pages = {f"{docs.name}.md": _render(docs, INDEX, {"scorecard": partial(scorecard, books, docs)})}
    for book in books:
        names = ("cell", "times", "ours", "given", "section", "verdicts", "provenance", "picture")
        context = {name: getattr(book, name) for name in (*names, "standing", "unanswered")}
        template = f"{book.paper.name}.md.j2"
        pages[f"{docs.name}/{book.paper.name}.md"] = _render(
            docs, template, {**context, "paper": book.paper}
        )
    return pages


def scorecard(books: Iterable[Book], docs: Path) -> str:
    """Return one row a paper: how many claims there are, and what became of them."""
    standings = (
        *map(str, (Verdict.REPRODUCED,)),
        "another reading",
        *map(str, (Verdict.SAME_SIGN, Verdict.PART, Verdict.CONTRADICTED)),
        "unanswered",
    )
    header = ("paper", "claims", "reproduced", "under another reading only", *standings[2:], "scale")
    rows = []
    for book in books:
        tally = book.tally()
        scales = sorted({run.scale for run in book.results.runs.values()}) or ["not run"]
        link = f"[{book.paper.name}]({docs.name}/{book.paper.name}.md)"
        counts = (str(tally[standing]) for standing in standings)
        shown = "**quick**" if scales == ["quick"] else ", ".join(scales)
        rows.append((link, str(len(book.paper.targets)), *counts, shown))
    return markdown_table(header, rows)


def _render(docs: Path, name: str, context: Mapping[str, object]) -> str:
    import jinja2

    folder = docs / TEMPLATES
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=False,  # noqa: S701 - Markdown
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    try:
        text = environment.get_template(name).render(context)
    except jinja2.TemplateSyntaxError as fault:
        raise InputError(f"{folder / name}:{fault.lineno}: {fault.message}") from None
    except (InputError, TypeError, jinja2.UndefinedError) as fault:
        raise InputError(f"{folder / name}:{_line(fault, name)}: {fault}") from None
    return NOTE + text


def _line(fault: BaseException, name: str) -> int:
    """Return the line of the template that a fault passed through."""
    frames = traceback.extract_tb(fault.__traceback__)
    return next((f.lineno or 0 for f in reversed(frames) if f.filename.endswith(name)), 0)
