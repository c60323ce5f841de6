//! Checks of arrays whose drives are mirrors.

use super::*;

/// The faults of the keys that only mirrors have.
pub(super) fn check(array: &Array, faults: &mut Report) {
    copies(array, faults);
    if array.arrangement.is_some() && array.layout != Layout::Raid10 {
        let problem = "found one; allowed: with array.layout = \"raid10\"";
        faults.add("array.arrangement", problem);
    }
    if array.mirror_reads.is_some() && !array.layout.is_mirrored() {
        let problem = "found one; allowed: with copies to choose from (raid1, raid10)";
        faults.add("array.mirror_reads", problem);
    }
}

fn copies(array: &Array, faults: &mut Report) {
    if array.layout != Layout::Raid10 {
        if let Some(found) = array.copies {
            let problem = match array.layout {
                Layout::Raid1 => {
                    format!(
                        "found {found}; allowed: with raid10; of raid1 every drive holds a copy"
                    )
                }
                _ => format!("found {found}; allowed: with array.layout = \"raid10\""),
            };
            faults.add("array.copies", problem);
        }
        return;
    }
    let (found, devices) = (array.copies_of_data(), array.devices);
    if found > devices && devices >= Layout::Raid10.least_devices() {
        let problem = format!("found {found}; allowed: 2 to the {devices} of array.devices");
        faults.add("array.copies", problem);
    }
}

/// Copies on one drive against its size.
pub(super) fn space(config: &Resolved, faults: &mut Report) {
    let (array, device) = (&config.array, config.drive.capacity.bytes);
    let copies = u64::from(array.copies_of_data());
    let has_parts = array.layout == Layout::Raid10 && array.arrangement() != Arrangement::Near;
    let is_short = has_parts && array.stripe.0 > device / copies.max(1);
    if is_short && array.stripe.0 <= device {
        let (found, device) = (array.stripe, Size(device));
        let problem =
            format!("found {found}; allowed: {copies} of them, at most a drive's {device}");
        faults.add("array.stripe", problem);
    }
}

/// Problem of the drives that are lost from the start, if they have held all copies of some bytes.
pub(super) fn too_many_lost(array: &Array) -> Option<String> {
    let (devices, copies) = (array.devices, array.copies_of_data());
    let is_lost = |device: &u32| array.failed.contains(device);
    let sets = (0..devices).map(|chunk| {
        // Copies lie side by side, or each one drive further right.
        let first = match array.arrangement() {
            Arrangement::Near => u64::from(chunk) * u64::from(copies),
            Arrangement::Far | Arrangement::Offset => u64::from(chunk),
        };
        (0..copies).map(move |copy| ((first + u64::from(copy)) % u64::from(devices)) as u32)
    });
    let mut lost = sets.filter(|set| set.clone().all(|device| is_lost(&device)));
    let drives: Vec<String> = lost.next()?.map(|device| device.to_string()).collect();
    let drives = drives.join(", ");
    Some(format!("found all drives of some bytes, {drives}; allowed: a copy left of each"))
}
