//! Pages that are overwritten to prepare a drive, and those trimmed among them.

use rand::RngExt;

use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};
use crate::config::{Flow, Overwritten, Resolved};
use crate::ids::{Lpn, SsdId, pages_touched, pages_within};
use crate::layout::{Layout, Missing, Plan};
use crate::placement::HostPage;
use crate::rng::Stream;
use crate::workload::{Endless, InputError, Operation, Request};

/// Pages whose table entries are fetched together.
pub const BATCH: usize = 16;

/// Changes that are made next, drawn ahead.
#[derive(Debug, Checkpointed)]
pub struct Ahead {
    changes: Changes,
    drawn: Vec<Change>,
    /// Number of changes that have been made.
    done: usize,
    /// Fault of the workload whose changes they are. None follows.
    #[checkpoint(skip)]
    fault: Option<InputError>,
}

impl Ahead {
    /// Draws of `changes`.
    pub fn new(changes: Changes) -> Self {
        Self { changes, drawn: Vec::with_capacity(BATCH), done: 0, fault: None }
    }

    /// Fault of the workload, if there is one.
    pub const fn fault(&self) -> Option<&InputError> {
        self.fault.as_ref()
    }

    /// The next change; none behind a fault, and before the [next are drawn](Self::draw).
    pub fn next(&self) -> Option<Change> {
        self.drawn.get(self.done).copied()
    }

    /// The next change has been made.
    pub const fn made(&mut self) {
        self.done += 1;
    }

    /// Whether all changes that were drawn have been made.
    pub const fn is_over(&self) -> bool {
        self.done == self.drawn.len()
    }

    /// Draws the next changes to a drive which is to be written `left` times more. Returns the pages of those that are
    /// writes. How many at a time depends on nothing but what is left; behind a fault there are none.
    pub fn draw(&mut self, left: u64) -> impl Iterator<Item = HostPage> + Clone {
        self.done = 0;
        self.drawn.clear();
        if self.fault.is_none() {
            self.fault = self.changes.draw(left.min(BATCH as u64), &mut self.drawn).err();
        }
        self.drawn.iter().filter_map(|change| match change {
            Change::Write(page) => Some(*page),
            Change::Trim(_) => None,
        })
    }
}

/// A change of one page.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub enum Change {
    /// Write of the page.
    Write(HostPage),
    /// Trim of the page.
    Trim(Lpn),
}

/// Source of changes.
#[derive(Debug, Checkpointed)]
pub enum Changes {
    /// Writes of filled pages, each as likely as any other.
    Uniform {
        /// Random choices.
        random: Stream,
        /// Number of filled pages.
        fill: u32,
    },
    /// Changes of the workload.
    Workload(Box<OfWorkload>),
}

impl Changes {
    /// The changes of a checked configuration to a drive of which `fill` pages are filled.
    pub fn of(config: &Resolved, device: SsdId, mut random: Stream, fill: u32) -> Self {
        match config.precondition.addresses {
            Overwritten::Uniform => Self::Uniform { random, fill },
            Overwritten::Workload => {
                let has_trace = config.workload.flows().iter().any(Flow::is_trace);
                let most = if has_trace { u64::from(fill) } else { 0 };
                let left_out = random.random_range(0..=most);
                Self::Workload(Box::new(OfWorkload::new(config, device, left_out)))
            }
        }
    }

    /// Adds the next changes to `drawn`, about `writes` of them writes.
    ///
    /// # Errors
    /// If a trace is malformed, or nothing is written to the drive.
    pub fn draw(&mut self, writes: u64, drawn: &mut Vec<Change>) -> Result<(), InputError> {
        match self {
            Self::Uniform { random, fill } => {
                let page = |_| HostPage::without_hint(Lpn(random.random_range(0..*fill)));
                drawn.extend((0..writes).map(page).map(Change::Write));
                Ok(())
            }
            Self::Workload(workload) => workload.draw(drawn),
        }
    }
}

/// The changes that a workload makes to one drive.
pub struct OfWorkload {
    config: Resolved,
    /// Requests of the workload, once it is open.
    requests: Option<Box<Endless>>,
    device: SsdId,
    layout: Layout,
    /// Requests in a row without a write to this drive, of which there is at most one a sector of the array.
    in_vain: u64,
    /// Requests that have been taken.
    taken: u64,
    /// Requests before the first that counts. A trace is the same for every seed; where in it the preparation begins
    /// is not, so that drives differ.
    left_out: u64,
    plan: Plan,
}

impl OfWorkload {
    fn new(config: &Resolved, device: SsdId, left_out: u64) -> Self {
        Self {
            config: config.clone(),
            requests: None,
            device,
            layout: Layout::new(&config.array, config.drive.capacity.bytes),
            in_vain: 0,
            taken: 0,
            left_out,
            plan: Plan::default(),
        }
    }

    /// Adds the changes up to those of the next request that writes to the drive.
    fn draw(&mut self, drawn: &mut Vec<Change>) -> Result<(), InputError> {
        while self.taken < self.left_out {
            self.take()?;
        }
        loop {
            let request = self.take()?;
            let before = drawn.len();
            self.spread(&request, drawn);
            if request.operation == Operation::Write && drawn.len() > before {
                self.in_vain = 0;
                return Ok(());
            }
            self.in_vain += 1;
            if self.in_vain > self.layout.capacity() / 512 {
                return Err(self.nothing_written());
            }
        }
    }

    /// Takes the next request of the workload, which is opened for the first: a drive that comes out of a file needs none.
    fn take(&mut self) -> Result<Request, InputError> {
        self.taken += 1;
        let requests = match &mut self.requests {
            Some(requests) => requests,
            closed => closed.insert(Box::new(Endless::open(&self.config)?)),
        };
        requests.take()
    }

    fn spread(&mut self, request: &Request, drawn: &mut Vec<Change>) {
        let bytes = request.offset..request.offset + request.length;
        self.layout.plan(request.operation, bytes, &Missing::default(), &mut self.plan);
        let size = self.config.drive.pages.size.0;
        for piece in self.plan.then.iter().filter(|piece| piece.device == self.device) {
            let bytes = piece.offset..piece.end();
            match piece.operation {
                Operation::Trim => {
                    drawn.extend(pages_within(bytes, size).map(Lpn).map(Change::Trim));
                }
                _ => {
                    let write = |lpn| Change::Write(HostPage { lpn, hint: request.hint });
                    drawn.extend(pages_touched(bytes, size).map(Lpn).map(write));
                }
            }
        }
    }

    fn nothing_written(&self) -> InputError {
        let problem = format!(
            "found \"workload\" with a workload that writes nothing to drive {}; allowed: \"uniform\", or a \
             workload that writes to every drive",
            self.device.0
        );
        InputError { place: "precondition.addresses".to_owned(), problem }
    }
}

impl std::fmt::Debug for OfWorkload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OfWorkload")
            .field("device", &self.device)
            .field("taken", &self.taken)
            .finish()
    }
}

/// A checkpoint keeps how many requests have been taken: the workload is opened and read again.
impl Checkpointed for OfWorkload {
    fn keep(&self, out: &mut Writer<'_>) {
        self.device.keep(out);
        self.in_vain.keep(out);
        self.left_out.keep(out);
        self.taken.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let device = SsdId::load(from)?;
        let in_vain = u64::load(from)?;
        let left_out = u64::load(from)?;
        let mut of_workload = Self::new(from.config(), device, left_out);
        for _ in 0..u64::load(from)? {
            // A fault is met again by the next draw.
            if of_workload.take().is_err() {
                break;
            }
        }
        Ok(Self { in_vain, ..of_workload })
    }
}
