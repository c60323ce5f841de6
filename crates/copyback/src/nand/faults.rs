//! Faults of a drive's flash.
//!
//! Nothing here changes as the drive is used: whether the program of a page fails, say, follows from the
//! seed, the page and how often its block has been erased. So an outcome depends on nothing else that the
//! drive did, and a saved drive needs no note of it.

use rand_distr::{Distribution, Normal};

use crate::checkpoint::Checkpointed;
use crate::config::quantity::Share;
use crate::config::{FlashFaults, Resolved};
use crate::ids::BlockId;
use crate::rng::{self, Lot};
use crate::units::Duration;

use super::Geometry;

/// The faults of a drive's flash.
#[derive(Debug, Checkpointed)]
pub struct Faults {
    factory_bad: Chance,
    program: Chance,
    erase: Chance,
    read: ReadErrors,
    /// Planes that are striped: so many pages are read together.
    striped: u32,
    /// Erases that each block lasts, if blocks wear out.
    endurance: Option<Vec<u32>>,
}

/// Result of reading a page, retries included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensed {
    /// Corrected after so many retries.
    Corrected(u32),
    /// Not corrected after all of so many retries.
    Uncorrectable(u32),
}

/// Stress on the data of a block: erases, reads, time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Strain {
    /// Pages read since the block was erased.
    pub reads: u32,
    /// Since its first page was programmed.
    pub age: Duration,
}

/// Probability of an event that happens to a share of all.
#[derive(Debug, Checkpointed)]
struct Chance {
    share: f64,
    lot: Lot,
}

impl Chance {
    fn happens(&self, to: [u32; 3]) -> bool {
        self.share > 0.0 && self.lot.share(to) < self.share
    }
}

#[derive(Debug, Checkpointed)]
struct ReadErrors {
    new: f64,
    /// Growth of the rate by each erase.
    growth: f64,
    /// Growth of the rate by each read of the block.
    disturbance: f64,
    /// Growth of the rate by each second.
    ageing: f64,
    retry: f64,
    levels: u32,
    lot: Lot,
}

impl Faults {
    /// Reads the faults of a checked configuration, if there are any; `name` is the drive's place in the names
    /// of random streams. Where planes are striped, a block is one of each of them and fails with any; each of
    /// their pages is read for itself.
    pub fn new(config: &Resolved, name: &str) -> Option<Self> {
        let faults = &config.ssd.faults;
        if faults.are_none() {
            return None;
        }
        let geometry = Geometry::new(config);
        let striped = geometry.striped_planes;
        let lot = |what: &str| Lot::new(config.seed, &format!("{name}/faults/{what}"));
        let chance =
            |what: &str, share: f64| Chance { share: of_any(share, striped), lot: lot(what) };
        let rated = config.ssd.endurance.rated_cycles.map_or(1.0, f64::from);
        Some(Self {
            factory_bad: chance("factory", faults.factory_bad_blocks.0),
            program: chance("program", faults.program_failures.0),
            erase: chance("erase", faults.erase_failures.0),
            read: ReadErrors::new(faults, rated, lot("read")),
            striped,
            endurance: faults.endurance_spread.map(|spread| {
                let mut random = rng::stream(config.seed, &format!("{name}/faults/endurance"));
                let normal = Normal::new(rated, spread.0 * rated).expect("a share of a number");
                let mut one = || normal.sample(&mut random).round().max(1.0) as u32;
                let mut weakest = |_| (0..striped).map(|_| one()).min().unwrap_or(1);
                (0..geometry.blocks()).map(&mut weakest).collect()
            }),
        })
    }

    /// Whether `block` is bad when the drive is new.
    pub fn is_bad_when_new(&self, block: BlockId) -> bool {
        self.factory_bad.happens([block.0, 0, 0])
    }

    /// Whether a program of the page at `offset` of `block`, which has been erased so often, fails.
    pub fn program_fails(&self, block: BlockId, erases: u32, offset: u32) -> bool {
        self.program.happens([block.0, erases, offset])
    }

