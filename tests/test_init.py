"""``copyback init``: a drive of one's own, whose runs give what its data sheet says."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import copyback

if TYPE_CHECKING:
    from conftest import RunCli

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

from drive_promises import rates

#: What an architect knows of a drive to be.
OWN = (
    *("--capacity", "64GB", "--dies", "8", "--channels", "4", "--cells", "tlc", "--page", "16KiB"),
    *("--read", "50us", "--program", "600us", "--erase", "3ms", "--spare", "28%", "--scale", "16"),
)
#: docs/drives/intel-s4500.md: what Intel's specification says of it.
S4500 = (
    *("--capacity", "960GB", "--interface", "sata", "--cells", "tlc", "--flash", "1TiB"),
    *("--sequential-read", "500MB/s", "--sequential-write", "490MB/s"),
    *("--random-read", "72K", "--random-write", "33K"),
    *("--read-latency", "110us", "--write-latency", "36us", "--scale", "32"),
)
#: docs/drives/samsung-970-evo-plus.md: the model of 500 GB.
EVO = (
    *("--capacity", "500GB", "--flash", "512GiB", "--slc-cache", "22GB", "--slc-static", "4GB"),
    *("--sequential-read", "3500MB/s", "--sequential-write", "3200MB/s"),
    *("--sustained-write", "900MB/s", "--random-read", "480K", "--scale", "16"),
)

FULL = {"precondition.fill": 1.0, "precondition.overwrites": 0.0, "workload.footprint": 1.0}
EMPTY = {**FULL, "precondition.fill": 0.0}
LARGE = {
    "workload.request_size": "128KiB",
    "workload.sequential_share": 1.0,
    "workload.iodepth": 32,
    "metrics.interval": "50ms",
}
READS, WRITES = {"workload.read_share": 1.0}, {"workload.read_share": 0.0}


def made(cli: RunCli, home: Path, *options: str) -> Path:
    """Return the file that a command writes."""
    cli("init", "my.toml", *options)
    return home / "my.toml"


def megabytes(drive: Path, **settings: Any) -> float:
    """Return the MB a second of the later half of a run."""
    moved, seconds = rates(copyback.run(drive, **settings))
    return float(moved[len(moved) // 2 :].mean() / seconds / 1e6)


def summary(drive: Path, **settings: Any) -> Any:
    """Return the summary of a run."""
    return copyback.run(drive, **settings).summary


@pytest.mark.parametrize(
    ("capacity", "scale", "spare"),
    [("64GB", 1, "7%"), ("1TB", 16, "28%"), ("960GB", 64, "12.5%")],
)
def test_the_host_sees_the_capacity_that_was_asked_for(
    cli: RunCli, tmp_path: Path, capacity: str, scale: int, spare: str
) -> None:
    options = ("--capacity", capacity, "--spare", spare, "--scale", str(scale), "--cycles", "3000")
    drive = made(cli, tmp_path, *options)
    found = summary(drive, **EMPTY, **{"workload.requests": 10})["endurance"]
    asked = float(capacity[:-2]) * {"GB": 1e9, "TB": 1e12}[capacity[-2:]] / scale
    # A page of all planes of a die is one unit here; rounding loses less than two.
    assert asked - 2 * 4 * 16384 < found["capacity_bytes"] <= asked
    # The flash is a whole number of blocks of every plane, rounded up.
    shape = tomllib.loads(drive.read_text())["ssd"]["geometry"]
    row = 16384 * shape["channels"] * shape["chips_per_channel"] * 4 * shape["pages_per_block"]
    flash = asked * (1 + float(spare[:-1]) / 100)
    assert flash - 1 <= found["flash_bytes"] <= flash + row


def test_dies_in_parallel_bound_the_sequential_writes(cli: RunCli, tmp_path: Path) -> None:
    drive = made(cli, tmp_path, *OWN)
    rate = megabytes(drive, **FULL, **LARGE, **WRITES, **{"workload.requests": 30_000})
    # 8 dies x 4 planes x 16 KiB each 600 us.
    assert rate == pytest.approx(8 * 4 * 16384 / 600, rel=0.02)


def test_channels_bound_them_where_they_are_slower(cli: RunCli, tmp_path: Path) -> None:
    drive = made(cli, tmp_path, *OWN, "--bus", "100MT/s")
    rate = megabytes(drive, **FULL, **LARGE, **WRITES, **{"workload.requests": 20_000})
    # A page of 16 KiB travels with an eighth more and a command of 300 ns, over 4 channels.
    assert rate == pytest.approx(4 * 16384 / (0.3 + 16384 * 1.125 / 100), rel=0.02)


def test_random_reads_keep_as_many_dies_busy_as_theory_says(cli: RunCli, tmp_path: Path) -> None:
    drive = made(cli, tmp_path, *OWN)
    settings = {"workload.iodepth": 16, "workload.requests": 100_000}
    found = summary(drive, **FULL, **READS, **settings)["throughput"]["iops"]
    # Karol, Hluchyj and Morgan 1987: of 8 dies with 16 requests 1 + 2 - sqrt(5) are busy.
    assert found == pytest.approx(8 * (3 - 5**0.5) / 50e-6, rel=0.03)


def test_a_sheet_of_a_sata_drive_gives_what_it_says(cli: RunCli, tmp_path: Path) -> None:
    drive = made(cli, tmp_path, *S4500)
    large = {**FULL, **LARGE, "workload.requests": 20_000}
    assert megabytes(drive, **large, **READS) == pytest.approx(500, rel=0.02)
    assert megabytes(drive, **large, **WRITES) == pytest.approx(490, rel=0.03)
    deep = {**FULL, **READS, "workload.iodepth": 32, "workload.requests": 100_000}
    iops = summary(drive, **deep)["throughput"]["iops"]
    assert iops == pytest.approx(72_000, rel=0.01)
    for kind, microseconds in ((READS, 110), (WRITES, 36)):
        alone = {**FULL, **kind, "workload.iodepth": 1, "workload.requests": 10_000}
        mean = summary(drive, **alone)["response_us"]["all"]["mean"]
        assert mean == pytest.approx(microseconds, rel=0.01)


@pytest.mark.thorough
def test_steady_random_writes_of_that_drive_are_those_of_the_sheet(
    cli: RunCli, tmp_path: Path
) -> None:
    drive = made(cli, tmp_path, *S4500)
    settings = {**WRITES, "workload.iodepth": 32, "workload.requests": 600_000}
    rate = megabytes(drive, **settings, **{"metrics.interval": "200ms"})
    assert rate / 4096 * 1e6 == pytest.approx(33_000, rel=0.05)


def test_a_sheet_of_a_drive_with_a_cache_gives_both_rates(cli: RunCli, tmp_path: Path) -> None:
    drive = made(cli, tmp_path, *EVO)
    large = {**EMPTY, **LARGE, **WRITES}
    throughput = summary(drive, **large, **{"workload.requests": 7_000})["throughput"]
    assert throughput["mib_per_s"] * 2**20 / 1e6 == pytest.approx(3200, rel=0.02)
    past = megabytes(drive, **large, **{"workload.requests": 60_000})
    assert past == pytest.approx(900, rel=0.02)
    found = summary(drive, **{**large, "workload.requests": 60_000})["slc_cache"]
    # A sixteenth of 22 GB, less what blocks of it keep open.
    assert found["written_bytes"] == pytest.approx(22e9 / 16, rel=0.1)


def test_the_file_runs_as_it_is_and_says_where_each_number_is_from(
    cli: RunCli, tmp_path: Path
) -> None:
    said = cli("init", "my.toml", *OWN, "--endurance", "80TBW").stdout
    text = (tmp_path / "my.toml").read_text()
    assert '# given: --program 600us\nprogram = "600us"' in text
    assert "# derived: 8 dies (--dies 8) / 4 channels\nchips_per_channel = 2" in text
    assert "# assumed: usual for TLC\nplanes_per_die = 4" in text
    assert f"#   copyback init my.toml {' '.join(OWN[:2])} " in text
    for row in ("Drive", "Derived", "Assumed", "Expect", "Memory", "Saved", "Next"):
        assert f"\n{row} " in f"\n{said}"
    # 80 TB on 64 GB x 1.28 of flash, rounded up to whole blocks.
    cycles = tomllib.loads(text)["ssd"]["endurance"]["rated_cycles"]
    assert cycles == pytest.approx(80e12 / (64e9 * 1.28), rel=0.02)
    # Nothing is to be warned of: the drive keeps up, collects and has settled.
    assert copyback.run(tmp_path / "my.toml").summary["verdict"]["findings"] == []


def test_a_drive_with_a_cache_opens_without_a_warning(cli: RunCli, tmp_path: Path) -> None:
    """It goes on until it has filled the cache, collects, and has settled."""
    made(cli, tmp_path, "--capacity", "500GB", "--cells", "tlc", "--slc-cache", "22GB", *CACHED)
    summary = copyback.run(tmp_path / "my.toml").summary
    assert summary.verdict.findings == []
    assert summary.slc_cache is not None
    assert summary.slc_cache.written_bytes > 0


def test_the_command_in_the_file_writes_it_again(cli: RunCli, tmp_path: Path) -> None:
    made(cli, tmp_path, *S4500)
    first = (tmp_path / "my.toml").read_bytes()
    lines = first.decode().split("# Written by:\n")[1].split("#\n")[0].splitlines()
    words = " ".join(line.removeprefix("#   ") for line in lines).split()
    cli(*words[1:], "--force")
    assert (tmp_path / "my.toml").read_bytes() == first


#: The rates of such a drive, and its scale.
CACHED = ("--sequential-read", "3500MB/s", "--sequential-write", "3300MB/s", "--scale", "32")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (
            "--capacity 64GB --dies 8 --planes 4 --page 16KiB --program 600us "
            "--sequential-write 3300MB/s",
            "--sequential-write 3300MB/s: 8 dies x 4 planes x 16 KiB / 600 µs give 874 MB/s; "
            "allowed: a shorter --program, more --dies or --planes, a faster --bus, or --slc-cache",
        ),
        (
            "--capacity 1TB --dies 8 --planes 4 --page 16KiB --pages-per-block 1152 "
            "--blocks-per-plane 1000",
            "--capacity 1TB: 8 dies x 4 planes x 1000 blocks x 1152 pages x 16 KiB are 604 GB of "
            "flash; allowed: more flash than capacity",
        ),
        (
            "--capacity 500GB --spare 7% --dies 8 --planes 4 --pages-per-block 1152 "
            "--blocks-per-plane 1000",
            "--blocks-per-plane 1000: 8 dies x 4 planes x 1000 blocks x 1152 pages x 16 KiB are "
            "604 GB of flash; --capacity 500GB x (1 + --spare 7%) asks for 535 GB",
        ),
        (
            "--capacity 64GB --dies 12 --channels 8",
            "--channels 8: 12 dies do not divide over them; allowed: a divisor of 12",
        ),
        (
            "--capacity 1TB --random-read 480K --sequential-read 560MB/s",
            "--random-read 480K: of 4 KiB each these are 1.97 GB/s, more than --sequential-read "
            "560MB/s",
        ),
        (
            "--capacity 1TB --endurance 600TBW --cycles 100",
            "--endurance 600TBW: 100 cycles of 1.07 TB of flash are 107 TB, whatever the write "
            "amplification",
        ),
        (
            "--capacity 1TB --flash 1TiB --spare 7%",
            "--flash 1TiB and --spare 7% say the same: give one of them",
        ),
        ("", "--capacity: not given; allowed: a size such as 960GB"),
        (
            "--capacity big",
            "Invalid value for '--capacity': found 'big'; allowed: a size such as 960GB or 16KiB",
        ),
        (
            "--capacity 1TB --read 50",
            "Invalid value for '--read': found '50'; allowed: a time such as 50us or 3.5ms",
        ),
    ],
)
def test_a_contradiction_is_one_line_with_its_numbers(
    cli: RunCli, tmp_path: Path, options: str, fault: str
) -> None:
    done = cli("init", "my.toml", *options.split(), status=2)
    assert done.stderr == f"copyback: error: {fault}\n"
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_kept_unless_it_is_forced(cli: RunCli, tmp_path: Path) -> None:
    mine = tmp_path / "my.toml"
    mine.write_text("kept")
    error = cli("init", "my.toml", "--capacity", "64GB", status=2).stderr
    assert error == "copyback: error: my.toml: is there already; --force overwrites it\n"
    assert mine.read_text() == "kept"
    error = cli("init", "my.toml", "--force", "--capacity", "1KB", status=2).stderr
    assert error.count("\n") == 1
    assert mine.read_text() == "kept"
    cli("init", "my.toml", "--force", "--capacity", "64GB")
    assert tomllib.loads(mine.read_text())["ssd"]["geometry"]["page_size"] == "16KiB"


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        # Less than a usual die is one die.
        ("--capacity 1GB --pages-per-block 64", "chips_per_channel", 1),
        # Fewer small requests a second than large ones: not the link is what bounds them.
        ("--capacity 64GB --random-read 100 --sequential-read 500MB/s", "link_rate", "500MB/s"),
    ],
)
def test_numbers_at_the_edge_make_a_drive(
    cli: RunCli, tmp_path: Path, options: str, key: str, value: int | str
) -> None:
    drive = tomllib.loads(made(cli, tmp_path, *options.split()).read_text())
    assert (drive["ssd"]["geometry"] | drive["host"])[key] == value


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_in_a_terminal_each_number_is_asked_for(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    # The capacity is needed, a wrong answer is asked for again, all others are not known.
    os.write(ours, b"\nmuch\n960GB\nide\nSATA\n" + b"\n" * 9 + b"0\n16\n" + b"\n" * 9)
    done = subprocess.run(
        [sys.executable, "-m", "copyback", "init", "my.toml"],
        cwd=tmp_path,
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "found 'much'; allowed: a size such as 960GB or 16KiB" in done.stdout + done.stderr
    assert "found 'ide'; allowed: sata, sas, nvme" in done.stdout + done.stderr
    assert "found '0'; allowed: a whole number from 1 on" in done.stdout + done.stderr
    text = (tmp_path / "my.toml").read_text()
    assert "#   copyback init my.toml --capacity 960GB --interface sata --dies 16\n" in text
    assert tomllib.loads(text)["host"]["interface"] == "ncq"
