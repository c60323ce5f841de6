"""The reproduction's pages: stored results, templates whose numbers are cells, the sentinel."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from msgspec import structs

from copyback import InputError
from copyback_papers import (
    output,
    outside,
    pages,
    readings,
    scorecard,
    sections,
    sentinel,
    stored_files,
)
from copyback_papers.agreement import Verdict
from copyback_papers.answers import answer
from copyback_papers.book import RESULTS, open_book
from copyback_papers.catalogue import load_paper, shipped
from copyback_papers.checks import Check
from copyback_papers.claims import Standing
from copyback_papers.measures import Cell, Measures
from copyback_papers.plan import make_plan
from copyback_papers.start import Start, is_settled
from copyback_papers.stored import Stored
from copyback_papers.targets import Target
from pages import ROOT
from tiny_paper import EXPERIMENT, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import RunCli

DOCS = Path(__file__).parents[1] / "docs/reproduction"

INDEX = "{{ scorecard() }}\n"
PAGE = "{{ signs }}\n\n{{ claims() }}\n"
TABLES = '{{ elsewhere() }}\n\n{{ section("1") }}\n\n{{ not_run() }}\n\n{{ unanswered() }}\n'

READING = """
[readings.wide]
reason = "the text can be read so"
set = { "ssd.geometry.blocks_per_plane" = 48 }
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return a directory of pages with templates, and nothing stored."""
    templates = tmp_path / "site/reproduction" / pages.TEMPLATES
    templates.mkdir(parents=True)
    (templates / pages.INDEX).write_text(INDEX)
    (templates / "tiny.md.j2").write_text(PAGE)
    (templates / "tiny-tables.md.j2").write_text(TABLES)
    return templates.parent


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a made-up paper and what its runs left are: it is run once."""
    home = tmp_path_factory.mktemp("ran")
    paper = write(home / "tiny")
    (paper / "1.toml").write_text(EXPERIMENT + READING)
    asked = [sys.executable, "-m", "copyback", "paper", "run", "tiny", "--out", "out", "--quiet"]
    environment = {key: text for key, text in os.environ.items() if key != "COPYBACK_TRACES"}
    subprocess.run(asked, cwd=home, env=environment, check=True, capture_output=True)
    return home


@pytest.fixture
def published(ran: Path, tiny_paper: Path, docs: Path) -> Path:
    """Return the directory of pages with the results of a made-up paper."""
    shutil.copy(ran / "tiny/1.toml", tiny_paper)
    paper = load_paper(str(tiny_paper))
    results = stored_files.load(docs / RESULTS, paper, "quick")
    for experiment in paper.everything:
        found = output.load_experiment(experiment, "quick", ran / "out")
        assert found is not None
        results.replace(found)
    stored_files.save(docs / RESULTS, paper, results)
    return docs


def five_seeds(docs: Path) -> None:
    """Store what the first seed found as that of three more."""
    for name in ("tiny.csv", "tiny-runs.csv"):
        file = docs / RESULTS / "quick" / name
        header, *rows = file.read_text().splitlines()
        more = [
            row.replace(f",{variant},1,", f",{variant},{seed},")
            for row in rows
            for variant in ("free", "greedy")
            for seed in (3, 4, 5)
            if f",{variant},1," in row
        ]
        file.write_text("\n".join([header, *rows, *more, ""]))


MARKS = """
[[seen]]
target = { figure = "1", quantity = "mean write response time reduction" }
saw = "99 %, on a smaller toy"
[[no_claims]]
target = { figure = "1", scheme = "greedy" }
because = "identity"
reason = "it is one by definition"
[[rests_on]]
target = { figure = "1" }
trace = "what the paper's machine wrote"
"""


def test_a_claim_that_is_marked_is_counted_apart(published: Path, tiny_paper: Path) -> None:
    five_seeds(published)
    edit(tiny_paper / "targets.csv", ",50,%", ",99.3,%")
    file = tiny_paper / "paper.toml"
    plain = file.read_text()

    def cells() -> list[str]:
        card = pages.render(published, [str(tiny_paper)])["reproduction.md"]
        head, _, row = (line.split(" | ") for line in card.splitlines() if line.startswith("|"))
        named = dict(zip(head, row, strict=True))
        wanted = ("claims", "reproduced", "seen (reproduced)", "no claim")
        return [named[one] for one in (*wanted, "on a trace that nobody has (reproduced)")]

    assert cells() == ["3", "2", "0", "0", "0"]
    seen, rest = MARKS.split("[[no_claims]]")
    file.write_text(plain + seen)
    assert cells() == ["2", "1", "1 (1)", "0", "0"]
    assert (
        "| reproduced (seen) |"
        in pages.render(published, [str(tiny_paper)])["reproduction/tiny.md"]
    )
    # What rests on a lost trace stays apart, seen or not; an identity is no claim of any kind.
    file.write_text(plain + seen + "[[no_claims]]" + rest)
    assert cells() == ["1", "0", "0", "1", "1 (1)"]
    assert (
        "no claim (identity: it is one by definition)"
        in (pages.render(published, [str(tiny_paper)])["reproduction/tiny.md"])
    )
    file.write_text(plain + MARKS.replace('figure = "1", scheme', 'figure = "9", scheme'))
    with pytest.raises(InputError, match=r"paper\.toml: no_claims\[0\]: no row of targets\.csv"):
        load_paper(str(tiny_paper))


def stored_text(docs: Path, name: str, change: Callable[[str], str]) -> None:
    """Change a file of stored results."""
    file = docs / RESULTS / "quick" / name
    file.write_text(change(file.read_text()))


def contradicted(docs: Path, paper: Path) -> list[str]:
    """Return what contradicts itself in a made-up paper that is in a commit."""
    stored_text(docs, "tiny-runs.csv", lambda text: text.replace("-dirty", ""))
    return [str(one) for one in pages.contradictions_of(docs, open_book(docs, str(paper)))]


