//! Latencies of the flash chips and transfer times of their channels, in whole nanoseconds.

use crate::checkpoint::Checkpointed;
use crate::config::{PageLatency, Resolved, SummaryPage, quantity::Rate};
use crate::units::Duration;

/// Latencies of the array operations and of the channel.
#[derive(Debug, Clone, Checkpointed)]
pub struct Timing {
    read: Vec<Duration>,
    program: Vec<Duration>,
    /// Pages that are programmed together, when the last of them has come.
    units: u32,
    /// Block erase (tBERS).
    pub erase: Duration,
    /// Command and address cycles on the channel (tCMD).
    pub command: Duration,
    /// One page, spare bytes included, over the channel (tD).
    pub page_transfer: Duration,
    /// Cost of closing a block beyond its last data page: the program of a summary page.
    pub summary: Option<Duration>,
    /// Array operations of blocks in another cell mode, if there are such.
    pub cache: Option<CacheTiming>,
}

/// Array operations of blocks in another cell mode than the others. Their pages are of one type.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct CacheTiming {
    /// Array read (tR).
    pub read: Duration,
    /// Array program (tPROG).
    program: Duration,
    /// Pages that are programmed together.
    units: u32,
    /// Block erase (tBERS).
    pub erase: Duration,
}

/// The time that `bytes` take at `rate`, rounded up to a whole nanosecond; at most the longest span.
pub fn transfer_time(bytes: u64, rate: Rate) -> Duration {
    match rate {
        Rate::None => Duration::ZERO,
        Rate::BytesPerSecond(rate) => {
            let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate));
            Duration::from_wide_ns(ns)
        }
    }
}

impl Timing {
    /// The latencies that a checked configuration describes.
    pub fn new(config: &Resolved) -> Self {
        let (ssd, drive) = (&config.ssd, &config.drive);
        let timing = &ssd.timing;
        let units = drive.pages.per_program;
        let spare = ssd.geometry.spare_size.0 * u64::from(drive.shape.striped_planes);
        let bytes = drive.pages.size.0 + spare.div_ceil(units.into());
        let program = per_page_type(&timing.program);
        let summary = match ssd.ftl.summary_page {
            SummaryPage::None => None,
            SummaryPage::LastPage { transfer } => {
                let last = program[(ssd.geometry.pages_per_block as usize - 1) % program.len()];
                Some(last + transfer_time(transfer.0, timing.transfer_rate))
            }
        };
        Self {
            read: of_each_unit(&per_page_type(&timing.read), units),
            program: with_last_unit(&program, units),
            units,
            erase: timing.erase.0,
            command: if timing.transfer_rate == Rate::None {
                Duration::ZERO
            } else {
                timing.command.0
            },
            page_transfer: transfer_time(bytes, timing.transfer_rate),
            summary,
            cache: drive.slc.is_some().then(|| {
                let timing = &ssd.slc_cache.timing;
                CacheTiming {
                    read: timing.read.0,
                    program: timing.program.0,
                    units,
                    erase: timing.erase.0,
                }
            }),
        }
    }

    /// Times that are each `factor` times as long; at most the longest span.
    #[must_use]
    pub fn slowed(&self, factor: f64) -> Self {
        let slowed = |time: Duration| Duration::from_secs_f64(time.as_secs_f64() * factor);
        let all = |times: &[Duration]| times.iter().map(|time| slowed(*time)).collect();
        Self {
            read: all(&self.read),
            program: all(&self.program),
            units: self.units,
            erase: slowed(self.erase),
            command: slowed(self.command),
            page_transfer: slowed(self.page_transfer),
            summary: self.summary.map(slowed),
            cache: self.cache.map(|cache| CacheTiming {
                read: slowed(cache.read),
                program: slowed(cache.program),
                units: cache.units,
                erase: slowed(cache.erase),
            }),
        }
    }

    /// Array read of the page at `offset` of its block (tR).
    pub fn read(&self, offset: u32) -> Duration {
        by_page_type(&self.read, offset)
    }

    /// Array program of the page at `offset` of its block (tPROG).
    pub fn program(&self, offset: u32) -> Duration {
        by_page_type(&self.program, offset)
    }

    /// Time of the die for a lone host read: command, array, data out.
    pub fn whole_read(&self) -> Duration {
        self.command + self.read[0] + self.page_transfer
    }

    /// Time of the die for a lone host program: command, data in, array; a page's share of that if several are
    /// programmed together.
    pub fn whole_program(&self) -> Duration {
        let array = match self.units {
            1 => self.program[0],
            units => Duration::from_ns(self.program[units as usize - 1].as_ns() / u64::from(units)),
        };
        self.command + self.page_transfer + array
    }
}

impl CacheTiming {
    /// Array program of the page at `offset` of its block; none before the last of those that are programmed together.
    pub const fn program(&self, offset: u32) -> Duration {
        if (offset + 1).is_multiple_of(self.units) { self.program } else { Duration::ZERO }
    }
}

/// The read latency of a page's type, for each of its units.
fn of_each_unit(types: &[Duration], units: u32) -> Vec<Duration> {
    if types.len() == 1 {
        return types.to_vec();
    }
    types.iter().flat_map(|time| std::iter::repeat_n(*time, units as usize)).collect()
}

/// The program latency of a page's type for the last of its units, with which all are programmed; none before.
fn with_last_unit(types: &[Duration], units: u32) -> Vec<Duration> {
    let waiting = || std::iter::repeat_n(Duration::ZERO, units as usize - 1);
    types.iter().flat_map(|time| waiting().chain([*time])).collect()
}

fn by_page_type(latencies: &[Duration], offset: u32) -> Duration {
    match latencies {
        [one] => *one,
        many => many[offset as usize % many.len()],
    }
}

fn per_page_type(latency: &PageLatency) -> Vec<Duration> {
    match latency {
        PageLatency::Uniform(time) => vec![time.0],
        PageLatency::ByPageType(times) => times.iter().map(|time| time.0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_round_up_and_never_vanish() {
        let rate = Rate::BytesPerSecond(1_200_000_000);
        assert_eq!(transfer_time(16 << 10, rate), Duration::from_ns(13_654));
        assert_eq!(transfer_time(1, rate), Duration::from_ns(1));
        assert_eq!(transfer_time(4096, Rate::None), Duration::ZERO);
        assert_eq!(transfer_time(1 << 50, Rate::BytesPerSecond(1)), Duration::LONGEST);
    }

    #[test]
    fn units_of_a_page_are_read_alike_and_programmed_with_the_last() {
        let types = [1, 2].map(Duration::from_us);
        let [none, one, two] = [0, 1, 2].map(Duration::from_us);
        assert_eq!(of_each_unit(&types, 3), [one, one, one, two, two, two]);
        assert_eq!(with_last_unit(&types, 3), [none, none, one, none, none, two]);
        assert_eq!(with_last_unit(&types, 1), types);
        let cache = CacheTiming { read: one, program: two, units: 3, erase: one };
        assert_eq!([0, 1, 2, 5].map(|offset| cache.program(offset)), [none, none, two, two]);
    }

    #[test]
    fn page_types_take_turns_in_a_block() {
        let times = [1, 2, 3].map(Duration::from_us);
        for (offset, us) in [(0, 1), (1, 2), (2, 3), (3, 1), (7, 2)] {
            assert_eq!(by_page_type(&times, offset), Duration::from_us(us), "page {offset}");
        }
        assert_eq!(by_page_type(&times[..1], 2), Duration::from_us(1));
    }
}
