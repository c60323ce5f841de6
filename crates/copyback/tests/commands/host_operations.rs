//! Reads, writes, updates and trims of the host.

use copyback::ids::Lpn;
use copyback::ssd::Part::{Bus, QueueBehindIo, Service};
use copyback::workload::{Handle, Hint};
use copyback::{Simulation, Status};

use crate::toy::{Toy, at, config};

const DOUBLE: (&str, &str) = ("ssd.timing.register", "double");
const IN_ORDER: (&str, &str) = ("host.scheduling", "in_order");

#[test]
fn a_read_is_command_array_and_data() {
    let mut toy = Toy::filled(&[], &[5]);
    toy.read(0, 1, 5);
    toy.assert_ends(1, 31_000);
    toy.assert_parts(1, &[(Service, 31_000)]);
    toy.run();
    assert_eq!(toy.log, ["1000 channel 0", "21000 die 0", "31000 channel 0"]);
    assert_eq!((toy.ssd.counters().reads, toy.ssd.counters().page_operations()), (1, 1));
}

#[test]
fn a_read_of_nothing_ends_at_once() {
    let mut toy = Toy::new(&[]);
    toy.read(7, 1, 5);
    assert_eq!(toy.ended(1), Some(7));
    assert_eq!((toy.ssd.counters().reads, toy.ssd.counters().unmapped_reads), (0, 1));
}

#[test]
fn a_write_is_command_with_data_and_array() {
    let mut toy = Toy::new(&[]);
    toy.write(0, 1, 5);
    toy.assert_ends(1, 211_000);
    toy.assert_parts(1, &[(Service, 211_000)]);
    toy.run();
    assert_eq!(toy.log, ["11000 channel 0", "211000 die 0"]);
}

#[test]
fn without_a_bus_only_the_array_takes_time() {
    let mut toy = Toy::filled(&[("ssd.timing.transfer_rate", "none")], &[5]);
    toy.read(0, 1, 5);
    toy.assert_ends(1, 20_000);
    toy.write(20_000, 2, 5);
    toy.assert_ends(2, 220_000);
}

#[test]
fn two_reads_on_a_die_follow_one_another() {
    let mut toy = Toy::filled(&[], &[5, 6]);
    toy.reads(0, &[(1, 5), (2, 6)]);
    toy.assert_ends(1, 31_000);
    toy.assert_ends(2, 62_000);
    toy.assert_parts(2, &[(Service, 31_000), (QueueBehindIo, 31_000)]);
}

#[test]
fn with_a_double_register_reads_overlap_by_the_rule_of_the_bus() {
    // At 21 us the first asks to send its data, the second for its command.
    for (arbitration, first, second) in [
        ("command_first", (32_000, 1_000), (52_000, 0)),
        ("data_first", (31_000, 0), (62_000, 10_000)),
        ("in_order", (31_000, 0), (62_000, 10_000)),
    ] {
        let mut toy = Toy::filled(&[DOUBLE, ("ssd.timing.bus_arbitration", arbitration)], &[5, 6]);
        toy.reads(0, &[(1, 5), (2, 6)]);
        toy.assert_ends(1, first.0);
        toy.assert_parts(1, &[(Service, 31_000), (Bus, first.1)]);
        toy.assert_ends(2, second.0);
        toy.assert_parts(2, &[(QueueBehindIo, 21_000), (Service, 31_000), (Bus, second.1)]);
    }
}

#[test]
fn with_a_double_register_the_next_program_is_loaded_during_a_program() {
    let mut toy = Toy::new(&[DOUBLE]);
    toy.writes(0, &[(1, 5), (2, 6)]);
    toy.assert_ends(1, 211_000);
    toy.assert_ends(2, 411_000);
    // 11 us until the cache register is free, 189 us in it until the array is.
    toy.assert_parts(2, &[(Service, 211_000), (QueueBehindIo, 200_000)]);
}

#[test]
fn reads_overtake_writes_unless_in_order() {
    for (scheduling, read, write) in [(&[][..], 242_000, 453_000), (&[IN_ORDER], 453_000, 422_000)]
    {
        let mut toy = Toy::filled(scheduling, &[5]);
        toy.writes(0, &[(1, 6), (2, 7)]);
        toy.read(10, 3, 5);
        toy.run();
        assert_eq!((toy.ended(3), toy.ended(2)), (Some(read), Some(write)));
    }
}

