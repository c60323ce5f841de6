//! A drive that is driven by hand, and a log of what its dies and channels do.

use copyback::collector::job::Job;
use copyback::collector::permit::Asked;
use copyback::config::{Config, Loader, Resolved};
use copyback::event::{Agenda, Event};
use copyback::ftl::{Ftl, Left, ReclaimStep, Stage, Translated};
use copyback::ids::{CommandId, Lpn, PlaneId};
use copyback::outcome::Outcome;
use copyback::placement::HostPage;
use copyback::ssd::{Announced, Cut, FaultReport, Finished, Owner, PageWrite, Part, Parts, Ssd};
use copyback::units::{Duration, Instant};
use copyback::workload::Hint;

/// One die of one plane, with eight blocks of four pages, half of them for the host.
const TOY: &str = r#"
audit = true
[precondition]
fill = 0.0
[ssd.geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 8
pages_per_block = 4
page_size = "4KiB"
[ssd.timing]
command = "1us"
read = "20us"
program = "200us"
erase = "1500us"
transfer_rate = "409.6MB/s"
[ssd.ftl]
over_provisioning = 0.5
allocation = "PCWD"
[ssd.gc]
soft_threshold = { blocks = 2 }
"#;

/// A point in time.
pub fn at(ns: u64) -> Instant {
    Instant::from_ns(ns)
}

/// The toy with some settings changed.
pub fn config(changes: &[(&str, &str)]) -> Config {
    let loader = Loader::new().toml(TOY, "toy.toml", None);
    let loader = changes.iter().fold(loader, |loader, (key, value)| loader.set(key, value));
    loader.load().expect("the toy is valid")
}

/// A page operation that has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Done {
    pub request: u32,
    pub ns: u64,
    pub parts: Parts,
    /// What has become of it.
    pub outcome: Outcome,
}

/// A drive, its events, and everything that has happened.
pub struct Toy {
    pub ssd: Ssd,
    pub done: Vec<Done>,
    /// When which die or channel has ended an operation.
    pub log: Vec<String>,
    /// Whether the events of an instant are applied in reverse order.
    pub reversed: bool,
    config: Resolved,
    agenda: Agenda,
    now: Instant,
    random: u64,
}

impl Toy {
    /// An empty drive.
    pub fn new(changes: &[(&str, &str)]) -> Self {
        Self::filled(changes, &[])
    }

    /// A drive on which these pages have been written one after the other, each to its own plane.
    /// Planes short of space have been collected, but never to level wear.
    pub fn filled(changes: &[(&str, &str)], pages: &[u32]) -> Self {
        // Somebody looks: the end of each transfer is an event, and the log tells of it.
        Self::of(&config(&[&[("metrics.slowest", "1")], changes].concat()), pages)
    }

    /// The same that nobody looks at: it takes every shortcut, and the ends of transfers that nobody waits
    /// for are no events.
    pub fn unobserved(changes: &[(&str, &str)], pages: &[u32]) -> Self {
        Self::of(&config(changes), pages)
    }

    fn of(config: &Config, pages: &[u32]) -> Self {
        let config = config.resolve();
        let mut ftl = Ftl::new(&config, "ssd/0");
        let keeps_entries = config.drive.table.is_some_and(|of| of.translation_pages == 0);
        for (version, lpn) in pages.iter().enumerate() {
            if keeps_entries && ftl.translate(Lpn(*lpn), Stage::Asked) != Translated::Known {
                let room = ftl.translate(Lpn(*lpn), Stage::NextForRoom);
                assert_eq!(room, Translated::Room(Left::Nothing), "all entries fit");
                ftl.translate(Lpn(*lpn), Stage::WasRead);
            }
            let plane = ftl.allocation().plane_of(Lpn(*lpn)).unwrap_or(PlaneId(0));
            if ftl.want(plane, Lpn(*lpn)) {
                collect(&mut ftl, plane);
            }
            ftl.write(plane, HostPage::without_hint(Lpn(*lpn)), version as u64 + 1);
            collect(&mut ftl, plane);
        }
        let ssd = Ssd::new(&config, ftl, pages.len() as u64);
        Self {
            ssd,
            done: Vec::new(),
            log: Vec::new(),
            reversed: false,
            config,
            agenda: Agenda::default(),
            now: Instant::START,
            random: 0,
        }
    }

