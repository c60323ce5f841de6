//! Model of the write amplification of groups of these sizes: a Markov chain of groups, whose transitions
//! follow from the histogram of update intervals. All sizes are in blocks of a plane, and times in segments
//! that the host writes.

use super::hot::HotTraffic;

/// Segments of a unit of the histogram.
const UNIT: f64 = 0.25;

/// Hot pages in a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HotGroup {
    /// Group as it was of late.
    Measured(HotTraffic),
    /// Group as it would be with this number of blocks, if it held whatever lives shortest.
    Predicted {
        /// Number of its blocks.
        blocks: u32,
        /// Whether what is valid in them is not in the last group.
        is_counted: bool,
    },
}

/// Prediction for groups of certain sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Of each group but that of hot pages, the share of valid pages of its victims.
    pub valid: Vec<f64>,
    /// Pages written for each that the host writes.
    pub amplification: f64,
}

/// Sums over the histogram, so that a prediction takes no walk over it.
#[derive(Debug)]
pub struct Model {
    /// Of updates after less than so many units.
    updates: Vec<f64>,
    /// Of `updates` itself.
    sums: Vec<f64>,
    /// Of intervals, weighted by updates.
    weighted: Vec<f64>,
    /// Valid data, in blocks of a plane.
    data: f64,
    pages_per_block: f64,
    /// Units at the end of the window that a group must not reach.
    margin: f64,
}

/// Source of a group's updates: a range of ages.
struct Span {
    from: usize,
    to: usize,
}

impl Model {
    /// Of a histogram, on a drive whose planes hold so many blocks of valid data.
    pub fn new(counts: &[f64], data: f64, pages_per_block: u32, margin: f64) -> Self {
        let sum = |values: &mut dyn Iterator<Item = f64>| {
            let sums = values.scan(0.0, |sum, value| {
                *sum += value;
                Some(*sum)
            });
            std::iter::once(0.0).chain(sums).collect::<Vec<f64>>()
        };
        let updates = sum(&mut counts.iter().copied());
        let sums = sum(&mut updates[1..].iter().copied());
        let at = |(unit, count): (usize, &f64)| unit as f64 * UNIT * count;
        let weighted = sum(&mut counts.iter().enumerate().map(at));
        Self { updates, sums, weighted, data, pages_per_block: pages_per_block.into(), margin }
    }

    fn units(&self) -> usize {
        self.updates.len() - 1
    }

    /// The first unit that begins at or after `time`.
    fn unit_at(&self, time: f64) -> usize {
        ((time / UNIT).ceil() as usize).min(self.units())
    }

    /// Blocks of valid data among those written over `span`, of which `all` updates are to come.
    fn valid_data(&self, span: &Span, all: f64) -> f64 {
        let units = (span.to - span.from) as f64;
        let died = self.sums[span.to] - self.sums[span.from] - units * self.updates[span.from];
        (units - died / all) * UNIT
    }

    fn updates_in(&self, span: &Span) -> f64 {
        self.updates[span.to] - self.updates[span.from]
    }

    /// The share of writes that are hot, when the hot die, and the blocks that they take, for at least so many.
    pub fn hottest(&self, blocks: u32) -> Option<(f64, usize, u32)> {
        let all = self.updates[self.units()];
        (1..=self.units()).find_map(|unit| {
            let share = self.updates[unit] / all;
            let taken = (unit as f64 * UNIT * share + 0.5).floor();
            (taken >= f64::from(blocks)).then_some((share, unit, taken as u32))
        })
    }

    /// Predicts the effect of these `groups` beside one of hot pages; the last is of any age. `None` if the
    /// histogram does not tell.
    pub fn predict(&self, groups: &[u32], hot: HotGroup) -> Option<Prediction> {
        let all = self.updates[self.units()];
        let (share, hot_valid, dies_at, mut data) = match hot {
            HotGroup::Measured(HotTraffic { share, valid, blocks }) => {
                let time = (blocks - 0.5) / share;
                let span = Span { from: 0, to: self.unit_at(time) };
                (share, valid, time, self.valid_data(&span, all) * share)
            }
            HotGroup::Predicted { blocks, is_counted } => {
                let (share, unit, _) = self.hottest(blocks)?;
                let span = Span { from: 0, to: unit };
                let data = if is_counted { self.valid_data(&span, all) } else { 0.0 };
                (share, 0.0, unit as f64 * UNIT, data)
            }
        };
        let mut left = all - self.updates[self.unit_at(dies_at)];
        let (last, sized) = groups.split_last()?;
        let mut flow = 1.0 - share + share * hot_valid;
        let (mut past, mut written) = (dies_at, share * hot_valid);
        let mut valid = Vec::with_capacity(groups.len());
        for blocks in sized {
            let time = (f64::from(*blocks) - 0.5) / flow;
            if past + time >= self.units() as f64 * UNIT - self.margin {
                return None;
            }
            let span = Span { from: self.unit_at(past), to: self.unit_at(past + time) };
            data += self.valid_data(&span, left) * flow;
            let died = self.updates_in(&span);
            let share_left = 1.0 - died / left;
            left -= died;
            past += time;
            flow *= share_left;
            written += flow;
            valid.push(share_left);
        }
        let of_last = self.last_valid(*last, self.data - data, past)?;
        valid.push(of_last);
        // What stays in the last group is written once more for each time that it is found valid.
        written += flow * of_last / (1.0 - of_last);
        let is_sound = valid.iter().all(|share| *share > 0.0 && *share < 1.0);
        is_sound.then_some(Prediction { valid, amplification: 1.0 + written })
    }