    /// Whether the erase of `block` that makes them so many fails.
    pub fn erase_fails(&self, block: BlockId, erases: u32) -> bool {
        let is_worn = self.endurance.as_ref().is_some_and(|lasts| erases > lasts[block.index()]);
        is_worn || self.erase.happens([block.0, erases, 0])
    }

    /// Outcomes of reading the pages at `offset` of `block`, one of each plane that is striped, after what their data have
    /// been through; `block` has been erased so often. The same each time, or worse if they have been through more.
    pub fn sense(
        &self,
        block: BlockId,
        erases: u32,
        offset: u32,
        strain: Strain,
    ) -> impl Iterator<Item = Sensed> {
        let first = offset * self.striped;
        (first..first + self.striped)
            .map(move |page| self.read.sense([block.0, erases, page], strain))
    }
}

/// The share of events that happen to any of `parts`, each of which they happen to with this `share`.
fn of_any(share: f64, parts: u32) -> f64 {
    match parts {
        1 => share,
        parts => 1.0 - (1.0 - share).powi(parts as i32),
    }
}

impl ReadErrors {
    fn new(faults: &FlashFaults, rated: f64, lot: Lot) -> Self {
        let new = faults.read_errors.0;
        let worn = faults.worn_read_errors.map_or(new, |share| share.0);
        let (retry, levels) = (faults.retry_failures.0, faults.retry_levels);
        let line = |share: Share, until: f64| share.0 / until;
        let disturbed = faults.disturbed_read_errors;
        let aged = faults.aged_read_errors;
        Self {
            new,
            growth: (worn - new) / rated,
            disturbance: disturbed.map_or(0.0, |of| line(of.share, f64::from(of.reads))),
            ageing: aged.map_or(0.0, |of| line(of.share, of.age.0.as_secs_f64())),
            retry,
            levels,
            lot,
        }
    }

    fn sense(&self, page: [u32; 3], strain: Strain) -> Sensed {
        let share = self.new
            + self.growth * f64::from(page[1])
            + self.disturbance * f64::from(strain.reads)
            + self.ageing * strain.age.as_secs_f64();
        if share <= 0.0 {
            return Sensed::Corrected(0);
        }
        // One draw decides: what a level corrects is what lies between its share and the one before.
        let draw = self.lot.share(page);
        let mut left = share;
        for level in 0..=self.levels {
            if draw >= left {
                return Sensed::Corrected(level);
            }
            left *= self.retry;
        }
        Sensed::Uncorrectable(self.levels)
    }
}

#[cfg(test)]
mod tests {
    use crate::test_config;

    use super::*;

    fn faults(table: &str) -> Faults {
        faults_of(table, &[])
    }

    fn faults_of(table: &str, others: &[(&str, &str)]) -> Faults {
        let changes = [("ssd.faults", table), ("ssd.endurance.rated_cycles", "1000")];
        let config = test_config::changed(&[&changes, others].concat());
        Faults::new(&config, "ssd/0").expect("there are some")
    }

    /// Outcome of reading a page, of which 64 are in a block.
    fn sense(faults: &Faults, page: u32, erases: u32, strain: Strain) -> Sensed {
        faults.sense(BlockId(page / 64), erases, page % 64, strain).next().expect("one is read")
    }

    /// Asserts that `found` of `all` is what a share of `expected` may give: within five standard
    /// deviations of the binomial.
    fn assert_share(found: usize, all: usize, expected: f64) {
        let mean = all as f64 * expected;
        let deviation = (mean * (1.0 - expected)).sqrt();
        assert!((found as f64 - mean).abs() <= 5.0 * deviation, "{found} of {all}: not {expected}");
    }

    #[test]
    fn as_many_fail_as_the_shares_say() {
        let faults =
            faults("{ factory_bad_blocks = 0.02, program_failures = 0.01, erase_failures = 0.05 }");
        let blocks = || (0..8192).map(BlockId);
        let bad = blocks().filter(|block| faults.is_bad_when_new(*block)).count();
        assert_share(bad, 8192, 0.02);
        let failed = blocks().filter(|block| faults.program_fails(*block, 3, 5)).count();
        assert_share(failed, 8192, 0.01);
        let failed = (1..8193).filter(|erases| faults.erase_fails(BlockId(7), *erases)).count();
        assert_share(failed, 8192, 0.05);
    }

