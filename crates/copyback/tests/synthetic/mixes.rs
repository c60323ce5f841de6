//! Reads among writes.

use copyback::config::SyntheticWorkload;
use copyback::config::quantity::Share;
use copyback::workload::Operation;

use crate::support::{assert_near, generate, single_pages};

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
