//! Requests drawn from distributions.
//!
//! Size, address, arrival, sequentiality and kind each have a random stream of their own, so that
//! changing one distribution changes no draw of another. A new distribution is an enum line in the
//! configuration and an arm in the file of its slot: [`address`], [`times`] or [`size`].

mod address;
mod arrival;
mod bursts;
mod draw;
mod mix;
mod scatter;
mod size;
mod times;

use self::address::Addresses;
use self::arrival::{Arrivals, NoArrival};
use self::draw::Chance;
use self::mix::Mix;
use self::size::Sizes;
use crate::config::SyntheticWorkload;
use crate::config::quantity::Size;
use crate::rng::{Stream, stream};
use crate::workload::{AddressSpace, InputError, Operation, Request};

/// A generator of requests.
pub struct Generator {
    /// That of the workload in the configuration.
    key: String,
    /// Unlimited if absent.
    requests: Option<u64>,
    issued: u64,
    alignment: u64,
    /// First byte of the footprint.
    base: u64,
    sizes: Sizes,
    addresses: Addresses,
    arrivals: Arrivals,
    operations: Mix,
    sequential: Chance,
    runs: Stream,
    /// Where the next sequential read, write and trim start, in units from the base.
    next: [u64; 3],
}

impl Generator {
    /// The requests of `config`, which is at `key` of the configuration, to the addresses of `space`. `name`
    /// is that of the workload, such as `workload/0`; its random streams are derived from it and from `seed`.
    ///
    /// # Errors
    /// If no unit of `alignment` bytes lies within the footprint, or a distribution's file cannot
    /// be read or makes no sense.
    pub fn new(
        config: &SyntheticWorkload,
        space: AddressSpace,
        seed: u64,
        name: &str,
        key: &str,
    ) -> Result<Self, InputError> {
        let stream = |part: &str| stream(seed, &format!("{name}/{part}"));
        let footprint = Footprint::new(config, key, space)?;
        let alignment = config.alignment_on(Size(space.page_size)).0;
        let units = footprint.units;
        Ok(Self {
            key: key.to_owned(),
            requests: config.requests.limit(),
            issued: 0,
            alignment,
            base: footprint.first_unit * alignment,
            sizes: Sizes::new(&config.request_size, alignment, units, &stream),
            addresses: Addresses::new(&config.address, units, stream("address"), stream("scatter")),
            arrivals: Arrivals::new(config, key, &stream)?,
            operations: Mix::new(config, stream("kind")),
            sequential: Chance::new(config.sequential_share.0),
            runs: stream("sequential"),
            next: [0; 3],
        })
    }

    /// The next request, or `None` after the last. The first arrives at time zero; in a closed
    /// loop all do.
    ///
    /// # Errors
    /// If the clock ends before it arrives.
    #[inline]
    pub fn next_request(&mut self) -> Result<Option<Request>, InputError> {
        if self.requests == Some(self.issued) {
            return Ok(None);
        }
        self.issued += 1;
        let operation = self.operations.draw();
        let units = self.sizes.draw(operation == Operation::Read);
        let arrival = self.arrivals.draw().map_err(|fault| self.no_arrival(fault))?;
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ => {
                let start = self.start(operation, units);
                (self.base + start * self.alignment, units * self.alignment)
            }
        };
        Ok(Some(Request { arrival, operation, offset, length, measured: None }))
    }

    #[cold]
    fn no_arrival(&self, fault: NoArrival) -> InputError {
        let (name, problem) = fault.told(self.issued);
        InputError { place: format!("{}.{name}", self.key), problem }
    }

    /// Share of the requests that were handed out, from 0 to 1; of requests without end, none.
    pub fn consumed(&self) -> f64 {
        match self.requests {
            None => 0.0,
            Some(0) => 1.0,
            Some(requests) => self.issued as f64 / requests as f64,
        }
    }

    /// First unit of a request: where the last one of its kind ended, or anywhere. The first run
    /// begins at the start of the footprint, and one that reaches its end goes on there.
    fn start(&mut self, operation: Operation, units: u64) -> u64 {
        let follows = self.sequential.draw(&mut self.runs);
        let kind = operation as usize;
        let next = self.next[kind];
        let start = match follows {
            true if next + units <= self.addresses.units() => next,
            true => 0,
            false => self.addresses.draw(units),
        };
        self.next[kind] = start + units;
        start
    }
}

/// The part of the device that a workload uses, in units of its alignment.
struct Footprint {
    first_unit: u64,
    units: u64,
}

impl Footprint {
    fn new(config: &SyntheticWorkload, key: &str, space: AddressSpace) -> Result<Self, InputError> {
        let alignment = config.alignment_on(Size(space.page_size)).0;
        let capacity = space.bytes;
        let fail = |name: &str, found: u64, expected: String| InputError {
            place: format!("{key}.{name}"),
            problem: format!("found {found} bytes; expected {expected}"),
        };
        if alignment == 0 || alignment > capacity {
            let expected = format!("1 byte to the device's {capacity}");
            return Err(fail("alignment", alignment, expected));
        }
        let all_units = capacity / alignment;
        let first_unit = share_of(all_units, config.offset.0);
        let units = share_of(all_units, config.footprint.0).min(all_units - first_unit);
        if units == 0 {
            let expected = format!("at least one unit of {alignment} bytes before the device ends");
            return Err(fail("footprint", 0, expected));
        }
        Ok(Self { first_unit, units })
    }
}

/// The whole units in `share` of `units`; a share such as 0.1 of 10, which floating point may put
/// just below a whole number, counts as that number.
fn share_of(units: u64, share: f64) -> u64 {
    let exact = units as f64 * share.clamp(0.0, 1.0);
    ((exact * (1.0 + f64::EPSILON)) as u64).min(units)
}