    #[test]
    fn what_is_striped_over_planes_fails_with_any_of_them() {
        let two = [("ssd.geometry.planes_per_die", "2"), ("ssd.gc.width", "superblock")];
        let faults = faults_of("{ program_failures = 0.1 }", &two);
        let failed = (0..8192).filter(|block| faults.program_fails(BlockId(*block), 3, 5)).count();
        assert_share(failed, 8192, 1.0 - 0.9 * 0.9);
    }

    #[test]
    fn each_page_of_what_is_striped_over_planes_is_read_for_itself() {
        let two = [("ssd.geometry.planes_per_die", "2"), ("ssd.gc.width", "superblock")];
        let faults = faults_of("{ read_errors = 0.3 }", &two);
        let retried = |page: u32| {
            let sensed = faults.sense(BlockId(page / 64), 0, page % 64, Strain::default());
            sensed.filter(|sensed| *sensed != Sensed::Corrected(0)).count()
        };
        let retried: Vec<usize> = (0..20_000).map(retried).collect();
        for (pages, share) in [(0, 0.7 * 0.7), (1, 2.0 * 0.3 * 0.7), (2, 0.3 * 0.3)] {
            assert_share(retried.iter().filter(|of| **of == pages).count(), 20_000, share);
        }
    }

    #[test]
    fn each_level_leaves_its_share_of_what_is_left() {
        let faults = faults("{ read_errors = 0.4, retry_failures = 0.25, retry_levels = 2 }");
        let mut found = [0; 4];
        for page in 0..20_000 {
            match sense(&faults, page, 0, Strain::default()) {
                Sensed::Corrected(level) => found[level as usize] += 1,
                Sensed::Uncorrectable(levels) => found[1 + levels as usize] += 1,
            }
        }
        for (found, share) in found.into_iter().zip([0.6, 0.3, 0.075, 0.025]) {
            assert_share(found, 20_000, share);
        }
    }

    #[test]
    fn read_errors_follow_a_line_from_new_to_worn() {
        let faults = faults("{ read_errors = 0.1, worn_read_errors = 0.3 }");
        for (erases, share) in [(0, 0.1), (500, 0.2), (1000, 0.3), (2000, 0.5)] {
            let strain = Strain::default();
            let pages = (0..20_000).map(|page| sense(&faults, page, erases, strain));
            let retried = pages.filter(|sensed| *sensed != Sensed::Corrected(0)).count();
            assert_share(retried, 20_000, share);
        }
    }

    #[test]
    fn reads_and_time_add_their_lines() {
        let faults = faults(
            "{ read_errors = 0.1, disturbed_read_errors = { share = 0.2, reads = 1000 }, \
             aged_read_errors = { share = 0.4, age = \"10d\" } }",
        );
        let days = |days: u64| Duration::from_ns(days * 86_400_000_000_000);
        for (reads, age, share) in
            [(0, days(0), 0.1), (500, days(0), 0.2), (0, days(5), 0.3), (1000, days(10), 0.7)]
        {
            let strain = Strain { reads, age };
            let sensed = (0..20_000).map(|page| sense(&faults, page, 3, strain));
            let retried = sensed.filter(|sensed| *sensed != Sensed::Corrected(0)).count();
            assert_share(retried, 20_000, share);
        }
    }

    #[test]
    fn blocks_last_about_the_rated_cycles_and_no_erase_more() {
        let faults = faults("{ endurance_spread = 0.1 }");
        let lasts = faults.endurance.as_ref().expect("blocks wear out");
        let (all, mean) = (lasts.len() as f64, lasts.iter().map(|l| f64::from(*l)).sum::<f64>());
        assert!((mean / all - 1000.0).abs() < 5.0 * 100.0 / all.sqrt(), "{}", mean / all);
        let within = lasts.iter().filter(|lasts| (900..=1100).contains(*lasts)).count();
        assert_share(within, lasts.len(), 0.683);
        let first = lasts[0];
        assert!(!faults.erase_fails(BlockId(0), first));
        assert!(faults.erase_fails(BlockId(0), first + 1));
    }
}
