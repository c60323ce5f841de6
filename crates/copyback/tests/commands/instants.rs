//! The two phases of an instant: the order in which simultaneous events were queued never decides
//! a result.

use crate::toy::{Done, Toy};

/// Two channels of two dies of two planes, on which everything takes a multiple of 10 us.
const SHAPE: [(&str, &str); 6] = [
    ("ssd.geometry.channels", "2"),
    ("ssd.geometry.chips_per_channel", "2"),
    ("ssd.geometry.planes_per_die", "2"),
    ("ssd.timing.command", "10us"),
    ("ssd.timing.program", "100us"),
    ("ssd.timing.erase", "200us"),
];

#[test]
fn two_dies_that_end_together_get_the_bus_in_their_order() {
    for reversed in [false, true] {
        let changes = [
            ("ssd.geometry.chips_per_channel", "2"),
            ("ssd.ftl.allocation", "WCDP"),
            ("ssd.timing.command", "0us"),
        ];
        let mut toy = Toy::filled(&changes, &[0, 1]);
        toy.reversed = reversed;
        // Handed in the other way round, too.
        toy.reads(0, &[(2, 1), (1, 0)]);
        toy.assert_ends(1, 30_000);
        toy.assert_ends(2, 40_000);
    }
}

/// Everything that a random mix of operations has led to.
fn mix(changes: &[(&str, &str)], reversed: bool) -> Vec<Done> {
    let mut all = SHAPE.to_vec();
    all.extend(changes);
    let mut toy = Toy::new(&all);
    toy.reversed = reversed;
    for request in 0..600 {
        let lpn = (toy.next_random() % 128) as u32;
        let ns = u64::from(request) / 4 * 40_000;
        match toy.next_random() % 10 {
            0..4 => toy.read(ns, request, lpn),
            4..8 => toy.write(ns, request, lpn),
            8 => toy.write_part(ns, request, lpn),
            _ => toy.trim(ns, lpn),
        }
    }
    toy.run();
    assert!(toy.ssd.counters().collections > 0, "the mix is to collect");
    toy.done
}

#[test]
fn simultaneous_events_may_come_in_any_order() {
    for register in ["single", "double"] {
        for allocation in ["CWDP", "dynamic", "{ order = 'CWDP', plane = 'most_free' }"] {
            for arbitration in ["command_first", "data_first", "in_order"] {
                let changes = [
                    ("ssd.timing.register", register),
                    ("ssd.ftl.allocation", allocation),
                    ("ssd.timing.bus_arbitration", arbitration),
                ];
                let (forward, backward) = (mix(&changes, false), mix(&changes, true));
                assert_eq!(forward, backward, "{changes:?}");
            }
        }
    }
}