def test_the_joint_point_of_a_region_is_the_claims_row(published: Path, tiny_paper: Path) -> None:
    assert contradicted(published, tiny_paper) == []
    edit(tiny_paper / "1.toml", 'joint = "100"', 'joint = "50"')
    (told,) = contradicted(published, tiny_paper)
    assert told.startswith(
        "another set-up: 1: 1, random: mean write response time reduction: joint"
    )
    assert told.endswith("and its row in 1: precondition.fill = 0.5 and 1.0")
    # At the point of the region the paper's scheme gains nothing any more.
    stored_text(
        published,
        "tiny.csv",
        lambda text: re.sub(r"(,50,free,\d,response_us.write.mean,).*", r"\g<1>9e9", text),
    )
    told, _ = contradicted(published, tiny_paper)
    assert told.startswith("another verdict: 1: 1, random: ")
    assert "joint point is contradicted (-" in told
    assert ", its row in 1 same sign, other size (9" in told


INPUT = """
[[open_inputs]]
says = "how full the drive is"
key = "precondition.fill"
bounds = [0.5, 1.0]
"""


def test_an_open_input_moves_a_number(published: Path, tiny_paper: Path) -> None:
    file = tiny_paper / "1.toml"
    file.write_text(file.read_text().replace("[config.ssd", f"{INPUT}[config.ssd", 1))
    assert contradicted(published, tiny_paper) == []
    alike = r"(,(?:50|100),\w+,\d,response_us.write.mean,).*"
    stored_text(published, "tiny.csv", lambda text: re.sub(alike, r"\g<1>7.0", text))
    told = contradicted(published, tiny_paper)
    assert told == [
        "an input that changes nothing: 1: precondition.fill moves no number of the region of "
        "1, random: mean write response time reduction",
        "an input that changes nothing: 1@wide: precondition.fill moves no number of the region of "
        "1, random: mean write response time reduction",
    ]


@pytest.mark.parametrize("because", ["identity", "no policy acts"])
def test_what_is_no_claim_has_one_number(published: Path, tiny_paper: Path, because: str) -> None:
    file = tiny_paper / "paper.toml"
    target = '{ figure = "1", quantity = "mean write response time reduction" }'
    mark = f'[[no_claims]]\ntarget = {target}\nbecause = "{because}"\nreason = "so it is"\n'
    file.write_text(file.read_text() + mark)
    (told,) = contradicted(published, tiny_paper)
    assert told.startswith(
        "a claim that is none by name only: 1: 1, random: mean write response time reduction "
        f"({because}): from "
    )
    one = r"(,100,\w+,\d,response_us.write.mean,).*"
    stored_text(published, "tiny.csv", lambda text: re.sub(one, r"\g<1>7.0", text))
    assert contradicted(published, tiny_paper) == []


def test_prose_quotes_a_settled_run_where_there_is_one(published: Path, tiny_paper: Path) -> None:
    (published / pages.TEMPLATES / "tiny.md.j2").write_text('So:\n{{ ours("1", 1) }} less.\n')
    results = published / RESULTS
    shutil.copytree(results / "quick", results / "full")
    shutil.copy(tiny_paper / "1.toml", tiny_paper / "2.toml")
    other = (tiny_paper / "2.toml").read_text().split("[[checks]]")[0]
    (tiny_paper / "2.toml").write_text(other)

    def again(text: str, state: str) -> str:
        """Return rows of experiment 1, and the same rows as those of experiment 2."""
        mine = re.sub(r"[\d.]*,(yes|no)$", "9.000,no", text, flags=re.MULTILINE)
        same = re.sub(r"[\d.]*,(yes|no)$", state, text, flags=re.MULTILINE).splitlines()
        copies = [row.replace("tiny,1,", "tiny,2,") for row in same if row.startswith("tiny,1,")]
        return "\n".join([mine.rstrip(), *copies, ""])

    runs = results / "full/tiny-runs.csv"
    plain = runs.read_text().replace("-dirty", "")
    runs.write_text(again(plain, "8.000,no"))
    assert contradicted(published, tiny_paper) == []
    runs.write_text(again(plain, "21.000,yes"))
    assert contradicted(published, tiny_paper) == [
        "prose from a run that settles nothing: tiny.md.j2:2 quotes 1; settled in 2"
    ]
    (published / pages.TEMPLATES / "tiny-tables.md.j2").write_text(
        '{% if false %}{{ ours("1", 9) }}{% endif %}\n{% set at = 1 %}{{ ours("1", at) }}'
    )
    with pytest.raises(InputError, match=r"tiny-tables.md.j2:2: ours\(\) needs arguments that are"):
        contradicted(published, tiny_paper)
    (published / pages.TEMPLATES / "tiny-tables.md.j2").write_text(
        '{% if false %}{{ ours("1", 9) }}{% endif %}\n'
    )
    # A shorter run settles nothing about a longer one.
    edit(tiny_paper / "2.toml", "[full]", "[full]\nshorter = 2")
    assert contradicted(published, tiny_paper) == []


def test_a_page_says_what_is_stored(published: Path, tiny_paper: Path) -> None:
    template = published / pages.TEMPLATES / "tiny.md.j2"
    template.write_text('{{ said("nearly all", number("1", 1) > 90) }} of it\n')
    page = pages.render(published, [str(tiny_paper)])["reproduction/tiny.md"]
    assert page.endswith("nearly all of it\n")
    template.write_text('{{ said("nearly all", 90 < number("1", 1, "100") < 91) }} of it\n')
    with pytest.raises(InputError, match=r"tiny.md.j2:1: 'nearly all': what is stored says other"):
        pages.render(published, [str(tiny_paper)])
    template.write_text('{{ number("1", 2) }}\n')
    with pytest.raises(InputError, match="answer 2 of 1 is no number: "):
        pages.render(published, [str(tiny_paper)])


