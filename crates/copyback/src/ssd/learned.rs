//! A drive whose mapping predicts where pages lie, on the clock: what the mapping wants to be read first is read, with no
//! line of the scheduler's about such a mapping.

use rand::RngExt;

use super::{Event, Finished, Owner, PageWrite, Ssd};
use crate::event::Agenda;
use crate::ftl::Ftl;
use crate::ids::{CommandId, Lpn};
use crate::rng;
use crate::test_config::demand_paged_drive;
use crate::units::{Duration, Instant};

/// A drive, its events, and the operations that have ended.
struct Drive {
    ssd: Ssd,
    agenda: Agenda,
    now: Instant,
    ended: usize,
}

impl Drive {
    fn new() -> Self {
        let config = demand_paged_drive(2);
        let ssd = Ssd::new(&config, Ftl::learned(&config), 0);
        Self { ssd, agenda: Agenda::default(), now: Instant::START, ended: 0 }
    }

    fn settle(&mut self) {
        self.ssd.arbitrate(self.now, &mut self.agenda);
        let mut finished: Vec<Finished> = Vec::new();
        self.ssd.take_finished(&mut finished);
        self.ended += finished.len();
        assert_eq!(self.ssd.violation(), None);
    }

    /// Lets everything happen that has begun.
    fn run(&mut self) {
        self.settle();
        while let Some(next) = self.agenda.next_time() {
            self.now = next;
            while let Some(event) = self.agenda.pop_at(next) {
                assert!(matches!(event, Event::ArrayDone(_) | Event::TransferDone(_)));
                self.ssd.apply(event, next);
            }
            self.settle();
        }
    }
}

#[test]
fn a_mapping_that_predicts_needs_nothing_of_the_scheduler() {
    let mut drive = Drive::new();
    let pages = drive.ssd.backend().ftl.limits().logical_pages() as u32;
    let mut random = rng::stream(1, "learned");
    let mut requests = 0;
    for round in 0..60 {
        for request in 0..32 {
            let owner = Owner::Host(CommandId(requests));
            let lpn = Lpn(random.random_range(0..pages));
            if round > 20 && request % 2 == 0 {
                drive.ssd.read(owner, lpn, Duration::ZERO, drive.now);
            } else {
                let (hint, whole, late) = (None, request % 3 > 0, Duration::ZERO);
                drive.ssd.write(PageWrite { owner, lpn, hint, whole, late }, drive.now);
            }
            requests += 1;
        }
        drive.run();
        assert_eq!(drive.ssd.backend().ftl.check(), Ok(()));
    }
    assert_eq!(drive.ended, requests as usize, "every operation ends");
    let counters = drive.ssd.counters();
    assert!(counters.pages_moved > 0, "collections move pages");
    assert!(counters.mapping.reads > 0 && counters.mapping.writes > 0, "segments come and go");
    assert!(counters.mapping.hits > 0 && counters.mapping.misses > 0, "some are known at once");
}