#[test]
fn dies_of_a_channel_work_side_by_side_and_take_turns_on_the_bus() {
    let mut toy =
        Toy::new(&[("ssd.geometry.chips_per_channel", "2"), ("ssd.ftl.allocation", "WCDP")]);
    toy.writes(0, &[(1, 0), (2, 1)]);
    toy.assert_ends(1, 211_000);
    toy.assert_ends(2, 222_000);
    toy.assert_parts(2, &[(Service, 211_000), (Bus, 11_000)]);
}

#[test]
fn a_transfer_is_an_event_of_its_own_if_another_die_waits_for_its_end() {
    let two_dies = [("ssd.geometry.chips_per_channel", "2"), ("ssd.ftl.allocation", "WCDP")];
    let mut toy = Toy::unobserved(&two_dies, &[]);
    toy.write(0, 1, 0);
    toy.write(5_000, 2, 1);
    toy.assert_ends(1, 211_000);
    toy.assert_ends(2, 222_000);
    toy.assert_parts(2, &[(Service, 211_000), (Bus, 6_000)]);
    assert_eq!(toy.log, ["11000 channel 0", "211000 die 0", "222000 die 1"]);
    // Who asks when it has ended does not wait.
    toy.write(300_000, 3, 2);
    toy.write(311_000, 4, 3);
    toy.assert_ends(4, 522_000);
    toy.assert_parts(4, &[(Service, 211_000)]);
    assert_eq!(toy.log[3..], ["511000 die 0", "522000 die 1"]);
}

#[test]
fn of_planes_with_as_many_free_pages_the_one_after_the_last_written_is_next() {
    let most_free = "{ order = 'CWDP', plane = 'most_free' }";
    let mut toy =
        Toy::new(&[("ssd.geometry.planes_per_die", "4"), ("ssd.ftl.allocation", most_free)]);
    for lpn in 0..6 {
        toy.write(u64::from(lpn) * 1_000_000, lpn, lpn);
    }
    toy.run();
    let ftl = &toy.ssd.backend().ftl;
    let planes = (0..6).filter_map(|lpn| Some(ftl.geometry().plane_of(ftl.lookup(Lpn(lpn))?).0));
    assert_eq!(planes.collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1]);
}

#[test]
fn pages_of_open_blocks_to_which_a_page_cannot_go_do_not_count_as_free() {
    let mut toy = Toy::new(&[
        ("ssd.geometry.planes_per_die", "2"),
        ("ssd.ftl.allocation", "{ order = 'CWDP', plane = 'most_free' }"),
        ("ssd.ftl.placement", "{ type = 'by_hint', handles = 2 }"),
        ("ssd.ftl.over_provisioning", "0.6"),
    ]);
    for (lpn, handle) in [(0, 0), (1, 1), (2, 1), (3, 0)] {
        let hint = Hint::new(0, Some(Handle(handle)));
        toy.writes_with(u64::from(lpn) * 1_000_000, hint, &[(lpn, lpn)]);
    }
    toy.run();
    let ftl = &toy.ssd.backend().ftl;
    let planes = (0..4).filter_map(|lpn| Some(ftl.geometry().plane_of(ftl.lookup(Lpn(lpn))?).0));
    // Each plane has an open block of one class: its other pages are of use to that class alone.
    assert_eq!(planes.collect::<Vec<_>>(), [0, 1, 1, 0]);
}

#[test]
fn dynamic_allocation_gives_writes_to_idle_dies() {
    let dynamic = [("ssd.geometry.chips_per_channel", "2"), ("ssd.ftl.allocation", "dynamic")];
    let mut toy = Toy::new(&dynamic);
    // All to the same page: its place is decided by who is free.
    toy.writes(0, &[(1, 5), (2, 5), (3, 5)]);
    toy.assert_ends(1, 211_000);
    toy.assert_ends(2, 222_000);
    // The first die is free at 211 us, and so is the bus.
    toy.assert_ends(3, 422_000);
    toy.assert_parts(3, &[(QueueBehindIo, 211_000), (Service, 211_000)]);
    toy.run();
}

#[test]
fn an_update_of_part_of_a_page_reads_it_first() {
    let mut toy = Toy::filled(&[], &[5]);
    toy.write_part(0, 1, 5);
    toy.assert_ends(1, 242_000);
    toy.assert_parts(1, &[(Service, 242_000)]);
    toy.run();
    let expected =
        ["1000 channel 0", "21000 die 0", "31000 channel 0", "42000 channel 0", "242000 die 0"];
    assert_eq!(toy.log, expected);
    assert_eq!((toy.ssd.counters().reads, toy.ssd.counters().programs), (1, 1));
}

