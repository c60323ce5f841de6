//! Typed identifiers. Those of flash count from zero over the whole drive; only
//! [`Geometry`](crate::nand::Geometry) converts between them.

use std::num::NonZeroU32;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, Checkpointed,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// The identifier of the item at `index` of a table.
            pub const fn from_index(index: usize) -> Self {
                Self(index as $inner)
            }

            /// The position of this item in a table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_type!(
    /// A logical page number: the host's address space in pages.
    Lpn(u32)
);
index_type!(
    /// An erase block, numbered plane by plane over the device.
    BlockId(u32)
);
index_type!(
    /// A program of all units of mapping of a page, numbered as pages are over the device.
    ProgramId(u32)
);
index_type!(
    /// A plane, numbered die by die over the device.
    PlaneId(u32)
);
index_type!(
    /// A die, numbered channel by channel over the device.
    DieId(u32)
);
index_type!(
    /// A channel of the device.
    ChannelId(u32)
);
index_type!(
    /// A drive of the array.
    SsdId(u16)
);
index_type!(
    /// A stream of requests with its own submission queue.
    FlowId(u16)
);

index_type!(
    /// A request in the array, by its place in the host's table; places are reused.
    RequestId(u32)
);
index_type!(
    /// Task of the controller for a request, or for itself: an index in the controller's table; indices are
    /// reused.
    TaskId(u32)
);
index_type!(
    /// A command in a drive, by its place in the drive's table; places are reused.
    CommandId(u32)
);

index_type!(
    /// A request of the run: they are numbered in the order in which they enter the array.
    RequestNumber(u64)
);

/// A physical page number, numbered block by block over the device.
///
/// Stored off by one in a `NonZeroU32`, so that a table of `Option<Ppn>` (the mapping table)
/// takes four bytes an entry.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Checkpointed,
)]
pub struct Ppn(NonZeroU32);

impl Ppn {
    /// The physical page at `index`, which must be below `u32::MAX`.
    pub const fn from_index(index: usize) -> Self {
        match NonZeroU32::new(index as u32 + 1) {
            Some(raw) => Self(raw),
            None => panic!("a device has fewer than 2^32 - 1 physical pages"),
        }
    }

    /// The position of this page in a table.
    pub const fn index(self) -> usize {
        (self.0.get() - 1) as usize
    }

    /// An entry of a table as a number: 0 for none.
    pub const fn to_entry(page: Option<Self>) -> u32 {
        match page {
            Some(page) => page.0.get(),
            None => 0,
        }
    }

    /// The inverse of [`to_entry`](Self::to_entry).
    pub const fn from_entry(entry: u32) -> Option<Self> {
        match NonZeroU32::new(entry) {
            Some(raw) => Some(Self(raw)),
            None => None,
        }
    }
}

/// The numbers below `count`, beginning with `first` and going round.
// No chain of two ranges: that took longer to go through than what is looked for.
#[inline]
pub fn going_round(first: usize, count: usize) -> impl Iterator<Item = usize> {
    (first..first + count).map(move |next| if next < count { next } else { next - count })
}

/// The planes of `die` whose bits are set in `mask`.
pub fn planes_in(mask: u32, die: DieId, planes_per_die: u32) -> impl Iterator<Item = PlaneId> {
    let (first, mut left) = (die.0 * planes_per_die, mask);
    std::iter::from_fn(move || {
        let next = (left != 0).then(|| PlaneId(first + left.trailing_zeros()));
        left &= left.wrapping_sub(1);
        next
    })
}

/// Numbers of the pages of `size` bytes that `bytes` touch.
#[inline]
pub fn pages_touched(bytes: Range<u64>, size: u64) -> Range<u32> {
    pages_before(bytes.start, size)..pages_before(bytes.end + size - 1, size)
}

/// Numbers of the pages of `size` bytes that lie within `bytes`: a page is trimmed whole or not at all.
#[inline]
pub fn pages_within(bytes: Range<u64>, size: u64) -> Range<u32> {
    pages_before(bytes.start + size - 1, size)..pages_before(bytes.end, size)
}

/// Number of whole pages of `size` bytes in the first `bytes`.
#[inline(always)]
fn pages_before(bytes: u64, size: u64) -> u32 {
    // Nearly all sizes are powers of two, and a division takes several times as long as to look.
    let pages = match size.is_power_of_two() {
        true => bytes >> size.trailing_zeros(),
        false => bytes / size,
    };
    pages as u32
}
