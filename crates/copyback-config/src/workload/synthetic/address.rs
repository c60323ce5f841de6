//! Where random requests go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{choice::choice, quantity::Share};

choice! {
    /// Where random requests go.
    #[derive(Debug, Clone, PartialEq)]
    pub enum AddressDistribution {
        /// Every page alike.
        Uniform,
        /// A share of the requests goes to a share of the pages: 0.8 to 0.2 is Rosenblum's 80/20.
        HotCold {
            /// Share of requests that go to hot pages.
            requests: Share,
            /// Share of pages that are hot.
            pages: Share,
        },
        /// Regions that follow each other, each with its share of the requests: as fio's `zoned`, or
        /// the skew to one of several devices that are regions of one space.
        Zoned {
            /// Share of the requests that go to each region; 1 in all.
            requests: Vec<Share>,
            /// Share of the pages in each region; 1 in all.
            pages: Vec<Share>,
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
        },
        /// Self-similar, fio's `pareto`: a share h of the pages gets a share 1 - h of the requests,
        /// and so again within them.
        Pareto {
            /// That share: 0.2 is 80/20.
            #[serde(default = "pareto_h")]
            #[schemars(range(min = 0.0, max = 1.0))]
            h: f64,
            /// Whether ranks are scattered over the footprint, as in fio; else the first page is
            /// the hottest.
            #[serde(default = "scattered")]
            scattered: bool,
        },
    }
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
