//! Activity of each die over time. Bins start fine and are merged two by two whenever there are too many, so
//! that a run of any length ends with a hundred or two.

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, SsdId};
use crate::ssd::DieUse;
use crate::units::{Duration, Instant};

/// Bins at which neighbours are merged.
const MOST_BINS: usize = 256;
/// Width of the first bins.
const FINEST: Duration = Duration::from_us(100);

/// Columns with one entry a die and bin: bin by bin, drive by drive.
#[derive(Debug, Default, Clone)]
pub struct DieColumns {
    /// The drive.
    pub device: Vec<u16>,
    /// The die of the drive.
    pub die: Vec<u32>,
    /// Begin of the bin, in seconds of simulated time.
    pub start_s: Vec<f64>,
    /// End of the bin, in seconds of simulated time.
    pub end_s: Vec<f64>,
    /// Time in which the die collected, in microseconds.
    pub collecting_us: Vec<f64>,
    /// Time in which it held page operations of the host.
    pub serving_us: Vec<f64>,
    /// Free blocks of its planes at the end of the bin.
    pub free_blocks: Vec<u32>,
}

/// Share of a bin that a die has to collect for the bin to belong to a spell.
const WHOLE: f64 = 0.99;

/// The longest time in which a die did nothing but collect.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SpellSummary {
    /// The drive.
    pub device: u16,
    /// Number of the die.
    pub die: u32,
    /// When it began, in seconds of simulated time.
    pub start_s: f64,
    /// Duration, in microseconds.
    pub us: f64,
}

/// A time in which a die did nothing but collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spell {
    /// The drive.
    pub device: SsdId,
    /// Die of the spell.
    pub die: DieId,
    /// When it began, to the bin.
    pub start: Instant,
    /// Duration: the bins, and what the die collected in those beside them.
    pub length: Duration,
}

impl Spell {
    /// Summary of the spell for `summary.json`.
    pub(super) fn summary(&self) -> SpellSummary {
        SpellSummary {
            device: self.device.0,
            die: self.die.0,
            start_s: self.start.as_secs_f64(),
            us: self.length.as_us_f64(),
        }
    }
}

/// The bins of a run.
#[derive(Debug, Checkpointed)]
pub struct Dies {
    interval: Duration,
    /// Totals of every die of every drive at the end of each bin.
    bins: Vec<Vec<DieUse>>,
    due: Instant,
    /// When the run ended, if it has.
    finished_at: Option<Instant>,
}

impl Default for Dies {
    /// No bins yet.
    fn default() -> Self {
        Self { interval: FINEST, bins: Vec::new(), due: Instant::START + FINEST, finished_at: None }
    }
}

impl Dies {
    /// When the current bin ends: [`close_bins`](Self::close_bins) is due then.
    pub const fn due(&self) -> Instant {
        self.due
    }

    /// Ends every bin that ends at or before `now`; `uses` tells the totals of all dies until then.
    pub fn close_bins(&mut self, now: Instant, uses: impl Fn(Instant) -> Vec<DieUse>) {
        while self.due <= now {
            self.bins.push(uses(self.due));
            if self.bins.len() >= MOST_BINS {
                self.halve();
            }
            self.due = self.end_of(self.bins.len());
        }
    }

    /// Ends the last bin at the end of the run.
    pub fn finish(&mut self, now: Instant, uses: impl Fn(Instant) -> Vec<DieUse>) {
        self.close_bins(now, &uses);
        self.finished_at = Some(now);
        if self.bins.is_empty() || now > Instant::START + self.interval * self.bins.len() as u64 {
            self.bins.push(uses(now));
        }
    }

    /// Totals at the end of two bins are those at the end of the second.
    fn halve(&mut self) {
        self.interval = self.interval * 2;
        self.bins = std::mem::take(&mut self.bins).into_iter().skip(1).step_by(2).collect();
    }

    fn end_of(&self, bin: usize) -> Instant {
        Instant::START + self.interval * (bin as u64 + 1)
    }

    /// End of a bin that has ended: the last one with the run.
    fn ended_at(&self, bin: usize) -> Instant {
        let end = self.end_of(bin);
        self.finished_at.map_or(end, |finished| end.min(finished))
    }

