//! Length of the windows of staggered collections (`array.coordination.window`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{choice::quantity_or_choice, quantity::Time};

quantity_or_choice! {
    /// Length of a window.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum WindowLength or
        /// A time.
        Fixed(#[schemars(extend("shortest" = "1us"))] Time), "a time such as \"100ms\", or \"formula\""
    {
        /// The longest time for which no drive runs out of space in the windows of the others, however fast the host writes. It
        /// follows from the drive: its space between the target and the soft threshold, over what all windows bring
        /// less what one gains.
        Formula,
    }
}
