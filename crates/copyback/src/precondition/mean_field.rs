//! Blocks with as many valid pages as a mean-field model gives, laid out by writing pages more than once.

use crate::checkpoint::Checkpointed;
use crate::config::{MeanField, Resolved, VictimModel};
use crate::ftl::Ftl;
use crate::ids::{Lpn, PlaneId};

/// Step and steps of Euler's method, and the change below which it ends: those of MQSim.
const STEP: f64 = 1e-3;
const MOST_STEPS: usize = 10_000;
const LEAST_CHANGE: f64 = 1e-10;

/// Writes of each page in succession with which a drive that is filled in order gets the blocks of the model.
#[derive(Debug, Checkpointed)]
pub struct Repeats {
    planes: Vec<OfPlane>,
    pages_per_block: u32,
}

/// Blocks of a plane that are still to be filled.
#[derive(Debug, Clone, Default, Checkpointed)]
struct OfPlane {
    /// Valid pages of each block; the next one is the last.
    valid: Vec<u32>,
    /// Valid pages that the block under way is still to get.
    left: u32,
}

impl Repeats {
    /// Writes that lay out `fill` logical pages of a drive as `model` has it.
    pub fn new(config: &Resolved, model: &MeanField, ftl: &Ftl, fill: usize) -> Self {
        let victims = model.victims.expect("a checked configuration has a model of its victims");
        let pages_per_block = config.drive.pages.data_per_block as u32;
        let distribution = distribution(victims, pages_per_block as usize, model.occupancy);
        let mut planes = vec![OfPlane::default(); ftl.geometry().planes()];
        for part in (0..model.parts as usize).rev() {
            let bound = |part: usize| part * fill / model.parts as usize;
            let mut pages = vec![0; planes.len()];
            for lpn in (bound(part)..bound(part + 1)).map(Lpn::from_index) {
                pages[plane_of(ftl, lpn).index()] += 1;
            }
            let mut last = None;
            for (plane, pages) in planes.iter_mut().zip(pages) {
                if last.as_ref().is_none_or(|(of, _)| *of != pages) {
                    last = Some((pages, blocks(&distribution, model.blocks_per_part, pages)));
                }
                let blocks = last.as_ref().map_or(&[][..], |(_, blocks)| blocks);
                plane.valid.extend(blocks.iter().rev());
            }
        }
        Self { planes, pages_per_block }
    }

    /// Number of times that the next page of `plane` is written. Blocks without valid pages hold copies of the page that
    /// follows them; those that no page follows stay free.
    pub fn next(&mut self, plane: PlaneId) -> u32 {
        let plane = &mut self.planes[plane.index()];
        if plane.left > 0 {
            plane.left -= 1;
            return 1;
        }
        let mut times = 1;
        while let Some(valid) = plane.valid.pop() {
            if let Some(left) = valid.checked_sub(1) {
                plane.left = left;
                return times + self.pages_per_block - valid;
            }
            times += self.pages_per_block;
        }
        times
    }
}

/// The plane of a page under the static allocation that a checked configuration has.
pub fn plane_of(ftl: &Ftl, lpn: Lpn) -> PlaneId {
    ftl.allocation().plane_of(lpn).expect("the allocation is static")
}

/// Valid pages of each of `count` blocks, those with most first: as `distribution` has it, shifted by whole pages so that
/// there are `pages` in all.
fn blocks(distribution: &[f64], count: u32, pages: u64) -> Vec<u32> {
    let most = distribution.len() as u32 - 1;
    let mut blocks = quantiles(distribution, count);
    let of_model: i64 = blocks.iter().copied().map(i64::from).sum();
    let wanted = pages.min(u64::from(count) * u64::from(most)) as i64;
    let mut missing = wanted - of_model;
    while missing > 0 {
        let rises = blocks.iter_mut().filter(|valid| **valid < most).take(missing as usize);
        missing -= rises.map(|valid| *valid += 1).count() as i64;
    }
    while missing < 0 {
        let falls = blocks.iter_mut().rev().filter(|valid| **valid > 0);
        missing += falls.take(-missing as usize).map(|valid| *valid -= 1).count() as i64;
    }
    blocks
}

