//! Runs of sequential requests: which requests follow others, and where those start that do.

use super::draw::Chance;
use crate::rng::Stream;
use crate::{InputError, Operation};
use copyback_config::{Skip, SyntheticWorkload};

/// Decides which requests follow the one of their kind before them.
pub struct Runs {
    rule: Rule,
    stream: Stream,
    skip: UnitSkip,
    /// Ends of the last read, write and trim.
    ends: [End; 3],
}

enum Rule {
    Chance(Chance),
    /// All but the first of so many.
    Of {
        requests: u64,
        /// Requests that are left of the run under way.
        left: u64,
    },
}

/// A [`Skip`] in units.
enum UnitSkip {
    None,
    Forward { units: u64, every: u64 },
    Backward { units: u64 },
}

/// Position that a kind of requests has reached.
#[derive(Debug, Clone, Copy, Default)]
struct End {
    /// In units from the base.
    units: u64,
    /// Units asked for since some were passed over.
    asked: u64,
}

impl Runs {
    /// Runs as configured, on units of `alignment` bytes.
    ///
    /// # Errors
    /// If what is passed over is no whole number of units.
    pub fn new(
        config: &SyntheticWorkload,
        alignment: u64,
        stream: Stream,
    ) -> Result<Self, InputError> {
        let rule = match config.sequential_run {
            None => Rule::Chance(Chance::new(config.sequential_share.0)),
            Some(requests) => Rule::Of { requests, left: 0 },
        };
        let skip = UnitSkip::new(config.sequential_skip, alignment)?;
        Ok(Self { rule, stream, skip, ends: [End::default(); 3] })
    }

    /// Begins as at first, drawing from `stream` on.
    pub fn reseed(&mut self, stream: Stream) {
        self.stream = stream;
        self.ends = [End::default(); 3];
        if let Rule::Of { left, .. } = &mut self.rule {
            *left = 0;
        }
    }

    /// Whether the next request follows the one of its kind before it.
    #[inline]
    pub fn follows(&mut self) -> bool {
        match &mut self.rule {
            Rule::Chance(chance) => chance.draw(&mut self.stream),
            Rule::Of { requests, left } => {
                let follows = *left > 0;
                *left = if follows { *left - 1 } else { *requests - 1 };
                follows
            }
        }
    }

    /// First unit of a request of `length` units in a footprint of `units` that follows. The first run
    /// begins at the start of the footprint, and one that reaches its end goes on there.
    #[inline]
    pub fn next(&mut self, operation: Operation, length: u64, units: u64) -> u64 {
        let end = &mut self.ends[operation as usize];
        match self.skip {
            UnitSkip::None => {
                if end.units + length <= units {
                    end.units
                } else {
                    0
                }
            }
            UnitSkip::Forward { units: skipped, every } => {
                let mut start = end.units;
                if end.asked >= every {
                    end.asked = 0;
                    start = start.saturating_add(skipped);
                }
                if start.saturating_add(length) <= units { start } else { 0 }
            }
            UnitSkip::Backward { units: back } => {
                let from = if end.units < back || end.asked == 0 { units } else { end.units };
                from.saturating_sub(back).min(units - length)
            }
        }
    }

    /// A request of `length` units starts at `start`.
    #[inline]
    pub fn note(&mut self, operation: Operation, start: u64, length: u64) {
        let end = &mut self.ends[operation as usize];
        end.units = start + length;
        end.asked = end.asked.saturating_add(length);
    }
}

impl UnitSkip {
    fn new(skip: Skip, alignment: u64) -> Result<Self, InputError> {
        let units = |key: &str, bytes: u64| match bytes.is_multiple_of(alignment) {
            true => Ok(bytes / alignment),
            false => Err(InputError {
                place: format!("workload.sequential_skip.{key}"),
                problem: format!(
                    "found {bytes} bytes; expected a multiple of the alignment, {alignment}"
                ),
            }),
        };
        Ok(match skip {
            Skip::None => Self::None,
            Skip::Backward { bytes } => Self::Backward { units: units("bytes", bytes.0)? },
            Skip::Forward { bytes, every } => Self::Forward {
                units: units("bytes", bytes.0)?,
                every: every.map_or(Ok(1), |every| units("every", every.0))?,
            },
        })
    }
}
