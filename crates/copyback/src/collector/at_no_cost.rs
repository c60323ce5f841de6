//! Collections with all their effects but time: the bound that shows what collections cost.

use super::job::{self, Job, Tally};
use crate::backend::{Backend, Counters};
use crate::ftl::Occasion;
use crate::ids::DieId;
use crate::purpose::Reason;

use super::Collector;

impl Collector {
    /// Collects every plane of `die` that is short of space or asked for, with all its effects but
    /// time.
    pub(super) fn collect_at_no_cost(&mut self, backend: &mut Backend, die: DieId) {
        if let Some(parity) = backend.ftl.parity_mut() {
            parity.due.take_time(false);
        }
        let tally = job::collect_untimed(&mut backend.ftl, die);
        self.count_untimed(&mut backend.counters, Reason::OnDemand, &tally);
        let mut filled = tally.filled;
        let asked = self.permits.planes_of(die);
        let mut tally = Tally::default();
        for plane in backend.ftl.geometry().planes_in(asked, die) {
            while self.permits.planes_of(die) & backend.ftl.geometry().bit(plane) != 0 {
                match Job::on(Occasion::Demand(plane), self.permits.reason(), &mut backend.ftl) {
                    Some(job) => {
                        job.run_with_levelling(&mut backend.ftl, &mut tally);
                        job::end_line(&mut backend.ftl, &mut tally);
                        let space = backend.ftl.space();
                        let (free, together) =
                            (space.free_blocks(plane), space.free_together(plane));
                        self.permits.block_collected(plane, free, together);
                    }
                    None => self.permits.give_up(plane),
                }
            }
        }
        while let Some(job) = Job::for_its_data(die, backend) {
            job.run_with_levelling(&mut backend.ftl, &mut tally);
        }
        self.count_untimed(&mut backend.counters, self.permits.reason(), &tally);
        filled += tally.filled;
        // Blocks are replaced in no time either.
        backend.replacing_time();
        let parity = backend.ftl.parity_mut().map(|parity| {
            parity.due.take_time(true);
            parity.due.take_untimed()
        });
        let parity = parity.unwrap_or_default();
        backend.counters.programs += parity.pages;
        backend.counters.parity += parity.pages;
        if backend.flash.timing.summary.is_some() {
            backend.counters.summary_pages += filled + parity.filled;
        }
    }

    fn count_untimed(&self, counters: &mut Counters, reason: Reason, tally: &Tally) {
        counters.count_collections(reason, tally.collections);
        counters.levelling_runs += tally.levelling_runs;
        counters.read_reclaims += tally.read_reclaims;
        counters.refreshes += tally.refreshes;
        counters.erases += tally.erases;
        counters.merges += tally.merges;
        counters.pages_moved += tally.pages_moved;
        counters.moves.single_demanding += tally.pages_moved;
        if self.settings.copyback {
            counters.copybacks += tally.pages_moved;
        } else {
            counters.reads += tally.pages_moved;
            counters.programs += tally.pages_moved;
        }
    }
}
