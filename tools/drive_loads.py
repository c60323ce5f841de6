"""Fit measured drives to one load of their curves, predict the others, and store what comes out.

python tools/drive_loads.py TABLE [NAME...]           # latencies under load, as SSD-iq's condensed
python tools/drive_loads.py TABLE [NAME...] --again   # with the parameters that are stored

The rules were set before the runs. Of each drive one load below its knee is fitted, and the rate at
which it writes without pause; all other loads are predicted. Ranges and starts are the same for all
drives. Four fits of the PM9A3 came before, and one of the others. The first had too few
evaluations. The second took reads that wait for slow ones, for want of low percentiles. The third
gave the rate at saturation the weight of one percentile. The fourth measured drives whose free
space had not settled, with 64 blocks a plane, of which four were open or free. Two drives, whose
reads at the lowest load take one of two times, had one time for all pages, and the P5520's came
out at the end of its range: they were fitted again, with a longer range and two times, whose ratio
is that of the percentiles 10 and 50 there.

The MAX was fitted anew with another mechanism, which was built with its whole curve and the PRO's
in view: it collects whole lines at full speed, and meanwhile lets writes in at a share of the rate
that they had in the last second. Some fifteen settings of it were tried by hand, at two to ten
rates each, before the fit. The drive that was fitted let in less and less at its limit, second
after second, and held up writes at 10,000 a second, which the measured one does not. So windows of
nothing but collections do not count since, and 80 MB/s are let in at least, as writes begin to wait
between 10,000 and 20,000 a second: that was set by hand. A second fit, with half of the
evaluations, settled nothing. So the parameters are those of the first, and all rates are simulated
again.

The Kioxia was fitted anew, too: it collects lines, and lets in a set rate meanwhile. Its
collections take 10 ms. With blocks of 16 pages those of the twin took 50: its blocks have three
pages, in the place of 64, and an erase may take a twentieth of the time. Five lengths of a block
were tried by hand at two rates, before ranges were set. The fit has fewer evaluations, as one takes
ten seconds and more.

What is stored for `copyback validate` is written to docs/drives/loads.md by
tools/drive_pages.py.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drive_promises import STORED

from copyback.calibration.load import judge, sources
from copyback.calibration.load.aim import CurveAim
from copyback.calibration.load.call import calibrate_load
from copyback.calibration.load.result import grouped
from copyback.calibration.load.study import SECONDS
from copyback.calibration.load.workload import Load, Settling
from copyback.calibration.search.bench import Bench
from copyback.inputs import configuration
from copyback.process.checkout import commit
from copyback.simulation.prepared import Folder
from copyback_papers.validation import drives

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from copyback.calibration.search.aim import Numbers

NAME = "loads"
BASE = STORED / "loads" / "base.toml"

#: Where the result is stored.
RESULT = drives.STORED

#: Requests a second of the thread whose latencies are known, beyond what the others share.
PROBE = 5_000

#: Threads that share the rest, with a read in a hundred.
WRITERS = 6

#: Evaluations of each fit.
BUDGET = 250

#: Columns of the table beside ours.
COLUMNS = {
    "r50p": "read_p50",
    "r99p": "read_p99",
    "r99p9": "read_p99_9",
    "w50p": "write_p50",
    "w99p": "write_p99",
    "w99p9": "write_p99_9",
}

#: Columns that only the fitted load has: they tell reads that wait from reads that are slow.
USED_COLUMNS = {
    "r10p": "read_p10",
    "r25p": "read_p25",
    "r75p": "read_p75",
    "w10p": "write_p10",
    "w25p": "write_p25",
    "w75p": "write_p75",
    "r90p": "read_p90",
    "r95p": "read_p95",
    "ravg": "read_mean",
    "w90p": "write_p90",
    "w95p": "write_p95",
    "wavg": "write_mean",
}

#: What is fitted of each drive, and where it is looked for.
TIMES = {
    "ssd.timing.read": "20us..120us",
    "ssd.timing.program": "300us..3ms",
    "ssd.timing.erase": "1ms..10ms",
    "host.command_overhead": "2us..20us",
    "ssd.commands.suspend.program_pulse": "20us..500us",
    "ssd.commands.suspend.erase_pulse": "50us..2ms",
}

#: Beside them, of a drive that collects at the pace of its tokens.
PACED = TIMES | {
    "ssd.buffer.throttle.burst": "4KiB..256KiB",
    "ssd.buffer.throttle.share": "0.7..0.97",
}

#: Beside them, of a drive that collects lines in bursts. As many slots as all threads can take up
#: are no limit; with as many as six of them can, the seventh waits.
BURSTS = TIMES | {
    "ssd.buffer.throttle.share": "0.85..1.0",
    "ssd.gc.hysteresis_blocks": "0..8",
    "host.command_slots": "320..448",
}

#: Beside them, of a drive that lets a set rate in meanwhile, and whose blocks are short.
SHORT_BURSTS = TIMES | {
    "ssd.timing.erase": "50us..2ms",
    "ssd.commands.suspend.erase_pulse": "20us..2ms",
    "ssd.buffer.throttle.rate": "160MB/s..480MB/s",
    "host.command_slots": "320..448",
}


@dataclass(frozen=True)
class Drive:
    """A measured drive.

    Attributes
    ----------
    name
        Name of the preset.
    measured
        Its name in the table; specimens have a number behind it.
    used
        Offered load that is fitted.
    saturation
        Writes a second without pause.
    source
        Where that is from.
    settings
        What differs from the common start.
    spare
        Whether spare is fitted, too: nothing else tells it.
    fit
        Keys that are fitted, and their ranges.
    budget
        Evaluations of the fit.
    as_drive
        Name of the drive whose fit it has, if it has none of its own.
    seen
        Metrics beyond saturation that values were chosen by which no load below the knee can tell.
    seen_at_least
        Metrics of the lowest load that values were chosen by.
    since
        Settings laid over what was fitted, by keys; they came after the fit.
    """

    name: str
    measured: str
    used: int
    saturation: float | None
    source: str
    settings: dict[str, Any] = field(default_factory=dict)
    spare: bool = False
    fit: dict[str, str] = field(default_factory=lambda: PACED)
    budget: int = BUDGET
    as_drive: str | None = None
    seen: tuple[str, ...] = ()
    seen_at_least: tuple[str, ...] = ()
    since: dict[str, str] = field(default_factory=dict)


def _dies(channels: int, chips: int) -> dict[str, Any]:
    return {"ssd__geometry__channels": channels, "ssd__geometry__chips_per_channel": chips}


def _spare(raw: float, used: float) -> dict[str, Any]:
    return {"ssd__ftl__over_provisioning": round(1 - used / raw, 4)}


def _reads(fast: int, slow: int) -> dict[str, Any]:
    """Return read times of TLC pages of which one in three is fast."""
    return {"ssd__timing__read": [f"{fast}us", f"{slow}us", f"{slow}us"]}


def _slots(commands: int, low: float = 1.0) -> dict[str, Any]:
    return {"host__command_slots": commands, "host__low_watermark": low}


#: What the host may write at least while a Micron collects.
LEAST = "80MB/s"

#: A drive that collects whole lines at full speed while it lets the host in at its own pace.
IN_BURSTS = {
    "ssd__gc__unit": "line",
    "ssd__gc__preemption": "semi_preemptive",
    "ssd__buffer__throttle": {"type": "recent_rate", "share": 0.95, "least": LEAST},
}

#: A drive that does so for some 10 ms, and lets a set rate in.
IN_SHORT_BURSTS = IN_BURSTS | {
    "ssd__buffer__throttle": {"type": "set_rate", "rate": "320MB/s"},
    "ssd__geometry__pages_per_block": 3,
    "ssd__geometry__blocks_per_plane": 1024,
}

#: All that seven threads may have under way: then slots are no limit.
ALL = _slots(7 * 64)

SKEW, CURVE = "uniform writes without pause", "the curve's own end, which is not scored"

#: Spare is that of docs/drives/schemes.md; dies are of 32 GB. Of the PM9A3 two values are
#: seen at saturation, since no load below the knee can tell them. Its slots are the power of two
#: that Little's law gives for a write. A read waits there for 1.9 ms at most, in which 160 commands
#: are served: so many slots are free when it fetches again, and 0.375 of them are not.
DRIVES = (
    Drive(
        "samsung-pm9a3",
        "Samsung PM9A3 960GB",
        55_000,
        76_500,
        CURVE,
        _dies(8, 4) | _slots(256, low=0.375),
        spare=True,
        seen=("write_p50", "read_p99"),
    ),
    Drive(
        "micron-7450-max",
        "Micron 7450 MAX 800GB",
        65_000,
        159_300,
        SKEW,
        ALL | IN_BURSTS | _dies(8, 4) | _spare(1_066, 745),
        fit=BURSTS,
        seen_at_least=("write_p99", "write_p99_9"),
        since={"ssd.buffer.throttle.least": LEAST},
    ),
    Drive(
        "micron-7450-pro",
        "Micron 7450 PRO 960GB",
        0,
        None,
        "",
        _spare(1_093, 894),
        as_drive="micron-7450-max",
    ),
    Drive(
        "solidigm-p5520",
        "Solidigm D7-P5520 1.92TB",
        65_000,
        120_500,
        SKEW,
        ALL | _dies(8, 8) | _spare(2_234, 1_788) | _reads(46, 70),
        seen_at_least=("read_p50",),
    ),
    Drive(
        "kioxia-cm7-r",
        "Kioxia CM7-R 3.84TB",
        155_000,
        327_500,
        SKEW,
        ALL | IN_SHORT_BURSTS | _dies(16, 8) | _spare(4_316, 3_576) | _reads(50, 73),
        fit=SHORT_BURSTS,
        budget=120,
        seen_at_least=("read_p50",),
    ),
)


def main() -> None:
    """Fit and store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("names", nargs="*", help="drives; else all")
    parser.add_argument("--again", action="store_true", help="simulate what was fitted again")
    parser.add_argument("--work", type=Path, help="keep evaluations here, and go on with them")
    asked = parser.parse_args()
    simulated_at = commit()
    known = json.loads(RESULT.read_text("utf-8"))["drives"] if RESULT.exists() else []
    found = {one["name"]: one for one in known}
    with tempfile.TemporaryDirectory() as temporary:
        work = asked.work or Path(temporary)
        for drive in DRIVES:
            if not asked.names or drive.name in asked.names:
                work_of = again if asked.again else fitted
                found[drive.name] = {
                    "commit": simulated_at,
                    **work_of(drive, asked.table, work, found),
                }
                whole = [found[one.name] for one in DRIVES if one.name in found]
                RESULT.write_text(json.dumps({"drives": whole}, indent=1) + "\n", "utf-8")


