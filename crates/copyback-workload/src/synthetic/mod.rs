//! Requests drawn from distributions.
//!
//! Size, address, arrival, sequentiality and kind each have a random stream of their own, so that
//! changing one distribution changes no draw of another. A new distribution is an enum line in the
//! configuration and an arm in the file of its slot: [`address`], [`times`] or [`size`].

mod address;
mod arrival;
mod bursts;
pub(crate) mod draw;
mod limits;
mod logs;
mod marks;
mod mix;
mod passes;
mod random_map;
mod runs;
mod scatter;
mod size;
mod times;

use self::address::Addresses;
use self::arrival::{Arrivals, NoArrival};
use self::limits::Limits;
use self::logs::{Append, Logs};
use self::mix::Mix;
use self::passes::Passes;
use self::runs::Runs;
use self::size::Sizes;
use crate::rng::{self, Stream};
use crate::{AddressSpace, Draws, Hint, InputError, Operation, Request};
use copyback_config::quantity::Size;
use copyback_config::units::Instant;
use copyback_config::{AddressDistribution, SyntheticWorkload};

/// A generator of requests.
pub struct Generator {
    /// Key of the workload in the configuration, for messages.
    key: String,
    /// Unlimited if absent.
    requests: Option<u64>,
    issued: u64,
    /// Bytes after which no request follows, and those asked for.
    io_size: Option<u64>,
    asked: u64,
    alignment: u64,
    /// Sizes are multiples of this.
    size_alignment: u64,
    /// First byte of the footprint.
    base: u64,
    sizes: Sizes,
    addresses: Addresses,
    passes: Passes,
    arrivals: Arrivals,
    limits: Option<Box<Limits>>,
    operations: Mix,
    runs: Runs,
    /// Writers that append, in the place of `addresses` for writes.
    logs: Option<Box<Logs>>,
    trims_first: bool,
    /// A write whose bytes have been trimmed.
    trimmed: Option<Request>,
    flushes: Option<FlushRule>,
    last_arrival: Instant,
    /// Notes on fixed sizes that are rounded up.
    rounded: Vec<String>,
}

/// Notes on the fixed sizes of `config`, at `key`, that are no multiples of `alignment` bytes.
fn rounded(config: &SyntheticWorkload, key: &str, alignment: u64) -> Vec<String> {
    let sizes = config.fixed_sizes().filter(|(_, size)| !size.0.is_multiple_of(alignment));
    let note = |(name, size): (&str, Size)| {
        let (whole, unit) = (Size(size.0.next_multiple_of(alignment)), Size(alignment));
        format!("{key}.{name}: requests have {whole}, the next multiple of {unit} from {size} on")
    };
    sizes.map(note).collect()
}

/// A flush follows so many writes.
struct FlushRule {
    every: u64,
    /// Writes since the last one.
    writes: u64,
}

impl Generator {
    /// The requests of `config`, which is at `key` of the configuration, to the addresses of `space`. `name`
    /// is that of the workload, such as `workload/0`; its random streams are derived from it and from `seed`.
    ///
    /// # Errors
    /// If no unit of `alignment` bytes lies within the footprint, a fixed size is larger, or a
    /// distribution's file cannot be read or makes no sense.
    pub fn new(
        config: &SyntheticWorkload,
        space: AddressSpace,
        seed: u64,
        name: &str,
        key: &str,
    ) -> Result<Self, InputError> {
        Self::drawing(Draws::OfRun, config, space, seed, name, key)
    }

