"""Configurations of other simulators become the same drive here, and what is lost is told."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from copyback import InputError
from copyback._core import size_bytes
from copyback.importers import Draft, Simulator, import_configuration

if TYPE_CHECKING:
    from conftest import RunCli

SHIPPED = Path(__file__).parent / "importers"
MQSIM = SHIPPED / "ssdconfig.xml"
LOAD = SHIPPED / "workload.xml"
SSDSIM = SHIPPED / "page.parameters"


def changed(tmp_path: Path, shipped: Path, **values: str) -> Path:
    """Copy a shipped file with other values: of MQSim by tag, of SSDsim with _ for each space."""
    text = shipped.read_bytes().decode("latin-1")
    for name, value in values.items():
        if shipped is SSDSIM:
            name = name if name.startswith("t_") else name.replace("_", " ")
            text, count = re.subn(rf"(?m)^{re.escape(name)} *=[^;\n]*", f"{name}={value}", text)
        else:
            text, count = re.subn(f"<{name}>[^<]*<", f"<{name}>{value}<", text)
        assert count, name
    path = tmp_path / shipped.name
    path.write_bytes(text.encode("latin-1"))
    return path


def value(draft: Draft, key: str) -> Any:
    return draft.values[key]


def told(notes: list[tuple[str, str]], name: str) -> str:
    return next(why for found, why in notes if found == name)


def test_mqsim_s_default_drive_has_its_geometry_timing_and_policies() -> None:
    draft = import_configuration(MQSIM)
    # 8 x 4 x 2 x 2 x 2048 x 256 pages of 8 KiB are 512 GiB; times in its file are nanoseconds.
    expected = {
        "ssd.geometry.channels": 8,
        "ssd.geometry.chips_per_channel": 4,
        "ssd.geometry.dies_per_chip": 2,
        "ssd.geometry.planes_per_die": 2,
        "ssd.geometry.blocks_per_plane": 2048,
        "ssd.geometry.pages_per_block": 256,
        "ssd.geometry.page_size": "8KiB",
        "ssd.timing.read": "75us",
        "ssd.timing.program": "750us",
        "ssd.timing.erase": "3800us",
        "ssd.timing.transfer_rate": "333MT/s",
        "ssd.ftl.over_provisioning": 0.07,
        "ssd.ftl.allocation": "CWDP",
        "ssd.ftl.free_blocks": "least_worn",
        "ssd.gc.soft_threshold": {"blocks": 102},  # 5% of 2048, cut
        "ssd.gc.hard_threshold": {"blocks": 10},
        "ssd.gc.victim": {"type": "rga", "d": 11},  # log2 of 2048
        "ssd.gc.copyback": False,
        "ssd.gc.preemption": "none",
        "ssd.wear.static_threshold": 100,
        "ssd.endurance.rated_cycles": 10_000,
        "ssd.buffer.capacity": "256MiB",
        "host.interface": "nvme",
        "host.queue_depth": 512,
        "host.scheduling": "read_first",
        "seed": 321,
    }
    assert {key: draft.values[key] for key in expected} == expected
    # A table entry: 2 x 26 bits of page number and 16 of sectors are 9 bytes; cached without the
    # name, 6.
    assert value(draft, "ssd.ftl.mapping") == {
        "type": "demand_paged",
        "cache": "2MiB",
        "cached_entry": "9B",
        "entry": "6B",
    }
    # 4 GB/s, of which 128 bytes of 156 are data.
    assert value(draft, "host.link_rate") == "3282051282B/s"


def test_every_parameter_of_the_shipped_files_is_carried_over_or_told() -> None:
    draft = import_configuration(MQSIM, workload=LOAD)
    mentioned = " ".join(
        [
            *draft.sources.values(),
            *(f"{name}: {why}" for name, why in draft.approximated + draft.lost),
        ]
    )
    for file in (MQSIM, LOAD):
        for tag in re.findall(r"<(\w+)>[^<\s]", file.read_text()):
            if tag.startswith("Data_Cache_DRAM_") or tag in OF_FLOWS:
                continue
            assert tag in mentioned, tag
    draft = import_configuration(SSDSIM)
    mentioned = " ".join(
        [
            *draft.sources.values(),
            *(f"{name}: {why}" for name, why in draft.approximated + draft.lost),
        ]
    )
    for name in re.findall(r"(?m)^([a-z][\w ]*?) *=", SSDSIM.read_bytes().decode("latin-1")):
        if not name.startswith("t_"):
            assert name in mentioned, name


#: What is written into the flows themselves, which carry no comments, or is whole and so of no
#: effect.
OF_FLOWS = {
    *("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs", "Working_Set_Percentage"),
    *("Synthetic_Generator_Type", "Read_Percentage", "Address_Distribution"),
    *("Percentage_of_Hot_Region", "Generated_Aligned_Addresses", "Address_Alignment_Unit"),
    *("Request_Size_Distribution", "Average_Request_Size", "Variance_Request_Size"),
    *("Average_No_of_Reqs_in_Queue", "Stop_Time", "Total_Requests_To_Generate"),
    *("File_Path", "Percentage_To_Be_Executed", "Relay_Count", "Time_Unit"),
}


@pytest.mark.parametrize(
    ("parameter", "text", "key", "expected"),
    [
        ("GC_Block_Selection_Policy", "GREEDY", "ssd.gc.victim", "greedy"),
        ("GC_Block_Selection_Policy", "random_p", "ssd.gc.victim", "random+"),
        ("GC_Block_Selection_Policy", "FIFO", "ssd.gc.victim", "fifo"),
        ("GC_Exec_Threshold", "0.001", "ssd.gc.soft_threshold", {"blocks": 10}),
        ("Ideal_Mapping_Table", "true", "ssd.ftl.mapping", "page"),
        ("Flash_Technology", "SLC", "ssd.timing.read", "75us"),
        ("Page_Read_Latency_MSB", "100000", "ssd.timing.read", ["75us", "100us"]),
        ("Page_Program_Latency_LSB", "500", "ssd.timing.program", ["500ns", "750us"]),
        ("Flash_Channel_Width", "2", "ssd.timing.transfer_rate", "666MT/s"),
        ("Plane_Allocation_Scheme", "PDWC", "ssd.ftl.allocation", "PDWC"),
        ("Dynamic_Wearleveling_Enabled", "false", "ssd.ftl.free_blocks", "fifo"),
        ("Static_Wearleveling_Enabled", "false", "ssd.wear.static_threshold", 0),
        ("Use_Copyback_for_GC", "true", "ssd.gc.copyback", True),
        ("Preemptible_GC_Enabled", "true", "ssd.gc.preemption", "semi_preemptive"),
        ("Preemptible_GC_Enabled", "true", "ssd.gc.hard_threshold", {"blocks": 10}),
        ("HostInterface_Type", "SATA", "host.queue_depth", 32),
        ("Enabled_Preconditioning", "true", "precondition.overwrites", 1.0),
        ("CMD_Suspension_Support", "ERASE", "ssd.commands.suspend", "none"),
        ("Page_Capacity", "16384", "ssd.geometry.page_size", "16KiB"),
    ],
)
def test_a_parameter_of_mqsim_is(
    tmp_path: Path, parameter: str, text: str, key: str, expected: Any
) -> None:
    draft = import_configuration(changed(tmp_path, MQSIM, **{parameter: text}))
    assert value(draft, key) == expected


def test_a_rate_that_mqsim_cuts_to_whole_nanoseconds_is_told(tmp_path: Path) -> None:
    draft = import_configuration(changed(tmp_path, MQSIM, Channel_Transfer_Rate="400"))
    assert value(draft, "ssd.timing.transfer_rate") == "400MT/s"
    assert "runs at 500 MT/s" in told(draft.approximated, "Channel_Transfer_Rate")
    exact = import_configuration(MQSIM)
    assert all(name != "Channel_Transfer_Rate" for name, _ in exact.approximated)


def test_what_mqsim_takes_for_a_missing_parameter_is_taken_and_told(tmp_path: Path) -> None:
    text = re.sub(r"<Overprovisioning_Ratio>.*</Overprovisioning_Ratio>", "", MQSIM.read_text())
    (tmp_path / "less.xml").write_text(text)
    draft = import_configuration(tmp_path / "less.xml")
    assert value(draft, "ssd.ftl.over_provisioning") == 0.07
    assert "0.07" in told(draft.approximated, "Overprovisioning_Ratio")


def test_a_misspelt_parameter_is_told_where_mqsim_passes_over_it(tmp_path: Path) -> None:
    text = MQSIM.read_text().replace("GC_Exec_Threshold", "GC_Exect_Threshold")
    (tmp_path / "misspelt.xml").write_text(text)
    draft = import_configuration(tmp_path / "misspelt.xml")
    assert "no parameter of MQSim" in told(draft.lost, "GC_Exect_Threshold")


def test_flows_of_a_scenario_have_their_shares_depths_sizes_and_ends() -> None:
    draft = import_configuration(MQSIM, workload=LOAD, scenario=1)
    first, second = value(draft, "workload.flows")
    # Half of a half of the drive each; eight sectors; ten seconds.
    assert first == {
        "type": "synthetic",
        "footprint": 0.25,
        "offset": 0.0,
        "read_share": 0.0,
        "sequential_share": 0.0,
        "request_size": "4KiB",
        "alignment": "8KiB",
        "size_alignment": "512B",
        "iodepth": 16,
        "requests": "unlimited",
        "duration": "10s",
    }
    assert (second["offset"], second["iodepth"]) == (0.5, 2)
    assert value(draft, "host.queues") == 2


SYNTHETIC = """<MQSim_IO_Scenarios><IO_Scenario><IO_Flow_Parameter_Set_Synthetic>
{}
</IO_Flow_Parameter_Set_Synthetic></IO_Scenario></MQSim_IO_Scenarios>"""


def load_of(tmp_path: Path, **parameters: str) -> Draft:
    given = {
        "Total_Requests_To_Generate": "1000",
        "Stop_Time": "0",
        "Average_Request_Size": "8",
    } | parameters
    path = tmp_path / "load.xml"
    path.write_text(SYNTHETIC.format("\n".join(f"<{k}>{v}</{k}>" for k, v in given.items())))
    return import_configuration(MQSIM, workload=path)


def test_a_bandwidth_becomes_poisson_arrivals(tmp_path: Path) -> None:
    draft = load_of(tmp_path, Synthetic_Generator_Type="BANDWIDTH", Bandwidth="4096000")
    # 4 KiB requests at 4,096,000 bytes a second: a thousand a second.
    assert value(draft, "workload.inter_arrival") == {"type": "exponential", "mean": "1ms"}
    assert value(draft, "workload.requests") == 1000
    assert "workload.iodepth" not in draft.values


def test_a_hot_region_gets_the_rest_of_the_requests(tmp_path: Path) -> None:
    draft = load_of(tmp_path, Address_Distribution="RANDOM_HOTCOLD", Percentage_of_Hot_Region="20")
    assert value(draft, "workload.address") == {"type": "hot_cold", "requests": 0.8, "pages": 0.2}


def test_normal_sizes_keep_their_mean_and_deviation(tmp_path: Path) -> None:
    parameters = {"Request_Size_Distribution": "NORMAL", "Average_Request_Size": "64"}
    draft = load_of(tmp_path, **parameters, Variance_Request_Size="8")
    drawn = value(draft, "workload.request_size")
    sectors = [size_bytes(size) // 512 for size in drawn["sizes"]]
    total = sum(drawn["weights"])
    mean = sum(n * w for n, w in zip(sectors, drawn["weights"], strict=True)) / total
    square = (
        sum((n - mean) ** 2 * w for n, w in zip(sectors, drawn["weights"], strict=True)) / total
    )
    assert mean == pytest.approx(64, abs=0.1)
    assert square**0.5 == pytest.approx(8, rel=0.03)  # cut at three deviations


def test_a_trace_of_a_scenario_lies_beside_its_file(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    trace = LOAD.read_text().replace("traces/tpcc-small.trace", "a\\t.trace")
    assert trace.count("a\\t.trace") == 1
    (tmp_path / "in" / "w.xml").write_text(trace.replace("NANOSECOND", "MICROSECOND"))
    draft = import_configuration(
        MQSIM, workload=tmp_path / "in" / "w.xml", scenario=3, directory=tmp_path / "out"
    )
    assert value(draft, "workload.path") == "../in/a/t.trace"
    assert value(draft, "workload.time_scale") == 1000.0
    assert "is not there yet" in told(draft.approximated, "File_Path")


def test_a_flow_without_cache_turns_the_buffer_off(tmp_path: Path) -> None:
    draft = load_of(tmp_path, Device_Level_Data_Caching_Mode="TURNED_OFF")
    assert value(draft, "ssd.buffer.capacity") == "0B"
    assert value(load_of(tmp_path), "ssd.buffer.capacity") == "256MiB"


def test_ssdsim_s_default_drive_has_its_geometry_timing_and_policies() -> None:
    draft = import_configuration(SSDSIM)
    expected = {
        "ssd.geometry.channels": 2,
        "ssd.geometry.chips_per_channel": 2,
        "ssd.geometry.dies_per_chip": 2,
        "ssd.geometry.planes_per_die": 2,
        "ssd.geometry.blocks_per_plane": 2048,
        "ssd.geometry.pages_per_block": 64,
        "ssd.geometry.page_size": "2KiB",
        "ssd.timing.read": "20us",
        "ssd.timing.program": "200us",
        "ssd.timing.erase": "1500us",
        "ssd.timing.transfer_rate": "40000000B/s",  # 25 ns a byte
        "ssd.timing.command": "175ns",  # 7 cycles of 25 ns
        "ssd.ftl.over_provisioning": 0.1,
        "ssd.ftl.allocation": "dynamic",
        "ssd.ftl.placement": "one_class",
        "ssd.gc.threshold_unit": "free_pages",
        "ssd.gc.copyback": True,
        "ssd.commands.multi_plane": True,
        "ssd.buffer.capacity": "131074B",
        "ssd.endurance.rated_cycles": 100_000,
        "host.queue_depth": 5,
    }
    assert {key: draft.values[key] for key in expected} == expected


def test_a_threshold_that_leaves_no_room_is_lowered_as_little_as_can_be() -> None:
    draft = import_configuration(SSDSIM)
    # 1843.2 blocks hold the host's pages, one is open: 203 of 2048 are left of the 614 that 0.30
    # asks for.
    assert value(draft, "ssd.gc.soft_threshold") == {"blocks": 203}
    assert "614 blocks" in told(draft.approximated, "gc hard threshold")


def test_a_threshold_of_ssdsim_that_fits_stays(tmp_path: Path) -> None:
    draft = import_configuration(changed(tmp_path, SSDSIM, gc_hard_threshold="0.05"))
    assert value(draft, "ssd.gc.soft_threshold") == {"blocks": 102}
    assert all(name != "gc hard threshold" for name, _ in draft.approximated)


@pytest.mark.parametrize(("number", "order"), [("0", "WDPC"), ("1", "CWDP"), ("5", "CDPW")])
def test_static_allocations_of_ssdsim_are_orders(tmp_path: Path, number: str, order: str) -> None:
    path = changed(tmp_path, SSDSIM, allocation="1")
    text = path.read_bytes().replace(b"static_allocation=2", f"static_allocation={number}".encode())
    path.write_bytes(text)
    assert value(import_configuration(path), "ssd.ftl.allocation") == order


@pytest.mark.parametrize(
    ("bits", "copyback", "multi_plane"),
    [("0", False, False), ("2", True, False), ("28", False, True)],
)
def test_bits_of_ssdsim_s_commands(
    tmp_path: Path, bits: str, copyback: bool, multi_plane: bool
) -> None:
    draft = import_configuration(changed(tmp_path, SSDSIM, advanced_command=bits))
    assert value(draft, "ssd.gc.copyback") is copyback
    assert value(draft, "ssd.commands.multi_plane") is multi_plane


@pytest.mark.parametrize(
    ("shipped", "change", "line"),
    [
        (MQSIM, {"Block_No_Per_Plane": "2e3"}, "found '2e3'; allowed: a whole number from 1"),
        (MQSIM, {"GC_Block_Selection_Policy": "BEST"}, "allowed: GREEDY, RGA, RANDOM"),
        (MQSIM, {"Address_Mapping": "HYBRID"}, "MQSim has the name alone; allowed: PAGE_LEVEL"),
        (MQSIM, {"Overprovisioning_Ratio": "-1"}, "a number from 0 to 0.99"),
        (
            MQSIM,
            {"Overprovisioning_Ratio": "0"},
            "Overprovisioning_Ratio: found '0'; allowed: above 0",
        ),
        (SSDSIM, {"block_number": "0"}, "block number: found '0'; allowed: a whole number from 1"),
        (SSDSIM, {"chip_number[1]": "3"}, "allowed: 2, as on the other channels"),
        (SSDSIM, {"chip_number": "5"}, "allowed: 4: 2 channels of 2 chips"),
        (SSDSIM, {"address_mapping": "3"}, "address mapping: found '3'; allowed: 1"),
    ],
)
def test_a_bad_value_is_one_line_with_its_place(
    tmp_path: Path, shipped: Path, change: dict[str, str], line: str
) -> None:
    path = changed(tmp_path, shipped, **change)
    with pytest.raises(InputError) as refused:
        import_configuration(path)
    text = str(refused.value)
    assert text.startswith(str(path))
    assert line in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "found neither XML nor a line such as"),
        (b"\x00\xff\xfe", "found neither XML nor a line such as"),
        (b"channel number = 2;\n", "chip number: missing"),
        (
            b"channel number = 2;\nchannel number = 3;\n",
            ":2: channel number: given twice; first in line 1",
        ),
        (b"<a>", ":1: is not well-formed XML"),
        (b"<a>\n<b></a>", ":2: is not well-formed XML"),
        (b"<MQSim_IO_Scenarios/>", "allowed: <Execution_Parameter_Set>"),
        (b"<?xml version='1.0' encoding='no-such'?><a/>", "is not well-formed XML"),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "declares an entity"),
    ],
)
def test_what_is_no_such_file_is_one_line(tmp_path: Path, content: bytes, line: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        import_configuration(path)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_entity_is_refused_wherever_it_stands_in_a_file_of_workloads(tmp_path: Path) -> None:
    path = tmp_path / "w.xml"
    path.write_text("<!DOCTYPE a [<!ENTITY b 'c'>]><MQSim_IO_Scenarios/>")
    with pytest.raises(InputError, match="declares an entity"):
        import_configuration(MQSIM, workload=path)


def test_a_scenario_that_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match="has 3 scenarios; found --scenario 4"):
        import_configuration(MQSIM, workload=LOAD, scenario=4)


def test_the_kind_of_a_file_can_be_said() -> None:
    with pytest.raises(InputError, match="is not well-formed XML"):
        import_configuration(SSDSIM, simulator=Simulator.MQSIM)


def test_what_is_imported_runs(tmp_path: Path, cli: RunCli) -> None:
    small = changed(
        tmp_path,
        MQSIM,
        Flash_Channel_Count="2",
        Chip_No_Per_Channel="1",
        Block_No_Per_Plane="256",
        Page_No_Per_Block="32",
        Enabled_Preconditioning="true",
        Data_Cache_Capacity="1048576",
    )
    load = tmp_path / "w.xml"
    text = LOAD.read_text().replace("0,1,2,3,4,5,6,7", "0,1").replace("0,1,2,3<", "0<")
    load.write_text(text.replace("10000000000", "500000000"))
    config = tmp_path / "imported.toml"
    done = cli("import", small, "--workload", load, "--to", config)
    assert done.stdout == ""
    assert "copyback: not carried over: GC_Hard_Threshold: " in done.stderr
    assert all(line.startswith("copyback: ") for line in done.stderr.splitlines())
    text = config.read_text()
    assert "# - GC_Hard_Threshold: " in text
    assert "channels = 2  # Flash_Channel_Count" in text
    assert tomllib.loads(text)["precondition"]["fill"] == 0.75
    summary = json.loads(cli("run", config, "--json").stdout)
    assert summary["requests"]["count"] > 1000
    assert summary["gc"]["collections"] > 0


def test_without_a_file_it_is_standard_output(cli: RunCli, tmp_path: Path) -> None:
    done = cli("import", SSDSIM)
    (tmp_path / "s.toml").write_text(done.stdout)
    summary = cli("run", tmp_path / "s.toml", "--set", "workload.requests=100", "--json").stdout
    assert json.loads(summary)["requests"]["count"] == 100


def test_a_bad_file_leaves_nothing_and_ends_with_status_2(cli: RunCli, tmp_path: Path) -> None:
    path = changed(tmp_path, MQSIM, Page_Capacity="x")
    done = cli("import", path, "--to", tmp_path / "out.toml", status=2)
    assert done.stderr.count("\n") == 1
    assert re.search(rf"{re.escape(str(path))}:\d+: Page_Capacity: found 'x'", done.stderr)
    assert not (tmp_path / "out.toml").exists()


# What cannot be imported is told in the words of the file.


@pytest.mark.parametrize(
    "text",
    ["[ssd]\nChannel = 8\n", "#!/bin/sh\nqemu -device femu,devsz_mb=4096\n", "a,b\n1,2\n", ""],
)
def test_a_file_of_another_kind_is_told_apart(cli: RunCli, tmp_path: Path, text: str) -> None:
    (tmp_path / "other.cfg").write_text(text)
    error = cli("import", "other.cfg", status=2).stderr
    assert error == (
        'copyback: error: other.cfg: found neither XML nor a line such as "channel number = 8"; '
        "allowed: MQSim's ssdconfig.xml, or SSDsim's page.parameters (fio's job files: "
        "`copyback run --fio-job`)\n"
    )


def line_of(path: Path, name: str) -> int:
    lines = path.read_text(encoding="latin-1").splitlines()
    return next(number for number, line in enumerate(lines, 1) if name in line)


def test_a_drive_that_cannot_run_is_told_by_mqsim_s_names_at_their_lines(tmp_path: Path) -> None:
    file = changed(
        tmp_path,
        MQSIM,
        GC_Exec_Threshold="0.3",
        GC_Hard_Threshold="0.4",
        Overprovisioning_Ratio="0.8",
        Preemptible_GC_Enabled="true",
    )
    hard, soft = (line_of(file, name) for name in ("GC_Hard_Threshold", "GC_Exec_Threshold"))
    with pytest.raises(InputError) as fault:
        import_configuration(file)
    assert str(fault.value) == (
        f"{file}:{hard}: GC_Hard_Threshold: found '0.4', which comes to 819 blocks, above "
        f"GC_Exec_Threshold (line {soft}) of 614; allowed: at most 614"
    )


def test_a_load_that_cannot_run_is_told_by_its_own_name_and_line(tmp_path: Path) -> None:
    file = changed(tmp_path, LOAD, Stop_Time="9000000000000000000")
    line = line_of(file, "Stop_Time")
    with pytest.raises(InputError) as fault:
        import_configuration(MQSIM, workload=file)
    assert str(fault.value).startswith(f"{file}:{line}: Stop_Time: found '9000000000000000000'")


def test_ssdsim_s_drive_that_cannot_run_is_told_by_its_own_name_and_line(tmp_path: Path) -> None:
    file = changed(tmp_path, SSDSIM, overprovide="0.0")
    line = line_of(file, "overprovide")
    with pytest.raises(InputError, match=f":{line}: overprovide: found '0.0'"):
        import_configuration(file)