    /// Hands in a read at `ns`.
    pub fn read(&mut self, ns: u64, request: u32, lpn: u32) {
        self.run_until(ns);
        self.ssd.read(Owner::Host(CommandId(request)), Lpn(lpn), Duration::ZERO, at(ns));
        self.settle();
    }

    /// Hands in several writes of whole pages at `ns`, before any of them can start.
    pub fn writes(&mut self, ns: u64, writes: &[(u32, u32)]) {
        self.run_until(ns);
        for (request, lpn) in writes {
            self.ssd.write(page_write(*request, *lpn, true), at(ns));
        }
        self.settle();
    }

    /// Hands in several reads at `ns`, before any of them can start.
    pub fn reads(&mut self, ns: u64, reads: &[(u32, u32)]) {
        self.run_until(ns);
        for (request, lpn) in reads {
            self.ssd.read(Owner::Host(CommandId(*request)), Lpn(*lpn), Duration::ZERO, at(ns));
        }
        self.settle();
    }

    /// Hands in the write of a whole page at `ns`.
    pub fn write(&mut self, ns: u64, request: u32, lpn: u32) {
        self.writes(ns, &[(request, lpn)]);
    }

    /// Hands in writes with a hint at `ns`, before any of them can start.
    pub fn writes_with(&mut self, ns: u64, hint: Hint, writes: &[(u32, u32)]) {
        self.run_until(ns);
        for (request, lpn) in writes {
            let hint = Some(hint);
            self.ssd.write(PageWrite { hint, ..page_write(*request, *lpn, true) }, at(ns));
        }
        self.settle();
    }

    /// Hands in the write of a part of a page at `ns`.
    pub fn write_part(&mut self, ns: u64, request: u32, lpn: u32) {
        self.run_until(ns);
        self.ssd.write(page_write(request, lpn, false), at(ns));
        self.settle();
    }

    /// Trims a page at `ns`.
    pub fn trim(&mut self, ns: u64, lpn: u32) {
        self.run_until(ns);
        self.ssd.trim(Lpn(lpn), at(ns));
        self.settle();
    }

    /// Announces at `ns` the commands that come next.
    pub fn announce(&mut self, ns: u64, commands: &[Announced]) {
        self.run_until(ns);
        if let Some(idle) = self.ssd.idle_time() {
            idle.forget_announced();
            commands.iter().for_each(|command| idle.announce(*command));
        }
        self.settle();
    }

    /// Asks for collections at `ns`.
    pub fn ask(&mut self, ns: u64, asked: Asked) {
        self.run_until(ns);
        self.ssd.ask_to_collect(asked);
        self.settle();
    }

    /// Withdraws at `ns` what was asked.
    pub fn stop_asking(&mut self, ns: u64) {
        self.run_until(ns);
        self.ssd.stop_asking();
        self.settle();
    }

    /// Cuts the power at `ns`, before anything that would happen then. The power comes back, and the mapping
    /// is found again, in no time.
    pub fn cut_power(&mut self, ns: u64) -> Cut {
        self.run_until(ns - 1);
        self.agenda.clear();
        self.now = at(ns);
        let cut = self.ssd.lose_power(&self.config, "ssd/0/power/1", 0, self.now);
        self.ssd.start_up(self.now);
        self.settle();
        cut
    }

    /// Lets everything happen that happens until `ns`, this instant included.
    pub fn run_until(&mut self, ns: u64) {
        while self.agenda.next_time().is_some_and(|next| next <= at(ns)) {
            self.step();
        }
        self.now = at(ns);
    }

    /// Lets everything happen.
    pub fn run(&mut self) {
        while self.agenda.next_time().is_some() {
            self.step();
        }
        assert_eq!(self.ssd.scheduler().outstanding(), 0, "operations are left: {:?}", self.log);
        self.ssd.backend().ftl.check().expect("the tables agree");
    }

    fn step(&mut self) {
        let Some(next) = self.agenda.next_time() else { return };
        self.now = next;
        let mut events: Vec<_> = std::iter::from_fn(|| self.agenda.pop_at(next)).collect();
        if self.reversed {
            events.reverse();
        }
        for event in events {
            self.apply(event);
        }
        self.settle();
    }