    /// The requests of [`new`](Self::new), or such as are drawn apart from them.
    pub(crate) fn drawing(
        draws: Draws,
        config: &SyntheticWorkload,
        space: AddressSpace,
        seed: u64,
        name: &str,
        key: &str,
    ) -> Result<Self, InputError> {
        let passes = match draws {
            Draws::OfRun => Passes::new(&config.address, seed, name),
            Draws::Apart => Passes::new(&config.address, seed, &format!("{name}/apart")),
        };
        // Hot addresses are those of the run.
        let scatter = rng::stream(seed, &format!("{name}/scatter"));
        let stream = |part: &str| passes.stream(part);
        let Footprint { alignment, size_alignment, first_unit, units } =
            Footprint::new(config, key, space)?;
        address::check(&config.address, key, units)?;
        let most = units * alignment / size_alignment;
        let is_of_units = config.is_of_blocks(alignment);
        if !is_of_units {
            marks::check(&config.address, key, units)?;
        }
        let address = stream("address");
        Ok(Self {
            key: key.to_owned(),
            requests: config.requests.limit(),
            issued: 0,
            io_size: config.io_size.map(|size| size.0),
            asked: 0,
            alignment,
            size_alignment,
            base: first_unit * alignment,
            sizes: Sizes::new(&config.request_size, size_alignment, most, &stream),
            addresses: Addresses::new(&config.address, units, is_of_units, address, scatter),
            arrivals: Arrivals::new(config, key, &stream)?,
            limits: Limits::new(config, key, &stream)?.map(Box::new),
            operations: Mix::new(config, stream("kind")),
            runs: Runs::new(config, alignment, stream("sequential"))?,
            logs: logs(config, key, (units, alignment), stream("logs"))?.map(Box::new),
            trims_first: config.trim_before_write,
            trimmed: None,
            flushes: config.flush_every.map(|every| FlushRule { every, writes: 0 }),
            last_arrival: Instant::START,
            passes,
            rounded: rounded(config, key, size_alignment),
        })
    }

    /// The next request, or `None` after the last. The first arrives at time zero; in a closed
    /// loop all do, unless a rate limits it: then each at the time at which it is due.
    ///
    /// # Errors
    /// If the clock ends before it arrives.
    #[inline]
    pub fn next_request(&mut self) -> Result<Option<Request>, InputError> {
        if let Some(write) = self.trimmed.take() {
            return Ok(Some(write));
        }
        if self.flushes.as_mut().is_some_and(FlushRule::is_due) {
            return Ok(Some(self.request(Operation::Flush, 0, 0)));
        }
        if self.requests == Some(self.issued) || self.io_size.is_some_and(|most| self.asked >= most)
        {
            return Ok(None);
        }
        if self.addresses.are_covered() {
            self.begin_pass();
        }
        self.issued += 1;
        let operation = match &self.limits {
            None => self.operations.draw(),
            Some(limits) => limits.operation(&mut self.operations),
        };
        let bytes = self.sizes.draw(operation == Operation::Read) * self.size_alignment;
        let is_append = operation == Operation::Write && self.logs.is_some();
        let (start, bytes) = match operation {
            Operation::Flush => (0, bytes),
            _ if is_append => (0, bytes),
            _ => self.place(operation, bytes),
        };
        let arrival = match &mut self.limits {
            None => self.arrivals.draw(),
            Some(limits) => limits.due(operation, bytes),
        };
        self.last_arrival = arrival.map_err(|fault| self.no_arrival(fault))?;
        if operation == Operation::Flush {
            return Ok(Some(self.request(operation, 0, 0)));
        }
        if let (Some(flushes), Operation::Write) = (&mut self.flushes, operation) {
            flushes.writes += 1;
        }
        if is_append {
            return Ok(self.append(bytes));
        }
        self.asked += bytes;
        let request = self.request(operation, self.base + start * self.alignment, bytes);
        if self.trims_first && operation == Operation::Write {
            self.trimmed = Some(request);
            return Ok(Some(Request { operation: Operation::Trim, ..request }));
        }
        Ok(Some(request))
    }

    /// The next write of the writers that append, or the trim before it.
    #[inline(never)]
    fn append(&mut self, bytes: u64) -> Option<Request> {
        let alignment = self.alignment;
        let Append { start, length, trimmed, handle } =
            self.logs.as_mut()?.append(bytes.div_ceil(alignment));
        let bytes = bytes.min(length * alignment);
        self.asked += bytes;
        let hint = Some(Hint::new(0, Some(handle)));
        let write = self.request(Operation::Write, self.base + start * alignment, bytes);
        let write = Request { hint, ..write };
        let Some((first, units)) = trimmed else { return Some(write) };
        self.trimmed = Some(write);
        Some(self.request(Operation::Trim, self.base + first * alignment, units * alignment))
    }

    const fn request(&self, operation: Operation, offset: u64, length: u64) -> Request {
        Request {
            arrival: self.last_arrival,
            operation,
            offset,
            length,
            measured: None,
            hint: None,
        }
    }

    #[cold]
    fn no_arrival(&self, fault: NoArrival) -> InputError {
        let times = if self.limits.is_some() { "rate" } else { "inter_arrival" };
        let (name, problem) = fault.problem(times, self.issued);
        InputError { place: format!("{}.{name}", self.key), problem }
    }

