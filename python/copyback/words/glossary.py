"""Glossary: terms of the field, labels that a run prints, and what each means."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def tables() -> dict[str, dict[str, str]]:
    """Return the glossary: `terms` of the field, and what is `printed`."""
    file = resources.files("copyback.words").joinpath("glossary.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def _meanings() -> dict[str, str]:
    """Return the meaning of each word in small letters; `hot, cold` are two words."""
    found: dict[str, str] = {}
    for table in tables().values():
        for term, meaning in table.items():
            for word in {term, *term.split(", ")}:
                found.setdefault(word.lower(), meaning)
    return found


def meaning(label: str) -> str | None:
    """Return what a label means; None if the glossary does not have it."""
    return _meanings().get(label.lower())


def of(labels: Iterable[str]) -> list[tuple[str, str]]:
    """Return the labels that the glossary has, each once, with what they mean in plain text."""
    plain = str.maketrans("", "", "`*")
    return [
        (label, text.translate(plain))
        for label in dict.fromkeys(labels)
        if (text := meaning(label))
    ]
