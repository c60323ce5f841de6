"""Figures for folders of public job files: ``python -m fio_behaviour.folders FOLDER...``."""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from copyback._core import InputError
from copyback.fio import read_job_file
from fio_behaviour.comparison import differences_in_short
from fio_behaviour.issued import Drive, capacity

#: Drives by size: the first on which a job file is taken.
DRIVES: tuple[Drive, ...] = (
    ("tlc-unbuffered-64gb", {}),
    ("tlc-unbuffered", {}),
    ("tlc-unbuffered", {"ssd": {"geometry": {"blocks_per_plane": 1264}}}),
)

#: What job files ask the environment for.
VARIABLES = {"FIO_RW": "randrw", "FIO_IODEPTH": "16", "FIO_BS": "4k"}
VARIABLES |= {"DEV": "/dev/nvme0n1", "JOBS": "4", "DEPTH": "8"}

SUFFIXES = {".fio", ".ini"}

#: More jobs of a file are compared in pieces.
_JOBS = 100

#: What a job file has and other files of such names have not.
_OF_FIO = re.compile(r"^\s*(rw|readwrite|ioengine|include)\b", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a job file: a refusal, or what differs; neither if all agrees."""

    path: Path
    refusal: str | None
    differences: list[str]


def job_files(folder: Path) -> list[Path]:
    """Return the files that have a job: those that others include have none."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    return [path for path in files if path.is_file() and _has_job(path)]


def _has_job(path: Path) -> bool:
    text = path.read_text(encoding="utf-8", errors="replace")
    begins_with_a_section = re.match(r"(\s*([;#].*)?\n)*\s*\[", text)
    return begins_with_a_section is not None and _OF_FIO.search(text) is not None


def outcome(path: Path) -> Outcome:
    """Run a job file in short on the first drive that takes it."""
    refusal = ""
    for drive in DRIVES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                read_job_file(path, capacity(drive))
                return Outcome(path, None, _differences(path, Path(folder), drive))
            except InputError as fault:
                refusal = str(fault).splitlines()[0].removeprefix(f"{path}:")
            except Exception as error:
                return Outcome(path, None, [f"could not be compared: {error!r}"])
    return Outcome(path, refusal, [])


def _differences(path: Path, folder: Path, drive: Drive) -> list[str]:
    """Compare a job file, one of very many jobs piece by piece."""
    texts = pieces(path.read_text(encoding="utf-8", errors="replace"))
    if len(texts) == 1:
        return differences_in_short(path, folder, drive)
    found = []
    for number, text in enumerate(texts):
        piece = folder / f"piece-{number}.fio"
        piece.write_text(text, encoding="utf-8")
        within = folder / str(number)
        within.mkdir()
        found += differences_in_short(piece, within, drive)
    return found


def pieces(text: str) -> list[str]:
    """Return a job file in parts, which begin where a job waits for all before it."""
    sections = re.split(r"^(?=\s*\[)", text, flags=re.MULTILINE)
    common = "".join(section for section in sections if section.strip().startswith("[global]"))
    parts = [common]
    count = 0
    for section in sections:
        if section.strip().startswith("[global]"):
            continue
        if count >= _JOBS and re.search(r"^\s*stonewall", section, re.MULTILINE):
            parts.append(common)
            count = 0
        parts[-1] += section
        count += 1
    return parts if len(parts) > 1 else [text]


def main(folders: list[str]) -> None:
    """Print a row of figures for each folder, and what differs."""
    os.environ.update(VARIABLES)
    print("folder | files | accepted | agree")
    for folder in folders:
        with multiprocessing.Pool() as pool:
            found = list(pool.imap(outcome, job_files(Path(folder)), chunksize=4))
        accepted = [one for one in found if one.refusal is None]
        agree = [one for one in accepted if not one.differences]
        print(f"{Path(folder).name} | {len(found)} | {len(accepted)} | {len(agree)}", flush=True)
        for one in found:
            for problem in one.differences:
                print(f"  {one.path.relative_to(folder)}: {problem}")
            if one.refusal:
                print(f"  {one.path.relative_to(folder)}: refused: {one.refusal}")


if __name__ == "__main__":
    main(sys.argv[1:])
