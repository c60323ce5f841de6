//! Reads, trims and flushes among writes.

use copyback_config::SyntheticWorkload;
use copyback_config::quantity::Share;
use copyback_workload::Operation;

use crate::support::{UNIT, assert_near, assert_shares, generate, single_pages};

fn reads(read_share: f64) -> f64 {
    let config = SyntheticWorkload { read_share: Share(read_share), ..single_pages(400_000) };
    let requests = generate(&config, 1);
    assert!(requests.iter().all(|r| matches!(r.operation, Operation::Read | Operation::Write)));
    requests.iter().filter(|r| r.operation == Operation::Read).count() as f64
}

#[test]
fn the_read_share_is_met() {
    assert_eq!(reads(0.0), 0.0);
    assert_eq!(reads(1.0), 400_000.0);
    assert_near(reads(0.4), 160_000.0, (400_000_f64 * 0.4 * 0.6).sqrt());
    assert_near(reads(0.01), 4000.0, (400_000_f64 * 0.01 * 0.99).sqrt());
}

#[test]
fn trims_and_flushes_have_their_shares() {
    let config = SyntheticWorkload {
        read_share: Share(0.5),
        trim_share: Share(0.2),
        flush_share: Share(0.05),
        ..single_pages(400_000)
    };
    let requests = generate(&config, 2);
    let of = |operation| requests.iter().filter(|r| r.operation == operation).count() as u64;
    let all = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush].map(of);
    assert_shares(&all, &[0.5, 0.25, 0.2, 0.05]);
    for request in &requests {
        let range = if request.operation == Operation::Flush { 0 } else { UNIT };
        assert_eq!(request.length, range);
    }
}

/// A share of trims is taken from the writes: reads stay the same requests.
#[test]
fn trims_take_from_the_writes() {
    let config = |trim_share| SyntheticWorkload {
        read_share: Share(0.3),
        trim_share: Share(trim_share),
        ..single_pages(10_000)
    };
    for (without, with) in generate(&config(0.0), 3).iter().zip(generate(&config(0.7), 3)) {
        let trim =
            if without.operation == Operation::Write { Operation::Trim } else { Operation::Read };
        assert_eq!(with.operation, trim);
        assert_eq!((with.offset, with.arrival), (without.offset, without.arrival));
    }
}
