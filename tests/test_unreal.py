"""A state of a run that no drive in use is in is said first, and never of one that is not in it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import copyback
from copyback import report
from copyback.importers import import_configuration
from copyback.inputs.configuration import to_toml
from copyback.words import verdict

if TYPE_CHECKING:
    from conftest import RunCli

IMPORTED = Path(__file__).parent / "importers"

#: The keys of such states.
UNREAL = {"starved", "unmapped_reads", "nothing_programmed"}


def load(tiny: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """Return the drive in conftest under a closed loop at random."""
    workload = {
        "type": "synthetic",
        "requests": 2_000,
        "request_size": "4KiB",
        "sequential_share": 0.0,
        "iodepth": 4,
    }
    return {**tiny, "workload": workload | keys}


def filled(config: dict[str, Any], fill: float) -> dict[str, Any]:
    """Return a configuration whose drive was filled so far and not overwritten."""
    return {**config, "precondition": {"fill": fill, "overwrites": 0.0}}


@pytest.mark.parametrize(
    ("fill", "is_said"), [(0.0, True), (0.5, True), (0.98, True), (1.0, False)]
)
def test_reads_of_pages_that_hold_no_data_are_said_first(
    tiny: dict[str, Any], fill: float, is_said: bool
) -> None:
    """In as many pages as were never written: uniform reads meet a share of 1 - fill of them."""
    found = copyback.run(filled(load(tiny, read_share=1.0), fill))
    requests = found.summary.requests
    assert requests.page_reads == 2_000
    # Three standard deviations of a binomial share.
    error = 3 * (fill * (1 - fill) / 2_000) ** 0.5
    assert requests.unmapped_page_reads / requests.page_reads == pytest.approx(1 - fill, abs=error)
    assert (found.summary.verdict.findings[:1] == ["unmapped_reads"]) == is_said


def test_reads_within_what_is_written_are_not_said(tiny: dict[str, Any]) -> None:
    """As the remedy says."""
    config = filled(load(tiny, read_share=1.0, footprint=0.5), 0.5)
    assert not UNREAL & set(copyback.run(config).summary.verdict.findings)
    beyond = filled(load(tiny, read_share=1.0, footprint=0.5, offset=0.5), 0.5)
    found = copyback.run(beyond).summary
    assert found.requests.unmapped_page_reads == found.requests.page_reads
    assert found.verdict.findings[0] == "unmapped_reads"


def test_a_request_counts_in_pages(tiny: dict[str, Any]) -> None:
    """Of 16 KiB in pages of 4 KiB, written in the first half alone."""
    config = filled(
        load(tiny, read_share=1.0, request_size="16KiB", alignment="16KiB", sequential_share=1.0),
        0.5,
    )
    found = copyback.run(config).summary.requests
    assert found.page_reads == 4 * 2_000
    pages = 2 * 2 * 32 * 16 * 3 // 4
    # Two thousand requests go through the 384 of the drive five times and a bit.
    rounds, rest = divmod(4 * 2_000, pages)
    assert found.unmapped_page_reads == rounds * pages // 2 + max(0, rest - pages // 2)


def test_what_was_trimmed_on_purpose_is_said_all_the_same(
    tiny: dict[str, Any], tmp_path: Path
) -> None:
    rows = ["time_us,op,offset,bytes"]
    rows += [f"{row},trim,{4096 * row},4096" for row in range(100)]
    rows += [f"{1000 + 500 * row},read,{4096 * row},4096" for row in range(200)]
    trace = tmp_path / "trimmed.csv"
    trace.write_text("\n".join(rows) + "\n")
    workload = {
        "type": "trace",
        "path": str(trace),
        "format": {
            "type": "csv",
            "time": "time_us:us",
            "operation": "op",
            "offset": "offset:bytes",
            "length": "bytes:bytes",
            "read": "read",
            "trim": "trim",
        },
    }
    found = copyback.run({**tiny, "workload": workload}).summary
    assert (found.requests.unmapped_page_reads, found.requests.page_reads) == (100, 200)
    first = verdict.findings(found)[0]
    assert first.key == "unmapped_reads"
    assert "50.0 % of the pages that were read" in first.text
    assert "were never written or were trimmed" in first.text


def test_a_write_buffer_that_serves_reads_holds_data(tiny: dict[str, Any]) -> None:
    """Pages that are read from it are not unmapped, though no flash holds them."""
    config = filled(load(tiny, read_share=0.5, footprint=0.01), 0.0)
    config["ssd"] = {**tiny["ssd"], "buffer": {"capacity": "1MiB"}}
    found = copyback.run(config).summary
    assert found.requests.page_reads == found.requests.reads
    assert found.requests.unmapped_page_reads < 0.1 * found.requests.page_reads


def test_a_parity_array_counts_what_its_drives_read(tiny: dict[str, Any]) -> None:
    """Small writes on empty drives read old data and parity that nobody wrote."""
    array = {"layout": "raid5", "devices": 4, "stripe": "4KiB"}
    empty = copyback.run({**filled(load(tiny, read_share=0.0), 0.0), "array": array}).summary
    assert empty.requests.reads == 0
    assert "unmapped_reads" in empty.verdict.findings
    full = copyback.run({**filled(load(tiny, read_share=0.5), 1.0), "array": array}).summary
    assert full.requests.page_reads > full.requests.reads
    assert not UNREAL & set(full.verdict.findings)


def test_a_flow_that_got_nothing_is_said_first(tiny: dict[str, Any]) -> None:
    """The first goes on until the run is ended; the second waits for it."""
    flow = load(tiny, read_share=0.0, requests=10**9)["workload"]
    flows = [flow, {**flow, "starts_after": [0]}]
    workload = {"type": "flows", "names": ["a", "b"], "flows": flows}
    stop = {"type": "steady_state", "round": "20ms", "most_rounds": 6}
    found = copyback.run({**tiny, "workload": workload, "stop": stop}).summary
    assert found.flows is not None
    assert [flow.requests.count > 0 for flow in found.flows] == [True, False]
    assert [flow.verdict.findings[:1] == ["starved"] for flow in found.flows] == [False, True]
    first = verdict.findings(found)[0]
    assert first.key == "starved"
    assert first.text.startswith("Flow b had requests to make, and none of them was completed")


def test_writes_that_dram_holds_find_no_room_in_free_blocks(tiny: dict[str, Any]) -> None:
    """As case 23: a cache that is larger than what is written, more than once over."""
    config = filled(load(tiny, read_share=0.0, requests=6_000, footprint=0.1), 0.0)
    config["ssd"] = {**tiny["ssd"], "buffer": {"capacity": "4MiB"}}
    found = copyback.run(config).summary
    assert found.flash.programs == 0
    assert found.verdict.findings == ["nothing_programmed"]
    text = verdict.findings(found)[0].text
    assert "No page was programmed: the drive's DRAM took all of the 23.4 MiB" in text
    assert "free blocks" not in text


def test_what_was_programmed_and_not_collected_is_counted(tiny: dict[str, Any]) -> None:
    found = copyback.run(filled(load(tiny, read_share=0.0, requests=100), 0.1)).summary
    assert found.verdict.findings == ["nothing_collected"]
    text = verdict.findings(found)[0].text
    assert "the 100 pages that were programmed, for 400 KiB written, found room" in text


def test_it_stands_first_on_terminal_page_summary_and_comparison(
    tiny: dict[str, Any], cli: RunCli, tmp_path: Path
) -> None:
    config = filled(load(tiny, read_share=1.0), 0.0)
    result = copyback.run(config)
    first = verdict.findings(result.summary)[0]
    assert first.label == "Unmapped reads"
    page = report.render(result)
    assert page.index("<strong>Unmapped reads.</strong>") < page.index("<table")
    summary = json.loads(result.summary.to_json())
    assert next(iter(summary)) == "verdict"
    assert summary["verdict"]["says"][0] == first.sentence
    file = tmp_path / "empty.toml"
    tables = [f"{key} = {to_toml(value)}" for key, value in config.items()]
    file.write_text("\n".join(tables) + "\n")
    assert cli("run", file, "--out", tmp_path / "out").stdout.startswith("Unmapped reads ")
    over = {"precondition.fill": [0.0, 1.0]}
    found = copyback.compare(config, over=over, out=tmp_path / "sweep", jobs=1)
    assert found.frame["verdict.unmapped_reads"].to_list() == [1.0, None]
    winners = (tmp_path / "sweep" / "winners.md").read_text(encoding="utf-8")
    assert "**Unmapped reads.** 1 of 2 runs" in winners


@pytest.mark.parametrize(
    ("file", "aged", "simulator"),
    [("ssdconfig.xml", "Enabled_Preconditioning", "MQSim"), ("page.parameters", "aged", "SSDsim")],
)
def test_an_imported_drive_that_holds_nothing_is_said(
    cli: RunCli, tmp_path: Path, file: str, aged: str, simulator: str
) -> None:
    """At the import in a line, in the file that it writes, and at the run."""
    to = tmp_path / "imported.toml"
    told = cli("import", IMPORTED / file, "--to", to).stderr.splitlines()
    (line,) = [line for line in told if "warning" in line]
    assert line.startswith("copyback: warning: the drive holds no data (precondition.fill = 0)")
    assert f"where {simulator} reads them as if they had been; " in line
    assert line.endswith("set precondition.fill = 1.0 for that")
    assert "# Warning: the drive holds no data" in to.read_text()
    assert aged in to.read_text()
    config = tomllib.loads(to.read_text())
    small = {"blocks_per_plane": 64, "pages_per_block": 16}
    config["ssd"]["geometry"] |= small
    config["ssd"]["gc"] |= {"soft_threshold": {"blocks": 3}, "hard_threshold": {"blocks": 1}}
    config["ssd"]["ftl"] |= {"over_provisioning": 0.25, "mapping": "page"}
    config["workload"] = {"type": "synthetic", "requests": 500, "read_share": 1.0, "iodepth": 4}
    assert copyback.run(config).summary.verdict.findings[0] == "unmapped_reads"
    config["precondition"]["fill"] = 1.0
    assert not UNREAL & set(copyback.run(config).summary.verdict.findings)


def warnings(tmp_path: Path, **flow: str) -> list[str]:
    """Return what an import warns of, with one synthetic flow of MQSim's."""
    given = {
        "Read_Percentage": "50",
        "Working_Set_Percentage": "100",
        "Initial_Occupancy_Percentage": "50",
        "Stop_Time": "0",
        "Total_Requests_To_Generate": "100",
    } | flow
    drive = IMPORTED / "ssdconfig.xml"
    if given.pop("prepared", ""):
        text = drive.read_text()
        switch = "<Enabled_Preconditioning>{}</Enabled_Preconditioning>"
        drive = tmp_path / "prepared.xml"
        drive.write_text(text.replace(switch.format("false"), switch.format("true")))
    parameters = "".join(f"<{name}>{value}</{name}>" for name, value in given.items())
    tag = "IO_Flow_Parameter_Set_Synthetic"
    load = tmp_path / "load.xml"
    load.write_text(
        f"<MQSim_IO_Scenarios><IO_Scenario><{tag}>{parameters}</{tag}></IO_Scenario>"
        "</MQSim_IO_Scenarios>"
    )
    return import_configuration(drive, workload=load).warnings


def test_an_import_warns_only_where_it_matters(tmp_path: Path) -> None:
    assert len(warnings(tmp_path)) == 1
    assert warnings(tmp_path, Read_Percentage="0") == []
    (half,) = warnings(tmp_path, prepared="yes")
    assert half.startswith("the drive holds data in the first 50.0 % of its pages")
    assert warnings(tmp_path, prepared="yes", Working_Set_Percentage="50") == []
    assert warnings(tmp_path, prepared="yes", Initial_Occupancy_Percentage="100") == []
