//! Schedules that do not say until when a die is undisturbed: their results are those of schedules that do.

use rand::RngExt;

use super::{Command, Drive, Serves};
use crate::ids::{RequestId, SsdId};
use crate::precondition::Preconditioner;
use crate::rng::stream;
use crate::test_config::small_drive;
use crate::units::{Duration, Instant};
use crate::workload::Operation;

const PAGE: u64 = 4096;
const COMMANDS: u32 = 3_000;

/// Four filled dies, which collect all the time.
const FILLED: [(&str, &str); 7] = [
    ("audit", "true"),
    ("precondition.fill", "1.0"),
    ("ssd.geometry.page_size", "4KiB"),
    ("ssd.ftl.over_provisioning", "0.4"),
    ("ssd.gc.soft_threshold", "{ blocks = 4 }"),
    ("ssd.gc.hard_threshold", "{ blocks = 2 }"),
    ("host.queue_depth", "32"),
];

const SCHEDULES: [&str; 9] = [
    r#""none""#,
    r#"{ type = "partial", steps = 2 }"#,
    r#"{ type = "paced" }"#,
    r#"{ type = "semi_preemptive" }"#,
    r#"{ type = "semi_preemptive", merge = true, high_priority_writes = true }"#,
    r#"{ type = "semi_preemptive", merge = true, reorder = true }"#,
    r#"{ type = "semi_preemptive", merge = true, reorder = true, reorder_writes = true }"#,
    r#"{ type = "semi_preemptive", pipeline = true }"#,
    r#"{ type = "semi_preemptive", pipeline = true, pipeline_order = "either" }"#,
];

const SHAPES: [&[(&str, &str)]; 4] = [
    &[],
    &[("ssd.gc.copyback", "true"), ("ssd.ftl.allocation", "dynamic")],
    &[("ssd.timing.register", "double"), ("ssd.ftl.allocation", "dynamic")],
    &[("ssd.geometry.channels", "4"), ("ssd.geometry.dies_per_chip", "1")],
];

/// Reads and writes of single pages of a drive with so many, at random times.
fn commands(pages: u32) -> Vec<(Instant, Command)> {
    let mut random = stream(7, "unanswered");
    let mut now = 0;
    let command = |number| {
        now += random.random_range(0..60_000);
        let operation = if random.random_bool(0.5) { Operation::Read } else { Operation::Write };
        let offset = u64::from(random.random_range(0..pages)) * PAGE;
        let serves = Serves::Request(RequestId(number));
        let late = Duration::ZERO;
        let command = Command { serves, operation, offset, length: PAGE, hint: None, late };
        (Instant::from_ns(now), command)
    };
    (0..COMMANDS).map(command).collect()
}

/// A drive, and the end of each command: when that was, and what has become of it.
struct Run {
    drive: Drive,
    ends: Vec<String>,
}

impl Run {
    /// Lets everything happen that happens before `until`.
    fn advance(&mut self, until: Instant) {
        while self.drive.next_time().is_some_and(|next| next < until) {
            self.drive.apply_next_events(until);
            self.settle();
        }
    }

    /// Goes through the second phase of an instant.
    fn settle(&mut self) {
        let mut more = true;
        while more {
            self.drive.book_finished();
            while let Some(ended) = self.drive.take_first_ended() {
                let Serves::Request(RequestId(number)) = ended.command.serves else { continue };
                self.ends[number as usize] = format!("{:?} {ended:?}", self.drive.now);
            }
            more = self.drive.start_work();
        }
    }
}

/// Everything that a random load leads to, and how many events it takes.
fn outcome(changes: &[(&str, &str)], schedule: &str, answers: bool) -> (String, u64) {
    let schedule = [("ssd.gc.preemption", schedule)];
    let config = small_drive(4, 24, &[&FILLED, changes, &schedule].concat());
    let mut device = Preconditioner::new(&config, SsdId(0));
    while !device.is_done() {
        device.advance(100);
    }
    let drive = Drive::new(&config, SsdId(0), device);
    let mut run = Run { drive, ends: vec![String::new(); COMMANDS as usize] };
    if !answers {
        run.drive.ssd.answer_only_what_is_required();
    }
    for (at, command) in commands(config.drive.capacity.logical_pages as u32) {
        run.advance(at);
        run.drive.apply_events(at);
        run.drive.submit(command, at);
        run.settle();
    }
    run.advance(Instant::END);
    assert_eq!(run.drive.violation(), None);
    assert!(run.ends.iter().all(|end| !end.is_empty()), "each command has ended");
    assert!(run.drive.ssd.counters().collections > 50, "it is to collect");
    (format!("{:?} {:?}", run.ends, run.drive.ssd.counters()), run.drive.scheduled())
}

#[test]
fn a_schedule_with_only_the_required_functions_leads_to_the_same_results() {
    let (mut events, mut most) = (0, 0);
    for changes in SHAPES {
        for schedule in SCHEDULES {
            let (answered, few) = outcome(changes, schedule, true);
            let (unanswered, many) = outcome(changes, schedule, false);
            assert!(answered == unanswered, "{schedule} on {changes:?}");
            (events, most) = (events + few, most + many);
        }
    }
    assert!(events < most, "what schedules answer saves events: {events} of {most}");
}