@pytest.fixture
def site(ran: Path, tiny_paper: Path, tmp_path: Path) -> Path:
    """Return a directory of pages, and beside it runs of a program that is in a commit."""
    shutil.copy(ran / "tiny/1.toml", tiny_paper)
    docs = tmp_path / "site/reproduction"
    shutil.copytree(DOCS, docs)
    for page in pages.pages_of("tiny"):
        (docs / pages.TEMPLATES / f"{page}.j2").write_text("")
    shutil.copytree(ran / "out", tmp_path / "runs")
    committed(tmp_path / "runs", "0" * 40)
    return docs


def committed(runs: Path, commit: str) -> None:
    """Say in the summary of each run of which commit its program was."""
    for file in runs.glob("store/runs/*/summary.json"):
        summary = json.loads(file.read_bytes())
        summary["simulator"]["commit"] = commit
        file.write_text(json.dumps(summary))


def test_what_contradicts_itself_is_not_published(
    cli: RunCli, site: Path, tiny_paper: Path, tmp_path: Path
) -> None:
    asked = ("paper", "publish", tiny_paper, "--out", tmp_path / "runs", "--docs", site)
    stored = site / RESULTS / "quick/tiny.csv"
    committed(tmp_path / "runs", "0" * 40 + "-dirty")
    fault = cli(*asked, status=2).stderr
    assert "a run of an uncommitted program: 1 at quick scale: 8 of 8 runs" in fault
    assert not stored.exists()
    committed(tmp_path / "runs", "0" * 40)
    (site / pages.TEMPLATES / "tiny.md.j2").write_text('{{ said("all", number("1", 1) > 200) }}')
    assert "tiny.md.j2:1: 'all': what is stored" in cli(*asked, status=2).stderr
    assert not stored.exists()
    (site / pages.TEMPLATES / "tiny.md.j2").write_text("")
    assert "Stored       1\n" in cli(*asked).stdout
    check = ("paper", "check", tiny_paper, "--docs", site)
    assert cli(*check).stdout == "Contradictions  0\n"
    edit(tiny_paper / "1.toml", 'joint = "100"', 'joint = "50"')
    done = cli(*check, status=1)
    assert f"{tiny_paper}: another set-up: 1: 1, random" in done.stdout
    assert done.stdout.endswith("Contradictions  1\n")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


#: Known contradictions: the region of midas-2024 has fewer seeds than the row that it maps.
KNOWN = ["midas-2024: another set-up: spare:"]


def test_what_is_stored_of_the_papers_does_not_contradict_itself(cli: RunCli) -> None:
    docs = ROOT / "docs/reproduction"
    told = cli("paper", "check", "--docs", docs, status=1).stdout.splitlines()
    found = [line for line in told if line and not line.startswith("Contradictions")]
    assert [line for line in found if not line.startswith(tuple(KNOWN))] == []
    assert len(found) == len(KNOWN)


def test_pages_are_made_of_what_is_stored(published: Path, tiny_paper: Path, ran: Path) -> None:
    made = pages.render(published, [str(tiny_paper)])
    assert set(made) == {
        "reproduction.md",
        "reproduction/tiny.md",
        "reproduction/tiny-tables.md",
    }
    card = made["reproduction.md"]
    assert card.startswith(pages.NOTE)
    assert "| [tiny](reproduction/tiny.md) | 3 |" in card
    assert "[1](tiny-tables.md#1-writes-on-a-toy)" in made["reproduction/tiny.md"]
    page = made["reproduction/tiny-tables.md"]
    assert "### 1: Writes on a toy" in page
    assert "under wide" in page
    assert "**Quick scale**: half. 8 runs" in page
    assert "8 runs, seeds 1, 2, " in page
    assert "something else: nobody knows" in page
    assert "- [1@wide](#1-writes-on-a-toy): not at full scale" in page
    frame = pl.read_parquet(ran / "out/1/results.parquet")
    cell = (pl.col("variant") == "greedy") & (pl.col("point") == "100")
    mean = frame.filter(cell)["response_us.all.mean"].mean()
    book = open_book(published, str(tiny_paper))
    assert book.value("1", "greedy", workload="random", point="100") == pytest.approx(mean)
    assert book.times("1", "greedy", "greedy", workload="random", point="100") == "1.00"
    assert pages.render(published, [str(tiny_paper)]) == made


def test_results_are_published(cli: RunCli, site: Path, tiny_paper: Path, tmp_path: Path) -> None:
    for page in pages.pages_of("tiny"):
        (site / pages.TEMPLATES / f"{page}.j2").unlink()
    asked = ("paper", "publish", tiny_paper, "--out", tmp_path / "runs", "--docs", site)
    fault = cli(*asked, status=2).stderr
    assert "tiny.md.j2: no such template" in fault
    assert not (site / RESULTS / "quick/tiny.csv").exists()
    (site / pages.TEMPLATES / "tiny.md.j2").write_text('{{ picture("1", "1b", "Parts") }}\n')
    assert "tiny-tables.md.j2: no such template" in cli(*asked, status=2).stderr
    (site / pages.TEMPLATES / "tiny-tables.md.j2").write_text("")
    done = cli(*asked)
    assert "Stored       1\nStored       1@wide\n" in done.stdout
    assert {file.name for file in (site / RESULTS / "quick").glob("tiny*")} == {
        "tiny.csv",
        "tiny-runs.csv",
    }
    drawn = tmp_path / "site" / pages.IMAGES
    assert {file.name for file in drawn.iterdir()} == {"tiny-1b.svg", "tiny-1-regions.svg"}
    assert (tmp_path / "site/reproduction.md").read_bytes() == (
        DOCS.parent / "reproduction.md"
    ).read_bytes()
    fault = cli("paper", "publish", tiny_paper, "--docs", site, status=2).stderr
    assert "holds no results of tiny" in fault


