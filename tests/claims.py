"""Sentences of pages that say what a run gave, and what holds each of them.

Such a sentence has a *mark*: a measured number, or a word that names a cause or compares. It stands
behind an output, which a test compares with what is printed, or behind a generated table, or
around a picture. A mark is held

- if it is generated,
- if it is a number that stands in an output, a fence or a table of the same section, or
- by a *check* below its paragraph, which readers do not see:

      <!-- check:
      "nearly all of the rest" if cell("GC, same die", "share") > 0.7
      -->

  These are words of the paragraph, and a comparison of numbers of the page or of a result
  (`page_numbers.py`). In a notebook the same is a line `assert condition, "words"`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from page_numbers import Numbers, Printed, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

    from pages import Reader

_UNIT = r"(?:ns|µs|us|ms|s|seconds?|minutes?|hours?|%|x|times|[kMG]|[KMGT]i?B|[KMG]i?B/s|IOPS|TBW)"
_NUMBER = rf"[−+-]?\d[\d,]*(?:\.\d+)? {_UNIT}(?!\w)|\d[\d,]*(?:\.\d+)?%|\d[\d,]*\.\d+|\d+,\d{{3}}"
_COUNT = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|few|many"
_SHARE = (
    rf"(?:{_COUNT}) times|twice|halves|half|thirds?|quarters?|fifths?|tenths?"
    r"|(?:nearly|almost) all|most of|hardly|no difference"
)
_WAITS = r"(?:comes? from|wait(?:s|ed|ing)? (?:for|behind))"
_CAUSE = (
    r"because|due to|caused by|make the tail|the tail (?:is|comes|does)|depends? on GC"
    r"|beats?|wins?|better|worse|(?:less|fewer|longer) than"
    rf"|{_WAITS}(?: \w+){{0,4}} (?:collect\w*|GC|programs?|room)"
)
MARK = re.compile(rf"(?<![\w.])(?:{_NUMBER}|(?i:{_SHARE}|{_CAUSE})\b)")
_CHECK = re.compile(r'"([^"]+)" if (.+?)(?=\n\s*"|\s*$)', re.DOTALL)
_END = re.compile(r"(?<=[.!?:])\s+(?=\S)")
_WHOLE = "<!-- generated: begin"
_BEGIN = re.compile(rf"{_WHOLE}|<!-- \w+: written by `make generated`")
_END_OF_GENERATED = re.compile(r"<!-- \w+: end")


class Holder(Enum):
    """What holds a mark."""

    GENERATED = "generated"
    QUOTED = "quoted"
    CHECKED = "checked"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Check:
    """Words of a page, the condition under which they are true, and what stands above them."""

    words: str
    condition: str
    line: int
    above: tuple[Printed | Table, ...] = ()


@dataclass
class Paragraph:
    """Text of a paragraph without its markup, and the checks below it."""

    text: str
    line: int
    generated: bool
    behind_output: bool
    checks: list[Check] = field(default_factory=list)


@dataclass
class Section:
    """What stands below one heading: paragraphs, and the text of fences and tables."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    has_output: bool = False
    has_picture: bool = False

    def told(self) -> list[Paragraph]:
        """Return the paragraphs behind an output, or around a picture."""
        return [one for one in self.paragraphs if one.behind_output or self.has_picture]


@dataclass(frozen=True)
class Mark:
    """Words that say what a run gave, in their sentence, and what holds them."""

    words: str
    sentence: str
    line: int
    held_by: Holder

    def __str__(self) -> str:
        """Return what a list of marks shows."""
        return f"line {self.line}: [{self.words}] {self.sentence}"


def plain(text: str) -> str:
    """Return a text with single spaces."""
    return re.sub(r"\s+", " ", text).strip()


def shown(token: Token) -> str:
    """Return the text of an inline token, code with its marks."""
    forms = {"text": "{}", "code_inline": "`{}`", "softbreak": " ", "hardbreak": " "}
    return plain(
        "".join(forms.get(part.type, "").format(part.content) for part in token.children or [])
    )


