"""`copyback validate`: theirs beside ours, and what happens when a row does not agree."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from copyback._core import InputError
from copyback_papers.validation import drives, stored
from copyback_papers.validation.compare import Compared, compare
from copyback_papers.validation.load import Load
from copyback_papers.validation.ours import responses_of, run
from copyback_papers.validation.show import conclusion, lines

TOOLS = Path(__file__).parents[1] / "tools"
SMALL = "suspend, semi-preemptive, 1x1x1x2"


def validate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "copyback", "validate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def row_named(name: str) -> stored.Row:
    (row,) = [row for row in stored.rows() if row.name == name]
    return row


def test_a_row_prints_theirs_ours_and_the_difference() -> None:
    ran = validate("--only", SMALL)
    assert ran.returncode == 0, ran.stderr
    assert f"{SMALL}: agrees" in ran.stdout
    assert "writes p99.9 (us)" in ran.stdout
    assert "1 of 1 rows agree within their bounds; in 1 of them every number is the same." in (
        ran.stdout
    )
    assert f"1 of 1: {SMALL}" in ran.stderr


def test_json_holds_every_number() -> None:
    ran = validate("--only", SMALL, "--json")
    (row,) = json.loads(ran.stdout)
    assert ran.stderr == ""
    assert row["agrees"]
    whats = {number["what"] for number in row["numbers"]}
    assert {"reads: count", "writes: mean_us", "reads: p99_us", "reads: p99_9_us", "erases"} < whats


def test_list_runs_nothing() -> None:
    ran = validate("--list")
    assert ran.returncode == 0
    assert len(ran.stdout.splitlines()) == len([*stored.rows(), *drives.rows()])


def test_a_measured_drive_stands_beside_what_is_simulated_of_it() -> None:
    name = drives.rows()[0].drive["drive"]
    ran = validate("--only", name, "--json")
    assert ran.returncode == 0, ran.stderr
    rows = json.loads(ran.stdout)
    assert [row["agrees"] for row in rows] == [True] * len(rows)
    told = validate("--only", name).stdout
    assert f"{rows[0]['name']}: as stored, beside SSD-iq" in told
    assert "(fitted)" in told


def test_what_chooses_nothing_is_refused_with_what_may_be_chosen() -> None:
    ran = validate("--only", "zebra")
    assert ran.returncode == 2
    assert "--only zebra: chooses no row; allowed:" in ran.stderr
    assert "RAID-5" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_row_that_does_not_agree_ends_with_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from copyback.commands import cli

    row = row_named(SMALL)
    wrong = msgspec.structs.replace(row.theirs, erases=row.theirs.erases * 2)
    path = tmp_path / "rows.json"
    path.write_bytes(msgspec.json.encode([msgspec.structs.replace(row, theirs=wrong)]))
    rows = stored.rows(path)
    monkeypatch.setattr(stored, "rows", lambda: rows)
    assert cli._status(["validate", "--quiet", "--only", SMALL]) == 1
    printed = capsys.readouterr().out
    assert f"{SMALL}: DIFFERS, not within" in printed
    assert "-50.000%" in printed
    assert "0 of 1 rows agree" in printed


@pytest.mark.parametrize("what", ["mean_us", "p99_us", "p99_9_us", "count"])
def test_each_number_alone_makes_a_row_differ(what: str) -> None:
    row = row_named(SMALL)
    assert row.theirs.reads is not None
    moved = msgspec.structs.replace(row.theirs.reads, **{what: getattr(row.theirs.reads, what) * 2})
    verdict = compare(row, msgspec.structs.replace(row.theirs, reads=moved))
    assert not verdict.agrees()
    assert verdict.worst().what == f"reads: {what}"
    assert "DIFFERS" in next(lines(verdict))
    assert compare(row, row.theirs).agrees()
    assert "every number is the same" in conclusion([compare(row, row.theirs)])


def test_a_row_of_counts_alone_leaves_responses_out() -> None:
    row = row_named("SSDsim: random writes, 1x1x1x1")
    assert row.theirs.writes is not None
    slower = msgspec.structs.replace(row.theirs.writes, mean_us=1e6)
    verdict = compare(row, msgspec.structs.replace(row.theirs, writes=slower, page_reads=9))
    assert [number.what for number in verdict.numbers] == ["page_programs", "erases"]
    assert verdict.agrees()
    assert "responses are not compared" in list(lines(verdict))[-1]
    more = msgspec.structs.replace(row.theirs, erases=row.theirs.erases * 2)
    assert not compare(row, more).agrees()


def test_ssdsims_parameters_are_changed_or_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import ssdsim_input
    import ssdsim_rows

    case = next(ssdsim_rows.cases())
    row = row_named(case.name())
    assert case.load() == row.load
    assert ssdsim_rows.config_of(case) == row.config
    with pytest.raises(SystemExit, match=r"page.parameters: dram capacity is there 0 times"):
        ssdsim_input.parameters("t_R = 20;", ssdsim_rows.chosen(case))
    told = "program count: 12multi-plane program count: 3\nerase count: 4\n"
    assert ssdsim_rows.counts_of(told) == {"page_programs": 12, "erases": 4}


def test_reads_that_are_missing_on_one_side_make_a_row_differ() -> None:
    row = row_named(SMALL)
    assert not compare(row, msgspec.structs.replace(row.theirs, reads=None)).agrees()


@pytest.mark.parametrize("text", ["", "[", '[{"name": "x"}]', "{}"])
def test_a_damaged_file_of_rows_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"rows.json: not the stored rows"):
        stored.rows(path)


def test_every_row_says_where_it_is_from_and_why_it_may_differ() -> None:
    names = [row.name for row in stored.rows()]
    assert len(set(names)) == len(names)
    for row in stored.rows():
        assert row.provenance
        assert row.explained is None or row.cause, row.name


def test_a_cause_gives_the_numbers_of_other_simulators_to_the_tail() -> None:
    """Within 5% the time model with their rules: mean, p99, p99.9 and counts."""
    peers = [row for row in stored.rows() if row.peer.startswith("MQSim")]
    assert len({row.feature for row in peers}) >= 6
    for row in peers:
        assert row.explained is not None
        assert row.without is not None
        by_cause = compare(row, row.explained).worst()
        assert abs(by_cause.off()) <= 0.05, (row.name, by_cause)


def test_no_bound_is_wider_than_a_twentieth_of_what_is_predicted() -> None:
    assert all(row.within <= 0.05 for row in stored.rows())


def test_ours_is_held_to_what_a_cause_predicts_and_not_to_theirs() -> None:
    row = row_named("MQSim: 50% reads, 1x1x2x1")
    assert row.without is not None
    as_predicted = compare(row, row.without)
    assert abs(as_predicted.worst().off()) > 0.4
    assert as_predicted.agrees()
    assert "differs from MQSim 7ec40e3 as its cause predicts" in next(lines(as_predicted))
    as_theirs = compare(row, row.theirs)
    assert as_theirs.worst().off() == 0
    assert not as_theirs.agrees()
    assert "DIFFERS from MQSim 7ec40e3, not within 0.20% of what its cause predicts" in next(
        lines(as_theirs)
    )


def test_what_is_predicted_is_theirs_moved_as_the_model_moves() -> None:
    number = Compared("erases", theirs=200.0, ours=110.0, explained=100.0, without=50.0)
    assert number.predicted() == 100.0
    assert number.predicted_off() == pytest.approx(-0.5)
    assert number.beside_prediction() == pytest.approx(0.1)
    assert Compared("erases", 200.0, 110.0).predicted() == 200.0
    assert Compared("erases", 0.0, 3.0, explained=0.0, without=3.0).predicted() == 3.0


def test_there_are_six_geometries_of_each_feature_of_one_drive() -> None:
    geometries: dict[str, set[str]] = {}
    for row in stored.rows():
        geometries.setdefault(row.feature, set()).add(row.geometry)
    features = ("several planes", "suspend", "copyback", "closed loop of 16", "semi-preemptive")
    for feature in (*features, "partial, 2 steps", "cache"):
        assert len(geometries[feature]) >= 6, feature


def test_the_time_model_still_says_what_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import validation_rows

    for name in (SMALL, "closed loop of 16, 2x2x1x1"):
        (case,) = [
            case for case in validation_rows.cases() if f"{case.feature}, {case.geometry()}" == name
        ]
        assert validation_rows.numbers(case.setup, case.load) == row_named(name).theirs


@pytest.mark.parametrize(
    "name",
    [
        "MQSim: 50% reads, 1x1x1x1",
        pytest.param("MQSim: preemption, 50% reads, 2x1x1x2", marks=pytest.mark.long),
        pytest.param("MQSim: cache, 50% reads, 2x2x1x1", marks=pytest.mark.long),
        pytest.param(
            "MQSim: cache, 50% reads, nothing lost or resting, 2x1x1x2", marks=pytest.mark.long
        ),
    ],
)
def test_mqsims_rules_still_say_what_is_stored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import mqsim_rows
    import validation_rows

    (case,) = [case for case in mqsim_rows.cases() if mqsim_rows.name_of(case) == name]
    row = row_named(name)
    assert case.load() == row.load
    assert mqsim_rows.config_of(case) == row.config
    assert mqsim_rows.by_their_rules(case, case.load()) == row.explained
    assert validation_rows.numbers(case.setup(case.our_device()), case.load()) == row.without


def test_mqsims_rules_give_its_times_to_the_nanosecond(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured of MQSim: the table "to the nanosecond" of docs/validation.md."""
    monkeypatch.syspath_prepend(str(TOOLS))
    import mqsim_rows
    from time_model.host import Outcome, Request, Setup, simulate

    device = mqsim_rows.Case("", (2, 2, 1, 1), "", size=mqsim_rows.LARGE).device()

    def outcome(ramp: int, requests: list[tuple[bool, int]]) -> Outcome:
        """Run requests for pages that come at once, when 32 have been written."""
        filled = [Request(page * 10_000_000, False, page, 1) for page in range(32)]
        at_once = [Request(ramp, is_read, page, 1) for is_read, page in requests]
        before = filled if ramp else []
        return simulate(Setup(device, filled=False, ramp=ramp), [*before, *at_once])

    second = 1_000_000_000
    assert outcome(0, [(False, 0)]).writes == [777_493]
    assert outcome(second, [(True, 0)]).reads == [102_434]
    eight = outcome(0, [(False, page) for page in range(8)]).writes
    assert eight[:3] + eight[4:5] == [777_708, 780_204, 802_645, 1_552_645]
    assert outcome(second, [(True, 0), (True, 4)]).reads[1] == 202_320
    three = [(False, page) for page in (0, 4, 8)]
    assert outcome(second, [*three, (True, 1), (True, 2)]).writes[2] == 2_327_483