def test_what_was_not_run_is_listed_with_its_cost(docs: Path, tiny_paper: Path) -> None:
    (tiny_paper / "1.toml").write_text(
        EXPERIMENT.replace("[full]", "[full]\ncpu_minutes = 40").replace(
            "[quick]", "[quick]\ncpu_minutes = 2"
        )
    )
    made = pages.render(docs, [str(tiny_paper)])
    page = made["reproduction/tiny-tables.md"]
    assert "**Not run** (quick: about 2.00 CPU minutes)." in page
    assert "- [1](#1-writes-on-a-toy): not run (full: about 40.0 CPU minutes)" in page
    assert "| not run |" in made["reproduction/tiny.md"]
    assert "[why](tiny-tables.md#not-answered)" in made["reproduction/tiny.md"]
    assert "## Not answered" in page


def test_stored_results_come_back_as_they_were_written(published: Path, tiny_paper: Path) -> None:
    paper = load_paper(str(tiny_paper))
    files = sorted((published / RESULTS / "quick").iterdir())
    before = [file.read_bytes() for file in files]
    results = stored_files.load(published / RESULTS, paper, "quick")
    stored_files.save(published / RESULTS, paper, results)
    assert [file.read_bytes() for file in files] == before
    assert len(files) == 2


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        ("tiny.csv", "measure,value", "value,measure", "not stored results; columns needed: "),
        ("tiny.csv", ",1,random,50,free,1,", ",1,random,50,fre,1,", "has no such run"),
        ("tiny.csv", "mean,", "mean,x", ": value: found 'x"),
        ("tiny-runs.csv", ",0.1.0,", ",", ":2: found 11 columns; 12 are needed"),
        ("tiny-runs.csv", "yes", "perhaps", ": settled: found 'perhaps'; allowed: yes, no"),
        ("tiny-runs.csv", "tiny,1,", "tiny,2,", ":2: tiny has no experiment '2'"),
        ("tiny-runs.csv", ",free,1,", ",free,one,", ":2: seed: found 'one'; a whole number"),
    ],
)
def test_a_damaged_file_of_results_is_told_in_a_line(
    published: Path, tiny_paper: Path, file: str, old: str, new: str, fault: str
) -> None:
    edit(published / RESULTS / "quick" / file, old, new)
    with pytest.raises(InputError) as told:
        pages.render(published, [str(tiny_paper)])
    assert fault in str(told.value)
    assert file in str(told.value)
    assert "\n" not in str(told.value)


def test_pages_prefer_full_scale_and_compare_signs(published: Path, tiny_paper: Path) -> None:
    results = published / RESULTS
    shutil.copytree(results / "quick", results / "full")
    made = pages.render(published, [str(tiny_paper)])
    page, tables = made["reproduction/tiny.md"], made["reproduction/tiny-tables.md"]
    assert "**Full scale**" in tables
    assert "Quick scale agrees with full scale in sign on 2 of 2 rows." in page
    assert "not at full scale" not in tables
    values = results / "quick/tiny.csv"
    text = values.read_text()
    swapped = text.replace(",free,", ",x,").replace(",greedy,", ",free,").replace(",x,", ",greedy,")
    values.write_text(swapped)
    page = pages.render(published, [str(tiny_paper)])["reproduction/tiny.md"]
    assert "**Quick scale agrees with full scale in sign on 0 of 2 rows: it is for trying" in page


def test_what_full_scale_left_out_is_listed_with_its_cost(
    published: Path, tiny_paper: Path
) -> None:
    results = published / RESULTS
    shutil.copytree(results / "quick", results / "full")
    runs = results / "full/tiny-runs.csv"
    # Each of the eight runs costs a minute: four a seed.
    runs.write_text(
        re.sub(r",[\d.]+(,[\d.]*,(?:yes|no))$", r",60.00\1", runs.read_text(), flags=re.M)
    )
    edit(tiny_paper / "1.toml", "[full]", "[full]\nseeds = [1, 2, 3, 4]")
    page = pages.render(published, [str(tiny_paper)])["reproduction/tiny-tables.md"]
    assert "- [1](#1-writes-on-a-toy): seeds 3, 4 (about 8.00 CPU minutes)\n" in page
    assert "- [1](#1-writes-on-a-toy): twice the requests (about 8.00 CPU minutes)\n" in page
    shutil.copytree(results / "full", results / "double")
    edit(tiny_paper / "1.toml", "seeds = [1, 2, 3, 4]", "seeds = [1, 2]")
    page = pages.render(published, [str(tiny_paper)])["reproduction/tiny-tables.md"]
    assert "## Not run" not in page


def test_twice_the_requests_say_whether_a_verdict_moves(published: Path, tiny_paper: Path) -> None:
    results = published / RESULTS
    shutil.copytree(results / "quick", results / "full")
    assert scorecard.lengths(open_book(published, str(tiny_paper))) == ""
    shutil.copytree(results / "quick", results / "double")
    book = open_book(published, str(tiny_paper))
    assert "2 of 3 claims were run with twice the requests, too: no verdict" in scorecard.lengths(
        book
    )
    values = results / "double/tiny.csv"
    text = values.read_text()
    swapped = text.replace(",free,", ",x,").replace(",greedy,", ",free,").replace(",x,", ",greedy,")
    values.write_text(swapped)
    book = open_book(published, str(tiny_paper))
    assert [claim.has_moved for claim in book.claims] == [True, True, False]
    assert ": 2 move (1: " in scorecard.lengths(book)
    card = pages.render(published, [str(tiny_paper)])["reproduction.md"]
    assert "| 2 of 2 |" in card


