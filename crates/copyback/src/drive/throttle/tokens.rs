//! Tokens that writes need for the write buffer: they come as fast as the drive can program pages and collect for them.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::config::quantity::{Share, Size};
use crate::less::Less;
use crate::nand::Timing;
use crate::ssd::Outlook;
use crate::units::{Duration, Instant};

/// A token bucket, as a schedule of the instants at which it would be empty (GCRA: ITU-T I.371).
#[derive(Debug, Checkpointed)]
pub(in crate::drive) struct Tokens {
    costs: Costs,
    /// Pages whose tokens wait unused, at most.
    burst: u64,
    /// Victims after which the drive looks what they cost; `None` if they cost nothing.
    window: Option<u64>,
    /// All collections that had begun at the last look.
    seen: Outlook,
    /// Time in which a token comes.
    every: Duration,
    /// Share of it that is due to collections.
    of_collections: f64,
    /// When the tokens that have been taken will have come.
    paid_at: Instant,
}

/// Wait of a write for its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::drive) struct Wait {
    /// Time from now.
    pub length: Duration,
    /// Part of it that is due to collections.
    pub late: Duration,
}

/// Time that a page takes of all dies, in nanoseconds.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Costs {
    program: f64,
    /// Of a page of flash, which holds several of those that are mapped.
    read: f64,
    erase: f64,
    /// Pages that are mapped, in one of flash.
    units: f64,
}

impl Tokens {
    /// The tokens of a checked configuration: `burst` bytes of pages wait unused, at most, and `share` of the dies' time is
    /// for writes.
    pub fn new(config: &Resolved, burst: Size, share: Share) -> Self {
        let (pages, shape) = (&config.drive.pages, &config.drive.shape);
        let costs = Costs::new(config, share.0);
        Self {
            costs,
            burst: burst.0 / pages.size.0,
            // A block of each plane.
            window: (!config.ssd.gc.zero_cost).then_some(shape.planes),
            seen: Outlook::default(),
            every: costs.every(0.0, 0.0),
            of_collections: 0.0,
            paid_at: Instant::START,
        }
    }

    /// Takes the tokens of a write of so many pages, with all collections for space that have `begun` so far.
    pub fn admit(&mut self, pages: u64, begun: Outlook, now: Instant) -> Wait {
        if self.window.is_some_and(|window| begun.erases - self.seen.erases >= window) {
            self.look(begun);
        }
        let unused = self.every * self.burst;
        let length = self.paid_at.before(unused).max(now) - now;
        self.paid_at = self.paid_at.max(now) + self.every * pages;
        let late = length.as_ns() as f64 * self.of_collections;
        Wait { length, late: Duration::from_ns(late as u64) }
    }

    /// Sets the pace by what a page costs that comes free: what collections do for it by their victims. What they have done
    /// since the last look would depend on the pace, and swing with it.
    fn look(&mut self, begun: Outlook) {
        let victims = begun.less(self.seen);
        if victims.frees == 0 {
            return;
        }
        let freed = victims.frees as f64;
        self.every = self.costs.every(victims.moves as f64 / freed, victims.erases as f64 / freed);
        let without = self.costs.every(0.0, 0.0);
        self.of_collections =
            (self.every - without).as_ns() as f64 / self.every.as_ns().max(1) as f64;
        self.seen = begun;
    }
}

impl Costs {
    fn new(config: &Resolved, share: f64) -> Self {
        let (ssd, drive) = (&config.ssd, &config.drive);
        let timing = Timing::new(config);
        let planes = f64::from(drive.shape.planes_per_command / drive.shape.striped_planes);
        let units = f64::from(drive.pages.per_program);
        let on_channel = (timing.command + timing.page_transfer).as_ns() as f64;
        // Dies work side by side, and planes of a command take its time together.
        let of_all = drive.shape.dies as f64 * share;
        Self {
            program: (on_channel + ssd.timing.program.mean_ns() / (units * planes)) / of_all,
            read: (units * on_channel + ssd.timing.read.mean_ns() / planes) / of_all,
            erase: ssd.timing.erase.0.as_ns() as f64 / planes / of_all,
            units,
        }
    }

    /// Time in which a token comes if collections move and erase so much for each page that is written.
    fn every(&self, moved: f64, erased: f64) -> Duration {
        let valid = moved / (moved + 1.0);
        // A page of flash is read if any of its units is valid.
        let read = 1.0 - (1.0 - valid).powf(self.units);
        let reads = read / self.units * (moved + 1.0);
        let ns = self.program * (1.0 + moved) + self.read * reads + self.erase * erased;
        Duration::from_ns(ns.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_config;

    /// Eight dies that program in 200 us, erase in 1.5 ms, read in 25 us and have no channels; all of their time is for writes.
    fn tokens(burst: u64) -> Tokens {
        let config = test_config::changed(&[
            ("ssd.buffer.capacity", "1MiB"),
            ("ssd.commands.multi_plane", "false"),
            ("ssd.timing.transfer_rate", "none"),
        ]);
        Tokens::new(&config, Size(burst), Share(1.0))
    }

    fn us(us: u64) -> Duration {
        Duration::from_us(us)
    }

    fn admit(throttle: &mut Tokens, pages: u64, at_us: u64) -> Wait {
        throttle.admit(pages, Outlook::default(), Instant::START + us(at_us))
    }

    #[test]
    fn a_burst_goes_through_and_what_follows_comes_as_fast_as_dies_program() {
        let mut throttle = tokens(16 << 10);
        let waits: Vec<_> = (0..6).map(|_| admit(&mut throttle, 1, 0).length).collect();
        // 200 us on eight dies: a token every 25 us. Four wait unused, and one is being made.
        assert_eq!(waits, [us(0), us(0), us(0), us(0), us(0), us(25)]);
        // 150 us have been paid for; 100 of them may be owed.
        assert_eq!(admit(&mut throttle, 3, 60).length, us(0));
        assert_eq!(admit(&mut throttle, 1, 60).length, us(65));
        assert_eq!(admit(&mut throttle, 1, 10_000).length, us(0));
    }

    #[test]
    fn collections_slow_tokens_down_and_that_part_of_a_wait_is_theirs() {
        let mut throttle = tokens(4 << 10);
        let erases = throttle.window.expect("collections cost time");
        let so_far = Outlook { moves: 32 * erases, frees: 32 * erases, erases };
        throttle.admit(1, so_far, Instant::START);
        // A page moved for each that comes free: two programs and a read; 1/32 of an erase beside them.
        let ns = (2 * 200_000 + 25_000 + 1_500_000 / 32) / 8;
        assert_eq!(throttle.every, Duration::from_ns(ns));
        throttle.admit(1, so_far, Instant::START);
        let wait = throttle.admit(1, so_far, Instant::START);
        assert_eq!(wait.length, throttle.every * 1);
        assert_eq!(wait.late.as_ns(), ns - 25_000);
    }
}
