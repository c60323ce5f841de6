//! A victim policy of one's own, without a change to the crate: of the blocks with the fewest valid pages, the least
//! worn one.
//!
//! A configuration names a policy from outside as `type = "python"`, whoever supplies it. To have one in the crate, as fast as the
//! others, see `docs/guide/add-a-policy.md`.
//!
//! ```text
//! cargo run --release -p copyback --example victim_policy
//! ```

use std::collections::BTreeMap;
use std::error::Error;

use copyback::array::coordination::supply::ExternalCoordinator;
use copyback::config::Loader;
use copyback::ids::{BlockId, PlaneId};
use copyback::outside::{Device, Failed, Policy, Supply};
use copyback::placement::supply::ExternalPlacement;
use copyback::rng::Stream;
use copyback::scheduler::when::supply::ExternalSchedule;
use copyback::victim::Shape;
use copyback::victim::supply::{BlockState, ClosedBlock, ExternalVictims};
use copyback::{Simulation, Status};

/// The closed blocks of each plane, as they were told.
#[derive(Debug, Default)]
struct LeastWornOfTheEmptiest {
    closed: BTreeMap<PlaneId, BTreeMap<BlockId, ClosedBlock>>,
}

/// Memory that is not saved: a run with this policy has no checkpoints.
impl Policy for LeastWornOfTheEmptiest {
    fn memory(&self) -> Result<Vec<u8>, Failed> {
        Err(Failed("ssd.gc.victim: found mine; allowed for checkpoints: one that is saved".into()))
    }

    fn remember(&mut self, _: &[u8]) -> Result<(), Failed> {
        self.memory().map(drop)
    }
}

impl ExternalVictims for LeastWornOfTheEmptiest {
    fn choose(
        &mut self,
        plane: PlaneId,
        _clock: u64,
        changed: &[BlockState],
    ) -> Result<BlockId, Failed> {
        let closed = self.closed.entry(plane).or_default();
        for state in changed {
            match state.closed {
                Some(block) => closed.insert(state.block, block),
                None => closed.remove(&state.block),
            };
        }
        let emptiest =
            closed.iter().min_by_key(|(_, block)| (block.valid_pages, block.erase_count));
        emptiest.map(|(block, _)| *block).ok_or_else(|| Failed("no block is closed".into()))
    }
}

/// Makes it for each drive.
struct Mine;

impl Supply<dyn ExternalVictims> for Mine {
    fn supply(&self, _: (Device, Shape), _: Stream) -> Result<Box<dyn ExternalVictims>, Failed> {
        Ok(Box::<LeastWornOfTheEmptiest>::default())
    }
}

/// No policies of the other kinds.
impl Supply<dyn ExternalPlacement> for Mine {}
impl Supply<dyn ExternalSchedule> for Mine {}
impl Supply<dyn ExternalCoordinator> for Mine {}

/// Erases of the most and the least worn block.
fn wear(victim: &str) -> Result<(u64, u64), Box<dyn Error>> {
    let config = Loader::new()
        .set("ssd.geometry.blocks_per_plane", "64")
        .set("ssd.geometry.pages_per_block", "32")
        .set("ssd.gc.victim", victim)
        .set("workload.requests", "20000")
        .set("workload.read_share", "0.0")
        .set("workload.request_size", "4KiB")
        .load()?;
    let mut simulation = Simulation::with_policies(&config, None, &Mine)?;
    while simulation.advance(100_000)? == Status::Running {}
    let summary = serde_json::to_value(simulation.summary().expect("the run has ended"))?;
    let count = |which| summary["wear"]["erase_count"][which].as_u64().unwrap_or_default();
    Ok((count("max"), count("min")))
}

fn main() -> Result<(), Box<dyn Error>> {
    for victim in ["greedy", "{ type = \"python\", policy = \"mine\" }"] {
        let (most, least) = wear(victim)?;
        println!("{victim}: the most worn block was erased {most} times, the least worn {least}");
    }
    Ok(())
}