class Page:
    """A page in sections, as its marks need them; one with one generated part is one section."""

    def __init__(self, text: str) -> None:
        self.whole = _WHOLE in text
        self.sections = [Section()]
        self.above: list[Printed | Table] = []
        self._comment, self._generated, self._row = "", False, 0
        for token in MarkdownIt().enable("table").parse(text):
            if (take := getattr(self, f"_{token.type}", None)) is not None:
                take(token)

    @property
    def paragraphs(self) -> list[Paragraph]:
        """Return the paragraphs of all sections."""
        return [paragraph for one in self.sections for paragraph in one.paragraphs]

    def _heading_open(self, _: Token) -> None:
        if not self.whole:
            self.sections.append(Section())

    def _html_block(self, token: Token) -> None:
        self._comment = token.content
        self._generated = _BEGIN.search(token.content) is not None or (
            self._generated and _END_OF_GENERATED.search(token.content) is None
        )
        self.sections[-1].has_output |= self._generated
        if token.content.startswith("<!-- check:"):
            assert token.map is not None
            self.sections[-1].paragraphs[-1].checks += self._checked(token.content, token.map[0])

    def _fence(self, token: Token) -> None:
        section = self.sections[-1]
        section.evidence.append(plain(token.content))
        if token.info.strip() == "text":
            self.above.append(Printed(token.content))
            section.has_output |= "not run" not in self._comment
        self._comment = ""

    def _table_open(self, _: Token) -> None:
        self.above.append(Table([]))

    def _tr_open(self, _: Token) -> None:
        self._row += 1
        table = self.above[-1]
        assert isinstance(table, Table)
        table.rows.append([])

    def _table_close(self, _: Token) -> None:
        table = self.above[-1]
        assert isinstance(table, Table)
        table.header, self._row = table.rows.pop(0), 0

    def _inline(self, token: Token) -> None:
        section, text = self.sections[-1], shown(token)
        table = self.above[-1] if self._row else None
        if isinstance(table, Table):
            table.rows[-1].append(text.replace("`", ""))
            section.evidence.append(text)
        else:
            assert token.map is not None
            paragraph = Paragraph(text, token.map[0] + 1, self._generated, section.has_output)
            section.paragraphs.append(paragraph)
            section.has_picture |= not self._generated and "image" in {
                part.type for part in token.children or []
            }
            if self._generated:
                self.above.append(Printed(text))

    def _checked(self, comment: str, above_line: int) -> list[Check]:
        inner = comment.strip().removeprefix("<!-- check:").removesuffix("-->").strip()
        found = [
            Check(plain(words), plain(condition), above_line + 1, tuple(self.above))
            for words, condition in _CHECK.findall(inner)
        ]
        assert found, f'line {above_line + 1}: a check is "words" if condition'
        return found


def is_quoted(words: str, evidence: list[str]) -> bool:
    """Tell whether a number stands in one of these texts."""
    plain_digits = re.compile(r"(?<=\d)[,_](?=\d)")
    number = plain_digits.sub("", words.replace("%", " %").replace("  ", " "))
    shows = re.compile(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\w)".replace(r"\ ", " ?"))
    return any(char.isdigit() for char in words) and any(
        shows.search(plain_digits.sub("", text)) for text in evidence
    )


def holder(span: tuple[int, int], paragraph: Paragraph, evidence: list[str]) -> Holder:
    """Return what holds a mark of a paragraph."""
    if paragraph.generated:
        return Holder.GENERATED
    for check in paragraph.checks:
        begin = paragraph.text.find(check.words)
        if 0 <= begin <= span[0] and span[1] <= begin + len(check.words):
            return Holder.CHECKED
    return Holder.QUOTED if is_quoted(paragraph.text[slice(*span)], evidence) else Holder.NOTHING


def marks_of(paragraph: Paragraph, evidence: list[str]) -> Iterator[Mark]:
    """Go through the marks of a paragraph, but for what stands in code."""
    text = paragraph.text
    code = [found.span() for found in re.finditer(r"`[^`]*`", text)]
    for found in MARK.finditer(text):
        if not any(begin < found.start() < end for begin, end in code):
            begin = max((m.end() for m in _END.finditer(text, 0, found.start() + 1)), default=0)
            sentence = _END.split(text[begin:], maxsplit=1)[0]
            held_by = holder(found.span(), paragraph, evidence)
            yield Mark(found[0], sentence, paragraph.line, held_by)


def marks(text: str) -> Iterator[Mark]:
    """Go through the marks of a page."""
    for section in Page(text).sections:
        for paragraph in section.told():
            yield from marks_of(paragraph, section.evidence)


def notebook_marks(notebook: dict[str, Any]) -> Iterator[Mark]:
    """Go through the marks of a notebook: its cells are one section, its assertions the checks."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    printed = [
        "".join(output.get("text", output.get("data", {}).get("text/plain", [])))
        for cell in notebook["cells"]
        for output in cell.get("outputs", [])
    ]
    checks = [Check(words, "", 0) for source in sources for words in asserted(source)]
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            for section in Page("".join(cell["source"])).sections:
                for paragraph in section.paragraphs:
                    paragraph.checks += checks
                    yield from marks_of(paragraph, [plain(text) for text in sources + printed])


def asserted(source: str) -> list[str]:
    """Return the words of the assertions of a cell."""
    return [
        node.msg.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assert)
        and isinstance(node.msg, ast.Constant)
        and isinstance(node.msg.value, str)
    ]


def wrong_checks(text: str, reader: Reader | None) -> list[str]:
    """Return the checks of a page that do not hold, a line each; the reader has followed it."""
    return [
        f"line {check.line}: {problem}: {check.words!r} if {check.condition}"
        for paragraph in Page(text).paragraphs
        for check in paragraph.checks
        if (problem := wrong(check, paragraph, reader))
    ]


def wrong(check: Check, paragraph: Paragraph, reader: Reader | None) -> str | None:
    """Return why a check does not hold."""
    if check.words not in paragraph.text:
        return "these words are not in the paragraph above"
    tree = ast.parse(check.condition, mode="eval")
    kinds = {type(node) for node in ast.walk(tree)}
    if not {ast.Compare, ast.Call} <= kinds:
        return "no comparison of numbers"
    printed = (
        [Printed(text) for line, text in reader.outputs if line < check.line] if reader else []
    )
    names = Numbers([*check.above, *printed], reader.home if reader else None).vocabulary()
    try:
        return None if eval(compile(tree, "<check>", "eval"), names) else "false"
    except (LookupError, ValueError, NameError, OSError) as error:
        return f"{type(error).__name__}: {error}"