def test_what_tools_need_of_mqsims_source_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    import mqsim_copies

    source = tmp_path / "one.h"
    source.write_text("int kept = 7; int kept = 8;\n")
    mqsim_copies.change(source, r"(kept = )\d+", lambda found: f"{found[1]}0")
    assert source.read_text() == "int kept = 0; int kept = 8;\n"
    with pytest.raises(SystemExit, match=r"one\.h: no lost there; is this commit 7ec40e3\?"):
        mqsim_copies.change(source, "lost", lambda _: "")


def test_the_same_seed_gives_the_same_requests() -> None:
    load = Load(3, 100, 50, 1000, 0.5, request_pages=2, sequential=0.3, overwrites=5)
    assert list(load.draw()) == list(load.draw())
    assert all(0 <= one.first <= 100 - one.pages for one in load.draw())
    times = [one.time for one in load.draw()]
    assert times == sorted(times)


def test_percentiles_are_the_smallest_response_that_so_many_do_not_exceed() -> None:
    responses = responses_of([1000 * n for n in range(1, 1001)])
    assert responses is not None
    assert (responses.count, responses.p99_us, responses.p99_9_us) == (1000, 990.0, 999.0)
    assert responses_of([]) is None


def test_other_times_of_the_flash_are_noticed() -> None:
    row = row_named(SMALL)
    slower = json.loads(json.dumps(row.config))
    slower["ssd"]["timing"]["erase"] = "3100000ns"
    ours = run(msgspec.structs.replace(row, config=slower))
    assert not compare(row, ours).agrees()
