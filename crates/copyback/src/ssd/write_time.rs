//! The time that a placement may have for a clock: that at which the host's latest write came to the drive.

use crate::checkpoint::Checkpointed;
use crate::units::Instant;

/// Counts from the first write since the power came on. While the drive is prepared no time passes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct WriteTime {
    first: Option<Instant>,
    us: u64,
}

impl WriteTime {
    /// The drive takes up a write that has come at `arrived`. Returns the microseconds from the first to the latest, which
    /// may be one that was taken up before.
    pub fn write_comes(&mut self, arrived: Instant) -> u64 {
        let first = *self.first.get_or_insert(arrived);
        self.us = self.us.max(arrived.saturating_since(first).as_ns() / 1_000);
        self.us
    }
}

#[cfg(test)]
mod tests {
    use crate::ftl::Ftl;
    use crate::ids::{Lpn, PlaneId};
    use crate::placement::{Class, HostPage};
    use crate::test_config::small_drive;

    use super::*;

    /// The classes of WARCIP for pages that are written at these times.
    fn classes(clock: &str, writes: &[(u32, u64)]) -> Vec<usize> {
        let placement = format!("{{ type = \"warcip\", classes = 3, clock = \"{clock}\" }}");
        let changes = [
            ("ssd.geometry.pages_per_block", "16"),
            ("ssd.ftl.over_provisioning", "0.7"),
            ("ssd.ftl.placement", &placement),
        ];
        let mut ftl = Ftl::new(&small_drive(1, 16, &changes), "ssd/0");
        let mut write = |(version, (lpn, us)): (u64, &(u32, u64))| {
            ftl.streams_mut().host_writes_at(*us);
            let page = ftl.write(PlaneId(0), HostPage::without_hint(Lpn(*lpn)), version).page;
            ftl.blocks().class(ftl.geometry().block_of(page)).map(Class::index)
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
        let mut time = WriteTime::default();
        let came = [5_500, 6_499, 6_500, 1_005_500, 900_000, 1_006_500];
        let told = came.map(|ns| time.write_comes(Instant::from_ns(ns)));
        assert_eq!(told, [0, 0, 1, 1_000, 1_000, 1_001]);
    }
}
