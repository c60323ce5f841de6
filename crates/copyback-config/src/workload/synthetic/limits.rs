//! Limits on a closed loop's rate, and the distance between its sequential requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TimeDistribution;
use crate::{
    choice::choice,
    quantity::{Rate, Size},
};

choice! {
    /// Most that a closed loop asks for. Each request has a time at which it is due: it comes then, or,
    /// if `iodepth` of them are under way, as one of those ends. What falls behind is caught up with.
    #[derive(Debug, Clone, PartialEq)]
    pub enum RateLimit {
        /// No limit: a request comes as soon as fewer than `iodepth` are under way.
        None,
        /// A request is due this long after the one before it was.
        Requests {
            /// Time between requests that are due.
            gap: TimeDistribution,
        },
        /// A request is due when its forerunners' bytes have passed at this rate.
        Bytes {
            /// Bytes a second.
            per_second: Rate,
        },
        /// Reads and all others apart, each by its own limit. The one that is due first comes first, so
        /// `read_share` decides nothing but who begins.
        ByOperation {
            /// Limit of reads.
            read: Box<RateLimit>,
            /// Limit of writes, trims and flushes.
            write: Box<RateLimit>,
        },
    }
}

#[allow(clippy::derivable_impls, reason = "the macro repeats the variants' attributes on a twin")]
impl Default for RateLimit {
    fn default() -> Self {
        Self::None
    }
}

choice! {
    /// Distance between a sequential request and the one that it follows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Skip {
        /// No distance: it starts where that one ended.
        None,
        /// Distance forward, and to the start of the footprint if the request would not fit before its end.
        Forward {
            /// Bytes that are passed over.
            bytes: Size,
            /// Bytes that are asked for before some are passed over; absent: every request does.
            #[serde(default)]
            every: Option<Size>,
        },
        /// Distance back from the end of that one: twice the size of requests reads or writes backwards. The
        /// first starts from the end of the footprint, and so does one that would start before its beginning.
        Backward {
            /// Bytes from the end of a request back to the start of the next.
            bytes: Size,
        },
    }
}

#[allow(clippy::derivable_impls, reason = "the macro repeats the variants' attributes on a twin")]
impl Default for Skip {
    fn default() -> Self {
        Self::None
    }
}
