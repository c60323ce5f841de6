//! Checks of the windows of staggered collections against the drives.

use super::*;

/// The faults of the length of a window and of its guard.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let Coordination::Staggered { window, guard } = config.array.coordination else { return };
    let bounds = config.protocol.window;
    let Some(length) = bounds.length(window) else {
        let time = |ns: f64| Time::from_ns(ns as u64);
        let problem = match bounds.most {
            None => {
                "found \"formula\", which any time satisfies, as a drive gains more space in its \
                     window than all windows bring; allowed: a time"
                    .to_owned()
            }
            Some(most) => format!(
                "found \"formula\", which gives {}, less than the {} of a collection; allowed: a time, or \
                 a larger array.protocol.target_margin",
                time(most),
                time(bounds.least)
            ),
        };
        return faults.add("array.coordination.window", problem);
    };
    if guard != Time::default() && guard >= length {
        let problem = format!("found {guard}; allowed: less than the window of {length}");
        faults.add("array.coordination.guard", problem);
    }
}
