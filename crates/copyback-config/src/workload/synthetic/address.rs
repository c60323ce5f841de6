//! Distribution of the addresses of random requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    choice::choice,
    gc::is_default,
    quantity::{Share, Size},
};

choice! {
    /// Distribution of the addresses of random requests.
    #[derive(Debug, Clone, PartialEq)]
    pub enum AddressDistribution {
        /// Every page alike.
        Uniform,
        /// Uniform, but each block of the footprint once a pass, as with fio's random map: reads, writes and trims share it. Blocks
        /// are of the alignment. A request that would reach a block which the pass has had is cut before it. Sequential
        /// requests go by no map.
        RandomMap {
            /// Whether each pass is drawn like the first, with the same order, sizes and operations: fio seeds its generators anew
            /// for each of its `loops`. Else each pass has an order of its own, as with fio's `time_based` or `randrepeat=0`.
            #[serde(default = "repeats")]
            repeats: bool,
        },
        /// A share of the requests goes to a share of the pages: 0.8 to 0.2 is Rosenblum's 80/20.
        HotCold {
            /// Share of requests that go to hot pages.
            requests: Share,
            /// Share of pages that are hot.
            pages: Share,
            /// Whether hot pages lie scattered over the footprint; else they are its first.
            #[serde(default, skip_serializing_if = "is_default")]
            scattered: bool,
        },
        /// Regions that follow each other, each with its share of the requests: as fio's `zoned`, or
        /// the skew to one of several devices that are regions of one space.
        Zoned {
            /// Share of the requests that go to each region; 1 in all.
            requests: Vec<Share>,
            /// Share of the pages in each region; 1 in all.
            pages: Vec<Share>,
            /// Whether the pages of each region lie scattered over the footprint.
            #[serde(default, skip_serializing_if = "is_default")]
            scattered: bool,
        },
        /// Zipf: the page of rank r is asked for in proportion to 1 / r^theta, as in fio.
        Zipf {
            /// The exponent; 0 is uniform.
            #[serde(default = "zipf_theta")]
            #[schemars(range(min = 0.0, max = 100.0))]
            theta: f64,
            /// Whether ranks are scattered over the footprint, as in fio; else the first page is
            /// the hottest.
            #[serde(default = "scattered")]
            scattered: bool,
            /// Ranks of a larger drive that this one stands for: each page carries as many neighbouring ranks as fall to
            /// it, so that a small drive is as skewed as the large one. At least as many as there are pages in the
            /// footprint, which is the default.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
            ranks: Option<u64>,
        },
        /// Self-similar, fio's `pareto`: a share h of the pages gets a share 1 - h of the requests,
        /// and so again within them.
        Pareto {
            /// Share h of the pages, 0 to 1: 0.2 is 80/20.
            #[serde(default = "pareto_h")]
            #[schemars(range(min = 0.0, max = 1.0))]
            h: f64,
            /// Whether ranks are scattered over the footprint, as in fio; else the first page is
            /// the hottest.
            #[serde(default = "scattered")]
            scattered: bool,
        },
        /// Writers that append, each to an object of its own: logs, caches that keep objects in large files, trees
        /// that merge sorted files. An object is overwritten whole; a write that would reach beyond its end is cut there. Reads
        /// go anywhere. Needs `sequential_share = 0`, and no trims but those of the streams.
        Logs {
            /// The streams of writers. Their regions follow each other from the start of the footprint.
            #[schemars(length(min = 1, max = 128))]
            streams: Vec<LogStream>,
        },
    }
}

/// Writers whose objects are alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogStream {
    /// Share of the footprint that the objects lie in. Shares of all streams are at most 1 in all.
    pub pages: Share,
    /// Size of an object: a multiple of the alignment, of which the stream has room for one more than it has writers, or more.
    pub object: Size,
    /// Writers, each with an object that it fills.
    #[serde(default = "one_writer")]
    #[schemars(range(min = 1, max = 1024))]
    pub writers: u32,
    /// Weight with which one of its writers is next, against those of other streams.
    #[serde(default = "one")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub weight: f64,
    /// Choice of the object whose place a new one takes, once the stream has no room.
    #[serde(default)]
    pub replaced: Replaced,
    /// Whether an object is trimmed whole before it is overwritten.
    #[serde(default)]
    pub trims: bool,
    /// The placement handle of its writes. Default: the number of the stream, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<u16>,
}

/// Choice of the object that makes room for a new one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replaced {
    /// The one that was filled first, as in a log that goes round.
    #[default]
    Oldest,
    /// Any that is full, each as likely.
    Random,
}

fn one_writer() -> u32 {
    1
}

fn one() -> f64 {
    1.0
}

/// fio's default.
fn zipf_theta() -> f64 {
    1.1
}

/// fio's default.
fn pareto_h() -> f64 {
    0.2
}

fn scattered() -> bool {
    true
}

/// fio's default.
fn repeats() -> bool {
    true
}
