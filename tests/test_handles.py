"""Placement handles: from a trace, a job file or the workload to the drive, and what it logs."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import copyback
from copyback._core import InputError
from copyback.fio import read_job_file
from copyback.inputs import configuration
from test_cli import faults

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conftest import RunCli
    from copyback.summary import FdpSummary, Summary

PAGE = 4096
GIB = 1 << 30
COLUMNS: dict[str, Any] = {
    "type": "csv",
    "time": "us:us",
    "offset": "offset:bytes",
    "length": "bytes:bytes",
    "operation": "op",
    "handle": "ruh",
}
CONFIG: dict[str, Any] = {
    "ssd": {
        "geometry": {
            "channels": 1,
            "chips_per_channel": 1,
            "dies_per_chip": 1,
            "planes_per_die": 1,
            "blocks_per_plane": 64,
            "pages_per_block": 16,
            "page_size": "4KiB",
        },
        "ftl": {"over_provisioning": 0.3, "placement": {"type": "by_hint", "handles": 4}},
    },
    "precondition": {"fill": 0.0, "overwrites": 0.0},
}


def drive(tmp_path: Path, text: str = "") -> Path:
    path = tmp_path / "drive.toml"
    lines = [f"{key} = {configuration.to_toml(value)}" for key, value in CONFIG.items()]
    path.write_text("\n".join(lines) + "\n" + text)
    return path


def rows(handles: Sequence[int | None]) -> pl.DataFrame:
    """Return a write of a page with each handle."""
    count = len(handles)
    return pl.DataFrame(
        {
            "us": range(0, 10_000 * count, 10_000),
            "op": ["W"] * count,
            "offset": range(0, PAGE * count, PAGE),
            "bytes": [PAGE] * count,
            "ruh": handles,
        }
    )


def csv_trace(tmp_path: Path, named: Sequence[int | None], **keys: Any) -> dict[str, Any]:
    path = tmp_path / "handles.csv"
    rows(named).write_csv(path)
    return {"type": "trace", "path": str(path), "format": COLUMNS, **keys}


def logged(workload: dict[str, Any], placement: Any = None) -> Summary:
    config = copy.deepcopy(CONFIG) | {"workload": workload}
    config["ssd"]["ftl"]["placement"] = placement or config["ssd"]["ftl"]["placement"]
    return copyback.run(config).summary


def fdp(summary: Summary) -> FdpSummary:
    assert summary.placement is not None
    assert summary.placement.fdp is not None
    return summary.placement.fdp


def pages(summary: Summary) -> list[int]:
    return [of_handle // PAGE for of_handle in fdp(summary).handle_host_bytes]


def test_a_column_of_csv_says_the_handle_and_the_workload_where_it_is_empty(
    tmp_path: Path,
) -> None:
    handles = [0, 1, 1, 3, 3, 3, None, None]
    workload = csv_trace(tmp_path, handles, handles={"type": "in_turn", "handles": [2]})
    result = logged(workload)
    assert pages(result) == [1, 2, 2, 3]
    assert not [note for note in result.notes if "handle" in note]


def test_a_column_of_parquet_does_the_same(tmp_path: Path) -> None:
    path = tmp_path / "handles.parquet"
    columns = {"us": "arrival_ns", "op": "operation", "ruh": "handle"}
    frame = rows([2, 2, None]).rename(columns).with_columns(operation=pl.lit("write"))
    frame.write_parquet(path)
    assert pages(logged({"type": "trace", "path": str(path)})) == [1, 0, 2, 0]


def test_a_handle_that_there_is_not_is_the_first_and_that_is_told(tmp_path: Path) -> None:
    result = logged(csv_trace(tmp_path, [1, 4, 700]))
    assert pages(result) == [2, 1, 0, 0]
    assert fdp(result).events.invalid_placement_identifier_pages == 2
    assert result.notes == [
        "2 pages were written with placement handle 0, as theirs is beyond "
        "ssd.ftl.placement.handles"
    ]


def test_handles_that_mean_nothing_to_the_drive_are_told(tmp_path: Path) -> None:
    result = logged(csv_trace(tmp_path, [1]), "host_and_gc_apart")
    assert result.placement is not None
    assert result.placement.fdp is None
    assert any("mean nothing to ssd.ftl.placement" in note for note in result.notes)


def test_a_placement_in_python_is_told_the_handles(tmp_path: Path) -> None:
    policy = tmp_path / "mine.py"
    policy.write_text(
        "import copyback\n\n\n"
        "class ByHandle(copyback.PlacementPolicy):\n"
        "    def place_host(self, pages, ages, now, hint):\n"
        "        return [hint] * len(pages)\n\n"
        "    def place_moved(self, pages, ages, now, left):\n"
        "        return [4] * len(pages)\n"
    )
    placement = {"type": "python", "policy": f"{policy}:ByHandle", "classes": 5, "host_classes": 4}
    # Each class fills a block of 16 pages but the last, which has too few.
    handles = [0] * 16 + [1] * 16 + [2] * 32 + [3] * 15
    result = logged(csv_trace(tmp_path, list(handles)), placement)
    assert result.placement is not None
    assert [one.blocks_filled for one in result.placement.classes] == [1, 1, 2, 0, 0]
    assert not [note for note in result.notes if "handle" in note]


def test_ranges_of_addresses_have_handles(tmp_path: Path) -> None:
    ranges = [
        {"offset": f"{2 * PAGE}B", "size": f"{PAGE}B", "handle": 3},
        {"size": f"{2 * PAGE}B", "handle": 1},
    ]
    workload = csv_trace(tmp_path, [None] * 4, handles={"type": "by_address", "ranges": ranges})
    assert pages(logged(workload)) == [1, 2, 0, 1]


def test_the_logs_of_the_drive_add_up() -> None:
    workload: dict[str, Any] = {
        "type": "synthetic",
        "requests": 8000,
        "request_size": f"{PAGE}B",
        "read_share": 0,
        "iodepth": 1,
        "handles": {"type": "random", "handles": [0, 2]},
    }
    result = logged(workload)
    log = fdp(result)
    assert log.host_bytes_written == sum(log.handle_host_bytes) == 8000 * PAGE
    assert result.write_amplification is not None
    share = log.media_bytes_written / log.host_bytes_written
    assert share == pytest.approx(result.write_amplification)
    moved = log.media_bytes_written - log.host_bytes_written
    assert log.events.media_reallocated_bytes == moved > 0
    assert log.media_bytes_erased == result.flash.erases * 16 * PAGE
    assert log.handle_host_bytes[1] == log.handle_host_bytes[3] == 0


def test_a_handle_fills_a_unit_of_several_blocks_and_goes_on_with_the_next(
    tmp_path: Path,
) -> None:
    # Two blocks of 16 pages: handle 1 fills a unit and half a block, handle 2 a block.
    trace = csv_trace(tmp_path, [1] * 40 + [2] * 16)
    log = fdp(logged(trace, {"type": "by_hint", "handles": 3, "reclaim_unit": 2}))
    assert log.handle_units_filled == [0, 1, 0]
    assert [left // PAGE for left in log.handle_available_bytes] == [32, 24, 16]
    assert (log.reclaim_unit_bytes, log.reclaim_groups) == (32 * PAGE, 1)
    log = fdp(logged(trace, {"type": "by_hint", "handles": 3}))
    assert log.handle_units_filled == [0, 2, 1]
    assert [left // PAGE for left in log.handle_available_bytes] == [16, 8, 16]


def units(blocks: int, **more: Any) -> Summary:
    """Run random writes through two handles, which fill units of so many blocks."""
    config = copy.deepcopy(CONFIG | more)
    config["ssd"]["ftl"]["placement"] = {"type": "by_hint", "handles": 2, "reclaim_unit": blocks}
    config["ssd"]["ftl"]["allocation"] = "dynamic"
    config["audit"] = True
    config["precondition"] = {"fill": 1.0, "overwrites": 0.5}
    config["workload"] = {
        "type": "synthetic",
        "requests": 20_000,
        "request_size": f"{PAGE}B",
        "read_share": 0,
        "iodepth": 4,
        "handles": {"type": "random", "handles": [0, 1]},
    }
    return copyback.run(config).summary


LINES: dict[str, Any] = {
    "ssd": CONFIG["ssd"]
    | {
        "geometry": CONFIG["ssd"]["geometry"] | {"channels": 2, "planes_per_die": 2},
        "gc": {"unit": "line"},
    }
}


@pytest.mark.parametrize("more", [{}, LINES], ids=["blocks", "lines"])
def test_large_units_are_reclaimed_whole_and_cost_more_moves(more: dict[str, Any]) -> None:
    one, four = units(1, **more), units(4, **more)
    assert one.write_amplification is not None
    assert four.write_amplification is not None
    assert four.write_amplification > 1.05 * one.write_amplification
    log = fdp(four)
    parts = 4 if more else 1
    assert log.reclaim_unit_bytes == 4 * parts * 16 * PAGE
    assert log.reclaim_groups == 1
    assert log.media_bytes_written / log.host_bytes_written == pytest.approx(
        four.write_amplification
    )
    # A unit that is reclaimed is reclaimed to its end: the last one may be under way.
    erased = log.media_bytes_erased / log.reclaim_unit_bytes
    assert abs(erased - log.events.media_reallocated) <= 1
    filled = sum(log.handle_units_filled) * log.reclaim_unit_bytes
    assert log.host_bytes_written - filled + 2 * log.reclaim_unit_bytes >= 0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("reclaim_unit = 0", "placement.reclaim_unit: found 0; allowed: 1 to 1024"),
        ("reclaim_unit = 900", "2700 open or in reclaim units that are not full"),
        ("reclaim_unit = 2", "ssd.gc.least_invalid: found 0.25; allowed with reclaim units of"),
    ],
)
def test_units_that_do_not_fit_are_refused(
    cli: RunCli, tmp_path: Path, settings: str, sentence: str
) -> None:
    placement = f"{{ type = 'by_hint', handles = 2, {settings} }}"
    beside = ["--set", "ssd.gc.least_invalid=0.25"] if "= 2" in settings else []
    told = cli(
        "run", drive(tmp_path), "--set", f"ssd.ftl.placement={placement}", *beside, status=2
    ).stderr
    assert sentence in told


def apart(isolation: str) -> Summary:
    """Run a hot half with one handle and a cold half with another."""
    half = 64 * 16 * PAGE * 7 // 20
    ranges = [{"offset": f"{half}B", "size": f"{half}B", "handle": 1}]
    workload = {
        "type": "synthetic",
        "requests": 40_000,
        "request_size": f"{PAGE}B",
        "read_share": 0,
        "sequential_share": 0,
        "iodepth": 1,
        "address": {"type": "hot_cold", "requests": 0.95, "pages": 0.5},
        "handles": {"type": "by_address", "ranges": ranges},
    }
    return logged(workload, {"type": "by_hint", "handles": 2, "isolation": isolation})


def test_what_collections_move_is_mixed_or_kept_apart_as_the_isolation_says() -> None:
    initial, persistent = apart("initial"), apart("persistent")
    assert initial.placement is not None
    assert persistent.placement is not None
    # Two handles, and what is moved of both together, or of each.
    assert len(initial.placement.classes) == 3
    assert len(persistent.placement.classes) == 4
    *_, mixed = initial.placement.classes
    *_, hot, cold = persistent.placement.classes
    assert mixed.valid_share is not None
    assert hot.valid_share is not None
    assert cold.valid_share is not None
    # Blocks of hot pages alone are nearly empty when they are collected, unlike those of cold ones.
    assert hot.valid_share < mixed.valid_share < cold.valid_share
    assert pages(initial) == pages(persistent)


def logs_of(**stream: Any) -> dict[str, Any]:
    streams = [{"pages": 0.4, "object": "16KiB", **stream}, {"pages": 0.4, "object": "64KiB"}]
    return {
        "type": "synthetic",
        "requests": 6000,
        "request_size": f"{PAGE}B",
        "read_share": 0,
        "sequential_share": 0,
        "iodepth": 1,
        "address": {"type": "logs", "streams": streams},
    }


def test_writers_of_logs_have_a_handle_for_each_stream() -> None:
    first, second, *others = pages(logged(logs_of()))
    assert first + second == 6000
    assert others == [0, 0]
    # Two writers take turns by the toss of a coin; four standard deviations of 6000.
    assert first == pytest.approx(3000, abs=155)
    assert pages(logged(logs_of(weight=2, handle=3)))[3] == pytest.approx(4000, abs=146)


def test_logs_that_go_round_cost_nothing_where_each_has_a_handle() -> None:
    together = logged(logs_of(weight=4), {"type": "by_hint", "handles": 1})
    alone = logged(logs_of(weight=4), {"type": "by_hint", "handles": 2})
    assert together.write_amplification is not None
    assert alone.write_amplification is not None
    assert alone.write_amplification < 1.01 < 1.05 < together.write_amplification


def test_objects_are_trimmed_whole_before_they_are_written_again() -> None:
    summary = logged(logs_of(trims=True))
    assert summary.requests.trims > 0


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"sequential_share": 0.4}, "workload.address: found logs with sequential_share = 0.4"),
        ({"trim_share": 0.1}, "workload.address: found logs with trim_share = 0.1"),
        ({"trim_before_write": True}, "workload.address: found logs with trim_before_write"),
    ],
)
def test_logs_beside_what_contradicts_them_are_refused(keys: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError) as found:
        logged(logs_of() | keys)
    assert fault in str(found.value)


def test_a_stream_without_room_for_its_writers_is_refused_in_a_line() -> None:
    with pytest.raises(InputError) as found:
        logged(logs_of(object="1MiB", writers=2))
    place = "workload.address.streams.0.object"
    assert str(found.value).startswith(f"{place}: found 1048576 bytes; expected 3 to ")


@pytest.mark.parametrize("preset", ["two-hosts-cache", "two-hosts-log-and-tree"])
def test_two_hosts_on_a_drive_have_a_handle_each(preset: str) -> None:
    config = copy.deepcopy(CONFIG)
    config["ssd"]["geometry"] |= {"pages_per_block": 256, "blocks_per_plane": 512}
    flows = {str(flow): {"requests": 4000} for flow in range(2)}
    summary = copyback.run(config | {"workload": {"preset": preset, "flows": flows}}).summary
    first, second, *others = pages(summary)
    assert min(first, second) > 0
    assert others == [0, 0]


def test_conversion_keeps_handles_and_info_shows_them(cli: RunCli, tmp_path: Path) -> None:
    config = drive(tmp_path)
    settings = tmp_path / "trace.toml"
    rows([0, 1, 1, None]).write_csv(tmp_path / "a.csv")
    columns = ", ".join(f'{key} = "{value}"' for key, value in COLUMNS.items())
    settings.write_text(
        config.read_text()
        + f'[workload]\ntype = "trace"\npath = "{tmp_path / "a.csv"}"\nformat = {{ {columns} }}\n'
        + 'handles = { type = "in_turn", handles = [3] }\n'
    )
    made = tmp_path / "b.parquet"
    cli("trace", "convert", settings, made)
    assert pl.read_parquet(made)["handle"].to_list() == [0, 1, 1, 3]
    assert "0: 4 KiB in 1 writes · 1: 8 KiB in 2 writes" in cli("trace", "info", made).stdout
    told = json.loads(cli("trace", "info", made, "--json").stdout)
    assert told["handles"][1] == {"handle": 1, "requests": 2, "bytes": 2 * PAGE}
    cli("trace", "convert", made, tmp_path / "c.csv")
    first = (tmp_path / "c.csv").read_text().splitlines()
    assert first[0].endswith(",measured_response_ns,handle")
    assert first[2].endswith(",,1")


@pytest.mark.parametrize(
    ("handles", "fault"),
    [
        (
            '{ type = "by_address", ranges = [{ size = "8KiB", handle = 1 }, '
            '{ offset = "4KiB", size = "4KiB", handle = 2 }] }',
            "workload.handles.ranges.1.offset: found 4KiB, in range 0, which ends at 8KiB; "
            "allowed: ranges that do not overlap",
        ),
        ('{ type = "in_turn", handles = [] }', "workload.handles.handles"),
        ('{ type = "in_turn", handles = ["hot"] }', "workload.handles.handles"),
        ('{ type = "random", handles = [70000] }', "workload.handles.handles"),
        ('"by_name"', "workload.handles"),
    ],
)
def test_handles_that_make_no_sense_are_refused_in_a_line(
    cli: RunCli, tmp_path: Path, handles: str, fault: str
) -> None:
    text = f'[workload]\ntype = "synthetic"\niodepth = 1\nhandles = {handles}\n'
    done = cli("run", drive(tmp_path, text), status=2)
    assert fault in done.stderr
    assert len(faults(done.stderr)) == 1


def test_a_handle_of_a_trace_that_is_no_number_is_refused_with_its_line(
    cli: RunCli, tmp_path: Path
) -> None:
    trace = tmp_path / "a.csv"
    trace.write_text("us,op,offset,bytes,ruh\n0,W,0,4096,1\n9,W,0,4096,hot\n")
    columns = ", ".join(f'{key} = "{value}"' for key, value in COLUMNS.items())
    text = f'[workload]\ntype = "trace"\npath = "{trace}"\nformat = {{ {columns} }}\n'
    done = cli("run", drive(tmp_path, text), status=2)
    fault = f'{trace}:3: handle: found "hot"; expected a whole number, 0 to 65535'
    assert fault in done.stderr


def handles_of_job(tmp_path: Path, text: str, drive: int | None = 8) -> Any:
    path = tmp_path / "job.fio"
    path.write_text(text)
    workload = read_job_file(path, GIB, drive).workload
    return [flow.get("handles") for flow in workload.get("flows", [workload])]


@pytest.mark.parametrize(
    ("options", "handles"),
    [
        ("fdp=1", {"type": "in_turn", "handles": list(range(8))}),
        ("fdp=1\nfdp_pli=0,2-4", {"type": "in_turn", "handles": [0, 2, 3, 4]}),
        ("dataplacement=fdp\nplids=5", {"type": "in_turn", "handles": [5]}),
        (
            "dataplacement=streams\nplids=1,9\nplid_select=random",
            {"type": "random", "handles": [1, 9]},
        ),
        ("fdp=1\nplids=7\nfdp_pli_select=roundrobin", {"type": "in_turn", "handles": [7]}),
        ("dataplacement=none\nplids=7", None),
        ("", None),
    ],
)
def test_options_of_fio(tmp_path: Path, options: str, handles: Any) -> None:
    assert handles_of_job(tmp_path, f"[a]\nrw=write\n{options}\n") == [handles]


def test_a_job_beside_one_that_places_data_writes_through_handle_0(tmp_path: Path) -> None:
    text = "[global]\nrw=write\nfilename=/dev/nvme0n1\n[a]\nfdp=1\nplids=3\n[b]\n"
    expected = [{"type": "in_turn", "handles": [handle]} for handle in (3, 0)]
    assert handles_of_job(tmp_path, text) == expected


def test_of_ranges_in_a_scheme_that_overlap_the_first_counts(tmp_path: Path) -> None:
    scheme = tmp_path / "scheme"
    scheme.write_text("1048576, 2097152, 1\n0, 4194304, 2\n\n")
    text = f"[a]\nrw=write\nfdp=1\nplid_select=scheme\ndp_scheme={scheme}\n"
    [handles] = handles_of_job(tmp_path, text)
    assert handles["type"] == "by_address"
    assert [(r["offset"], r["size"], r["handle"]) for r in handles["ranges"]] == [
        ("0B", "1048576B", 2),
        ("1048576B", "1048576B", 1),
        ("2097152B", "2097152B", 2),
    ]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ("fdp=1\nplids=8", "4: plids: found 8; allowed: 0 to 7 on this drive"),
        ("fdp=1\nplids=hot", "4: plids: found hot; a number from 0 to 65535 is needed"),
        ("fdp=1\nplids=3-1", "4: plids: found 3-1; allowed: the lower number before the higher"),
        ("dataplacement=zones", "3: dataplacement: found zones; allowed: none, fdp, streams"),
        ("dataplacement=streams", "3: dataplacement: found streams; allowed: with plids"),
        ("fdp=1\nplid_select=last", "4: plid_select: found last; allowed: roundrobin, random"),
        ("fdp=1\nplid_select=scheme", "4: plid_select: found scheme; allowed: with a file"),
    ],
)
def test_what_fio_would_refuse_is_refused(tmp_path: Path, options: str, fault: str) -> None:
    with pytest.raises(InputError) as found:
        handles_of_job(tmp_path, f"[a]\nrw=write\n{options}\n")
    assert str(found.value).startswith(f"{tmp_path / 'job.fio'}:{fault}")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("0, 4096", "found 0, 4096; a line such as 0, 1048576, 0 is needed"),
        ("8192, 4096, 1", "found the end 4096; allowed: more than the start, 8192"),
    ],
)
def test_a_scheme_that_makes_no_sense_is_refused(tmp_path: Path, line: str, fault: str) -> None:
    scheme = tmp_path / "scheme"
    scheme.write_text(f"0,4096,0\n{line}\n")
    text = f"[a]\nrw=write\nfdp=1\nplid_select=scheme\ndp_scheme={scheme}\n"
    with pytest.raises(InputError) as found:
        handles_of_job(tmp_path, text)
    assert str(found.value) == f"{tmp_path / 'job.fio'}:5: dp_scheme: {scheme}:2: {fault}"


def test_a_job_of_fio_runs_through_its_handles(cli: RunCli, tmp_path: Path) -> None:
    job = tmp_path / "job.fio"
    job.write_text(
        "[global]\nioengine=io_uring_cmd\nfilename=/dev/ng0n1\nbs=4k\nnumber_ios=10\n"
        "dataplacement=fdp\n[a]\nrw=write\nplids=1,3\n[b]\nrw=randwrite\nplids=2\n"
    )
    out = tmp_path / "out"
    cli("run", drive(tmp_path), "--fio-job", job, "--out", out)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["placement"]["fdp"]["handle_host_bytes"] == [0, 5 * PAGE, 10 * PAGE, 5 * PAGE]
