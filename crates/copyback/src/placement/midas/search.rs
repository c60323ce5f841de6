//! Search for the groups that would write least, as the model has it: one group more at a time, each as large
//! as is best; then the sizes of all again, a few times.

use super::hot::HotTraffic;
use super::model::{HotGroup, Model, Prediction};

/// Most blocks of hot pages that are tried, and one.
const HOT_TRIED: u32 = 30;
/// Write amplification that the first sizes of the hot group must save.
const WORTH: f64 = 0.05;
/// Times that all sizes are looked at again.
const ROUNDS: usize = 4;

/// Groups, and what they would do.
#[derive(Debug, Clone, PartialEq)]
pub struct BestGroups {
    /// Blocks of the hot group.
    pub hot: u32,
    /// Of the others.
    pub groups: Vec<u32>,
    /// Prediction for these groups.
    pub prediction: Prediction,
}

/// Looks for groups on a plane.
pub struct Search<'a> {
    model: &'a Model,
    /// Blocks of all groups.
    blocks: u32,
    /// Most groups, that of hot pages left out.
    most: usize,
    /// Blocks that the last group has at least.
    least: u32,
    /// Measured averages of hot pages, if they count.
    measured: Option<HotTraffic>,
}

impl<'a> Search<'a> {
    /// In `blocks` of a plane, with up to `most` groups beside that of hot pages. What these were like of late counts
    /// unless they were many, and died in time.
    pub fn new(model: &'a Model, blocks: u32, most: usize, traffic: HotTraffic) -> Self {
        let measured = (traffic.valid > 0.1 || traffic.share < 0.15).then_some(traffic);
        Self { model, blocks, most, least: margin(blocks), measured }
    }

    /// The best groups that are found.
    pub fn run(&self) -> Option<BestGroups> {
        let first = self.with_one_group()?;
        let mut best = first.clone();
        let mut most_of_one = last(&first).saturating_sub(self.least);
        let mut latest = first;
        while latest.groups.len() < self.most {
            let Some(found) = self.best_at(&latest, latest.groups.len() - 1, most_of_one) else {
                break;
            };
            most_of_one = most_of_one.saturating_sub(found.groups[found.groups.len() - 2]);
            if found.prediction.amplification < best.prediction.amplification {
                best = found.clone();
            }
            latest = found;
        }
        for _ in 0..ROUNDS {
            best = self.again(best);
        }
        Some(best)
    }

    fn predicted(&self, hot: u32, groups: Vec<u32>) -> Option<BestGroups> {
        let of_hot = match self.measured {
            Some(traffic) => HotGroup::Measured(HotTraffic { blocks: hot.into(), ..traffic }),
            None => HotGroup::Predicted { blocks: hot, is_counted: true },
        };
        let prediction = self.model.predict(&groups, of_hot)?;
        Some(BestGroups { hot, groups, prediction })
    }

    /// With a hot group whose size is in question: what is valid in it counts as data of the last group, so that it must
    /// be worth more than it takes.
    fn with_hot(&self, hot: u32, groups: Vec<u32>) -> Option<BestGroups> {
        let of_hot = HotGroup::Predicted { blocks: hot, is_counted: false };
        let prediction = self.model.predict(&groups, of_hot)?;
        Some(BestGroups { hot, groups, prediction })
    }

    fn with_one_group(&self) -> Option<BestGroups> {
        if let Some(traffic) = self.measured {
            let hot = traffic.blocks as u32;
            return self.predicted(hot, vec![self.blocks.checked_sub(hot)?]);
        }
        // What the last group writes is weighed.
        let mut best: Option<(f64, u32)> = None;
        for hot in self.sizes_of_hot() {
            let groups = vec![self.blocks.checked_sub(hot)?];
            let Some(found) = self.with_hot(hot, groups) else { break };
            let (share, ..) = self.model.hottest(hot)?;
            let written = found.prediction.amplification - share;
            if best.is_some_and(|(least, _)| written >= least - WORTH) {
                break;
            }
            best = Some((written, hot));
        }
        let (_, hot) = best?;
        self.predicted(hot, vec![self.blocks - hot])
    }