def fitted(drive: Drive, source: Path, work: Path, known: dict[str, Any]) -> dict[str, Any]:
    """Return what is stored of a drive: its parameters, and measured beside simulated cells."""
    curve = work / f"{drive.name}.csv"
    write_curve(curve, drive, source)
    if drive.as_drive:
        return {**head(drive), **predicted(drive, curve, known[drive.as_drive])}
    fit = drive.fit | ({"ssd.ftl.over_provisioning": "0.08..0.3"} if drive.spare else {})
    found = calibrate_load(
        start(),
        curve=curve,
        fit=fit,
        use=[drive.used],
        saturation=drive.saturation,
        budget=drive.budget,
        out=work / drive.name,
        progress=True,
        **drive.settings,
    )
    lowest = min(cell.rates[0] for cell in found.cells)
    found = replace(found, cells=[marked(cell, drive, lowest) for cell in found.cells])
    return {**head(drive), "fitted": found.config_toml, **found.to_dict(), "table": drive.measured}


def again(drive: Drive, source: Path, work: Path, known: dict[str, Any]) -> dict[str, Any]:
    """Return what is stored of a drive with its parameters, simulated anew at all rates."""
    if drive.as_drive:
        return fitted(drive, source, work, known)
    stored = known[drive.name]
    curve = work / f"{drive.name}.csv"
    write_curve(curve, drive, source)
    aim = (tuple(stored["used_rates"]), stored["saturation"])
    cells, numbers = simulated(stored["fitted"], drive.since, curve, aim)
    lowest = min(cell.rates[0] for cell in cells)
    cells = [marked(cell, drive, lowest) for cell in cells]
    return {
        **{key: value for key, value in stored.items() if key != "commit"},
        "fitted_at": stored.get("fitted_at", stored["commit"]),
        "since": drive.since,
        "groups": [group.to_dict() for group in grouped(cells)],
        "cells": [cell.to_dict() for cell in cells],
        "simulated": rows(numbers),
    }


