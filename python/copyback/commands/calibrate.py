"""``copyback calibrate``."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path  # noqa: TC003 - Typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from copyback._core import InputError
from copyback.commands.options import (
    ConfigFile,
    DaskAddress,
    Jobs,
    Preset,
    Quiet,
    Seed,
    Setting,
    load,
    settings_in,
    share,
)
from copyback.inputs.configuration import seeded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from copyback._core import Config
    from copyback.sweep.where import Where

#: Columns of the tables where the output is no terminal.
WIDTH = 120

#: What is compared of a trace, and the share of it that is not fitted, unless it is said.
TIMES, HELD_OUT = "response", 0.4


def calibrate(
    config: ConfigFile = None,
    preset: Preset = None,
    setting: Setting = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A trace with measured times; else the configuration's."),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Format of the traces; else detected."),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Skip damaged rows of the traces.")
    ] = False,
    times: Annotated[
        str,
        typer.Option(
            metavar="response|service",
            help="Compare times from arrival to completion, or from the issue to the device, which "
            "only traces of the format nexus5 tell.",
        ),
    ] = TIMES,
    fit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="Fit this key, such as ssd.timing.read; may be repeated. Else read, program, "
            "transfer_rate, command_overhead and link_rate. With --load or --sheet any key, as "
            "KEY=LOW..HIGH; else read, program, erase and command_overhead.",
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=A,B,C",
            help="Fit the device with each of these values, such as ssd.geometry.channels=1,2, and "
            "take the best; may be repeated for every combination.",
        ),
    ] = None,
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out",
            metavar="SHARE",
            parser=share,
            help="Share of the requests that is not fitted: the last ones.",
        ),
    ] = HELD_OUT,
    test: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Judge on this trace of the same device too; may be repeated."
        ),
    ] = None,
    writes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Fit spare, in place of timing, to a table of how fast drives write as they age.",
        ),
    ] = None,
    schemes: Annotated[
        bool,
        typer.Option(
            "--schemes", help="With --writes: try every scheme, and say which are excluded."
        ),
    ] = False,
    move_cost: Annotated[
        float | None,
        typer.Option(
            "--move-cost",
            metavar="RATIO",
            min=0.01,
            max=100.0,
            help="With --writes: time of a page that is moved over that of one that the host "
            "writes; else 1.42.",
        ),
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(
            "--load",
            metavar="FILE",
            help="Fit keys to a load curve, percentiles of latency at offered rates: a table, "
            "fio's JSON, or a folder of fio's latency logs.",
        ),
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Fit keys to a data sheet (TOML): rates and latencies, each simulated under the "
            "load that it means.",
        ),
    ] = None,
    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RATE|ROW",
            help="With --load: fit this rate of the table; may be repeated. Else the lowest, and "
            "the one nearest to half of the highest that was achieved. With --sheet: fit this row; "
            "else all.",
        ),
    ] = None,
    saturation: Annotated[
        float | None,
        typer.Option(
            metavar="IOPS",
            min=1.0,
            help="With --load: writes a second of the data sheet, fitted at the highest rate.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=3600.0,
            help="With --load: simulated seconds of a rate that are measured; else 3.",
        ),
    ] = None,
    ramp: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=3600.0,
            help="With --load: seconds before anything is measured; else until 2% of the drive "
            "are written.",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=10,
            max=100_000,
            help="With --load or --sheet: evaluations of the fit; else 200.",
        ),
    ] = None,
    seed: Seed = None,
    jobs: Jobs = None,
    dask: DaskAddress = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Leave the fitted configuration, predictions and a report here."
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print only the result, as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Fit timing to the measured times of a trace, and say how well it predicts the rest.

    With --writes, fit spare to measured rates of writes. With --load, fit keys to a load curve, and
    with --sheet to a data sheet.
    """
    from copyback.process.extras import need

    need("calibrate", "copyback calibrate")
    of_traces = {
        "--trace": trace,
        "--format": format_,
        "--lenient": lenient,
        "--over": over,
        "--test": test,
        "--times": times != TIMES,
        "--held-out": held_out != HELD_OUT,
    }
    of_writes = {"--schemes": schemes, "--move-cost": move_cost}
    of_search = {"--use": use, "--budget": budget, "--dask": dask}
    of_load = {
        "--saturation": saturation,
        "--seconds": seconds,
        "--ramp": ramp is not None,
    }
    from copyback.sweep.where import Where

    if sheet is not None:
        others = {"--load": curve, "--writes": writes}
        _refuse("--sheet", {**others, **of_traces, **of_writes, **of_load})
        _calibrate_sheet(
            load(config, preset, seeded(settings_in(setting), seed)),
            sheet,
            fit=fit or (),
            use=use or (),
            budget=budget,
            where=Where(jobs, dask),
            out=out,
            json_=json_,
            quiet=quiet,
        )
        return
    if curve is not None:
        _refuse("--load", {"--writes": writes, **of_traces, **of_writes})
        _calibrate_load(
            load(config, preset, seeded(settings_in(setting), seed)),
            curve,
            fit=fit or (),
            use=use or (),
            saturation=saturation,
            seconds=seconds,
            ramp=ramp,
            budget=budget,
            where=Where(jobs, dask),
            out=out,
            json_=json_,
            quiet=quiet,
        )
        return
    if writes is not None:
        of_config = {"CONFIG.toml": config, "--preset": preset, "--fit": fit}
        _refuse("--writes", {**of_config, **of_traces, **of_search, **of_load})
        _calibrate_writes(
            writes,
            every=schemes,
            move_cost=move_cost,
            settings=seeded(settings_in(setting), seed),
            jobs=jobs,
            out=out,
            json_=json_,
            quiet=quiet,
        )
        return
    _refuse("a trace", {**of_writes, **of_search, **of_load})
    from copyback.calibration import result
    from copyback.calibration.measured import Source, Times
    from copyback.calibration.run import Request, run
    from copyback.calibration.show import overview
    from copyback.sweep.axes import parse_axis

    request = Request(
        source=Source(
            load=lambda settings: load(config, preset, settings),
            overrides=settings_in(setting),
            format=format_,
            lenient=lenient,
            seed=seed,
        ),
        trace=trace,
        times=Times.named(times),
        keys=tuple(fit or ()),
        axes=tuple(parse_axis(text) for text in over or ()),
        held_out=held_out,
        tests=tuple(test or ()),
        jobs=jobs,
        quiet=quiet or json_,
    )
    with contextlib.ExitStack() as stack:
        # The directory is checked before the simulations, which may take hours.
        staged = stack.enter_context(result.staging(out)) if out is not None else None
        found = run(request)
        if staged is not None:
            result.write(found, staged.path)
            staged.publish()
    left = {"Fitted": result.FITTED, "Report": result.REPORT}
    _tell(found.to_json() if json_ else overview(found), out, left)


