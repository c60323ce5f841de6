//! Events of the data of the host's pages, reported in order: for a caller that keeps these data, which the
//! simulator does not.
//!
//! A page has one version in or on its way to the flash that was handed in last, and older ones that a cut of power may
//! bring back as long as the flash holds them. What a write buffer holds of it has no version until it leaves.

use crate::ids::Lpn;
use crate::units::Instant;

use super::Drive;
use super::command::Serves;

/// Event of the data of a page, or of many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageEvent<By = Serves> {
    /// The write buffer has taken what this writes to the page.
    Buffered {
        /// Writer of the data.
        by: By,
        /// Logical page.
        lpn: Lpn,
    },
    /// A version of the page is on its way to the flash.
    Written {
        /// Writer of the data; `None` for the content of the page in the write buffer.
        by: Option<By>,
        /// Logical page.
        lpn: Lpn,
        /// The place of the write in the order of all page operations.
        version: u64,
    },
    /// The page is trimmed.
    Trimmed {
        /// Logical page.
        lpn: Lpn,
    },
    /// The power has failed.
    PowerFailed(Box<PowerCut>),
}

/// A cut of power.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PowerCut {
    /// When it was. What would have ended then has not.
    pub at: Instant,
    /// When the drive will be back, unless its power fails again before.
    pub back_at: Instant,
    /// Pages with acknowledged writes that were lost with the write buffer.
    pub buffered_pages_lost: u64,
    /// Pages of those for which a flush had been acknowledged.
    pub flushed_pages_lost: u64,
    /// Pages of which a durable version was lost with a torn page that shares its cells.
    pub paired_pages_lost: u64,
    /// Pages whose program was cut off.
    pub torn_pages: u64,
    /// Findings of the recovery, if they may differ from what was there.
    pub found: Option<RecoveryFindings>,
}

/// Findings of a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryFindings {
    /// The version of each of the host's pages; `None`: there is nothing.
    pub versions: Box<[Option<u64>]>,
    /// The last version that was handed in before the cut.
    pub last_version: u64,
}

impl<By> PageEvent<By> {
    /// The event with who writes told otherwise.
    pub fn by<To>(self, mut name: impl FnMut(By) -> To) -> PageEvent<To> {
        match self {
            Self::Buffered { by, lpn } => PageEvent::Buffered { by: name(by), lpn },
            Self::Written { by, lpn, version } => {
                PageEvent::Written { by: by.map(name), lpn, version }
            }
            Self::Trimmed { lpn } => PageEvent::Trimmed { lpn },
            Self::PowerFailed(cut) => PageEvent::PowerFailed(cut),
        }
    }
}

impl Drive {
    /// Tells from now on what becomes of the data of pages, to be [taken](Self::take_page_events).
    pub fn record_page_events(&mut self) {
        self.page_events.get_or_insert_default();
    }

    /// Takes what has become of pages since the last call, in order.
    pub fn take_page_events(&mut self) -> impl Iterator<Item = PageEvent> {
        self.page_events.iter_mut().flat_map(|events| events.drain(..))
    }

    /// Whether anything has become of pages that nobody has taken.
    pub fn has_page_events(&self) -> bool {
        self.page_events.as_ref().is_some_and(|events| !events.is_empty())
    }

    /// Writes down an event, if somebody asks for it.
    #[inline]
    pub(super) fn record(&mut self, event: impl FnOnce(&Self) -> PageEvent) {
        if self.page_events.is_some() {
            let event = event(self);
            self.page_events.get_or_insert_default().push(event);
        }
    }
}
