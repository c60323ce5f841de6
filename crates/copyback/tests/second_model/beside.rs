//! A run beside the second model.

use copyback::config::Config;
use copyback::{Simulation, Status};

use crate::draw::{self, Draw};
use crate::model::{Compared, Model};

/// Runs a configuration beside the second model. Returns what was compared, or the first difference.
pub fn run_beside(config: &Config) -> Result<Compared, String> {
    let mut simulation = Simulation::new(config, None).map_err(|error| error.to_string())?;
    simulation.tell_choices();
    let mut model = Model::new(config);
    loop {
        let status = simulation.advance(50);
        for told in simulation.take_told().into_iter().flatten() {
            model.listen(told)?;
        }
        let failed = |error: copyback::Error| format!("{error}{}", model.state.describe_victims());
        if status.map_err(failed)? != Status::Running {
            return model.end();
        }
    }
}

/// Runs what `bytes` choose beside the second model.
pub fn examine(bytes: &[u8]) -> Result<Compared, String> {
    let (number, choices) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let (config, _) = draw::case(Draw::made(u64::from_le_bytes(*number), choices));
    run_beside(&config).map_err(|problem| format!("{problem}\n{}", config.to_toml()))
}
