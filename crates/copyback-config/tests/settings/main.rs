//! Single keys: what they may be, what is said where they make no sense, and what they come to. (What all keys together
//! give is tested with the simulator, in `tests/config.rs` there.)

#![allow(missing_docs)]

mod csv;
mod decimals;
mod estimate;
mod failures;
mod known_names;
mod lines;
mod lost_die;
mod metrics;
mod mirrors;
mod quantity;
mod rain;
mod upkeep;
mod windows;

use copyback_config::Loader;

/// What is said of the defaults with these settings, the later ones over the earlier; nothing if they are allowed.
fn problem_of(settings: &[(&str, &str)]) -> String {
    let set = |loader: Loader, &(key, value): &(&str, &str)| loader.set(key, value);
    let loader = settings.iter().fold(Loader::new(), set);
    loader.load().map_or_else(|faults| faults.to_string(), |_| String::new())
}
