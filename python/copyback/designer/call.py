"""The functions ``copyback.design`` and ``copyback.honest_baseline``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copyback.data.result_directory import ResultDirectory
from copyback.designer import against, files
from copyback.designer.baseline import HonestBaseline
from copyback.designer.result import DesignResult
from copyback.designer.runs import Runner
from copyback.designer.scheme import scheme_of
from copyback.designer.study_file import read_study, study_of
from copyback.inputs.arguments import CONFIG, COUNT, PATH, TEXT, TEXT_OR_TEXTS, check
from copyback.inputs.arguments import path as argument_path
from copyback.sweep.memory import memory_of
from copyback.sweep.where import Where

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from copyback.designer.found import Found
    from copyback.designer.study import Study


def design(
    study: Mapping[str, Any] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    memory: str | None = None,
) -> DesignResult:
    """Search all choices at once: the designs that none beats, and what each choice buys.

    It is ``copyback design`` as a function, and needs the extra ``design``.

    Parameters
    ----------
    study
        A study file, or a dictionary of the same shape. Paths in a dictionary are relative to the
        current directory.
    out
        Directory for the runs, the front and the page; a study that was stopped goes on from
        there. Else it is temporary, and goes with the result.
    jobs, dask, memory
        As of :func:`compare`.

    Returns
    -------
    DesignResult

    Raises
    ------
    InputError
        If the study is at fault, or the base cannot be run.

    Examples
    --------
    >>> import copyback
    >>> found = copyback.design("examples/design/study.toml")   # doctest: +SKIP
    >>> found.front.to_polars()                                 # doctest: +SKIP
    """
    check(
        "design",
        study=(study, CONFIG),
        out=(out, PATH.or_none()),
        jobs=(jobs, COUNT.or_none()),
        dask=(dask, TEXT.or_none()),
        memory=(memory, TEXT.or_none()),
    )
    asked = _read(study, "design")
    where = Where(jobs, dask, memory_of(memory))
    with ResultDirectory(out, "copyback-design-") as home:
        files.check(home.path)
        runner = _runner(asked, home.path, where, "copyback.design()")
        return home.goes_with(DesignResult(_found(runner, home.path), home.path))


def honest_baseline(
    study: Mapping[str, Any] | str | os.PathLike[str],
    scheme: str | Sequence[str],
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    memory: str | None = None,
) -> HonestBaseline:
    """Search the best designs without and with a scheme: what it gains once all else is tuned.

    It is ``copyback design --against`` as a function, and needs the extra ``design``.

    Parameters
    ----------
    study, out, jobs, dask, memory
        As of :func:`design`.
    scheme
        A setting (``KEY=VALUE``) or a policy in Python (``FILE.py:CLASS``), or a list of them.

    Returns
    -------
    HonestBaseline

    Raises
    ------
    InputError
        If the study is at fault, the base has the scheme, or nothing can be built with it.

    Examples
    --------
    >>> import copyback
    >>> study, scheme = "examples/design/study.toml", "ssd.ftl.placement=sepbit"
    >>> own = copyback.honest_baseline(study, scheme)           # doctest: +SKIP
    >>> own.gains.to_polars()                                   # doctest: +SKIP
    """
    check(
        "honest_baseline",
        study=(study, CONFIG),
        scheme=(scheme, TEXT_OR_TEXTS),
        out=(out, PATH.or_none()),
        jobs=(jobs, COUNT.or_none()),
        dask=(dask, TEXT.or_none()),
        memory=(memory, TEXT.or_none()),
    )
    asked = _read(study, "honest_baseline")
    texts = [scheme] if isinstance(scheme, str) else scheme
    where = Where(jobs, dask, memory_of(memory))
    with ResultDirectory(out, "copyback-design-") as home:
        against.check(home.path)
        compared = against.investigate_both(
            scheme_of(texts, "honest_baseline(): scheme"),
            asked,
            lambda own, name: _runner(own, home.path / name, where, "copyback.honest_baseline()"),
            lambda runner: _found(runner, runner.directory.parent),
        )
        against.write(compared, home.path)
        return home.goes_with(HonestBaseline(compared, home.path))


def _read(study: Mapping[str, Any] | str | os.PathLike[str], function: str) -> Study:
    if isinstance(study, Mapping):
        return study_of(dict(study), Path())
    return read_study(argument_path(function, study, "study"))


def _runner(study: Study, directory: Path, where: Where, command: str) -> Runner:
    return Runner(
        study,
        directory / files.SWEEP,
        where,
        command,
        lambda text, _: warnings.warn(text, stacklevel=2),
    )


def _found(runner: Runner, directory: Path) -> Found:
    return files.carry_out(runner, directory, lambda *_: None)
