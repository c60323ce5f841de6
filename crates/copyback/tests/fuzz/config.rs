//! A configuration: JSON if it begins with a brace, else TOML.

use copyback::config::{Config, Loader, Workload};
use copyback::{Error, Simulation};

/// Physical pages of the largest device that is also run.
const SMALL: u64 = 20_000;
/// Preconditioning writes and instants of that run.
const STRETCH: u64 = 300;

/// Loads the configuration. What passes the checks must load again from its own TOML, and run.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let loader = Loader::new();
    judge(match text.trim_start().starts_with('{') {
        true => loader.json(text),
        false => loader.toml(text, "x.toml", None),
    });
}

/// Judges what a loader makes of its layers.
pub fn judge(loader: Loader) {
    match loader.load() {
        Ok(config) => {
            let text = config.to_toml();
            let again = Loader::new().toml(&text, "again.toml", None).load();
            assert_eq!(again.as_ref(), Ok(&config), "{text}");
            run_a_while(config);
        }
        Err(faults) => {
            let text = faults.to_string();
            assert!(!text.is_empty(), "a refusal without a fault");
            for line in text.lines() {
                assert!(!line.contains(char::is_control), "{line:?}");
                assert!(line.chars().count() < 3000, "{line}");
            }
        }
    }
}

fn run_a_while(config: Config) {
    let geometry = &config.ssd.geometry;
    let pages = [
        geometry.channels,
        geometry.chips_per_channel,
        geometry.dies_per_chip,
        geometry.planes_per_die,
        geometry.blocks_per_plane,
        geometry.pages_per_block,
    ];
    let pages = pages.into_iter().map(u64::from).fold(1, u64::saturating_mul);
    if pages > SMALL || !matches!(config.workload, Workload::Synthetic(_)) {
        return;
    }
    let config = Config { audit: true, ..config };
    let outcome = Simulation::new(&config, None).and_then(|mut simulation| {
        simulation.advance(STRETCH)?;
        simulation.advance(STRETCH)?;
        simulation.advance(STRETCH)
    });
    if let Err(Error::Internal(problem)) = outcome {
        panic!("{problem}\n{}", config.to_toml());
    }
}