def test_twice_the_requests_are_a_scale_of_every_experiment(tiny_paper: Path) -> None:
    (experiment,) = load_paper(str(tiny_paper)).experiments
    edit(tiny_paper / "1.toml", "[full]", "[full]\nshorter = 4")
    (cut,) = load_paper(str(tiny_paper)).experiments
    for one, requests in ((experiment, 8000), (cut, 2000)):
        (run, *_) = make_plan(one, "double", None).sweep.runs
        assert f"requests = {requests}" in run.config.to_toml()
    (run, *_) = make_plan(experiment, "full", None, (5,)).sweep.runs
    assert run.seed == 5


def test_results_are_added_to_those_of_other_seeds(
    published: Path, tiny_paper: Path, ran: Path
) -> None:
    paper = load_paper(str(tiny_paper))
    (experiment,) = paper.experiments
    results = stored_files.load(published / RESULTS, paper, "quick")
    before = dict(results.runs_of("1"))
    found = output.load_experiment(experiment, "quick", ran / "out")
    assert found is not None
    later = replace(found, frame=found.frame.with_columns(pl.col("seed") + 2))
    results.replace(later, keep=True)
    assert {key.seed for key in results.runs_of("1")} == {1, 2, 3, 4}
    assert before.items() <= results.runs_of("1").items()
    results.replace(later)
    assert {key.seed for key in results.runs_of("1")} == {3, 4}


PLACES = """
[[regions]]
target = { figure = "1", scheme = "greedy" }
variants = ["greedy", "free"]
joint = "greedy, filling"
[regions.at.filling]
points = ["50", "100"]
[regions.at.emptying]
points = ["100", "50"]
[[regions.rules]]
rule = "at_least"
variants = ["greedy"]
baseline = "free"
[[regions.rules]]
rule = "at_most"
variants = ["free"]
baseline = "greedy"
"""


def test_a_place_of_a_region_may_be_several_points(published: Path, tiny_paper: Path) -> None:
    file = tiny_paper / "1.toml"
    file.write_text(file.read_text().replace(READING, PLACES + READING))
    claim = open_book(published, str(tiny_paper)).claims[1]
    sought, _ = claim.regions
    places = ["greedy, filling", "greedy, emptying", "free, filling", "free, emptying"]
    assert list(sought.mapped.answers) == places
    assert {one.check.points for one in sought.mapped.answers.values()} == {
        ("50", "100"),
        ("100", "50"),
    }
    edit(file, 'joint = "greedy, filling"', 'joint = "greedy, filling"\nwider = ["free"]')
    region = open_book(published, str(tiny_paper)).claims[1].regions[0].mapped
    assert region.region.remark("free, filling") == "free, filling (wider than the text)"
    assert list(region.others) == ["emptying"]
    # Both rules are about a variant of the region, so that each takes the place's.
    assert "free: at least 1.00" in sought.mapped.answers["free, filling"].note
    edit(file, 'points = ["100", "50"]', 'points = ["100", "75"]')
    with pytest.raises(InputError, match=r"regions\[1\]: no '75' among the points"):
        load_paper(str(tiny_paper))
    edit(file, 'wider = ["free"]', 'wider = ["freed"]')
    with pytest.raises(InputError, match="wider: found a name that is none of the region's"):
        load_paper(str(tiny_paper))
    edit(file, 'wider = ["freed"]', 'points = ["50"]')
    with pytest.raises(InputError, match="at: found beside points; one of the two is needed"):
        load_paper(str(tiny_paper))


def test_a_crossing_is_where_one_number_passes_another() -> None:
    rows = {
        Cell("", point, variant): [{"response_us.all.mean": number}]
        for variant, numbers in {"one": [8.0, 4.0, 2.0], "other": [3.0, 3.0, 3.0]}.items()
        for point, number in zip(("wide, 2", "wide, 4", "wide, 8"), numbers, strict=True)
    }
    target = Target("tiny", "8", "", "drives needed", "one", "other", 6.0, "devices")
    check = Check(target=target, form="crossing", variant="one", baseline="other")
    found = answer(check, Measures(rows))
    assert found is not None
    assert found.ours == "6.00 devices"
    assert found.verdict is Verdict.NEAR
    found = answer(structs.replace(check, baseline="one", baseline_point="wide, 8"), Measures(rows))
    assert found is not None
    assert found.ours == "8.00 devices"
    with pytest.raises(ValueError, match="baseline: missing; a crossing needs what is crossed"):
        Check(target=target, form="crossing", variant="one")


def test_lines_that_cross_for_some_seeds_only_cross_nowhere() -> None:
    numbers = {"2": [20.0, 20.0], "4": [10.0, 19.9], "8": [5.0, 19.8]}
    rows = {Cell("", at, "alone"): [{"x": one} for one in line] for at, line in numbers.items()}
    rows[Cell("", "2", "together")] = [{"x": 10.0}, {"x": 10.0}]
    check = Check(
        says="alike",
        form="crossing",
        variant="alone",
        baseline="together",
        baseline_point="2",
        measure="x",
    )
    found = answer(check, Measures(rows))
    assert found is not None
    assert (found.ours, found.interval) == ("–", "2 seeds")


def test_variants_may_be_the_axis_of_a_crossing() -> None:
    numbers = {"none": 10.0, "40%": 8.0, "80%": 12.0}
    rows = {Cell("", "", name): [{"gc.erases": number}] for name, number in numbers.items()}
    check = Check(
        says="alike", form="crossing", along=("40%", "80%"), baseline="none", measure="gc.erases"
    )
    found = answer(check, Measures(rows))
    assert found is not None
    assert found.value == pytest.approx(60.0)
    rows[Cell("", "", "40%")] = [{"gc.erases": 11.0}]
    found = answer(check, Measures(rows))
    assert found is not None
    assert found.ours == "–"


