//! Real drives under a coordinator: a run loop reduced to what coordination needs. Requests go to a
//! drive each; messages take the protocol's latency.

use copyback::array::coordination::{Agent, Message, Order, Orders, Scheme, View, coordinator};
use copyback::collector::job::collect_untimed;
use copyback::collector::permit::Asked;
use copyback::config::{Config, Coordination, Resolved};
use copyback::engine::EventQueue;
use copyback::event::{Agenda, Event};
use copyback::ftl::Ftl;
use copyback::ids::{DieId, Lpn, PlaneId, SsdId};
use copyback::placement::HostPage;
use copyback::ssd::{Finished, Owner, PageWrite, Ssd};
use copyback::units::{Duration, Instant};

/// More turns at one instant than any sound protocol takes.
const MOST_TURNS: u32 = 100;

/// What a host asks of a drive.
#[derive(Debug, Clone, Copy)]
pub enum Operation {
    Read,
    Write,
    WritePart,
    Trim,
}

/// A request of one page for one drive.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub at: Instant,
    pub device: usize,
    pub lpn: u32,
    pub operation: Operation,
}

/// What happens beside requests.
#[derive(Debug, Clone, Copy)]
enum Mail {
    ToController(SsdId, Message),
    ToDrive(SsdId, Order),
    Wake,
    Next,
}

struct Drive {
    ssd: Ssd,
    agenda: Agenda,
    agent: Option<Agent>,
}

/// An array under way.
pub struct Array {
    drives: Vec<Drive>,
    coordinator: Scheme,
    mail: EventQueue<Mail>,
    latency: Duration,
    requests: std::vec::IntoIter<Request>,
    next: Option<Request>,
    outstanding: u32,
    /// The earliest wake that is in the mail.
    wake: Option<Instant>,
    now: Instant,
    /// What was said and by whom, but for reports.
    pub log: Vec<String>,
    /// Times with so many drives that collect.
    pub overlap: Vec<Duration>,
    ended: usize,
}

impl Array {
    pub fn new(config: &Config, requests: Vec<Request>) -> Self {
        let config = &config.resolve();
        let coordinated = config.array.coordination != Coordination::Uncoordinated;
        let speaks = |device| coordinated && !config.array.protocol.silent.contains(&device);
        let drive = |device| Drive {
            ssd: drive(config, device),
            agenda: Agenda::default(),
            agent: speaks(device).then(Agent::default),
        };
        let devices = config.array.devices;
        Self {
            drives: (0..devices).map(drive).collect(),
            coordinator: coordinator(config),
            mail: EventQueue::default(),
            latency: config.array.protocol.latency.0,
            requests: requests.into_iter(),
            next: None,
            outstanding: 0,
            wake: None,
            now: Instant::START,
            log: Vec::new(),
            overlap: vec![Duration::ZERO; devices as usize + 1],
            ended: 0,
        }
    }

    pub fn ssd(&self, device: usize) -> &Ssd {
        &self.drives[device].ssd
    }

    /// Asks a drive behind the coordinator's back, or withdraws.
    pub fn interfere(&mut self, device: usize, asked: Option<Asked>) {
        match asked {
            Some(asked) => self.drives[device].ssd.ask_to_collect(asked),
            None => self.drives[device].ssd.stop_asking(),
        }
    }

    /// Runs until all requests have ended and nothing is under way. `at_each` may interfere.
    pub fn run(&mut self, mut at_each: impl FnMut(&mut Self)) -> usize {
        self.schedule_next();
        self.settle();
        while let Some(next) = self.next_time() {
            self.count_overlap(next);
            self.now = next;
            self.apply(next);
            at_each(self);
            self.settle();
            if self.next.is_none() && self.outstanding == 0 && self.drives_rest() {
                break;
            }
        }
        for drive in &self.drives {
            assert_eq!(drive.ssd.scheduler().outstanding(), 0);
            drive.ssd.backend().ftl.check().expect("the tables agree");
        }
        self.ended
    }

    fn drives_rest(&self) -> bool {
        self.drives.iter().all(|drive| drive.agenda.next_time().is_none())
    }

    fn next_time(&self) -> Option<Instant> {
        let drives = self.drives.iter().filter_map(|drive| drive.agenda.next_time());
        drives.chain(self.mail.next_time()).min()
    }

    fn count_overlap(&mut self, next: Instant) {
        let collecting = self.drives.iter().filter(|drive| drive.ssd.status().collecting).count();
        self.overlap[collecting] += next - self.now;
    }

    fn schedule_next(&mut self) {
        self.next = self.requests.next();
        if let Some(request) = self.next {
            self.mail.schedule(request.at, 1, Mail::Next);
        }
    }

    /// The first phase of an instant: drives, then messages, then arrivals.
    fn apply(&mut self, now: Instant) {
        for drive in &mut self.drives {
            while let Some(event) = drive.agenda.pop_at(now) {
                match event {
                    Event::ArrayDone(_) | Event::TransferDone(_) => drive.ssd.apply(event, now),
                    other => panic!("a drive alone has no {other:?}"),
                }
            }
        }
        self.deliver();
    }

    fn deliver(&mut self) -> bool {
        let mut any = false;
        while let Some(mail) = self.mail.pop_at(self.now) {
            any = true;
            let mut orders = Orders::new();
            let view = View { now: self.now, outstanding: self.outstanding };
            match mail {
                Mail::ToController(device, message) => {
                    self.coordinator.received(device, message, &view, &mut orders);
                }
                Mail::ToDrive(device, order) => self.obey(device, order),
                Mail::Wake => {
                    self.wake = None;
                    self.coordinator.wake(self.now, &view, &mut orders);
                }
                Mail::Next => self.submit_next(),
            }
            self.send(orders);
        }
        any
    }

