//! Controller time of a command beyond the overhead of all: waking up, and delays that are drawn.

use rand::RngExt;

use crate::checkpoint::Checkpointed;
use crate::config::{self, CommandDelay, DelayRow, Resolved, WakeUp};
use crate::ids::SsdId;
use crate::precondition;
use crate::rng::{self, Stream};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

use super::throttle::Throttle;

/// The controller of a drive, if not all commands are alike to it.
#[derive(Debug, Checkpointed)]
pub(super) struct Controller {
    sleep: Option<Sleep>,
    reads: Option<Delays>,
    writes: Option<Delays>,
    random: Stream,
    /// Admission of writes to the buffer, if they are throttled.
    pub(super) throttle: Option<Throttle>,
}

/// A drive that sleeps.
#[derive(Debug, Checkpointed)]
struct Sleep {
    after: Duration,
    takes: Duration,
    /// Since when no command has been in it.
    idle_since: Instant,
    awake_from: Instant,
}

/// Delays by size.
#[derive(Debug, Checkpointed)]
struct Delays {
    probabilities: Vec<f64>,
    sizes: Vec<u64>,
    /// In nanoseconds: for each size, one for each probability.
    times_ns: Vec<Vec<f64>>,
}

impl Controller {
    /// Creates the controller of a drive of a checked configuration; `None` if it treats all commands alike.
    pub fn new(config: &Resolved, device: SsdId) -> Option<Box<Self>> {
        let config::Controller { wake_up, read_delay, write_delay } = &config.ssd.controller;
        let throttle = Throttle::new(config);
        if config.ssd.controller.is_default() && throttle.is_none() {
            return None;
        }
        let name = format!("{}/controller", precondition::name(device));
        Some(Box::new(Self {
            sleep: Sleep::new(wake_up),
            reads: Delays::new(read_delay),
            writes: Delays::new(write_delay),
            random: rng::stream(config.seed, &name),
            throttle,
        }))
    }

    /// The first command comes into a drive without any.
    pub fn busy(&mut self, now: Instant) {
        if let Some(sleep) = &mut self.sleep
            && now - sleep.idle_since >= sleep.after
        {
            sleep.awake_from = now + sleep.takes;
        }
    }

    /// The last command has left the drive, or it has just been switched on.
    pub const fn idle(&mut self, now: Instant) {
        if let Some(sleep) = &mut self.sleep {
            sleep.idle_since = now;
        }
    }

    /// Time beyond the overhead that a command takes which it begins with now.
    pub fn takes(&mut self, operation: Operation, bytes: u64, now: Instant) -> Duration {
        let delays = match operation {
            Operation::Read => &self.reads,
            Operation::Write => &self.writes,
            Operation::Trim | Operation::Flush => &None,
        };
        let drawn = delays.as_ref().map(|delays| delays.draw(bytes, &mut self.random));
        let asleep = self.sleep.as_ref().map_or(Duration::ZERO, |sleep| sleep.left(now));
        asleep + drawn.unwrap_or(Duration::ZERO)
    }
}

impl Sleep {
    const fn new(wake_up: &WakeUp) -> Option<Self> {
        match wake_up {
            WakeUp::None => None,
            WakeUp::Sleeps { after, time } => Some(Self {
                after: after.0,
                takes: time.0,
                idle_since: Instant::START,
                awake_from: Instant::START,
            }),
        }
    }

    fn left(&self, now: Instant) -> Duration {
        if self.awake_from > now { self.awake_from - now } else { Duration::ZERO }
    }
}

impl Delays {
    fn new(delay: &CommandDelay) -> Option<Self> {
        let CommandDelay::BySize { probabilities, rows } = delay else { return None };
        let in_ns = |row: &DelayRow| row.times.iter().map(|time| time.0.as_ns() as f64).collect();
        Some(Self {
            probabilities: probabilities.iter().map(|share| share.0).collect(),
            sizes: rows.iter().map(|row| row.size.0).collect(),
            times_ns: rows.iter().map(in_ns).collect(),
        })
    }

    fn draw(&self, bytes: u64, random: &mut Stream) -> Duration {
        let share: f64 = random.random_range(0.0..1.0);
        Duration::from_ns(self.at(bytes, share).round() as u64)
    }

    /// Delay that this share of the commands of `bytes` does not exceed.
    fn at(&self, bytes: u64, share: f64) -> f64 {
        // Both are in order, and the shares end at 1.
        let next = self.probabilities.partition_point(|&least| least <= share);
        let (low, high) = (self.probabilities[next - 1], self.probabilities[next]);
        let of_row = |row: usize| {
            let times = &self.times_ns[row];
            times[next - 1] + (times[next] - times[next - 1]) * (share - low) / (high - low)
        };
        let row = self.sizes.partition_point(|&size| size <= bytes);
        if row == 0 || row == self.sizes.len() {
            return of_row(row.saturating_sub(1));
        }
        let (least, most) = (self.sizes[row - 1], self.sizes[row]);
        let way = (bytes - least) as f64 / (most - least) as f64;
        of_row(row - 1) + (of_row(row) - of_row(row - 1)) * way
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::quantity::{Share, Size, Time};

    fn delays() -> Delays {
        let row = |size, times: [u64; 3]| DelayRow {
            size: Size(size),
            times: times.map(Time::from_us).to_vec(),
        };
        let probabilities = [0.0, 0.5, 1.0].map(Share).to_vec();
        let rows = vec![row(4096, [0, 10, 110]), row(8192, [100, 200, 300])];
        Delays::new(&CommandDelay::BySize { probabilities, rows }).unwrap()
    }

    #[test]
    fn what_lies_between_probabilities_and_sizes_takes_what_lies_between() {
        for (bytes, share, us) in [
            (4096, 0.0, 0.0),
            (4096, 0.25, 5.0),
            (4096, 0.5, 10.0),
            (4096, 0.75, 60.0),
            (8192, 0.75, 250.0),
            (6144, 0.75, 155.0),
            (512, 0.75, 60.0),
            (1 << 20, 0.75, 250.0),
        ] {
            assert_eq!(delays().at(bytes, share), us * 1e3, "{bytes} bytes, {share}");
        }
    }

    #[test]
    fn draws_are_as_often_as_the_probabilities_say() {
        let (delays, mut random) = (delays(), rng::stream(1, "test"));
        let draws: Vec<_> = (0..10_000).map(|_| delays.draw(4096, &mut random)).collect();
        let share = |us| draws.iter().filter(|draw| **draw <= Duration::from_us(us)).count();
        // Four standard deviations of a share of a half, and of a tenth beyond it.
        assert!(share(10).abs_diff(5000) < 200, "{}", share(10));
        assert!(share(30).abs_diff(6000) < 200, "{}", share(30));
    }
}
