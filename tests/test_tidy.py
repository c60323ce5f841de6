"""Tidiness of words: comments that stand alone, short sentences, names with field terms."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
RUST = sorted(ROOT.glob("crates/*/src/**/*.rs"))
PYTHON = sorted(file for tree in ("python", "packages") for file in (ROOT / tree).rglob("*.py"))

#: Beginnings that refer to a neighbour, or ask a riddle, where a comment is read alone.
RIDDLE = re.compile(
    r"(That|Those|These|Of (these|those)|So|By so much|It|Its|They|Their|Them|The same|Such|There"
    r"|Here|As|And|Or|But|Else|Nobody|Somebody|Nothing|Something|None|What|Whatever|Where|Wherever|Which"
    r"|Who|Whoever|Whose|How|Why)\b"
)

#: A sentence ends at a full stop, a question or exclamation mark, a colon or a semicolon.
MOST_WORDS = 40

#: Names that others rely on: methods of users' classes, keys of summaries.
KEPT_NAMES = {"heard", "made_up", "put_off", "take_watched", "watched"}

#: Names with a private word from before the table. The list gets shorter only.
# fmt: off
OLD_NAMES = {
    "HANDLES_TOLD", "LEAST_PACE", "MadeUp", "PACE", "Pace", "ReadInVain", "ReadOutOrMadeUp",
    "TOLD", "Told", "WATCHED_PER_PAGE", "_pace", "_said", "_tell", "_told",
    "_told_of_end", "_told_to_all", "add_watched",
    "check_made_up", "give_way", "gives_way",
    "has_pace", "in_step", "in_vain", "is_in_vain", "is_made_up", "is_put_off", "is_told",
    "is_unread", "is_watched", "made_up_moves", "made_up_page", "made_up_to_move",
    "next_made_up", "pace", "page_is_made_up", "reads_in_vain_to_move", "said",
    "set_point_of_pace", "take_told", "tell", "tell_choices", "tell_chosen", "tell_failed",
    "tell_opened", "tell_opened_blocks", "tells_rewrites", "told",
    "waits_told", "without_those_put_off",
}
# fmt: on


class Comment(NamedTuple):
    """Comment of documentation, with where it begins."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        first = self.text.partition("\n")[0]
        return f"{self.path.relative_to(ROOT)}:{self.line}: {first}"


def comments_of_rust(path: Path) -> Iterator[Comment]:
    """Yield the runs of lines that begin with ``///`` or ``//!``."""
    begin, marker = 0, ""
    texts: list[str] = []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], 1):
        found = re.match(r"\s*(///|//!)(?!/) ?(.*)", line)
        if texts and (found is None or found[1] != marker):
            yield Comment(path, begin, "\n".join(texts))
            texts = []
        if found:
            begin, marker = (begin, marker) if texts else (number, found[1])
            texts.append(found[2])


def comments_of_python(path: Path) -> Iterator[Comment]:
    """Yield the docstrings of the module, and of its classes and functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield Comment(path, node.body[0].lineno, text)


@cache
def comments() -> list[Comment]:
    rust = [comment for path in RUST for comment in comments_of_rust(path)]
    return rust + [comment for path in PYTHON for comment in comments_of_python(path)]


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a comment; a row of a table, code and a heading are none."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*#|>]|\d+\.) ?)", text):
        flat = re.sub(r"`[^`]*`", "`x`", " ".join(block.split()))
        if not flat.startswith(("|", "#", ">>>", "...", "==")):
            yield from re.split(r"(?<=[.!?:;])\s+", flat)


def words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def names_of_rust(path: Path) -> set[str]:
    """Return the identifiers outside tests, whose names are sentences."""
    if path.name == "tests.rs":
        return set()
    text = re.split(
        r"#\[cfg\(test\)\](?:\s+#\[[^\]]*\])*\s+mod \w+ \{", path.read_text(encoding="utf-8")
    )[0]
    text = re.sub(r"//.*", "", re.sub(r'"(?:\\.|[^"\\])*"', '""', text, flags=re.DOTALL))
    return set(re.findall(r"[A-Za-z_]\w+", text))


def names_of_python(path: Path) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def private_words() -> dict[str, str]:
    """Return the table of CONTRIBUTING.md: each private word, and the field's."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.split("| private word | field term |\n| --- | --- |\n")[1].split("\n\n")[0]
    rows = [row.strip("| ").split(" | ") for row in table.strip().splitlines()]
    return {word.replace(" ", "_"): term for row, term in rows for word in row.split(", ")}


def private_words_of(name: str, table: dict[str, str]) -> list[str]:
    flat = f"_{'_'.join(words(name))}_"
    return [word for word in table if f"_{word}_" in flat]


def test_the_readers_find_comments_and_names() -> None:
    every = comments()
    folders = Counter(comment.path.relative_to(ROOT).parts[0] for comment in every)
    assert folders["crates"] > 9000
    assert folders["python"] > 1500
    assert "Watermarks" in names_of_rust(ROOT / "crates/copyback/src/ftl/space/watermarks.rs")
    assert private_words_of("MadeUpPages", private_words()) == ["made_up"]
    assert private_words_of("untold_tales", private_words()) == []


def test_comments_stand_alone() -> None:
    riddles = [str(comment) for comment in comments() if RIDDLE.match(comment.text)]
    assert not riddles, "\n".join(["begin with a noun or a verb:", *riddles])


def test_sentences_are_short() -> None:
    long = [
        f"{comment}: {len(sentence.split())} words: {sentence}"
        for comment in comments()
        for sentence in sentences(comment.text)
        if len(sentence.split()) > MOST_WORDS
    ]
    assert not long, "\n".join([f"more than {MOST_WORDS} words:", *long])


def test_names_are_of_the_field() -> None:
    table = private_words()
    names = {name for path in RUST for name in names_of_rust(path)}
    names |= {name for path in PYTHON for name in names_of_python(path)}
    private = {name: found for name in names if (found := private_words_of(name, table))}
    new = [
        f"{name}: {', '.join(f'not {word}, but {table[word]}' for word in private[name])}"
        for name in sorted(private.keys() - KEPT_NAMES - OLD_NAMES)
    ]
    assert not new, "\n".join(["see the table of CONTRIBUTING.md:", *new])
    gone = sorted((KEPT_NAMES | OLD_NAMES) - private.keys())
    assert not gone, f"no more in the source, so strike them from the lists: {gone}"