    /// Sizes of the hot group that differ in what it would hold.
    fn sizes_of_hot(&self) -> impl Iterator<Item = u32> {
        let mut next = 1;
        std::iter::from_fn(move || {
            let (_, _, taken) = self.model.hottest(next)?;
            next = taken + 1;
            (taken < HOT_TRIED).then_some(taken)
        })
    }

    /// The best size of the group at `place`, at the cost of the last; a new one if there is only the last.
    fn best_at(&self, of: &BestGroups, place: usize, most: u32) -> Option<BestGroups> {
        let mut groups = of.groups.clone();
        if place + 1 == groups.len() {
            groups.insert(place, 0);
        }
        let end = groups.len() - 1;
        let both = groups[place] + groups[end];
        let mut best: Option<BestGroups> = None;
        for blocks in 1..most.min(both) {
            (groups[place], groups[end]) = (blocks, both - blocks);
            let Some(found) = self.predicted(of.hot, groups.clone()) else { continue };
            let is_better =
                |best: &BestGroups| found.prediction.amplification < best.prediction.amplification;
            if best.as_ref().is_none_or(is_better) {
                best = Some(found);
            }
        }
        best
    }

    /// Looks at all sizes of `best` again.
    fn again(&self, mut best: BestGroups) -> BestGroups {
        if self.measured.is_none() {
            best = self.with_other_hot(best);
        }
        for place in 0..self.most.saturating_sub(1) {
            let is_new = place + 1 >= best.groups.len();
            let both = last(&best) + if is_new { 0 } else { best.groups[place] };
            let found = self.best_at(&best, place, both.saturating_sub(self.least));
            match found {
                Some(found) if found.prediction.amplification < best.prediction.amplification => {
                    best = found;
                }
                _ if is_new => break,
                _ => {}
            }
        }
        best
    }

    fn with_other_hot(&self, mut best: BestGroups) -> BestGroups {
        let mut groups = best.groups.clone();
        let end = groups.len() - 1;
        let both = groups[end] + best.hot;
        for hot in self.sizes_of_hot().take_while(|hot| *hot < both) {
            groups[end] = both - hot;
            let Some(found) = self.with_hot(hot, groups.clone()) else { break };
            if found.prediction.amplification < best.prediction.amplification {
                best = found;
            }
        }
        best
    }
}

/// Blocks that are left to the last group, and segments to the window: 50 of a large plane.
pub const fn margin(blocks: u32) -> u32 {
    if blocks < 500 { blocks / 10 } else { 50 }
}

fn last(found: &BestGroups) -> u32 {
    found.groups.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_made_for_what_dies_after_a_while() {
        // Many updates after 20 segments, few after 400: a group for the former saves most of the moves.
        let mut counts = vec![0.0; 2400];
        (counts[80], counts[1600]) = (400.0, 40.0);
        let model = Model::new(&counts, 54.5, 64, 7.0);
        let traffic = HotTraffic { share: 0.05, valid: 0.05, blocks: 1.0 };
        let found = Search::new(&model, 70, 7, traffic).run().expect("the histogram tells");
        assert_eq!((found.hot, found.groups.iter().sum::<u32>()), (1, 69));
        // Hot pages are those of 20 segments: 10 more are to go by in the group.
        assert!((10..=12).contains(&found.groups[0]), "{found:?}");
        assert!(found.prediction.valid[0] < 0.2, "{found:?}");
        let one = model.predict(&[69], HotGroup::Measured(traffic)).expect("as well");
        assert!(found.prediction.amplification < one.amplification);
    }

    #[test]
    fn another_block_of_hot_pages_must_spare_the_last_group_more_than_it_takes() {
        // A quarter of the updates comes after 1 segment, as much as one block takes; 3% after 5, for which it takes two.
        let mut counts = vec![0.0; 2400];
        (counts[4], counts[20], counts[400]) = (25.0, 3.0, 72.0);
        let model = Model::new(&counts, 54.5, 64, 7.0);
        assert_eq!(
            [1, 2].map(|blocks| model.hottest(blocks)),
            [Some((0.25, 8, 1)), Some((0.28, 22, 2))]
        );
        let traffic = HotTraffic { share: 0.3, valid: 0.05, blocks: 1.0 };
        let found =
            Search::new(&model, 70, 7, traffic).with_one_group().expect("the histogram tells");
        assert_eq!((found.hot, found.groups), (1, vec![69]));
    }
}
