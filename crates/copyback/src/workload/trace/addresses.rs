//! Where a range of the trace lies on the simulated device.

use super::bounds::Bounds;
use super::extents::{Extents, Piece};
use super::fault::Fault;
use crate::config::quantity::Size;
use crate::config::{BeyondDevice, DeviceLayout, TraceWorkload};
use crate::workload::Operation;

/// What shares of the capacity are rounded down to.
const MIB: u64 = 1 << 20;

/// The addresses of one replay.
#[derive(Debug)]
pub enum Addresses {
    /// All devices of the trace over one another.
    Shared(Bounds),
    /// A region for each of them.
    Regions {
        /// Bytes of a region.
        size: u64,
        /// How many fit.
        count: u64,
        /// The addresses within one.
        bounds: Bounds,
    },
    /// What is touched, and no more.
    Compact {
        /// Where it lies.
        extents: Extents,
        /// Whether each device has addresses of its own.
        apart: bool,
    },
}

impl Addresses {
    /// The addresses that `config` asks for, on a device of `capacity` bytes.
    ///
    /// # Errors
    /// The key that makes no sense, and a sentence.
    pub fn new(config: &TraceWorkload, capacity: u64) -> Result<Self, (&'static str, String)> {
        let apart = matches!(config.device_layout, DeviceLayout::Concatenate { .. });
        if let BeyondDevice::Compact { extent: Size(extent) } = config.beyond_device {
            return Ok(Self::Compact { extents: Extents::new(extent, capacity), apart });
        }
        let wraps = config.beyond_device == BeyondDevice::Wrap;
        let DeviceLayout::Concatenate { size } = config.device_layout else {
            return Ok(Self::Shared(Bounds::new(capacity, wraps)));
        };
        let listed = config.devices.len() as u64;
        let size = match size {
            Some(Size(size)) => size,
            None => capacity / listed.max(1) / MIB * MIB,
        };
        let count = capacity.checked_div(size).unwrap_or(0);
        if count < listed.max(1) {
            return Err((
                "device_layout.size",
                format!(
                    "found {} for each of {listed} devices; expected at most the {} of the \
                     simulated one in all, and 1MiB for each",
                    Size(size),
                    Size(capacity),
                ),
            ));
        }
        Ok(Self::Regions { size, count, bounds: Bounds::new(size, wraps) })
    }

    /// The start of a range as far as it lies in one piece; `None` if nothing of it lies anywhere:
    /// a trim of what was never touched. `place` is that of the device among those replayed.
    ///
    /// # Errors
    /// If it lies beyond the device, or the footprint outgrows it.
    #[inline]
    pub fn place(
        &mut self,
        (device, place): (u64, usize),
        operation: Operation,
        offset: u64,
        length: u64,
    ) -> Result<Option<Piece>, Fault> {
        let offset = match self {
            Self::Shared(bounds) => bounds.fit(offset, length)?,
            Self::Regions { size, count, bounds } => {
                let place = place as u64;
                if place >= *count {
                    return Err(too_many(*count));
                }
                place * *size + bounds.fit(offset, length)?
            }
            Self::Compact { extents, apart } => {
                let device = if *apart { device } else { 0 };
                return match operation {
                    Operation::Trim => Ok(extents.find(device, offset, length)),
                    _ => extents.touch(device, offset, length).map(Some),
                };
            }
        };
        Ok(Some(Piece { skipped: 0, offset, length }))
    }

    /// Whether each device of the trace has addresses of its own.
    pub fn are_apart(&self) -> bool {
        !matches!(self, Self::Shared(_) | Self::Compact { apart: false, .. })
    }

    /// What the user should know.
    pub fn note(&self) -> Option<String> {
        let wrapped = match self {
            Self::Shared(bounds) | Self::Regions { bounds, .. } => bounds.wrapped(),
            Self::Compact { extents, .. } => return Some(extents.note()),
        };
        (wrapped > 0).then(|| format!("{wrapped} requests beyond the device were wrapped"))
    }
}

#[cold]
fn too_many(count: u64) -> Fault {
    Fault::other(format!(
        "device: found one more than the {count} for which workload.device_layout has room; \
         expected a smaller size, more drives, or a list in workload.devices"
    ))
}
