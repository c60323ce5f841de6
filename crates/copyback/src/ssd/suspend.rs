//! Program and erase suspend: a read of the host takes the array away from what it does.

use crate::backend::{Backend, Purpose};
use crate::checkpoint::Checkpointed;
use crate::config;
use crate::ids::{DieId, PlaneId};
use crate::nand::{Command, Operation, Pause};
use crate::observer::Entry;
use crate::units::{Duration, Instant};

use super::Ssd;

/// Rules of suspending: its cost, and how often it may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct SuspendRule {
    suspend: Duration,
    resume: Duration,
    most: u32,
    /// Lengths of pulses; `None`: it can be suspended at any time.
    program_pulse: Option<Duration>,
    erase_pulse: Option<Duration>,
}

impl SuspendRule {
    /// The rule that a checked configuration describes, if operations may be suspended.
    pub fn new(config: config::Suspend) -> Option<Self> {
        match config {
            config::Suspend::None => None,
            config::Suspend::ProgramErase { suspend, resume, most, program_pulse, erase_pulse } => {
                Some(Self {
                    suspend: suspend.0,
                    resume: resume.0,
                    most,
                    program_pulse: program_pulse.map(|pulse| pulse.0),
                    erase_pulse: erase_pulse.map(|pulse| pulse.0),
                })
            }
        }
    }

    /// Way in which a program or erase with `left` to go is suspended, unless it ends before the array could read.
    fn pause(&self, command: Command, left: Duration) -> Option<Pause> {
        let pulse = if command == Command::Erase { self.erase_pulse } else { self.program_pulse };
        let goes_on = pulse.map_or(Duration::ZERO, |pulse| left.beyond_multiple_of(pulse));
        let pause = Pause { goes_on, overhead: self.suspend };
        (pause.length() < left).then_some(pause)
    }
}

impl Ssd {
    /// Lets waiting reads suspend what the array does, or goes on with what was suspended. `None` if
    /// neither is at hand; else whether the die may have further work to start now.
    pub(super) fn suspend_or_resume(
        &mut self,
        die: DieId,
        rule: SuspendRule,
        now: Instant,
    ) -> Option<bool> {
        let state = self.backend.flash.die(die);
        if state.suspended().is_some() {
            return Some(self.read_or_resume(die, rule, now));
        }
        let (command, left) = state.suspendable(rule.most, now)?;
        let pause = rule.pause(command, left)?;
        next_read_besides_programs(self, die)?;
        let Backend { collecting, observer, .. } = &mut self.backend;
        collecting.rest(observer, die, now);
        self.backend.counters.suspends += 1;
        self.backend.observer.record(|| Entry::Cut { die, at: now });
        self.backend.flash.suspend(die, pause, now);
        Some(true)
    }

    fn read_or_resume(&mut self, die: DieId, rule: SuspendRule, now: Instant) -> bool {
        let state = self.backend.flash.die(die);
        let can_read = state.accepts(Command::Read);
        if let Some(plane) = next_read_besides_programs(self, die) {
            return can_read && self.scheduler.start_read(&mut self.backend, plane, now);
        }
        if !can_read || !state.has_free_registers() {
            return false;
        }
        let of_collection =
            matches!(state.suspended(), Some(Operation { tag: Purpose::Collection(_), .. }));
        if of_collection && let Some(collection) = self.collector.of(die) {
            let Backend { collecting, observer, .. } = &mut self.backend;
            collecting.run(observer, die, (collection.mask, collection.reason()), now);
        }
        self.backend.flash.resume(die, rule.resume, now);
        true
    }
}

/// The plane of the read that has waited longest, unless its page is being programmed.
fn next_read_besides_programs(ssd: &Ssd, die: DieId) -> Option<PlaneId> {
    let (_, plane) = ssd.scheduler.queues.oldest_read(die)?;
    let page = ssd.scheduler.queues.page_of_first_read(&ssd.backend.ftl, plane);
    let state = ssd.backend.flash.die(die);
    page.is_none_or(|page| !state.programs(page)).then_some(plane)
}