def marked(cell: judge.Cell, drive: Drive, lowest: float) -> judge.Cell:
    """Return a cell, marked as fitted if a value was chosen by it."""
    is_seen = cell.region is judge.Region.BEYOND and cell.metric in drive.seen
    is_lowest = cell.rates[0] == lowest and cell.metric in drive.seen_at_least
    return replace(cell, is_fitted=cell.is_fitted or is_seen or is_lowest)


def head(drive: Drive) -> dict[str, Any]:
    """Return what is stored of a drive beside its numbers."""
    return {
        "name": drive.name,
        "drive": drive.measured,
        "source": drive.source,
        "as_drive": drive.as_drive,
    }


def predicted(drive: Drive, curve: Path, other: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of a drive that is another one with other spare."""
    own = configuration.keyword_settings(drive.settings)
    settings = {**other.get("since", {}), **dict(own)}
    cells, numbers = simulated(other["fitted"], settings, curve, ((), None))
    return {
        "table": drive.measured,
        "parameters": [],
        "highest_achieved": judge.highest(sources.read(curve)),
        "cells": [cell.to_dict() for cell in cells],
        "simulated": rows(numbers),
    }


def simulated(
    fitted: str,
    settings: Mapping[str, Any],
    curve: Path,
    aim: tuple[tuple[float, ...], float | None],
) -> tuple[list[judge.Cell], dict[float, Numbers]]:
    """Return the cells of a fitted drive with some settings, and its numbers by rate."""
    config = configuration.load(tomllib.loads(fitted), settings=list(settings.items()))
    measured = sources.read(curve)
    settling = Settling.of(config, judge.highest(measured))
    load = Load(tomllib.loads(config.to_toml())["workload"], SECONDS, settling)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(config, load)
        numbers = {
            rate.offered: bench.simulate((), rate.offered, Folder(Path(folder)))
            for rate in measured.rates
        }
    return judge.cells(measured, CurveAim(measured, *aim), numbers), numbers


def rows(numbers: Mapping[float, Numbers]) -> list[dict[str, float]]:
    """Return what is stored of simulated numbers."""
    return [{"rate": rate, **own} for rate, own in numbers.items()]


def start() -> dict[str, Any]:
    """Return the configuration that every fit starts from, under the threads of the benchmark."""
    flows = [_thread(0.5, "100us")]
    flows += [_thread(0.01, {"type": "exponential", "mean": "100us"}) for _ in range(WRITERS)]
    config = tomllib.loads(BASE.read_text("utf-8"))
    return {**config, "workload": {"type": "flows", "flows": flows}}


def _thread(read_share: float, gap: Any) -> dict[str, Any]:
    return {
        "type": "synthetic",
        "request_size": "4KiB",
        "read_share": read_share,
        "sequential_share": 0.0,
        "iodepth": 64,
        "requests": 100_000,
        "rate": {"type": "requests", "gap": gap},
    }


def write_curve(path: Path, drive: Drive, source: Path) -> None:
    """Write the rows of a drive and its other specimens as ``copyback calibrate`` reads them."""
    latencies = [*COLUMNS.values(), *USED_COLUMNS.values()]
    columns = ["rate", "writes_per_s", "reads_per_s", *latencies]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(_rows(drive, source))


def _rows(drive: Drive, source: Path) -> Iterator[Sequence[str | int]]:
    with source.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["drive"].partition(" #")[0] == drive.measured:
                offered = int(row["offered_per_s"]) + PROBE
                own = [row[column] for column in COLUMNS]
                own += [row[name] if offered == drive.used else "" for name in USED_COLUMNS]
                yield [offered, row["writes_per_s"], row["reads_per_s"], *own]


if __name__ == "__main__":
    main()
