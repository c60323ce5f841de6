"""A copy of the simulator's sources in which bugs stand behind switches.

All bugs are built at once: ``if crate::mutant::is(7) { mutated } else { original }``. So one build
serves all, and an environment variable says which bug is switched on.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import commits  # noqa: E402

WORK = ROOT / "target" / "mutants"
#: Of the sources, below the root of a tree.
SOURCE = Path("crates/copyback/src")
SWITCH = "COPYBACK_MUTANT"

MODULE = f"""
//! Which seeded bug is switched on.
use std::sync::LazyLock;

static NUMBER: LazyLock<Option<u32>> =
    LazyLock::new(|| std::env::var("{SWITCH}").ok()?.parse().ok());

pub fn is(number: u32) -> bool {{
    *NUMBER == Some(number)
}}

/// What a function returns that promises no more than some iterator.
#[derive(Clone)]
pub enum OneOf<A, B> {{
    Mutated(A),
    Other(B),
}}

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for OneOf<A, B> {{
    type Item = A::Item;

    fn next(&mut self) -> Option<A::Item> {{
        match self {{
            Self::Mutated(items) => items.next(),
            Self::Other(items) => items.next(),
        }}
    }}

    fn size_hint(&self) -> (usize, Option<usize>) {{
        match self {{
            Self::Mutated(items) => items.size_hint(),
            Self::Other(items) => items.size_hint(),
        }}
    }}
}}

impl<A, B> DoubleEndedIterator for OneOf<A, B>
where
    A: DoubleEndedIterator,
    B: DoubleEndedIterator<Item = A::Item>,
{{
    fn next_back(&mut self) -> Option<A::Item> {{
        match self {{
            Self::Mutated(items) => items.next_back(),
            Self::Other(items) => items.next_back(),
        }}
    }}
}}

impl<A, B> ExactSizeIterator for OneOf<A, B>
where
    A: ExactSizeIterator,
    B: ExactSizeIterator<Item = A::Item>,
{{
}}
"""


def written(tree: Path, mutated: dict[str, str]) -> None:
    """Copy the files that git knows, those of ``mutated`` with that text, and add the switch.

    A file that is the same as before is left alone, so that cargo need not build it again.
    """
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    names = listed.stdout.decode().split("\0")[:-1]
    links = [name for name in names if (ROOT / name).is_symlink()]
    files = [name for name in names if name not in links and (ROOT / name).is_file()]
    texts = {name: (ROOT / name).read_bytes() for name in files}
    texts |= {str(SOURCE / name): text.encode() for name, text in mutated.items()}
    texts[str(SOURCE / "lib.rs")] += b"\nmod mutant;\n"
    texts[str(SOURCE / "mutant.rs")] = MODULE.encode()
    for name, text in texts.items():
        put(tree / name, text)
    for name in links:
        (tree / name).unlink(missing_ok=True)
        (tree / name).symlink_to((ROOT / name).readlink())
    for path in list(tree.rglob("*")):
        if path.is_file() and path.relative_to(tree).as_posix() not in texts:
            path.unlink()


def put(path: Path, content: bytes) -> None:
    """Write a file, unless it holds this already."""
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def source(name: str) -> str:
    """Return the text of a file of the simulator."""
    return (ROOT / SOURCE / name).read_text(encoding="utf-8")


def not_const(text: str) -> str:
    """Make functions with a switch ordinary ones, which may hold it, and those that call them."""
    calls = ["crate::mutant::is"]
    while calls:
        called = re.escape(calls[-1])
        found = re.search(rf"const (fn (\w+)(?:(?!\bfn ).)*?\b{called}\()", text, re.DOTALL)
        if found is None:
            calls.pop()
            continue
        text = text[: found.start()] + found[1] + text[found.end() :]
        calls.append(found[2])
    return text


def commit() -> str:
    """Return the commit whose crates are mutated, and whether they have been changed since."""
    return commits.commit(below="crates")
