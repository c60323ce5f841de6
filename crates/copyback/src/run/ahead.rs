//! Whether and how far the drives of an array go ahead side by side.

use std::sync::Arc;

use crate::Error;
use crate::config::Resolved;
use crate::executor::Executor;
use crate::units::Instant;

use super::Run;

/// Requests below which it does not pay for a drive to be handed to another core and back.
const FEWEST_A_DRIVE: usize = 16;

/// Drives that go ahead side by side.
#[derive(Debug)]
pub struct SideBySide {
    executor: Arc<dyn Executor>,
    /// When it is looked again whether that pays.
    from: Instant,
}

impl SideBySide {
    /// On what `executor` does jobs, if a run of this checked configuration allows it: nothing but the host's own
    /// clock decides when requests arrive, and nobody asks in between how the drives stand.
    pub fn of(config: &Resolved, executor: Arc<dyn Executor>) -> Option<Self> {
        let flows = config.workload.flows();
        let allows = executor.width() > 1
            && matches!(&flows[..], [flow] if flow.iodepth().is_none())
            && config.ssd.gc.idle.entries() == 0
            && !config.ends_at_read_only()
            && !config.metrics.needs_journal();
        allows.then_some(Self { executor, from: Instant::START })
    }
}

impl Run {
    /// Lets the drives go on side by side until the next row of the series or a request that is not known yet, if
    /// that pays.
    // The run cannot end before: a request is still to come then.
    pub(super) fn go_ahead(&mut self) -> Result<(), Error> {
        let Some(side_by_side) = &mut self.side_by_side else { return Ok(()) };
        if self.now < side_by_side.from || self.ending.rule.is_some() || !self.array.may_go_ahead()
        {
            return Ok(());
        }
        let room = self.host.room();
        let rows = self.recorder.rows_due().min(self.recorder.dies.due()).min(Instant::END);
        let until = self.begins_at().map_or(rows, |begin| begin.min(rows));
        self.host.announce(room + 1, until, &mut self.announced)?;
        let Some(last) = self.announced.pop() else { return Ok(()) };
        let until = last.arrival.min(until);
        self.announced.retain(|request| request.arrival < until);
        let Some(side_by_side) = &mut self.side_by_side else { return Ok(()) };
        if self.announced.len() < FEWEST_A_DRIVE * self.array.drives().len() {
            side_by_side.from = until;
            return Ok(());
        }
        self.array.go_ahead(&self.announced, until, &*side_by_side.executor);
        Ok(())
    }
}
