//! Watermarks: how many planes are low on free blocks, and how often one has become so; a drive of an array
//! reports them to its controller. Where planes are counted together (`threshold_scope`), how many dies are, or
//! whether the drive is.

use crate::checkpoint::Checkpointed;

/// Free blocks of all scopes (planes, or planes that are counted together) against two thresholds.
///
/// A plane that is being reclaimed stands where it stood before: the blocks that a collection
/// borrows are not used up.
#[derive(Debug, Checkpointed)]
pub struct Watermarks {
    /// Free blocks of each plane.
    free: Vec<u32>,
    /// Planes of a scope.
    together: usize,
    /// Free blocks of each scope.
    of_scopes: Vec<u32>,
    /// Number of scopes by the number of their free blocks.
    scopes_with: Vec<u32>,
    /// Fewest free blocks of a scope.
    least: u32,
    register: Watermark,
    soft: Watermark,
}

/// One threshold.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Watermark {
    threshold: u32,
    /// Scopes with fewer free blocks.
    below: u32,
    /// Number of times that a scope has fallen below, those that were so at the start included.
    falls: u64,
}

impl Watermark {
    const fn new(threshold: u32) -> Self {
        Self { threshold, below: 0, falls: 0 }
    }

    /// Counts a scope whose free blocks have changed.
    fn changed(&mut self, before: u32, now: u32) {
        let (was_below, is_below) = (before < self.threshold, now < self.threshold);
        self.below = self.below + u32::from(is_below) - u32::from(was_below);
        self.falls += u64::from(is_below && !was_below);
    }
}

impl Watermarks {
    /// Creates the watermarks of planes with `blocks` blocks each, of which `free` are free, with this number
    /// of planes `together`. Both thresholds are a plane's share.
    pub fn new(
        free: impl Iterator<Item = usize>,
        together: u32,
        blocks: u32,
        register: u32,
        soft: u32,
    ) -> Self {
        let free: Vec<u32> = free.map(|free| free as u32).collect();
        let scopes = free.len() / together as usize;
        let most = blocks * together;
        let mut scopes_with = vec![0; most as usize + 1];
        scopes_with[most as usize] = scopes as u32;
        let mut watermarks = Self {
            free: vec![blocks; free.len()],
            together: together as usize,
            of_scopes: vec![most; scopes],
            scopes_with,
            least: most,
            register: Watermark::new(register * together),
            soft: Watermark::new(soft * together),
        };
        for (plane, free) in free.into_iter().enumerate() {
            watermarks.changed(plane, free);
        }
        watermarks
    }

    /// Notes the free blocks of a plane.
    pub fn changed(&mut self, plane: usize, now: u32) {
        let before_of_plane = std::mem::replace(&mut self.free[plane], now);
        let of_scope = &mut self.of_scopes[plane / self.together];
        let before = *of_scope;
        *of_scope = before - before_of_plane + now;
        let now = *of_scope;
        self.scopes_with[before as usize] -= 1;
        self.scopes_with[now as usize] += 1;
        self.least = self.least.min(now);
        while self.scopes_with[self.least as usize] == 0 {
            self.least += 1;
        }
        self.register.changed(before, now);
        self.soft.changed(before, now);
    }

    /// Scopes below the register threshold.
    pub const fn below_register(&self) -> u32 {
        self.register.below
    }

    /// Number of times that a scope has fallen below the register threshold.
    pub const fn crossings(&self) -> u64 {
        self.register.falls
    }

    /// Scopes below the soft threshold.
    pub const fn short(&self) -> u32 {
        self.soft.below
    }

    /// Number of times that a scope has fallen below the soft threshold.
    pub const fn shortages(&self) -> u64 {
        self.soft.falls
    }

    /// Blocks that all scopes can open alike before one falls below the soft threshold.
    pub fn blocks_above_soft(&self) -> u64 {
        let each = u64::from(self.least.saturating_sub(self.soft.threshold));
        each * self.of_scopes.len() as u64
    }

    /// Fewest free blocks of a scope.
    pub const fn least(&self) -> u32 {
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watermarks(free: [usize; 3]) -> Watermarks {
        Watermarks::new(free.into_iter(), 1, 8, 4, 2)
    }

    #[test]
    fn planes_that_are_low_at_the_start_have_fallen() {
        let watermarks = watermarks([8, 3, 1]);
        assert_eq!((watermarks.below_register(), watermarks.crossings()), (2, 2));
        assert_eq!((watermarks.short(), watermarks.shortages(), watermarks.least()), (1, 1, 1));
    }

    #[test]
    fn each_fall_counts_and_the_way_up_does_not() {
        let mut watermarks = watermarks([5, 5, 5]);
        for free in [4, 3, 2, 3, 4, 3] {
            watermarks.changed(1, free);
        }
        assert_eq!((watermarks.below_register(), watermarks.crossings()), (1, 2));
        assert_eq!((watermarks.short(), watermarks.least()), (0, 3));
        watermarks.changed(1, 7);
        assert_eq!((watermarks.below_register(), watermarks.least()), (0, 5));
    }

    #[test]
    fn planes_that_are_counted_together_are_low_together() {
        let mut watermarks = Watermarks::new([5, 1, 6, 6].into_iter(), 2, 8, 4, 2);
        assert_eq!(
            (watermarks.below_register(), watermarks.short(), watermarks.least()),
            (1, 0, 6)
        );
        watermarks.changed(0, 2);
        assert_eq!((watermarks.short(), watermarks.shortages(), watermarks.least()), (1, 1, 3));
    }
}
