//! Division of the simulated device among the devices of a trace.

use super::fault::Fault;
use copyback_config::quantity::Size;
use copyback_config::{BeyondDevice, DeviceLayout, TraceWorkload};

/// Granularity of shares of the capacity, in bytes; they are rounded down to it.
const MIB: u64 = 1 << 20;

/// Whom a request of the trace is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The number of the device in the trace.
    pub device: u64,
    /// Index among the replayed devices.
    pub place: usize,
}

/// The addresses that the devices of a trace have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// All of them over one another.
    Shared {
        /// Bytes of the simulated device.
        capacity: u64,
    },
    /// A region for each, one after the other.
    Regions {
        /// Bytes of each.
        size: u64,
        /// Number of devices that fit.
        count: u64,
    },
    /// Addresses of its own for each, of which only what is touched takes room.
    Apart {
        /// Bytes of the simulated device.
        capacity: u64,
    },
}

impl Space {
    /// The space that `config` asks for, on a device of `capacity` bytes.
    ///
    /// # Errors
    /// The key that makes no sense, and a sentence.
    pub fn new(config: &TraceWorkload, capacity: u64) -> Result<Self, (&'static str, String)> {
        let DeviceLayout::Concatenate { size } = config.device_layout else {
            return Ok(Self::Shared { capacity });
        };
        if matches!(config.beyond_device, BeyondDevice::Compact { .. }) {
            return Ok(Self::Apart { capacity });
        }
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
        Ok(Self::Regions { size, count })
    }

    /// The number of the region that holds what `owner` asks for.
    ///
    /// # Errors
    /// If there is no room for another region.
    #[inline]
    pub fn region(self, owner: Owner) -> Result<u64, Fault> {
        match self {
            Self::Shared { .. } => Ok(0),
            Self::Regions { count, .. } => match owner.place as u64 {
                place if place < count => Ok(place),
                _ => Err(too_many(count)),
            },
            Self::Apart { .. } => Ok(owner.device),
        }
    }

    /// Start of a region on the device, in bytes; `None` if it begins wherever the one before it ends.
    pub const fn base(self, region: u64) -> Option<u64> {
        match self {
            Self::Shared { .. } => Some(0),
            Self::Regions { size, .. } => Some(region * size),
            Self::Apart { .. } => None,
        }
    }

    /// The most bytes that a region may have.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Shared { capacity } | Self::Apart { capacity } => capacity,
            Self::Regions { size, .. } => size,
        }
    }

    /// Bytes of all regions together.
    pub const fn capacity(self) -> u64 {
        match self {
            Self::Shared { capacity } | Self::Apart { capacity } => capacity,
            Self::Regions { size, count } => size * count,
        }
    }

    /// Whether each device of the trace has addresses of its own.
    pub const fn is_apart(self) -> bool {
        !matches!(self, Self::Shared { .. })
    }
}

#[cold]
fn too_many(count: u64) -> Fault {
    Fault::other(format!(
        "device: found one more than the {count} for which workload.device_layout has room; \
         expected a smaller size, more drives, or a list in workload.devices"
    ))
}
