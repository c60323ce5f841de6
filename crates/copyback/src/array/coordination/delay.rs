//! A round that is delayed (section 4.3.1 of the paper, which describes it and does not evaluate it): the controller
//! lets more drives run short, or finds a better point in the stream of requests. What each drive said that it can
//! still write keeps it from waiting until one must collect by itself.

use crate::checkpoint::Checkpointed;
use crate::config;
use crate::ids::SsdId;

use super::View;

/// Waiting times of a controller, and its knowledge of the drives meanwhile.
#[derive(Debug, Checkpointed)]
pub struct Delay {
    moment: Option<Moment>,
    /// Bytes that each drive may still be sent before the round begins, if it runs short.
    left: Vec<Option<u64>>,
}

/// When the wait is over.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Moment {
    /// Most requests in the array.
    outstanding: u32,
    /// Share of the drives that must run short to be waited for no longer.
    quorum: f64,
    /// Share of what a drive can still write that it may be sent.
    used: f64,
}

impl Delay {
    /// Creates the configured delay for an array with this number of drives.
    pub fn new(delay: config::Delay, drives: usize) -> Self {
        let moment = match delay {
            config::Delay::None => None,
            config::Delay::UntilQuiet { outstanding, quorum, used } => {
                Some(Moment { outstanding, quorum: quorum.0, used: used.0 })
            }
        };
        Self { moment, left: vec![None; drives] }
    }

    /// `device` runs short, and can still write so many bytes.
    pub fn runs_short(&mut self, device: SsdId, writable: u64) {
        let used = self.moment.map_or(0.0, |moment| moment.used);
        self.left[device.index()] = Some((writable as f64 * used) as u64);
    }

    /// Records that `bytes` have been sent to `device`.
    pub fn sent(&mut self, device: SsdId, bytes: u64) {
        if let Some(left) = &mut self.left[device.index()] {
            *left = left.saturating_sub(bytes);
        }
    }

    /// Whether a round may begin, of an array in which so many of the drives that `speak` run `short`.
    pub fn is_over(&self, short: usize, speak: usize, view: &View) -> bool {
        let Some(Moment { outstanding, quorum, .. }) = self.moment else { return true };
        view.outstanding <= outstanding
            || short as f64 >= quorum * speak as f64
            || self.left.contains(&Some(0))
    }

    /// A round begins: what drives said before counts no more.
    pub fn round_begins(&mut self) {
        self.left.fill(None);
    }
}