/// Quantiles of the distribution in the middles of `count` equal shares, the greatest first.
fn quantiles(distribution: &[f64], count: u32) -> Vec<u32> {
    let mut valid = distribution.len() - 1;
    let mut above = distribution[valid];
    let quantile = |block| {
        let share = (f64::from(block) + 0.5) / f64::from(count);
        while above < share && valid > 0 {
            valid -= 1;
            above += distribution[valid];
        }
        valid as u32
    };
    (0..count).map(quantile).collect()
}

/// Share of blocks with 0 to `pages` valid pages, if a share `occupancy` of all pages is valid and uniformly overwritten.
/// Van Houdt, SIGMETRICS 2013: a mean-field model of garbage collection.
fn distribution(victims: VictimModel, pages: usize, occupancy: f64) -> Vec<f64> {
    // Share of blocks with at least so many valid pages; none has more than all.
    let at_least = match victims {
        VictimModel::Choices(d) => of_choices(d, pages, occupancy),
        VictimModel::Random => of_random(pages, occupancy),
    };
    at_least.windows(2).map(|pair| pair[0] - pair[1]).collect()
}

/// Euler's method from blocks that hold each page at random. As in MQSim, the share of blocks of which all pages are valid
/// stays what it was.
fn of_choices(d: u32, pages: usize, occupancy: f64) -> Vec<f64> {
    let b = pages as f64;
    let mut at_least = of_binomial(pages, occupancy);
    for _ in 0..MOST_STEPS {
        let chosen = |share: f64| share.powi(d as i32);
        // Pages that a collection frees.
        let freed = b - at_least[1..=pages].iter().map(|share| chosen(*share)).sum::<f64>();
        let mut change = 0.0f64;
        // Each share reads the one behind it before that changes.
        for valid in 1..pages {
            let invalidated =
                freed * valid as f64 * (at_least[valid] - at_least[valid + 1]) / (b * occupancy);
            let step = STEP * (1.0 - chosen(at_least[valid]) - invalidated);
            at_least[valid] += step;
            change = change.max(step.abs());
        }
        if change <= LEAST_CHANGE {
            break;
        }
    }
    at_least
}

/// The fixed point for one choice: of blocks with fewer than v + 1 valid pages, v (1 - occupancy) of every
/// occupancy + v (1 - occupancy) have fewer than v.
fn of_random(pages: usize, occupancy: f64) -> Vec<f64> {
    let mut at_least = vec![0.0; pages + 2];
    let mut fewer = 1.0;
    for valid in (0..=pages).rev() {
        let lost = valid as f64 * (1.0 - occupancy);
        fewer *= lost / (occupancy + lost);
        at_least[valid] = 1.0 - fewer;
    }
    at_least
}

/// Share of blocks with at least so many of `pages` pages valid, if each is valid with this probability.
fn of_binomial(pages: usize, probability: f64) -> Vec<f64> {
    let mut at_least = vec![0.0; pages + 2];
    // In logarithms: the greatest binomial coefficients have no floating-point number.
    let mut log = pages as f64 * probability.ln();
    for valid in (0..=pages).rev() {
        at_least[valid] = at_least[valid + 1] + log.exp();
        let (kept, lost) = (valid as f64, (pages - valid + 1) as f64);
        log += (kept / lost).ln() + ((1.0 - probability) / probability).ln();
    }
    at_least[0] = 1.0;
    at_least
}

#[cfg(test)]
mod tests {
    use crate::ids::{BlockId, SsdId};
    use crate::precondition::Preconditioner;
    use crate::test_config;

    use super::*;

    /// MQSim's `Euler_estimation`, run apart with these numbers.
    const OF_MQSIM: [f64; 9] = [
        2.64e-7,
        1.26e-5,
        0.000_306_741,
        0.005_058_327,
        0.059_374_097,
        0.275_324_649,
        0.265_004_086,
        0.227_147_077,
        0.167_772_16,
    ];

    fn mean(distribution: &[f64]) -> f64 {
        distribution.iter().enumerate().map(|(valid, share)| valid as f64 * share).sum()
    }

