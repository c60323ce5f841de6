//! A drive inside another simulator: a database that commits one transaction after the other, each with a write to
//! its log and a read, and computes between them. The database's event loop owns the clock; the drive tells it when something happens next.
//!
//! ```text
//! cargo run --release -p copyback --example event_loop
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;

use copyback::config::Loader;
use copyback::embedded::{Ask, Embedded};
use copyback::units::{Duration, Instant};
use copyback::workload::Operation;

const PAGE: u64 = 4096;
const TRANSACTIONS: u64 = 2_000;
const CLIENTS: u64 = 4;

/// What the database waits for beside its drive: a client has computed, and asks for its next transaction.
type Events = BinaryHeap<Reverse<(Instant, u64)>>;

fn main() -> Result<(), Box<dyn Error>> {
    let config = Loader::new()
        .set("ssd.geometry.blocks_per_plane", "64")
        .set("ssd.ftl.over_provisioning", "0.2")
        .set("ssd.gc.preemption", "semi_preemptive")
        .load()?;
    let mut drive = Embedded::new(&config)?;
    let pages = drive.capacity() / PAGE;

    let mut events: Events = (0..CLIENTS).map(|client| Reverse((Instant::START, client))).collect();
    let (mut begun, mut left, mut longest) = (0, 2 * TRANSACTIONS, Duration::ZERO);
    // Parts of each client's transaction that the drive has not served.
    let mut waiting = [0; CLIENTS as usize];

    while left > 0 {
        // The next of both clocks.
        let own = events.peek().map(|Reverse((at, _))| *at);
        let now = [own, drive.next_time()].into_iter().flatten().min().expect("something is left");

        while let Some(&Reverse((at, client))) = events.peek().filter(|Reverse((at, _))| *at == now)
        {
            events.pop();
            if begun < TRANSACTIONS {
                let (log, row) = (begun * 7919 % pages, begun * 104_729 % pages);
                let write = Ask {
                    operation: Operation::Write,
                    offset: log * PAGE,
                    length: PAGE,
                    hint: None,
                };
                let read = Ask {
                    operation: Operation::Read,
                    offset: row * PAGE,
                    length: PAGE,
                    hint: None,
                };
                drive.submit(at, client, write)?;
                drive.submit(at, client, read)?;
                waiting[client as usize] = 2;
                begun += 1;
            }
        }

        drive.advance_to(now)?;
        while let Some(done) = drive.take_completed() {
            left -= 1;
            longest = longest.max(done.at - done.arrival);
            let parts = &mut waiting[done.tag as usize];
            *parts -= 1;
            if *parts == 0 {
                events.push(Reverse((done.at + Duration::from_us(300), done.tag)));
            }
        }
    }
    let counters = drive.counters();
    println!("{TRANSACTIONS} transactions in {:.3} s", drive.now().as_secs_f64());
    println!(
        "longest wait {} us, {} blocks collected",
        longest.as_ns() / 1000,
        counters.collections
    );
    Ok(())
}
