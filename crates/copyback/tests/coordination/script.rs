//! A coordinator that is told what drives say, and what it answers.

use copyback::array::coordination::{Message, Order, Orders, Report, Scheme, View, coordinator};
use copyback::collector::permit::{Asked, Until};
use copyback::config::{Config, Loader};
use copyback::ids::SsdId;
use copyback::units::Instant;

/// Four drives, of whose planes' blocks 4 must be free; drives register below 6, and are done at 8.
const ARRAY: &str = r#"
[array]
layout = "raid0"
devices = 4
[array.protocol]
register_margin = { blocks = 2 }
target_margin = { blocks = 4 }
[ssd.gc]
soft_threshold = { blocks = 4 }
"#;
pub const TARGET: u32 = 8;

/// Runs short: below the register threshold.
pub const SHORT: Message = Message::RunsShort { writable: 1 << 20 };
pub const MUST: Message = Message::MustCollect;
/// Done, with space enough.
pub const DONE: Message = Message::Done { runs_short: false };
/// Done, and still below the register threshold.
pub const DONE_SHORT: Message = Message::Done { runs_short: true };

pub const fn state(below_register: u32) -> Message {
    Message::State(Report { below_register, free_blocks_min: 5 })
}

pub const fn collect(device: u16) -> (SsdId, Order) {
    let asked = Asked::until(Until::Target(TARGET));
    (SsdId(device), Order::Collect(asked))
}

pub const fn stop(device: u16) -> (SsdId, Order) {
    (SsdId(device), Order::Stop)
}

pub const fn report(device: u16) -> (SsdId, Order) {
    (SsdId(device), Order::Report)
}

/// The array with some settings changed.
pub fn config(changes: &[(&str, &str)]) -> Config {
    let loader = Loader::new().toml(ARRAY, "array.toml", None);
    let loader = changes.iter().fold(loader, |loader, (key, value)| loader.set(key, value));
    loader.load().expect("the array is valid")
}

pub const fn at_us(us: u64) -> Instant {
    Instant::from_ns(us * 1000)
}

/// A coordinator and the requests in its array.
pub struct Script {
    coordinator: Scheme,
    pub outstanding: u32,
}

impl Script {
    pub fn new(coordination: &str, changes: &[(&str, &str)]) -> Self {
        let scheme = [("array.coordination", coordination)];
        let changes: Vec<_> = scheme.iter().chain(changes).copied().collect();
        Self { coordinator: coordinator(&config(&changes).resolve()), outstanding: 0 }
    }

    const fn view(&self, now: Instant) -> View {
        View { now, outstanding: self.outstanding }
    }

    /// `device` says something. Returns the answer.
    pub fn hears(&mut self, device: u16, message: Message) -> Orders {
        let mut orders = Orders::new();
        let view = self.view(Instant::START);
        self.coordinator.received(SsdId(device), message, &view, &mut orders);
        orders
    }

    /// When it wants to be woken.
    pub fn next_wake(&self) -> Option<Instant> {
        self.coordinator.next_wake()
    }

    /// Wakes it. Returns what it says then.
    pub fn wakes(&mut self, us: u64) -> Orders {
        let mut orders = Orders::new();
        let view = self.view(at_us(us));
        self.coordinator.wake(at_us(us), &view, &mut orders);
        orders
    }

    /// The first request comes.
    pub fn busy(&mut self, us: u64) {
        self.outstanding = 1;
        let view = self.view(at_us(us));
        self.coordinator.became_busy(at_us(us), &view, &mut Orders::new());
    }

    /// The last request leaves. Returns what the coordinator says then.
    pub fn quiet(&mut self, us: u64) -> Orders {
        self.outstanding = 0;
        let mut orders = Orders::new();
        let view = self.view(at_us(us));
        self.coordinator.became_quiet(at_us(us), &view, &mut orders);
        orders
    }
}

impl Script {
    /// So many bytes go to `device`, while so many requests are in the array. Returns what the coordinator says at the
    /// end of that instant.
    pub fn sends(&mut self, device: u16, bytes: u64, outstanding: u32) -> Orders {
        self.outstanding = outstanding;
        let mut orders = Orders::new();
        let view = self.view(Instant::START);
        self.coordinator.sent(SsdId(device), bytes, &view);
        self.coordinator.instant_ends(&view, &mut orders);
        orders
    }
}

#[test]
fn without_coordination_nobody_is_told_anything() {
    let mut script = Script::new("\"uncoordinated\"", &[]);
    for message in [SHORT, MUST, DONE, state(1)] {
        assert_eq!(script.hears(1, message), []);
    }
    script.busy(0);
    assert_eq!(script.quiet(10), []);
    assert_eq!((script.next_wake(), script.wakes(20)), (None, Orders::new()));
}
