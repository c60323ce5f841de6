//! Report on a die that was lost, and on reads before, during and after its rebuild.

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::ssd::{LostDieReport, Phase};
use crate::units::{Duration, Instant};

use super::latency::{LatencyStats, ResponseSummary};

/// Summary of a die that was lost for `summary.json` (`ssd.faults.lost_die`). Counted since the run began, ramp
/// included; response times are those of requests that are measured.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LostDieSummary {
    /// The die.
    pub die: u16,
    /// When it was lost; null if the run ended before.
    pub lost_at_s: Option<f64>,
    /// Time to rebuild the die's data, in seconds; null if the run ended before.
    pub rebuild_s: Option<f64>,
    /// Pages that were made up and programmed elsewhere since requests are measured, and those that could not be, with a mark. They
    /// count in `write_amplification`.
    pub pages_rebuilt: u64,
    /// Pages that could not be made up, as another page of their stripe was gone or could not be read: their data are lost. A read of
    /// such a page fails until the host has written all of it again, or trimmed it.
    #[schemars(extend("page" = "Pages that are lost", "if" = "pages_lost > 0"))]
    pub pages_lost: u64,
    /// Pages that were read to rebuild others.
    pub pages_read_to_rebuild: u64,
    /// Reads of pages of that die that were made up for the host.
    pub degraded_reads: u64,
    /// Lines that were opened without parity, as every die left needed a block.
    #[schemars(extend("page" = "Lines without parity", "if" = "unprotected_lines > 0"))]
    pub unprotected_lines: u64,
    /// Response times of reads that ended before the die was lost, in microseconds.
    pub before_us: ResponseSummary,
    /// Response times of reads that ended while it was rebuilt, or had come by the end of that.
    pub during_us: ResponseSummary,
    /// Response times of reads that came after that.
    pub after_us: ResponseSummary,
}

/// Response times of reads by what had become of the die meanwhile.
#[derive(Debug, Default, Checkpointed)]
pub struct LostDieReads {
    before: LatencyStats,
    during: LatencyStats,
    after: LatencyStats,
}

impl LostDieReads {
    /// A read has been completed.
    pub fn completed(&mut self, response: Duration, phase: Phase) {
        let of_phase = match phase {
            Phase::Whole => &mut self.before,
            Phase::Degraded => &mut self.during,
            Phase::Rebuilt => &mut self.after,
        };
        of_phase.record_whole(response);
    }

    /// Summary of a lost die, of which `rebuilt` pages were rebuilt.
    pub fn summary(&self, report: &LostDieReport, rebuilt: u64) -> LostDieSummary {
        let tally = &report.tally;
        let seconds = |from: Instant, to: Instant| (to - from).as_secs_f64();
        let ended = tally.lost_at.zip(tally.ended_at);
        LostDieSummary {
            die: report.die.0 as u16,
            lost_at_s: tally.lost_at.map(|lost| seconds(Instant::START, lost)),
            rebuild_s: ended.map(|(lost, ended)| seconds(lost, ended)),
            pages_rebuilt: rebuilt,
            pages_lost: tally.gone,
            pages_read_to_rebuild: tally.stripe_reads,
            degraded_reads: tally.degraded_reads,
            unprotected_lines: report.unprotected_lines,
            before_us: self.before.summary(),
            during_us: self.during.summary(),
            after_us: self.after.summary(),
        }
    }
}
