//! Settings as `--set` takes them: a line each, `KEY=VALUE`.

use copyback::config::Loader;

use crate::config::judge;

/// Lays the settings over the defaults and judges the outcome.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let settings = text.lines().filter_map(|line| line.split_once('='));
    judge(settings.fold(Loader::new(), |loader, (key, value)| loader.set(key, value)));
}
