//! Admission of writes to the write buffer, beside its room.
//!
//! ```text
//!   controller ──► tokens:      each write waits until its own have come           ──► buffer, dies
//!              ──► collecting:  a queue, whose head goes at a pace while the drive
//!                               collects, and all of which goes when it does not   ──► buffer, dies
//! ```

mod collecting;
mod recent;
mod tokens;

pub(super) use collecting::{Collecting, First, Turn};
pub(super) use tokens::{Tokens, Wait};

use recent::Recent;

use crate::checkpoint::Checkpointed;
use crate::config::{self, Resolved};

/// Admission of writes.
#[derive(Debug, Checkpointed)]
pub(super) enum Throttle {
    Tokens(Tokens),
    Collecting(Collecting),
}

impl Throttle {
    /// The throttle of a checked configuration, if there is one.
    pub fn new(config: &Resolved) -> Option<Self> {
        let page = config.drive.pages.size;
        match config.ssd.buffer.throttle {
            config::Throttle::None => None,
            config::Throttle::Tokens { burst, share } => {
                Some(Self::Tokens(Tokens::new(config, burst, share)))
            }
            config::Throttle::SetRate { rate } => {
                Some(Self::Collecting(Collecting::at_rate(rate, page)))
            }
            config::Throttle::RecentRate { share, least, window } => {
                let recent = Recent::new(share, (least, page), window.0);
                Some(Self::Collecting(Collecting::at_recent_rate(recent)))
            }
        }
    }

    /// Forgets who waits, as the power has failed.
    pub fn switch_off(&mut self) {
        if let Self::Collecting(collecting) = self {
            collecting.forget();
        }
    }
}
