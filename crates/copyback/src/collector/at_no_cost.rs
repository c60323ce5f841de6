//! Collections with all their effects but time: the bound that shows what collections cost.

use super::job::{self, Job, Tally};
use crate::backend::Backend;
use crate::ftl::Occasion;
use crate::ids::DieId;
use crate::purpose::Reason;

use super::Collector;

impl Collector {
    /// Collects every plane of `die` that is short of space or asked for, with all its effects but
    /// time.
    pub(super) fn collect_at_no_cost(&mut self, backend: &mut Backend, die: DieId) {
        if let Some(parity) = backend.ftl.parity_mut() {
            parity.take_time(false);
        }
        let tally = job::collect_untimed(&mut backend.ftl, die);
        self.count_untimed(backend, Reason::OnDemand, &tally);
        let asked = self.permits.planes_of(die);
        let mut tally = Tally::default();
        for plane in backend.planes_in(asked, die) {
            while self.permits.planes_of(die) & backend.bit(plane) != 0 {
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
        self.count_untimed(backend, self.permits.reason(), &tally);
        backend.replace_at_no_cost();
        let parity = backend.ftl.parity_mut().map(|parity| {
            parity.take_time(true);
            parity.take_untimed()
        });
        let parity = parity.unwrap_or_default();
        backend.counters.programs += parity.pages;
        backend.counters.parity += parity.pages;
        backend.fill_at_no_cost(parity.filled);
    }

    fn count_untimed(&self, backend: &mut Backend, reason: Reason, tally: &Tally) {
        backend.counters.count_collections(reason, tally.collections);
        backend.counters.levelling_runs += tally.levelling_runs;
        backend.counters.read_reclaims += tally.read_reclaims;
        backend.counters.refreshes += tally.refreshes;
        backend.counters.erases += tally.erases;
        backend.counters.merges += tally.merges;
        backend.counters.pages_moved += tally.pages_moved;
        backend.fill_at_no_cost(tally.filled);
        backend.counters.moves.single_demanding += tally.pages_moved;
        if self.settings.copyback {
            backend.counters.copybacks += tally.pages_moved;
        } else {
            backend.counters.reads += tally.pages_moved;
            backend.counters.programs += tally.pages_moved;
        }
    }
}
