//! Arrays with copies or parity, as random tests draw them.

use copyback::config::{Arrangement, Array, Layout, quantity::Size};
use proptest::prelude::*;

pub const SECTOR: u64 = 512;
/// Bytes of a stripe unit.
pub const UNIT: u64 = 2048;

/// Draws a configuration of four to six drives, with any layout that can lose one.
pub fn arrays() -> impl Strategy<Value = Array> {
    let layouts = vec![Layout::Raid5, Layout::Raid6, Layout::Raid1, Layout::Raid10];
    let arrangements = vec![Arrangement::Near, Arrangement::Far, Arrangement::Offset];
    let drawn =
        (prop::sample::select(layouts), 4..7_u32, 2..4_u32, prop::sample::select(arrangements));
    drawn.prop_map(|(layout, devices, copies, arrangement)| {
        let is_raid10 = layout == Layout::Raid10;
        Array {
            layout,
            devices,
            stripe: Size(UNIT),
            copies: is_raid10.then_some(copies),
            arrangement: is_raid10.then_some(arrangement),
            ..Array::default()
        }
    })
}