    /// The share of valid pages of the victims of a last group with so many `blocks` and blocks of `data`, whose pages
    /// have lived at least so `long`.
    fn last_valid(&self, blocks: u32, data: f64, long: f64) -> Option<f64> {
        if data <= 0.0 {
            return None;
        }
        let from = self.unit_at(long);
        let all = Span { from, to: self.units() };
        let weight = |span: &Span| self.weighted[span.to] - self.weighted[span.from];
        let mean = weight(&all) / self.updates_in(&all);
        let to = self.unit_at(0.7 * mean + UNIT / 2.0).max(from);
        let hot = Span { from, to };
        let (r, f) = (self.updates_in(&hot) / self.updates_in(&all), weight(&hot) / weight(&all));
        // Greedy victims are as good as FIFO's with a little more space (Desnoyers 2014).
        let greedy = 1.0 + 0.5 / self.pages_per_block;
        let amplification = hot_and_cold(greedy * f64::from(blocks) / data, r, f)? / greedy;
        Some(1.0 - 1.0 / amplification)
    }
}

/// Write amplification of FIFO on `space` times the data, where a share `f` of it takes a share `r` of the writes.
fn hot_and_cold(space: f64, r: f64, f: f64) -> Option<f64> {
    if space <= 1.0 {
        return None;
    }
    let (r, f) = if r > 0.0 && r < 1.0 && f > 0.0 && f < 1.0 { (r, f) } else { (0.5, 0.5) };
    let survives = |share: f64, of: f64, a: f64| share / ((share * space / (of * a)).exp() - 1.0);
    let excess = |a: f64| 1.0 + survives(r, f, a) + survives(1.0 - r, 1.0 - f, a) - a;
    let (mut low, mut high) = (1.0, 2.0);
    while excess(high) > 0.0 {
        high *= 2.0;
        if high > 1e4 {
            return None;
        }
    }
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_fifo_amplifies_as_the_closed_form_says() {
        // Space of 1.25 times the data under uniform writes: the share left is x with x = exp(-1.25 (1 - x)).
        let found = hot_and_cold(1.25, 0.5, 0.5).expect("there is spare space");
        let left = 1.0 - 1.0 / found;
        assert!((left - (-1.25 * (1.0 - left)).exp()).abs() < 1e-6, "{found}");
        assert_eq!(hot_and_cold(1.0, 0.5, 0.5), None);
    }

    #[test]
    fn a_group_as_long_as_pages_live_moves_nothing_of_them() {
        // Half of the updates come after 2 segments, the others after 40.
        let mut counts = vec![0.0; 400];
        (counts[8], counts[160]) = (100.0, 100.0);
        let model = Model::new(&counts, 30.0, 64, 10.0);
        let hot = HotGroup::Measured(HotTraffic { share: 0.01, valid: 0.05, blocks: 0.51 });
        let valid = |blocks| model.predict(&[blocks, 40], hot).map(|found| found.valid[0]);
        assert_eq!(valid(1), None, "all of it would be moved");
        // After 1 segment of hot pages it holds what dies until the second, and nothing more.
        assert_eq!([2, 4].map(valid), [Some(0.5); 2]);
        assert_eq!(valid(95), None, "longer than the window");
    }

    #[test]
    fn of_ten_segments_those_are_valid_that_have_not_died_yet() {
        // Of what is written half dies after 2 segments: of ten, the last two are whole and the others half valid.
        let mut counts = vec![0.0; 400];
        (counts[8], counts[160]) = (100.0, 100.0);
        let model = Model::new(&counts, 30.0, 64, 10.0);
        assert_eq!(model.valid_data(&Span { from: 0, to: 40 }, 200.0), 6.0);
        // What is moved after two segments lives, all of it.
        assert_eq!(model.valid_data(&Span { from: 9, to: 49 }, 100.0), 10.0);
    }
}
