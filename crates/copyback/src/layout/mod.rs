//! Placement of an array's bytes on its drives, and the pieces that a request is split into. Pure arithmetic:
//! no events, no time, no drives.
//!
//! ```text
//! jbod, single   the drives one after the other
//! raid0          units of `array.stripe` bytes that go from drive to drive
//! raid1          every drive holds all bytes
//! raid10         units that go from drive to drive, of each as many copies as asked for
//! raid5, raid6   as raid0, with one or two parity units a stripe that move from drive to drive
//! ```

mod agreement;
mod mirrored;
mod missing;
mod parity;
mod plain;
mod plan;

use std::ops::Range;

pub use self::agreement::{PartialParities, PartialParity};
pub use self::mirrored::ChooseCopy;
use self::mirrored::{FirstCopy, Mirrored};
pub use self::missing::Missing;
use self::parity::Parity;
use self::plain::{Concatenated, Striped};
pub use self::plan::{Piece, Pieces, Plan};
use crate::checkpoint::Checkpointed;
use crate::config;
use crate::ids::SsdId;
use crate::workload::Operation;

/// The layout of an array: how its address space, `0..capacity` in bytes, is spread over its drives.
#[derive(Debug, Clone, Checkpointed)]
pub struct Layout {
    devices: u32,
    capacity: u64,
    kind: Kind,
}

#[derive(Debug, Clone, Checkpointed)]
enum Kind {
    Concatenated(Concatenated),
    Striped(Striped),
    Parity(Parity),
    Mirrored(Mirrored),
}

impl Layout {
    /// The layout of a checked configuration over drives of `device_bytes` each.
    pub fn new(config: &config::Array, device_bytes: u64) -> Self {
        let (devices, unit) = (config.devices, config.stripe.0);
        let kind = match config.layout {
            config::Layout::Single | config::Layout::Jbod => {
                Kind::Concatenated(Concatenated { device_bytes })
            }
            config::Layout::Raid0 => Kind::Striped(Striped { devices, unit }),
            config::Layout::Raid5 | config::Layout::Raid6 => {
                Kind::Parity(Parity { devices, parities: config.layout.parities(), unit })
            }
            config::Layout::Raid1 | config::Layout::Raid10 => {
                Kind::Mirrored(Mirrored::new(config, device_bytes))
            }
        };
        Self { devices, capacity: config.capacity(device_bytes), kind }
    }

    /// Bytes of the array's address space.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Whether copies or parity make up for what a drive loses.
    pub const fn is_redundant(&self) -> bool {
        matches!(self.kind, Kind::Parity(_) | Kind::Mirrored(_))
    }

    /// Whether all data can be read without what is `missing`.
    #[inline]
    pub fn survives(&self, missing: &Missing) -> bool {
        missing.is_empty()
            || match &self.kind {
                Kind::Concatenated(_) | Kind::Striped(_) => false,
                Kind::Parity(layout) => missing.count() <= layout.parities,
                Kind::Mirrored(layout) => layout.survives(missing),
            }
    }

    /// Bytes of the array's address space that cannot be had without what is `missing`.
    pub fn lost_bytes(&self, missing: &Missing) -> u64 {
        match &self.kind {
            Kind::Concatenated(_) | Kind::Striped(_) => {
                u64::from(missing.count()) * self.used_device_bytes()
            }
            Kind::Parity(layout) => layout.lost_bytes(self.capacity, missing),
            Kind::Mirrored(layout) => layout.lost_bytes(missing),
        }
    }

    /// Drives.
    pub fn devices(&self) -> usize {
        self.devices as usize
    }

    /// Bytes of each drive that the layout uses: those that a rebuild writes anew.
    pub fn used_device_bytes(&self) -> u64 {
        match &self.kind {
            Kind::Concatenated(_) | Kind::Striped(_) => self.capacity / u64::from(self.devices),
            Kind::Parity(layout) => self.capacity / u64::from(self.devices - layout.parities),
            Kind::Mirrored(layout) => layout.used_device_bytes(),
        }
    }

    /// Plans the pieces of `operation` on the array's `bytes`, in the place of what `plan` held. A flush has no
    /// bytes.
    ///
    /// A read of mirrors goes to the first copies that are there ([`Self::read_copies`] chooses).
    ///
    /// A trim is passed through where there is no parity. Elsewhere only whole stripes are trimmed:
    /// a trimmed unit no longer agrees with its parity unless that is trimmed too, and to make it
    /// agree would cost reads and writes for a mere hint. Linux md does the same.
    ///
    /// # Panics
    ///
    /// If the layout does not [survive](Self::survives) what is missing: the configuration allows no such array.
    pub fn plan(
        &self,
        operation: Operation,
        bytes: Range<u64>,
        missing: &Missing,
        plan: &mut Plan,
    ) {
        debug_assert!(bytes.start <= bytes.end && bytes.end <= self.capacity, "{bytes:?}");
        assert!(self.survives(missing), "{missing:?}");
        plan.start(operation);
        match operation {
            Operation::Flush => self.flush(missing, plan),
            _ if bytes.is_empty() => {}
            _ => self.spread(operation, bytes, missing, plan),
        }
    }