    /// Faults so far, if there can be any.
    pub fn fault_report(&self) -> Option<FaultReport> {
        let backend = self.ssd.backend();
        backend.condition.report(&backend.ftl, &backend.counters)
    }

    fn apply(&mut self, event: Event) {
        let ns = self.now.as_ns();
        match event {
            Event::ArrayDone(die) => {
                self.log.push(format!("{ns} die {}", die.0));
            }
            Event::TransferDone(channel) => {
                self.log.push(format!("{ns} channel {}", channel.0));
            }
            Event::IdleLook | Event::RefreshLook | Event::LostDieLook => {}
            other => panic!("a drive alone has no {other:?}"),
        }
        self.ssd.apply(event, self.now);
    }

    fn settle(&mut self) {
        self.ssd.arbitrate(self.now, &mut self.agenda);
        let mut finished = Vec::new();
        self.ssd.take_finished(&mut finished);
        let ns = self.now.as_ns();
        for Finished { owner, parts, outcome, .. } in finished {
            let Owner::Host(CommandId(request)) = owner else { panic!("no buffer here") };
            self.done.push(Done { request, ns, parts, outcome });
        }
        assert_eq!(self.ssd.violation(), None, "at {ns}");
    }

    /// What time it is.
    pub fn now_ns(&self) -> u64 {
        self.now.as_ns()
    }

    /// When `request` has ended.
    pub fn ended(&self, request: u32) -> Option<u64> {
        self.done.iter().find(|done| done.request == request).map(|done| done.ns)
    }

    /// Asserts that `request` is under way at `ns` - 1 and has ended at `ns`.
    #[track_caller]
    pub fn assert_ends(&mut self, request: u32, ns: u64) {
        self.run_until(ns - 1);
        assert_eq!(self.ended(request), None, "request {request} ends too early: {:?}", self.log);
        self.run_until(ns);
        assert_eq!(self.ended(request), Some(ns), "request {request}: {:?}", self.log);
    }

    /// Asserts that `request` was rejected at `ns`.
    #[track_caller]
    pub fn assert_rejected(&self, request: u32, ns: u64) {
        let done = self.done.iter().find(|done| done.request == request);
        assert_eq!(
            done.map(|done| (done.ns, done.outcome)),
            Some((ns, Outcome::Rejected)),
            "request {request}"
        );
    }

    /// Whether `request` has ended, and read in vain.
    pub fn read_in_vain(&self, request: u32) -> bool {
        let done = self.done.iter().find(|done| done.request == request);
        done.expect("it has ended").outcome == Outcome::Uncorrectable
    }

    /// Asserts the parts of the response to `request`, in nanoseconds; all others are zero.
    #[track_caller]
    pub fn assert_parts(&self, request: u32, expected: &[(Part, u64)]) {
        let done = self.done.iter().find(|done| done.request == request).expect("it has ended");
        let mut parts = Parts::default();
        for (part, ns) in expected {
            parts[*part] = Duration::from_ns(*ns);
        }
        assert_eq!(done.parts, parts, "request {request}");
    }

    /// Random numbers for workloads that need no distribution.
    pub fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.random >> 33
    }
}

/// Collects `plane` while it is short of space, and nothing to level wear.
fn collect(ftl: &mut Ftl, plane: PlaneId) {
    let die = ftl.geometry().die_of_plane(plane);
    let bit = 1 << (plane.0 % ftl.geometry().planes_per_die);
    while ftl.planes_to_collect(die) & bit != 0 {
        let Some(mut job) = Job::on_demand(plane, ftl) else { return };
        while let Some(step) = job.next_step(ftl) {
            match step {
                ReclaimStep::Move(page) => drop(ftl.relocate(page)),
                ReclaimStep::Erase(block) => ftl.erase(block),
            }
        }
        job.end(ftl);
    }
}

fn page_write(request: u32, lpn: u32, whole: bool) -> PageWrite {
    let owner = Owner::Host(CommandId(request));
    PageWrite { owner, lpn: Lpn(lpn), hint: None, whole, late: Duration::ZERO }
}