def _refuse(beside: str, options: Mapping[str, object]) -> None:
    """Refuse options that were given and say nothing beside others."""
    given = [name for name, value in options.items() if value]
    if given:
        raise InputError(f"{given[0]}: found beside {beside}; allowed: one of them")


def _calibrate_writes(
    table: Path,
    *,
    every: bool,
    move_cost: float | None,
    settings: list[tuple[str, str]],
    jobs: int | None,
    out: Path | None,
    json_: bool,
    quiet: bool,
) -> None:
    """Fit spare to a table of rates of writes, under one scheme or every one."""
    from copyback.calibration.writes import result
    from copyback.calibration.writes.call import calibrated
    from copyback.calibration.writes.show import overview
    from copyback.calibration.writes.study import MOVE_COST

    found = calibrated(
        table,
        every=every,
        move_cost=MOVE_COST if move_cost is None else move_cost,
        settings=settings,
        jobs=jobs,
        out=out,
        quiet=quiet or json_,
    )
    _tell(found.to_json() if json_ else overview(found), out, {"Result": result.SCHEMES})


def _calibrate_load(
    config: Config,
    curve: Path,
    *,
    fit: Sequence[str],
    use: Sequence[str],
    saturation: float | None,
    seconds: float | None,
    ramp: float | None,
    budget: int | None,
    where: Where,
    out: Path | None,
    json_: bool,
    quiet: bool,
) -> None:
    """Fit keys of a configuration to a load curve."""
    from copyback.calibration.load import result
    from copyback.calibration.load.call import calibrated
    from copyback.calibration.load.show import overview
    from copyback.calibration.load.study import SECONDS, Request
    from copyback.calibration.search import files
    from copyback.calibration.search.question import BUDGET

    request = Request(
        config=config,
        table=curve,
        fit=tuple(fit),
        use=tuple(map(_rate, use)),
        saturation=saturation,
        seconds=SECONDS if seconds is None else seconds,
        ramp=ramp,
        budget=BUDGET if budget is None else budget,
        where=where,
        quiet=quiet or json_,
    )
    found = calibrated(request, out)
    left = {"Fitted": files.FITTED, "Result": result.LOAD, "Report": files.REPORT}
    _tell(found.to_json() if json_ else overview(found), out, left)


def _rate(text: str) -> float:
    """Return an offered rate that ``--use`` names."""
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--use: found {text}; allowed with --load: a rate of the table") from None


def _calibrate_sheet(
    config: Config,
    sheet: Path,
    *,
    fit: Sequence[str],
    use: Sequence[str],
    budget: int | None,
    where: Where,
    out: Path | None,
    json_: bool,
    quiet: bool,
) -> None:
    """Fit keys of a configuration to a data sheet."""
    from copyback.calibration.search import files
    from copyback.calibration.search.question import BUDGET
    from copyback.calibration.sheet import result
    from copyback.calibration.sheet.call import calibrated
    from copyback.calibration.sheet.show import overview
    from copyback.calibration.sheet.study import Request

    request = Request(
        config=config,
        sheet=sheet,
        fit=tuple(fit),
        use=tuple(use),
        budget=BUDGET if budget is None else budget,
        where=where,
        quiet=quiet or json_,
    )
    found = calibrated(request, out)
    left = {"Fitted": files.FITTED, "Result": result.RESULT, "Report": files.REPORT}
    _tell(found.to_json() if json_ else overview(found), out, left)


def _tell(found: str | RenderableType, out: Path | None, left: Mapping[str, str]) -> None:
    """Print a result, JSON or tables, and what was left in a directory."""
    from copyback.words.console import show

    if isinstance(found, str):
        sys.stdout.write(found)
        return
    show(found, width_in_files=WIDTH)
    if out is not None:
        for what, name in left.items():
            print(f"{what:<12} {out / name}")