def test_a_claim_may_be_about_what_is_beyond_a_variant() -> None:
    numbers = {"L-FTL": [50.0, 70.0], "both": [31.0, 30.0], "free": [30.0, 30.0]}
    rows = {
        Cell("", "", name): [{"excess": one} for one in values] for name, values in numbers.items()
    }
    check = Check(says="removed", variant="both", baseline="L-FTL", beyond="free", measure="excess")
    found = answer(check, Measures(rows))
    assert found is not None
    assert found.value == pytest.approx(100 * (1 - (1 / 20 + 0 / 40) / 2))
    del rows[Cell("", "", "free")]
    assert answer(check, Measures(rows)) is None


def test_results_of_a_variant_that_is_gone_are_refused(published: Path, tiny_paper: Path) -> None:
    file = tiny_paper / "1.toml"
    file.write_text(file.read_text().replace('"free"', '"gratis"'))
    with pytest.raises(InputError, match="experiment 1 has no variant 'free': publish it again"):
        pages.render(published, [str(tiny_paper)])


@pytest.mark.parametrize(
    ("macro", "fault"),
    [
        ('cell("2", "free")', "tiny has no experiment '2'"),
        ('cell("1", "fre", workload="random", point="50")', "no cell 1 / random / 50 / fre is st"),
        ('cell("1", "free", workload="random", point="50", measure="x")', "no x is stored of 1"),
        ('cell("1", "free", load="random")', "unexpected keyword argument 'load'"),
        ('ours("1", 7)', "1 has 2 answers, none is number 7"),
        ('at("1", 2, "50")', "1 has 1 regions, none is number 2"),
        ('at("1", 1, "75")', "region 1 of 1 has no place '75'"),
        ('given("1", "98.7")', "1.toml and the claims do not say '98.7'"),
        ('picture("1", "8", "A drawing")', "experiment '1' draws no '8'; there are: 1, 1b, 1c"),
        ("cel()", "'cel' is undefined"),
        ("cell(", "unexpected '}'"),
    ],
)
def test_a_macro_without_a_cell_names_file_and_line(
    published: Path, tiny_paper: Path, macro: str, fault: str
) -> None:
    template = published / pages.TEMPLATES / "tiny.md.j2"
    template.write_text(f"# Tiny\n\n{{{{ {macro} }}}}\n")
    with pytest.raises(InputError) as told:
        pages.render(published, [str(tiny_paper)])
    assert str(told.value).startswith(f"{template}:3: ")
    assert fault in str(told.value)
    assert "\n" not in str(told.value)


def test_prose_stands_once_what_it_is_about_was_run(published: Path, tiny_paper: Path) -> None:
    prose = '{% if ran("1", "1@wide") %}It is so.{% endif %}'
    (published / pages.TEMPLATES / "tiny.md.j2").write_text(prose)
    assert "It is so." in pages.render(published, [str(tiny_paper)])["reproduction/tiny.md"]
    shutil.rmtree(published / RESULTS)
    assert "It is so." not in pages.render(published, [str(tiny_paper)])["reproduction/tiny.md"]


def test_a_claim_is_counted_once_and_under_its_joint_reading_first(
    published: Path, tiny_paper: Path
) -> None:
    five_seeds(published)
    book = open_book(published, str(tiny_paper))
    assert len(book.claims) == len(book.paper.targets) == 3
    number, shape, other = book.claims
    assert other.standing is Standing.UNANSWERED
    assert other.reason == "nobody knows"
    assert shape.standing is Standing.REPRODUCED
    assert [given.reading for given in number.others] == ["wide"]
    file = tiny_paper / "targets.csv"
    # What the other reading finds is what the paper claims.
    found = number.others[0].answer.value
    file.write_text(file.read_text().replace(",50,%", f",{found:.2f},%"))
    book = open_book(published, str(tiny_paper))
    assert book.claims[0].joint is not None
    # It is under both other readings, of which none is mixed with another; the shape is, too.
    assert [(one.name, one.count(Verdict.REPRODUCED)) for one in book.tried] == [
        ("wide", 2),
        ("filled (%): 50", 1),
    ]


def test_readings_are_counted_by_themselves(published: Path, tiny_paper: Path) -> None:
    five_seeds(published)
    told = scorecard.standings(open_book(published, str(tiny_paper)))
    assert told.startswith("Reproduced: 1 of 3; near: 0. Best single other reading: 1 of 2 asked, ")
    assert told.endswith("Not even near under any: 1.")
    edit(tiny_paper / "targets.csv", ",50,%", ",99.3,%")
    book = open_book(published, str(tiny_paper))
    assert scorecard.standings(book) == (
        "Reproduced: 2 of 3; near: 0. Best single other reading: 2 of 2 asked, 0 near: `wide`, "
        "of 2 tried; of these 2 the joint one reproduces 2. Not even near under any: 0."
    )
    assert "| filled (%): 50 | 1 | 1 | 0 | 1 |" in scorecard.readings_table(book)
    # What goes beyond the text is no reading.
    file = tiny_paper / "1.toml"
    place = 'variants = ["free", "greedy"]\nwider = ["greedy"]\njoint = "free, 100"'
    file.write_text(file.read_text().replace('joint = "100"', place))
    names = [one.name for one in open_book(published, str(tiny_paper)).tried]
    assert names == ["wide", "filled (%): 50"]


def test_of_several_verdicts_of_one_reading_the_worst_counts(
    published: Path, tiny_paper: Path
) -> None:
    claim = open_book(published, str(tiny_paper)).claims[0]
    (given,) = claim.others
    better = replace(given, answer=replace(given.answer, verdict=Verdict.REPRODUCED))
    (one,) = readings.tried([replace(claim, others=(given, better), regions=())])
    assert list(one.verdicts.values()) == [given.answer.verdict]
    assert given.answer.verdict is not Verdict.REPRODUCED


