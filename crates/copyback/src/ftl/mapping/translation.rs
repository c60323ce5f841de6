//! Translation of an operation's page, if a mapping keeps its table in flash.
//!
//! ```text
//!   asked ──► waits ──► next for room ──► has room ──► was read ──► known
//!        └──► known                               └──────────────►
//! ```

use crate::ids::{DieId, Lpn};

/// Stage of the translation of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// An operation asks. Answered by [`Known`](Translated::Known) or [`Waits`](Translated::Waits); by the latter as long as
    /// others wait for the page, whose order is kept so.
    Asked,
    /// First of those that wait for room in RAM. Answered by [`NoRoom`](Translated::NoRoom) or
    /// [`Room`](Translated::Room).
    NextForRoom,
    /// Room has been taken. Answered by [`ReadFirst`](Translated::ReadFirst) or [`Known`](Translated::Known).
    HasRoom,
    /// The page that was to be read first has been. Answered as before.
    WasRead,
}

/// Answer to how a page is translated: the next thing that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Translated {
    /// Known place: the entry is in RAM.
    Known,
    /// A wait.
    Waits {
        /// The page that is translated for all that wait together.
        with: Lpn,
        /// Page of the table that has the entry.
        page: Lpn,
    },
    /// Room in RAM, which others on their way have taken.
    NoRoom,
    /// Room has been taken; what left it may have to be written first.
    Room(Left),
    /// A read of this page first: of the table, or of data where a prediction was wrong.
    ReadFirst(Lpn),
}

/// Entries that have left RAM to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// No entry left the cache.
    Nothing,
    /// Entries that are in flash as well.
    Written,
    /// Entries that are to be written to a page of the table.
    Unwritten {
        /// The page.
        page: Lpn,
        /// Whether all of it is known, so that it need not be read to be written.
        is_whole: bool,
    },
}

/// Pages of a table that are asked for, if they are out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outdated {
    /// Pages out of date because this page was written or trimmed.
    By(Lpn),
    /// Pages out of date because pages were moved on this die since this was last asked.
    On(DieId),
    /// One page, if it is out of date.
    Page(Lpn),
    /// Every page that is out of date.
    All,
}
