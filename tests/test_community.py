"""What a stranger reads about the project is of this version, and whole."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import copyback

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def test_a_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"(?m)^version: (.+)$", text) == [copyback.__version__]
    assert re.findall(r"(?m)^cff-version: (.+)$", text) == ["1.2.0"]
    for key in ("message", "title", "authors", "type", "license"):
        assert re.search(rf"(?m)^{key}:", text), key


def test_the_digest_of_the_model_is_that_of_the_stored_results() -> None:
    stored = (ROOT / "docs" / "reproduction" / "sentinel.csv").read_bytes()
    digest = hashlib.sha256(stored).hexdigest()[:8]
    assert copyback.__model__ == digest, "run `make generated`, then build again"


def test_the_changelog_has_a_place_for_what_comes_and_this_release() -> None:
    headings = re.findall(r"(?m)^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text())
    assert headings[:2] == ["Unreleased", copyback.__version__]


@pytest.mark.parametrize("form", [form for form in FORMS if form.name != "config.yml"])
def test_a_form_for_issues_asks_for_something(form: Path) -> None:
    text = form.read_text()
    for key in ("name", "description", "body"):
        assert re.search(rf"(?m)^{key}:", text), key
    kinds = re.findall(r"(?m)^  - type: (\w+)$", text)
    assert set(kinds) <= {"textarea", "input", "checkboxes", "dropdown", "markdown"}
    assert len(re.findall(r"(?m)^      label: ", text)) == len(kinds)
    ids = re.findall(r"(?m)^    id: (\w+)$", text)
    assert len(ids) == len(set(ids)) == len(kinds)
    assert "required: true" in text


@pytest.mark.parametrize("page", ["SECURITY.md", "CODE_OF_CONDUCT.md", "crates/copyback/README.md"])
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+)", path.read_text()):
        assert target.startswith("http") or (path.parent / target).exists(), target
