//! The time that a placement may have for a clock: that at which the host's latest write came to the drive.

use crate::checkpoint::Checkpointed;
use crate::units::Instant;

/// Counts from the first write since the power came on. While the drive is prepared no time passes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct DriveTime {
    first: Option<Instant>,
    us: u64,
}

impl DriveTime {
    /// The drive takes up a write that has come at `arrived`. Time does not go back where a later one was taken up before.
    pub fn write_comes(&mut self, arrived: Instant) {
        let first = *self.first.get_or_insert(arrived);
        self.us = self.us.max(arrived.saturating_since(first).as_ns() / 1_000);
    }

    /// Microseconds from the first write to the latest.
    pub const fn us(&self) -> u64 {
        self.us
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Loader;
    use crate::ids::{Lpn, PlaneId};
    use crate::placement::{Class, HostPage};

    use super::super::Ftl;
    use super::*;

    /// The classes of WARCIP for pages that are written at these times.
    fn classes(clock: &str, writes: &[(u32, u64)]) -> Vec<usize> {
        let geometry = "{ channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, \
                        blocks_per_plane = 16, pages_per_block = 16 }";
        let placement = format!("{{ type = \"warcip\", classes = 3, clock = \"{clock}\" }}");
        let loader = Loader::new()
            .set("ssd.geometry", geometry)
            .set("ssd.ftl.over_provisioning", "0.7")
            .set("ssd.ftl.placement", &placement);
        let config = loader.load().unwrap_or_else(|faults| panic!("{faults}"));
        let mut ftl = Ftl::new(&config, "ssd/0");
        let mut write = |(version, (lpn, us)): (u64, &(u32, u64))| {
            ftl.write_comes(Instant::from_ns(us * 1_000));
            let page = ftl.write(PlaneId(0), HostPage::without_hint(Lpn(*lpn)), version).page;
            ftl.blocks.class(ftl.geometry.block_of(page)).map(Class::index)
        };
        (0..).zip(writes).filter_map(&mut write).collect()
    }

    /// By time, the pages come back after 10, 10, 1010, 1 and 1011 microseconds: 1 is nearer to the centre that has seen
    /// nothing yet than to 206, the mean of the others. By writes, they come back after 2, 2, 2, 1 and 3, and the mean is
    /// nearer to each of them.
    #[test]
    fn intervals_are_told_apart_by_time_that_are_alike_in_writes() {
        let writes = [(0, 0), (1, 0), (0, 10), (1, 10), (0, 1_020), (0, 1_021), (1, 1_021)];
        assert_eq!(classes("time", &writes), [2, 2, 2, 2, 2, 1, 2]);
        assert_eq!(classes("writes", &writes), [2; 7]);
    }

    #[test]
    fn it_counts_whole_microseconds_from_the_first_write_and_never_back() {
        let mut time = DriveTime::default();
        let mut after = |ns| {
            time.write_comes(Instant::from_ns(ns));
            time.us()
        };
        let came = [5_500, 6_499, 6_500, 1_005_500, 900_000, 1_006_500];
        assert_eq!(came.map(&mut after), [0, 0, 1, 1_000, 1_000, 1_001]);
    }
}
