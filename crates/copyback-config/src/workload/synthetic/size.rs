//! Distribution of the sizes of requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{choice::quantity_or_choice, quantity::Size};

quantity_or_choice! {
    /// A size, the same for every request, or a distribution of sizes.
    #[derive(Debug, Clone, PartialEq)]
    pub enum RequestSize
    or
    /// Every request has this size.
    Fixed(Size),
    "a size such as \"4KiB\", or a table such as { type = \"exponential\", mean = \"32KiB\" }"
    {
        /// Exponential, rounded up to the alignment.
        Exponential {
            /// Mean before rounding.
            mean: Size,
        },
        /// One of several sizes, each as often as its weight says.
        Histogram {
            /// The sizes.
            sizes: Vec<Size>,
            /// Weight of each: positive numbers of any sum.
            #[schemars(inner(range(min = 0.0, max = 1e12)))]
            weights: Vec<f64>,
        },
        /// Reads and writes apart.
        ByOperation {
            /// Size of reads.
            read: Box<RequestSize>,
            /// Size of writes and trims.
            write: Box<RequestSize>,
        },
    }
}
