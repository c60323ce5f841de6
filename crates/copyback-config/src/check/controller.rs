//! Checks of the controller's times for a command.

use super::*;

/// The faults of `[ssd.controller]`, each key for itself.
pub(super) fn check(controller: &Controller, faults: &mut Report) {
    delay("ssd.controller.read_delay", &controller.read_delay, faults);
    delay("ssd.controller.write_delay", &controller.write_delay, faults);
}

fn delay(key: &str, delay: &CommandDelay, faults: &mut Report) {
    let CommandDelay::BySize { probabilities, rows } = delay else { return };
    let ends = (probabilities.first(), probabilities.last());
    let is_whole = ends == (Some(&Share(0.0)), Some(&Share(1.0)));
    if !is_whole || !rises(probabilities) {
        let problem = "found others; allowed: from 0 to 1, each above the one before";
        faults.add(&format!("{key}.probabilities"), problem);
    }
    let sizes: Vec<_> = rows.iter().map(|row| row.size).collect();
    if !rises(&sizes) || sizes.contains(&Size(0)) {
        let problem =
            "found sizes out of order, or of no bytes; allowed: each above the one before";
        faults.add(&format!("{key}.rows"), problem);
    }
    for (index, row) in rows.iter().enumerate() {
        let (found, needed) = (row.times.len(), probabilities.len());
        if found != needed || !row.times.is_sorted() {
            let problem = format!(
                "found {found}, or some out of order; allowed: {needed}, one for each probability, none \
                 shorter than the one before"
            );
            faults.add(&format!("{key}.rows.{index}.times"), problem);
        }
    }
}

fn rises<T: PartialOrd>(items: &[T]) -> bool {
    items.windows(2).all(|pair| pair[0] < pair[1])
}