    fn submit_next(&mut self) {
        let Some(request) = self.next else { return };
        if self.outstanding == 0 {
            let view = View { now: self.now, outstanding: 0 };
            let mut orders = Orders::new();
            self.coordinator.became_busy(self.now, &view, &mut orders);
            self.send(orders);
        }
        self.outstanding += 1;
        let ssd = &mut self.drives[request.device].ssd;
        let lpn = Lpn(request.lpn);
        match request.operation {
            Operation::Read => ssd.read(Owner::Destage, lpn, Duration::ZERO, self.now),
            Operation::Write => ssd.write(page_write(lpn, true), self.now),
            Operation::WritePart => ssd.write(page_write(lpn, false), self.now),
            Operation::Trim => {
                ssd.trim(lpn, self.now);
                self.end_requests(1);
            }
        }
        self.schedule_next();
    }

    fn end_requests(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        self.ended += count;
        self.outstanding -= count as u32;
        if self.outstanding == 0 {
            let mut orders = Orders::new();
            let view = View { now: self.now, outstanding: 0 };
            self.coordinator.became_quiet(self.now, &view, &mut orders);
            self.send(orders);
        }
    }

    fn send(&mut self, orders: Orders) {
        for (device, order) in orders {
            assert!(self.drives[device.index()].agent.is_some(), "drive {} is silent", device.0);
            if order != Order::Report {
                self.log.push(format!("{} to {}: {order:?}", self.now.as_ns(), device.0));
            }
            self.mail.schedule(self.now + self.latency, 0, Mail::ToDrive(device, order));
        }
    }

    fn obey(&mut self, device: SsdId, order: Order) {
        let drive = &mut self.drives[device.index()];
        if let Some(agent) = &mut drive.agent {
            agent.received(order);
        }
        match order {
            Order::Collect(asked) => drive.ssd.ask_to_collect(asked),
            Order::Stop => drive.ssd.stop_asking(),
            Order::Report => {
                let answer = Agent::report(&drive.ssd.status());
                self.mail.schedule(self.now + self.latency, 0, Mail::ToController(device, answer));
            }
        }
    }

    /// The second phase: drives look for work, agents at drives, until nothing changes.
    fn settle(&mut self) {
        for turn in 0.. {
            assert!(
                turn < MOST_TURNS,
                "the protocol does not end at {:?}: {:?}",
                self.now,
                self.log
            );
            let mut finished = Vec::new();
            let mut ended = 0;
            for drive in &mut self.drives {
                drive.ssd.arbitrate(self.now, &mut drive.agenda);
                drive.ssd.take_finished(&mut finished);
                ended += finished.iter().filter(|Finished { owner, .. }| is_host(*owner)).count();
                assert_eq!(drive.ssd.violation(), None);
            }
            self.end_requests(ended);
            self.listen();
            self.schedule_wake();
            if !self.deliver()
                && !self.drives.iter().any(|drive| !drive.ssd.scheduler().finished.is_empty())
            {
                break;
            }
        }
    }

    fn listen(&mut self) {
        let mut messages = Vec::new();
        for (index, drive) in self.drives.iter_mut().enumerate() {
            let Some(agent) = &mut drive.agent else { continue };
            agent.watch(&drive.ssd.status(), &mut messages);
            for message in messages.drain(..) {
                self.log.push(format!("{} from {index}: {message:?}", self.now.as_ns()));
                let device = SsdId::from_index(index);
                let mail = Mail::ToController(device, message);
                self.mail.schedule(self.now + self.latency, 0, mail);
            }
        }
    }

    fn schedule_wake(&mut self) {
        if let Some(wake) = self.coordinator.next_wake()
            && self.wake.is_none_or(|scheduled| wake < scheduled)
        {
            self.mail.schedule(wake, 2, Mail::Wake);
            self.wake = Some(wake);
        }
    }
}

const fn is_host(owner: Owner) -> bool {
    matches!(owner, Owner::Destage)
}

/// A drive that has been written full, in an order of its own.
fn page_write(lpn: Lpn, whole: bool) -> PageWrite {
    PageWrite { owner: Owner::Destage, lpn, hint: None, whole, late: Duration::ZERO }
}

fn drive(config: &Resolved, device: u32) -> Ssd {
    let mut ftl = Ftl::new(config, &format!("ssd/{device}"));
    let pages = ftl.limits().logical_pages() as u32;
    let mut version = 0;
    let again = (0..pages).map(|page| (page * 7 + device * 3) % pages);
    for lpn in (0..pages).chain(again) {
        let plane = ftl.allocation().plane_of(Lpn(lpn));
        let any = (0..ftl.geometry().planes()).map(PlaneId::from_index);
        let Some(plane) = plane.or_else(|| {
            any.into_iter().find(|plane| ftl.accepts(*plane, HostPage::without_hint(Lpn(lpn))))
        }) else {
            break;
        };
        version += 1;
        ftl.write(plane, HostPage::without_hint(Lpn(lpn)), version);
        for die in 0..ftl.geometry().dies() {
            collect_untimed(&mut ftl, DieId::from_index(die));
        }
    }
    Ssd::new(config, ftl, version)
}
