//! Checks of `array.consistency_policy`.

use super::array::{steps, throttle};
use super::*;
use crate::consistency::METADATA_BLOCK;

const KEY: &str = "array.consistency_policy";

/// The faults of the policy by itself and against the layout.
pub(super) fn check(config: &Config, faults: &mut Report) {
    let Config { array, ssd, .. } = config;
    let policy = array.consistency_policy;
    if policy.writes_ahead() && !array.layout.is_redundant() {
        let problem = "found a bitmap, a log or a journal; allowed: with copies or parity (raid1, raid10, raid5, raid6)";
        return faults.add(KEY, problem);
    }
    match policy {
        // The default is looked at only where it does something.
        ConsistencyPolicy::Resync { .. }
            if ssd.power.cuts == Cuts::None || !array.layout.is_redundant() => {}
        ConsistencyPolicy::Resync { least, most, unit } => {
            throttle(KEY, (least, most), faults);
            steps(KEY, "unit", unit, array, faults);
        }
        ConsistencyPolicy::Bitmap { chunk, least, most, unit, .. } => {
            throttle(KEY, (least, most), faults);
            steps(KEY, "unit", unit, array, faults);
            steps(KEY, "chunk", chunk, array, faults);
        }
        ConsistencyPolicy::Ppl { space } => partial_parity_log(array, space, faults),
        ConsistencyPolicy::Journal => journal(config, faults),
        ConsistencyPolicy::None => {}
    }
}

fn partial_parity_log(array: &Array, space: Size, faults: &mut Report) {
    if array.layout != Layout::Raid5 {
        faults.add(KEY, "found \"ppl\"; allowed: with raid5 alone");
    }
    // Both ends of a request, and the header.
    let least = Size(METADATA_BLOCK + array.stripe.0.saturating_mul(2));
    if space < least || !space.0.is_multiple_of(METADATA_BLOCK) {
        let step = Size(METADATA_BLOCK);
        let problem = format!(
            "found {space}; allowed: a multiple of {step}, at least {least}: {step} and two stripe units"
        );
        faults.add(&format!("{KEY}.space"), problem);
    }
}

fn journal(config: &Config, faults: &mut Report) {
    if config.array.layout.parities() == 0 {
        faults.add(KEY, "found \"journal\"; allowed: with raid5 or raid6");
    }
    if !config.ssd.faults.are_none() {
        let problem = "found \"journal\" of drives whose flash may fail; allowed: without ssd.faults, as no array goes \
                       on without its journal";
        faults.add(KEY, problem);
    }
}

/// The room that the policy leaves for data.
pub(super) fn space(config: &Resolved, faults: &mut Report) {
    let Array { layout, stripe, .. } = config.array;
    let device = config.drive.capacity.bytes;
    let metadata = config.array.metadata_bytes(device);
    let least = if layout.is_striped() { stripe } else { Size(METADATA_BLOCK) };
    if metadata > 0 && device.saturating_sub(metadata) < least.0 {
        let (metadata, device) = (Size(metadata), Size(device));
        let problem = format!(
            "found {metadata} of each drive's {device} for itself; allowed: what leaves at least {least} for data"
        );
        faults.add(KEY, problem);
    }
}