    #[test]
    fn greedy_blocks_are_those_of_mqsim() {
        let found = distribution(VictimModel::Choices(30), 8, 0.8);
        for (found, expected) in found.iter().zip(OF_MQSIM) {
            assert!((found - expected).abs() < 1e-9 * expected.max(1.0), "{found} {expected}");
        }
    }

    #[test]
    fn random_blocks_are_at_rest_under_one_choice() {
        let (pages, occupancy) = (16, 0.7);
        let at_least = of_random(pages, occupancy);
        let freed = pages as f64 * (1.0 - occupancy);
        for valid in 1..=pages {
            let invalidated = freed * valid as f64 * (at_least[valid] - at_least[valid + 1])
                / (pages as f64 * occupancy);
            assert!((1.0 - at_least[valid] - invalidated).abs() < 1e-12, "{valid}");
        }
        let distribution = distribution(VictimModel::Random, pages, occupancy);
        assert!((mean(&distribution) - pages as f64 * occupancy).abs() < 1e-9);
    }

    #[test]
    fn a_binomial_of_long_blocks_is_finite() {
        let at_least = of_binomial(4096, 0.9);
        let distribution: Vec<f64> = at_least.windows(2).map(|pair| pair[0] - pair[1]).collect();
        assert!((mean(&distribution) - 0.9 * 4096.0).abs() < 1e-6);
    }

    #[test]
    fn blocks_descend_and_hold_all_pages() {
        let distribution = distribution(VictimModel::Choices(30), 8, 0.8);
        for pages in [0, 1, 500, 640, 799, 800] {
            let blocks = blocks(&distribution, 100, pages);
            assert_eq!(blocks.iter().copied().map(u64::from).sum::<u64>(), pages);
            assert!(blocks.is_sorted_by(|a, b| a >= b), "{blocks:?}");
        }
        let blocks = blocks(&distribution, 1000, (1000.0 * mean(&distribution)) as u64);
        let full = blocks.iter().filter(|valid| **valid == 8).count();
        assert!((160..176).contains(&full), "{full}");
    }

    #[test]
    fn the_first_page_of_a_block_is_written_until_what_is_left_is_valid() {
        let of_plane = OfPlane { valid: vec![0, 1, 0, 3, 4], left: 0 };
        let mut repeats = Repeats { planes: vec![of_plane], pages_per_block: 4 };
        let times: Vec<u32> = (0..9).map(|_| repeats.next(PlaneId::from_index(0))).collect();
        assert_eq!(times, [1, 1, 1, 1, 2, 1, 1, 4 + 4, 1 + 4]);
    }

    #[test]
    fn a_drive_holds_the_blocks_of_the_model_in_two_parts() {
        let config = test_config::changed(&[
            ("precondition.fill", "0.75"),
            ("precondition.overwrites", "0.0"),
            ("precondition.valid_pages", "{ type = 'mean_field', parts = 2 }"),
            ("ssd.gc.soft_threshold", "{ blocks = 6 }"),
        ]);
        let mut device = Preconditioner::new(&config, SsdId::from_index(0));
        device.advance(u64::MAX);
        let ftl = &device.ftl;
        let logical = (0.75 * ftl.limits().logical_pages() as f64).round() as usize;
        assert!(
            (0..ftl.limits().logical_pages())
                .all(|lpn| ftl.has_data(Lpn::from_index(lpn)) == (lpn < logical))
        );
        assert_eq!(device.tally().collections, 0);
        let model = config.mean_field.as_ref().expect("it is asked for");
        let per_block = ftl.geometry().pages_per_block;
        let shares = distribution(VictimModel::Choices(30), per_block as usize, model.occupancy);
        let per_plane = ftl.geometry().blocks_per_plane as usize;
        for plane in 0..ftl.geometry().planes() {
            let blocks_of = (plane * per_plane..(plane + 1) * per_plane).map(BlockId::from_index);
            let found: Vec<u32> =
                blocks_of.map(|block| ftl.blocks().valid_pages(block).into()).collect();
            for part in found.chunks_exact(model.blocks_per_part as usize) {
                let pages = part.iter().copied().map(u64::from).sum();
                assert_eq!(part, blocks(&shares, model.blocks_per_part, pages), "plane {plane}");
            }
        }
    }
}