    /// Times that as many requests were handed out as there are units, if there is no end of them.
    pub const fn rounds(&self) -> u64 {
        match (self.requests, self.io_size) {
            (None, None) => 1 + self.issued / self.addresses.units(),
            (Some(_), _) | (_, Some(_)) => 1,
        }
    }

    /// Units that requests may start at.
    pub const fn units(&self) -> u64 {
        self.addresses.units()
    }

    /// Whether its writes name placement handles.
    pub const fn names_handles(&self) -> bool {
        self.logs.is_some()
    }

    /// Notes for the user about the requests so far, one line each.
    pub fn notes(&self) -> Vec<String> {
        let cut = self.sizes.cut();
        let bytes = self.addresses.units() * self.alignment;
        let note = || {
            let problem = "drawn larger than the footprint and cut to its";
            format!("{}.request_size: {cut} requests were {problem} {bytes} bytes", self.key)
        };
        self.rounded.iter().cloned().chain((cut > 0).then(note)).collect()
    }

    /// Share of the requests that were handed out, from 0 to 1; of requests without end, none.
    pub fn consumed(&self) -> f64 {
        let share = |done: u64, of: Option<u64>| {
            of.map(|of| if of == 0 { 1.0 } else { done as f64 / of as f64 })
        };
        let shares = [share(self.issued, self.requests), share(self.asked, self.io_size)];
        shares.into_iter().flatten().fold(0.0, f64::max).min(1.0)
    }

    /// First unit and bytes of a request of `bytes`: behind the one of its kind before it, or anywhere.
    #[inline(always)]
    fn place(&mut self, operation: Operation, bytes: u64) -> (u64, u64) {
        let length = bytes.div_ceil(self.alignment);
        let (start, length) = match self.runs.follows() {
            true => (self.runs.next(operation, length, self.addresses.units()), length),
            false => self.addresses.draw(length),
        };
        self.runs.note(operation, start, length);
        (start, bytes.min(length * self.alignment))
    }

    /// Each block has been covered: they are covered anew.
    #[cold]
    fn begin_pass(&mut self) {
        let Some(streams) = self.passes.repeated() else { return self.addresses.begin(None) };
        self.sizes.reseed(&|part| streams.stream(part));
        self.operations.reseed(streams.stream("kind"));
        self.runs.reseed(streams.stream("sequential"));
        self.addresses.begin(Some(streams.stream("address")));
    }
}

fn logs(
    config: &SyntheticWorkload,
    key: &str,
    space: (u64, u64),
    random: Stream,
) -> Result<Option<Logs>, InputError> {
    let AddressDistribution::Logs { streams } = &config.address else { return Ok(None) };
    Logs::new(streams, &format!("{key}.address.streams"), space, random).map(Some)
}

impl FlushRule {
    /// Whether it is time for one; then it counts anew.
    const fn is_due(&mut self) -> bool {
        let is_due = self.writes == self.every;
        if is_due {
            self.writes = 0;
        }
        is_due
    }
}

/// The part of the device that a workload uses, in units of its alignment.
struct Footprint {
    alignment: u64,
    size_alignment: u64,
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
            return Err(fail(config.alignment_key(), alignment, expected));
        }
        let all_units = capacity / alignment;
        let first_unit = share_of(all_units, config.offset.0);
        let units = share_of(all_units, config.footprint.0).min(all_units - first_unit);
        if units == 0 {
            let expected = format!("at least one unit of {alignment} bytes before the device ends");
            return Err(fail("footprint", 0, expected));
        }
        let size_alignment = config.size_alignment.map_or(alignment, |size| size.0);
        if size_alignment == 0 || !alignment.is_multiple_of(size_alignment) {
            let expected = format!("a part of the alignment, {alignment}");
            return Err(fail("size_alignment", size_alignment, expected));
        }
        let bytes = units * alignment;
        if let Some((key, size)) = config.fixed_sizes().find(|(_, size)| size.0 > bytes) {
            let expected = format!("at most the footprint's {bytes} on this device");
            return Err(fail(key, size.0, expected));
        }
        Ok(Self { alignment, size_alignment, first_unit, units })
    }
}

/// The whole units in `share` of `units`; a share such as 0.1 of 10, which floating point may put
/// just below a whole number, counts as that number.
fn share_of(units: u64, share: f64) -> u64 {
    let exact = units as f64 * share.clamp(0.0, 1.0);
    ((exact * (1.0 + f64::EPSILON)) as u64).min(units)
}