#[test]
fn a_part_of_a_page_that_holds_nothing_is_just_written() {
    let mut toy = Toy::new(&[]);
    toy.write_part(0, 1, 5);
    toy.assert_ends(1, 211_000);
}

#[test]
fn a_write_waits_for_an_update_of_its_page() {
    let mut toy = Toy::filled(&[], &[5]);
    toy.write_part(0, 1, 5);
    toy.write(5_000, 2, 5);
    toy.assert_ends(1, 242_000);
    toy.assert_ends(2, 453_000);
    // 26 us until the old page is there, 211 us behind the write of the update.
    toy.assert_parts(2, &[(QueueBehindIo, 237_000), (Service, 211_000)]);
    toy.run();
}

#[test]
fn an_update_whose_page_is_trimmed_meanwhile_has_nothing_to_read() {
    let mut toy = Toy::filled(&[], &[5, 6]);
    toy.read(0, 1, 6);
    toy.write_part(0, 2, 5);
    toy.trim(1_000, 5);
    toy.assert_ends(1, 31_000);
    toy.assert_ends(2, 242_000);
    toy.assert_parts(2, &[(QueueBehindIo, 31_000), (Service, 211_000)]);
    assert_eq!((toy.ssd.counters().reads, toy.ssd.counters().trimmed), (1, 1));
}

#[test]
fn a_trimmed_page_reads_as_nothing() {
    let mut toy = Toy::filled(&[], &[5]);
    toy.trim(3, 5);
    toy.trim(4, 5);
    toy.read(5, 1, 5);
    assert_eq!(toy.ended(1), Some(5));
    assert_eq!(toy.ssd.counters().trimmed, 1);
    assert_eq!(toy.log, [""; 0]);
}

#[test]
fn a_waiting_read_whose_page_is_trimmed_ends_without_the_flash() {
    let mut toy = Toy::filled(&[], &[5, 6]);
    toy.reads(0, &[(1, 6), (2, 5)]);
    toy.trim(1_000, 5);
    toy.assert_ends(2, 31_000);
    assert_eq!(toy.ssd.counters().unmapped_reads, 1);
}

#[test]
fn a_read_whose_page_has_moved_to_another_die_meanwhile_is_served_by_that_one() {
    let dynamic = [("ssd.geometry.chips_per_channel", "2"), ("ssd.ftl.allocation", "dynamic")];
    let mut toy = Toy::new(&dynamic);
    toy.writes(0, &[(1, 0), (2, 1)]);
    // Both dies are busy again. The read waits for the second, which has page 1.
    toy.writes(1_000_000, &[(3, 5), (4, 6)]);
    toy.read(1_100_000, 5, 1);
    // The first die is free first, and takes page 1.
    toy.write(1_150_000, 6, 1);
    toy.assert_ends(3, 1_211_000);
    toy.assert_ends(4, 1_222_000);
    toy.assert_ends(6, 1_422_000);
    toy.assert_ends(5, 1_453_000);
}

#[test]
fn each_die_tells_how_many_blocks_are_free_on_its_planes() {
    let mut toy =
        Toy::new(&[("ssd.geometry.dies_per_chip", "2"), ("ssd.geometry.planes_per_die", "2")]);
    // All on the first plane: they fill one of its blocks, and open another.
    let writes = [0, 4, 8, 12, 16].map(|lpn| (lpn, lpn));
    toy.writes(0, &writes);
    toy.run();
    let free: Vec<u32> = toy.ssd.die_uses(at(toy.now_ns())).map(|die| die.free_blocks).collect();
    assert_eq!(free, [14, 16]);
}

#[test]
fn handles_that_no_placement_goes_by_are_said_to_mean_nothing() {
    let notes = |placement, handles| {
        let workload = format!("{{ type = 'synthetic', read_share = 0.0, handles = {handles} }}");
        let config = config(&[
            ("ssd.ftl.over_provisioning", "0.6"),
            ("ssd.ftl.placement", placement),
            ("workload", &workload),
            ("workload.requests", "4"),
        ]);
        let mut simulation = Simulation::new(&config, None).expect("a synthetic workload");
        while simulation.advance(1 << 10).expect("the audit finds nothing") == Status::Running {}
        simulation.summary().expect("it has run").to_json()["notes"].to_string()
    };
    let some = "{ type = 'random', handles = [0, 1] }";
    let by_hint = "{ type = 'by_hint', handles = 2 }";
    let told = "handles that the workload names mean nothing to ssd.ftl.placement";
    assert!(notes("'one_class'", some).contains(told));
    assert!(!notes(by_hint, some).contains(told));
    assert!(!notes("'one_class'", "'flow'").contains(told), "it names none");
}