    /// The piece that `operation` on the array's `bytes` is, all drives being there, if it is seen at once that it is but
    /// one: [`plan`](Self::plan) knows of every request.
    pub fn only_piece(&self, operation: Operation, bytes: Range<u64>) -> Option<Piece> {
        if bytes.is_empty() || operation == Operation::Flush {
            return None;
        }
        let (device, offset) = match (&self.kind, operation) {
            (Kind::Concatenated(layout), _) => layout.place_of(&bytes)?,
            (Kind::Striped(layout), _) => layout.place_of(&bytes)?,
            (Kind::Parity(layout), Operation::Read) => layout.place_of(&bytes)?,
            (Kind::Parity(_) | Kind::Mirrored(_), _) => return None,
        };
        Some(Piece { device, operation, offset, length: bytes.end - bytes.start })
    }

    fn spread(&self, operation: Operation, bytes: Range<u64>, missing: &Missing, plan: &mut Plan) {
        match (&self.kind, operation) {
            (Kind::Concatenated(layout), _) => layout.pieces(bytes, plan.phase(operation)),
            (Kind::Striped(layout), _) => layout.pieces(bytes, plan.phase(operation)),
            (Kind::Parity(layout), Operation::Write) => layout.write(bytes, missing, plan),
            (Kind::Parity(layout), Operation::Trim) => layout.trim(bytes, missing, plan),
            (Kind::Parity(layout), _) => {
                let is_whole = layout.read(bytes, missing, &[], plan);
                assert!(is_whole, "parities make up for all of {missing:?}");
            }
            (Kind::Mirrored(layout), Operation::Read) => {
                layout.read(bytes, missing, &mut FirstCopy, plan);
            }
            (Kind::Mirrored(layout), _) => layout.write(bytes, missing, plan),
        }
    }

    /// Plans a read of the array's `bytes`, each chunk from the copy that `choice` picks of those that are there.
    /// Nothing is chosen where there are no copies.
    pub fn read_copies(
        &self,
        bytes: Range<u64>,
        missing: &Missing,
        choice: &mut dyn ChooseCopy,
        plan: &mut Plan,
    ) {
        let Kind::Mirrored(layout) = &self.kind else {
            return self.plan(Operation::Read, bytes, missing, plan);
        };
        debug_assert!(bytes.start <= bytes.end && bytes.end <= self.capacity, "{bytes:?}");
        plan.start(Operation::Read);
        if !bytes.is_empty() {
            layout.read(bytes, missing, choice, plan);
        }
    }

    /// Plans a read of the array's `bytes` that takes nothing from the drives in `avoid`: what they
    /// hold is made up from the others. False, and an empty plan, if that can't be done.
    pub fn reads_around(
        &self,
        bytes: Range<u64>,
        avoid: &[SsdId],
        missing: &Missing,
        plan: &mut Plan,
    ) -> bool {
        plan.start(Operation::Read);
        let Kind::Parity(layout) = &self.kind else { return false };
        let is_whole = layout.read(bytes, missing, avoid, plan);
        if !is_whole {
            plan.start(Operation::Read);
        }
        is_whole
    }

    /// Whether `bytes` of `device` can be had from drives that are not `missing`, as `device` is.
    pub fn can_rebuild(&self, device: SsdId, bytes: Range<u64>, missing: &Missing) -> bool {
        match &self.kind {
            Kind::Concatenated(_) | Kind::Striped(_) => false,
            Kind::Parity(layout) => missing.count() <= layout.parities,
            Kind::Mirrored(layout) => layout.can_rebuild(device, bytes, missing),
        }
    }

    /// Plans to write `bytes` of the replacement of `device` anew, at most up to
    /// [`Self::used_device_bytes`]. What is already there is taken not to be.
    ///
    /// # Panics
    ///
    /// If they [can't](Self::can_rebuild) be had from the other drives.
    pub fn rebuild(&self, device: SsdId, bytes: Range<u64>, missing: &Missing, plan: &mut Plan) {
        plan.start(Operation::Write);
        let bytes = bytes.start..bytes.end.min(self.used_device_bytes());
        match &self.kind {
            Kind::Concatenated(_) | Kind::Striped(_) => {
                panic!("a drive can't be rebuilt without copies or parity")
            }
            Kind::Parity(layout) => layout.rebuild(device, bytes, missing, plan),
            Kind::Mirrored(layout) => layout.rebuild(device, bytes, missing, plan),
        }
    }

    /// Plans to read `bytes` of every drive of which nothing is `missing`, at most up to [`Self::used_device_bytes`], while
    /// nobody writes what lies there.
    ///
    /// # Panics
    ///
    /// If there are neither copies nor parity.
    pub fn scrub(&self, bytes: Range<u64>, missing: &Missing, plan: &mut Plan) {
        plan.start(Operation::Read);
        let bytes = bytes.start..bytes.end.min(self.used_device_bytes());
        match &self.kind {
            Kind::Concatenated(_) | Kind::Striped(_) => {
                panic!("drives can't be scrubbed without copies or parity")
            }
            Kind::Parity(layout) => layout.scrub(bytes, missing, plan),
            Kind::Mirrored(layout) => layout.scrub(bytes, missing, plan),
        }
    }

    /// Every drive that is there, and every replacement that holds something.
    fn flush(&self, missing: &Missing, plan: &mut Plan) {
        let devices = (0..self.devices()).map(SsdId::from_index);
        for device in devices.filter(|device| missing.from(*device) != Some(0)) {
            plan.then.push(device, 0..0);
        }
    }
}
