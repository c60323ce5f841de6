//! Maps a range of the trace onto the simulated device.

use super::bounds::Bounds;
use super::compact::Compact;
use super::fault::Fault;
use super::footprint::Footprint;
use super::space::{Owner, Space};
use crate::Operation;

/// The addresses of one reading of a trace.
#[derive(Debug)]
pub enum Addresses {
    /// Addresses as in the trace, from the start of a region.
    Straight {
        /// The regions.
        space: Space,
        /// Highest address within a region, and what lies beyond.
        bounds: Bounds,
    },
    /// Addresses of touched ranges only, without the gaps.
    Compact {
        /// Places of the touched extents.
        compact: Compact,
        /// Reason for compacting, for the user.
        note: String,
        /// Trims of what nothing else touches.
        left_out: u64,
    },
    /// No mapping: the trace is read to find out what it touches.
    Survey(Footprint),
}

/// A range on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

impl Addresses {
    /// Maps a range onto the device; `None` for a trim of a range that nothing else touches.
    ///
    /// # Errors
    /// If it lies beyond the device.
    #[inline]
    pub fn place(
        &mut self,
        owner: Owner,
        operation: Operation,
        offset: u64,
        length: u64,
    ) -> Result<Option<Place>, Fault> {
        match self {
            Self::Straight { space, bounds } => {
                let base = space.base(space.region(owner)?).unwrap_or(0);
                let offset = base + bounds.fit(offset, length)?;
                Ok(Some(Place { offset, length }))
            }
            Self::Compact { compact, left_out, .. } => {
                let region = compact.space().region(owner)?;
                if operation == Operation::Trim {
                    let place = compact.touched(region, offset, length);
                    *left_out += u64::from(place.is_none());
                    return Ok(place.map(|(offset, length)| Place { offset, length }));
                }
                let offset = compact.place(region, offset, length)?;
                Ok(Some(Place { offset, length }))
            }
            Self::Survey(footprint) => {
                footprint.take(owner, operation, offset, length)?;
                Ok(Some(Place { offset, length }))
            }
        }
    }

    /// Whether each device of the trace has addresses of its own.
    pub fn are_apart(&self) -> bool {
        match self {
            Self::Straight { space, .. } => space.is_apart(),
            Self::Compact { compact, .. } => compact.space().is_apart(),
            Self::Survey(footprint) => footprint.space().is_apart(),
        }
    }

    /// Notes for the user about addresses.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Straight { bounds, .. } => Vec::from_iter(bounds.note()),
            Self::Compact { note, left_out: 0, .. } => vec![note.clone()],
            Self::Compact { note, left_out, .. } => {
                let trims = format!("{left_out} trims of what nothing else touches were left out");
                vec![note.clone(), trims]
            }
            Self::Survey(_) => Vec::new(),
        }
    }
}