    /// The longest time in which a die did nothing but collect, of drives with so many dies each; `None` if no
    /// die did for as long as a bin.
    pub fn longest_spell(&self, dies_per_drive: usize) -> Option<Spell> {
        let dies = self.bins.first().map_or(0, Vec::len);
        let spells = (0..dies).filter_map(|die| Some((die, self.longest_spell_of(die)?)));
        // The first of those that are alike.
        let longest = spells.rev().max_by_key(|(_, (_, length))| *length);
        longest.map(|(index, (start, length))| Spell {
            device: SsdId::from_index(index / dies_per_drive),
            die: DieId::from_index(index % dies_per_drive),
            start,
            length,
        })
    }

    fn longest_spell_of(&self, die: usize) -> Option<(Instant, Duration)> {
        let collected = self.collected(die);
        let is_whole = |bin: usize| {
            let width = self.ended_at(bin) - self.start_of(bin);
            collected[bin].as_ns() as f64 >= WHOLE * width.as_ns() as f64
        };
        let mut longest: Option<(Instant, Duration)> = None;
        let mut bin = 0;
        while bin < collected.len() {
            let first = bin;
            while bin < collected.len() && is_whole(bin) {
                bin += 1;
            }
            if bin > first {
                let beside = first.saturating_sub(1)..(bin + 1).min(collected.len());
                let length = collected[beside].iter().copied().sum();
                let spell = (self.start_of(first), length);
                longest = longest.filter(|longest| longest.1 >= length).or(Some(spell));
            }
            bin += 1;
        }
        longest
    }

    /// Time for which `die` collected in each bin.
    fn collected(&self, die: usize) -> Vec<Duration> {
        let so_far = self.bins.iter().map(|uses| uses[die].collecting);
        let before = std::iter::once(Duration::ZERO).chain(so_far.clone());
        so_far.zip(before).map(|(until, from)| until - from).collect()
    }

    fn start_of(&self, bin: usize) -> Instant {
        Instant::START + self.interval * bin as u64
    }

    /// The bins as columns, of drives with so many dies each.
    pub fn columns(&self, dies_per_drive: usize) -> DieColumns {
        let mut columns = DieColumns::default();
        let mut before: Option<&Vec<DieUse>> = None;
        for (bin, uses) in self.bins.iter().enumerate() {
            let start = (self.interval * bin as u64).as_secs_f64();
            let end = self.ended_at(bin).as_secs_f64();
            for (index, until) in uses.iter().enumerate() {
                let from = before.map(|before| before[index]).unwrap_or_default();
                columns.device.push(SsdId::from_index(index / dies_per_drive).0);
                columns.die.push(DieId::from_index(index % dies_per_drive).0);
                columns.start_s.push(start);
                columns.end_s.push(end);
                columns.collecting_us.push((until.collecting - from.collecting).as_us_f64());
                columns.serving_us.push((until.serving - from.serving).as_us_f64());
                columns.free_blocks.push(until.free_blocks);
            }
            before = Some(uses);
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A die that collects all the time and has a free block less every 100 us.
    fn uses(at: Instant) -> Vec<DieUse> {
        let passed = at - Instant::START;
        let free_blocks = 100_000 - (passed.as_ns() / 100_000) as u32;
        vec![DieUse { collecting: passed, serving: Duration::ZERO, free_blocks }]
    }

    #[test]
    fn bins_are_merged_and_time_is_kept() {
        let mut dies = Dies::default();
        let end = Instant::from_ns(1_000_050_000);
        dies.close_bins(Instant::from_ns(500_000_000), uses);
        dies.finish(end, uses);
        // 10 000 bins of 100 us: merged six times, to 6.4 ms.
        let columns = dies.columns(1);
        assert_eq!(columns.start_s.len(), 157);
        assert_eq!(columns.collecting_us[..2], [6400.0, 6400.0]);
        assert_eq!(columns.free_blocks[..2], [100_000 - 64, 100_000 - 128]);
        assert_eq!(columns.end_s.last(), Some(&end.as_secs_f64()));
        assert_eq!(columns.collecting_us.iter().sum::<f64>(), 1_000_050.0);
    }

    #[test]
    fn a_run_without_time_has_one_bin() {
        let mut dies = Dies::default();
        dies.finish(Instant::START, uses);
        let columns = dies.columns(1);
        assert_eq!((columns.start_s, columns.end_s), (vec![0.0], vec![0.0]));
    }
}
