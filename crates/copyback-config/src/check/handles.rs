//! Checks of `workload.handles`.

use super::*;

/// The faults of the key `handles` of the flow at `key`.
pub(super) fn check(key: &str, handles: &Handles, faults: &mut Report) {
    let key = format!("{key}.handles");
    match handles {
        Handles::Flow | Handles::InTurn { .. } | Handles::Random { .. } => {}
        Handles::ByAddress { ranges } => by_address(&format!("{key}.ranges"), ranges, faults),
    }
}

fn by_address(key: &str, ranges: &[HandleRange], faults: &mut Report) {
    for (index, range) in ranges.iter().enumerate() {
        if range.size == Size(0) {
            faults.add(&format!("{key}.{index}.size"), "found 0B; allowed: 1B or more");
        }
    }
    let mut sorted: Vec<_> = ranges.iter().enumerate().collect();
    sorted.sort_by_key(|(index, range)| (range.offset.0, *index));
    for pair in sorted.windows(2) {
        let [(before, first), (index, range)] = [pair[0], pair[1]];
        let end = first.offset.0.saturating_add(first.size.0);
        if range.offset.0 < end {
            let problem = format!(
                "found {}, in range {before}, which ends at {}; allowed: ranges that do not overlap",
                range.offset,
                Size(end)
            );
            faults.add(&format!("{key}.{index}.offset"), problem);
        }
    }
}