def test_a_column_beside_the_claims_is_counted_nowhere(published: Path, tiny_paper: Path) -> None:
    five_seeds(published)
    before = [claim.standing for claim in open_book(published, str(tiny_paper)).claims]
    (tiny_paper / "2.toml").write_text(f'column = "real pieces"\n{EXPERIMENT}')
    for name in ("tiny.csv", "tiny-runs.csv"):
        file = published / RESULTS / "quick" / name
        rows = file.read_text().splitlines()
        own = [row.replace("tiny,1,", "tiny,2,") for row in rows if row.startswith("tiny,1,")]
        file.write_text("\n".join([*rows, *own, ""]))
    book = open_book(published, str(tiny_paper))
    assert [claim.standing for claim in book.claims] == before
    number = book.claims[0]
    assert number.joint is not None
    beside = number.beside["real pieces"]
    assert beside.answer.ours == number.joint.answer.ours
    # Its regions are no other reading's.
    assert "2" not in {one.found.experiment.name for one in number.regions}
    page = pages.render(published, [str(tiny_paper)])["reproduction/tiny.md"]
    header, _, row = next(
        part for part in page.split("\n\n") if part.startswith("| claim")
    ).splitlines()[:3]
    assert header.endswith("| real pieces |")
    assert row.endswith(f"{beside.answer.verdict} |")
    assert beside.answer.ours in row.rsplit(" | ", 1)[1]


def test_a_region_says_where_a_claim_appears(published: Path, tiny_paper: Path) -> None:
    five_seeds(published)
    claim = open_book(published, str(tiny_paper)).claims[0]
    sought, wide = claim.regions
    assert wide.experiment.name == "1@wide"
    assert list(sought.mapped.answers) == ["50", "100"]
    assert not claim.is_open
    found = sought.mapped.answers["50"].value
    other = sought.mapped.answers["100"].value
    assert found != other
    file = tiny_paper / "targets.csv"
    # What is found at the point that is not the joint reading's is what the paper claims.
    file.write_text(file.read_text().replace(",50,%", f",{found:.2f},%"))
    claim = open_book(published, str(tiny_paper)).claims[0]
    assert list(claim.regions[0].mapped.others) == ["50"]
    assert "50" in claim.regions[0].mapped.appears
    page = pages.render(published, [str(tiny_paper)])["reproduction/tiny-tables.md"]
    assert f"): {claim.regions[0].mapped.sentence}" in page
    assert "![Writes on a toy](../images/reproduction/tiny-1-regions.svg)" in page
    experiment = tiny_paper / "1.toml"
    edit(experiment, 'joint = "100"', 'joint = "100"\nsays = "free ones only"')
    page = pages.render(published, [str(tiny_paper)])["reproduction/tiny-tables.md"]
    assert f"): free ones only: {claim.regions[0].mapped.sentence}" in page
    edit(experiment, 'joint = "100"', 'joint = "half"')
    with pytest.raises(InputError, match=r"regions\[0\]\.joint: no 'half' among the places"):
        load_paper(str(tiny_paper))


def test_runs_inside_their_start_are_marked(published: Path, tiny_paper: Path) -> None:
    runs = published / RESULTS / "quick/tiny-runs.csv"
    text = runs.read_text()
    past = re.sub(r"[\d.]*,(yes|no)$", "21.000,yes", text, flags=re.MULTILINE)
    runs.write_text(past)
    made = pages.render(published, [str(tiny_paper)])
    page = made["reproduction/tiny-tables.md"]
    assert "8 runs, seeds 1, 2, 0 of them inside the start transient" in page
    assert "% † |" not in page
    assert "% † |" not in made["reproduction/tiny.md"]
    runs.write_text(past.replace("21.000,yes", "19.000,yes", 1))
    page = pages.render(published, [str(tiny_paper)])["reproduction/tiny-tables.md"]
    assert "8 runs, seeds 1, 2, 1 of them inside the start transient" in page


@pytest.mark.parametrize(
    ("start", "past"),
    [
        (Start(20.0, settled=True), True),
        (Start(19.9, settled=True), False),
        (Start(500.0, settled=False), False),
        (Start(None, settled=True), True),
    ],
)
def test_a_run_leaves_its_start_by_collections_and_amplification(start: Start, past: bool) -> None:
    assert start.is_past is past


@pytest.mark.parametrize(
    ("collected", "settled"),
    [
        ([9.0, 0.0, 10.0, 10.0], True),
        ([9.0, 0.0, 10.0, 10.39], True),
        ([9.0, 0.0, 10.0, 10.41], False),
        ([0.0, 0.0, 0.0, 0.0], True),
    ],
)
def test_amplification_settles_within_two_per_cent(collected: list[float], settled: bool) -> None:
    rows = pl.DataFrame({"host_programs": [10.0] * 4, "gc_programs": collected})
    assert is_settled(rows) is settled


def test_what_is_written_in_one_go_has_not_settled() -> None:
    assert not is_settled(pl.DataFrame({"host_programs": [10.0], "gc_programs": [5.0]}))


AMPLIFICATION = "page_write_amplification"

