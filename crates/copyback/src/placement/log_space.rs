//! Value of room in a log: where it saves most writes, and where least, as MultiLog asks for its victims (Stoica,
//! Ailamaki, PVLDB 2013).
//!
//! A log has `space` times as much room as data; the host writes it at random, and it is collected oldest first.
//! The valid share x of the oldest block obeys x = exp(-space (1 - x)). Each page of the host costs 1 / (1 - x)
//! writes. The derivative is the saving by a little more room.

/// Full blocks of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogSpace {
    /// Pages that its blocks have room for.
    pub pages: f64,
    /// Valid pages of them.
    pub valid: f64,
    /// Share of the host's writes, 0 to 1.
    pub writes: f64,
}

impl LogSpace {
    const NONE: Self = Self { pages: 0.0, valid: 0.0, writes: 0.0 };

    fn with(self, other: Self) -> Self {
        Self {
            pages: self.pages + other.pages,
            valid: self.valid + other.valid,
            writes: self.writes + other.writes,
        }
    }

    fn without(self, other: Self) -> Self {
        Self {
            pages: self.pages - other.pages,
            valid: self.valid - other.valid,
            writes: self.writes - other.writes,
        }
    }

    /// Writes that a page more of room saves, for each page that the host writes anywhere; 0 where nothing is valid, or
    /// nothing invalid.
    fn saved(&self) -> f64 {
        if self.valid <= 0.0 || !self.has_invalid() {
            return 0.0;
        }
        let space = self.pages / self.valid;
        let left = left_in_oldest(space);
        self.writes / self.valid * left / ((1.0 - space * left) * (1.0 - left))
    }

    /// Whether a collection of its blocks frees room.
    pub fn has_invalid(&self) -> bool {
        self.valid < self.pages
    }
}

/// The share of the oldest block that is valid, in a log with `space` times the room of its data, more than 1.
fn left_in_oldest(space: f64) -> f64 {
    // Newton's steps from below never pass the root, as the curve bends down.
    let step = |left: f64| {
        let estimate = (-space * (1.0 - left)).exp();
        left + (estimate - left) / (1.0 - space * estimate)
    };
    (0..STEPS).fold(0.0, |left, _| step(left))
}

/// Enough for a log in which one page of a million is invalid.
const STEPS: usize = 40;

/// The log in which room saves least, against what the others together would save by it; of equals the first. None if
/// none has anything invalid. A log in which nothing is valid goes first.
pub fn where_space_saves_least(logs: &[LogSpace]) -> Option<usize> {
    let all = logs.iter().copied().fold(LogSpace::NONE, LogSpace::with);
    let worth = |log: &LogSpace| {
        if log.valid > 0.0 { log.saved() - all.without(*log).saved() } else { f64::NEG_INFINITY }
    };
    let may_be = logs.iter().enumerate().filter(|(_, log)| log.has_invalid());
    let rated = may_be.map(|(place, log)| (worth(log), place));
    let least = rated.reduce(|least, next| if next.0 < least.0 { next } else { least });
    least.map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(pages: f64, valid: f64, writes: f64) -> LogSpace {
        LogSpace { pages, valid, writes }
    }

    #[test]
    fn what_is_left_in_the_oldest_block_obeys_the_closed_form() {
        for space in [1.000_001, 1.01, 1.25, 2.0, 9.0] {
            let left = left_in_oldest(space);
            assert!((left - (-space * (1.0 - left)).exp()).abs() < 1e-9, "{space}: {left}");
            assert!(left < 1.0, "{space}");
        }
    }

    #[test]
    fn what_more_room_saves_is_the_slope_of_what_is_written() {
        let written = |pages: f64| 0.3 / (1.0 - left_in_oldest(pages / 80.0));
        let slope = (written(99.999) - written(100.001)) / 0.002;
        assert!((log(100.0, 80.0, 0.3).saved() / slope - 1.0).abs() < 1e-6);
    }

    #[test]
    fn victims_come_from_the_log_that_is_written_less_or_has_more_room() {
        let least = where_space_saves_least;
        let equal = log(100.0, 80.0, 0.5);
        assert_eq!(least(&[equal, equal]), Some(0), "of equals the first");
        assert_eq!(least(&[equal, log(100.0, 80.0, 0.4)]), Some(1));
        assert_eq!(least(&[equal, log(100.0, 75.0, 0.5)]), Some(1));
        assert_eq!(least(&[equal, log(200.0, 160.0, 0.5)]), Some(1), "the same on more data");
        assert_eq!(least(&[equal, log(100.0, 99.0, 0.0)]), Some(1), "nobody writes there");
        assert_eq!(least(&[equal, log(4.0, 0.0, 0.5)]), Some(1), "it costs nothing");
        assert_eq!(least(&[log(4.0, 4.0, 0.1), equal]), Some(1), "there is nothing to free");
        assert_eq!(least(&[log(4.0, 4.0, 1.0), log(0.0, 0.0, 0.0)]), None);
    }
}