#: What a template may say with digits: macros, links, figures and sections of papers, code, names.
ALLOWED = re.compile(
    r"\{\{.*?\}\}|\{%.*?%\}|\]\([^)]*\)|`[^`]*`|<!--.*?-->|^#[^\n]*$"
    r"|RAID-\d|99th percentile|\bp99(?:\.9)?\b|\w+-20\d\d|\b[a-z]+\d?_\d\b|Financial1"
    r"|Zipf\([\d.]+\)|decision \d+|32 KiB"
    r"|\b(?:[Ff]igures?|[Ss]ections?|[Tt]ables?|[Qq]uestions?)"
    r" \d[\w.]*(?:(?:, | and | to )\d[\w.]*)*",
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("path", sorted((DOCS / pages.TEMPLATES).iterdir()), ids=lambda p: p.name)
def test_no_number_of_a_page_is_typed(path: Path) -> None:
    prose = ALLOWED.sub("", path.read_text(encoding="utf-8"))
    typed = [line for line in prose.splitlines() if re.search(r"\d", line)]
    assert typed == [], f"{path.name}: a number is a macro's: cell, times, ours or given"


def test_typed_numbers_are_told_from_names() -> None:
    assert not re.search(r"\d", ALLOWED.sub("", "Figure 8(a) and section 6.1, figures 5 and 6"))
    assert re.search(r"\d", ALLOWED.sub("", "a mean 29.8% shorter"))
    assert re.search(r"\d", ALLOWED.sub("", "# A heading, and below it\n\na mean 29.8% shorter"))


@pytest.mark.parametrize("name", shipped())
def test_a_page_shows_every_experiment(name: str) -> None:
    text = (DOCS / pages.TEMPLATES / f"{name}-tables.md.j2").read_text(encoding="utf-8")
    shown = re.findall(r'section\("([^"]+)"', text)
    assert sorted(shown) == sorted(one.name for one in load_paper(name).experiments)
    assert name in pages.PAPERS


def test_pictures_of_the_pages_are_in_the_repository() -> None:
    for file in [file for name in pages.PAPERS for file in pages.pages_of(name)]:
        page = (DOCS / file).read_text(encoding="utf-8")
        for link in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", page):
            assert (DOCS / link).is_file(), f"{file}: {link}"


def test_the_set_up_of_the_cache_is_the_one_that_is_nearest_without_handles() -> None:
    book = open_book(DOCS, "fdp")
    without = next(t.value for t in book.paper.targets if t.scheme == "no_fdp")
    assert without is not None
    found = {
        cell.point: book.value("choice", cell.variant, point=cell.point, measure=AMPLIFICATION)
        for cell in book.of("choice").measures.rows
    }
    assert len(found) == 40
    [chosen] = {cell.point for cell in book.of("1").measures.rows}
    assert min(found, key=lambda point: abs(found[point] - without)) == chosen


def test_sections_are_linked_as_their_headings_are() -> None:
    experiment = load_paper("pgc-2011").experiments[0]
    assert experiment.title.startswith("Figure 8(a) again: what if")
    assert sections.anchor(experiment).startswith("#8-coverage-figure-8a-again-what-if")


def test_the_sentinel_watches_every_paper() -> None:
    cells = sentinel.load(DOCS / sentinel.FILE).cells
    assert len(cells) >= 25
    assert {key.paper for key in cells} == set(shipped())
    assert all(all(numbers) for numbers in cells.values())


HEADER = "paper,experiment,workload,point,variant,response_us.all.mean,gc.collections\n"


def watch(docs: Path, tiny_paper: Path, rows: str) -> Path:
    path = docs / sentinel.FILE
    path.write_text(HEADER + rows.replace("tiny", str(tiny_paper)))
    return path


def test_the_sentinel_tells_what_moved(cli: RunCli, docs: Path, tiny_paper: Path) -> None:
    path = watch(docs, tiny_paper, "tiny,1,random,50,greedy,,\ntiny,1,random,100,free,,\n")
    done = cli("paper", "sentinel", "--docs", docs, "--update", "--jobs", "1")
    assert "2 cells, 4 numbers moved" in done.stdout
    before = path.read_text()
    done = cli("paper", "sentinel", "--docs", docs, "--jobs", "1")
    assert done.stdout == "Sentinel     2 cells, 0 numbers moved\n"
    number = sentinel.load(path).cells[list(sentinel.load(path).cells)[1]][0]
    path.write_text(before.replace(number, number + "1"))
    done = cli("paper", "sentinel", "--docs", docs, "--jobs", "1", status=1)
    told = f"/ 1 / random / 100 / free: response_us.all.mean: stored {number}1, now {number}\n"
    assert told in done.stdout
    assert "2 cells, 1 numbers moved" in done.stdout
    cli("paper", "sentinel", "--docs", docs, "--jobs", "1", "--update")
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ("tiny,1,random,50,greedy,\n", ":2: found 6 columns; 7 are needed"),
        ("tiny,1,random,50,gredy,,\n", "/ 1 / random / 50 / gredy at quick scale"),
        ("tiny,1,random,50,free,,\ntiny,1,random,50,free,,\n", "is there already"),
    ],
)
def test_a_damaged_sentinel_is_bad_input(
    cli: RunCli, docs: Path, tiny_paper: Path, rows: str, fault: str
) -> None:
    watch(docs, tiny_paper, rows)
    assert fault in cli("paper", "sentinel", "--docs", docs, status=2).stderr


def test_a_sentinel_that_is_not_there_is_bad_input(cli: RunCli, docs: Path) -> None:
    fault = cli("paper", "sentinel", "--docs", docs, status=2).stderr
    assert "sentinel.csv: no such file" in fault


def test_nothing_stored_is_nothing_found(tiny_paper: Path) -> None:
    paper = load_paper(str(tiny_paper))
    assert Stored(tiny_paper, "quick", {}, {}).of(paper.experiments[0]) is None


def test_numbers_of_another_simulator_say_where_they_come_from(docs: Path) -> None:
    folder = docs / outside.FOLDER
    with pytest.raises(InputError, match=r"other\.csv: No such file"):
        outside.table(docs, "other")
    folder.mkdir()
    file = folder / "other.csv"
    file.write_text("setting,ratio\nas shipped,0.5\n")
    with pytest.raises(InputError, match="does not say where its numbers come from"):
        outside.table(docs, "other")
    file.write_text("# Simulator X, commit 1234.\nsetting,ratio\nas shipped,0.5\n")
    table = outside.table(docs, "other")
    assert table.startswith("Simulator X, commit 1234.\n\n| setting")
    assert "| as shipped | 0.5 |" in table
