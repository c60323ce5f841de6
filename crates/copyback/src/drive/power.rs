//! The power of a drive: when it fails, what is lost with it, and when the drive is back.
//!
//! ```text
//!   cut ──► commands wait outside, mapping found again ──► back: the host hands them in anew
//!    ▲                          │
//!    └──────── next cut ────────┘ may come before: the search begins anew
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::buffer::WriteBuffer;
use crate::checkpoint::Checkpointed;
use crate::config::{Protection, Resolved};
use crate::event::Event;
use crate::ids::{CommandId, Lpn, SsdId};
use crate::less::Less;
use crate::outcome::Outcome;
use crate::precondition;
use crate::ssd::{Part, Parts, Ssd};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

use super::Drive;
use super::command::{Command, Ended};
use super::cut_times::CutTimes;
use super::page_events::{PageEvent, PowerCut, RecoveryFindings};

/// Effects of power cuts on a drive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct PowerLoss {
    /// Number of power cuts.
    pub cuts: u64,
    /// Cuts of those that came before the drive was back from the one before.
    pub cuts_in_recovery: u64,
    /// Number of recoveries that were completed.
    pub recoveries: u64,
    /// Sum of the times of completed recoveries.
    pub recovery_time: Duration,
    /// The longest of them.
    pub longest_recovery: Duration,
    /// Pages read to find the mapping again, if only in part.
    pub pages_read: u64,
    /// Pages whose program was cut off.
    pub torn_pages: u64,
    /// Whole pages that these took with them, as they share cells.
    pub paired_pages_torn: u64,
    /// Blocks whose erase was cut off.
    pub cut_erases: u64,
    /// Blocks that recoveries erased.
    pub blocks_erased: u64,
    /// Commands that the host had to hand in anew.
    pub interrupted_commands: u64,
    /// Pages with acknowledged writes that were in the write buffer only.
    pub buffered_pages_lost: u64,
    /// Pages of those for which a drive that ignores flushes had acknowledged one.
    pub flushed_pages_lost: u64,
    /// Pages of which a durable write was lost with a torn page that shares its cells.
    pub paired_pages_lost: u64,
    /// Pages of which a durable write was lost otherwise.
    pub durable_pages_lost: u64,
}

impl PowerLoss {
    /// Effects on two drives, which are cut off at the same times.
    pub fn and(self, other: Self) -> Self {
        Self {
            cuts: self.cuts.max(other.cuts),
            cuts_in_recovery: self.cuts_in_recovery.max(other.cuts_in_recovery),
            recoveries: self.recoveries + other.recoveries,
            recovery_time: self.recovery_time + other.recovery_time,
            longest_recovery: self.longest_recovery.max(other.longest_recovery),
            pages_read: self.pages_read + other.pages_read,
            torn_pages: self.torn_pages + other.torn_pages,
            paired_pages_torn: self.paired_pages_torn + other.paired_pages_torn,
            cut_erases: self.cut_erases + other.cut_erases,
            blocks_erased: self.blocks_erased + other.blocks_erased,
            interrupted_commands: self.interrupted_commands + other.interrupted_commands,
            buffered_pages_lost: self.buffered_pages_lost + other.buffered_pages_lost,
            flushed_pages_lost: self.flushed_pages_lost + other.flushed_pages_lost,
            paired_pages_lost: self.paired_pages_lost + other.paired_pages_lost,
            durable_pages_lost: self.durable_pages_lost + other.durable_pages_lost,
        }
    }
}

/// The power of a drive cannot be cut on command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotOnCommand;

/// The power of a drive.
#[derive(Checkpointed)]
pub(super) struct Power {
    config: Resolved,
    cuts: CutTimes,
    tally: PowerLoss,
    off: Option<Off>,
    /// Commands that a cut has interrupted, if whoever sent them forgets them.
    interrupted: Interruptions,
    /// Pages with acknowledged writes that the write buffer has held since.
    acknowledged: BTreeSet<Lpn>,
    /// Pages of those for which a flush has been acknowledged: the drive has lied.
    flushed: BTreeSet<Lpn>,
    /// Promises of each flush in the drive.
    flushes: BTreeMap<CommandId, Vec<Promise>>,
}

/// A page that is durable once a flush is acknowledged, unless it is trimmed before.
#[derive(Checkpointed)]
struct Promise {
    lpn: Lpn,
    /// The version in flash will be later than this.
    later_than: Option<u64>,
}

/// Fate of commands that a cut interrupts.
#[derive(Checkpointed)]
enum Interruptions {
    /// Commands wait for the power: whoever sent them hands them in again.
    HandedInAnew,
    /// Commands leave the drive: the controller of the array has forgotten them.
    Reported(Vec<Interrupted>),
}

/// A command that a cut of power has interrupted.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Interrupted {
    /// The command, as if it had ended at the cut.
    pub ended: Ended,
    /// Whether the drive had taken it, and may have done a part of it.
    pub had_begun: bool,
}

/// A drive that looks for its mapping.
#[derive(Checkpointed)]
struct Off {
    takes: Duration,
    pages_read: u64,
    /// Write buffer that capacitors have saved.
    buffer: Option<WriteBuffer>,
}

impl Power {
    /// The power of a drive of a checked configuration, if it ever fails.
    pub fn new(config: &Resolved) -> Option<Box<Self>> {
        let cuts = CutTimes::new(config)?;
        let (tally, off) = (PowerLoss::default(), None);
        let (acknowledged, flushed, flushes) = Default::default();
        let interrupted = match config.array.layout.is_redundant() {
            true => Interruptions::Reported(Vec::new()),
            false => Interruptions::HandedInAnew,
        };
        let config = config.clone();
        Some(Box::new(Self {
            config,
            cuts,
            tally,
            off,
            interrupted,
            acknowledged,
            flushed,
            flushes,
        }))
    }

    fn is_protected(&self) -> bool {
        self.config.ssd.power.protection == Protection::Capacitors
    }

    /// A page with an acknowledged write may be in the write buffer only.
    pub fn acknowledge(&mut self, pages: impl Iterator<Item = Lpn>) {
        self.acknowledged.extend(pages);
    }

    /// The last version of a page is in flash.
    pub fn written_to_flash(&mut self, lpn: Lpn) {
        self.acknowledged.remove(&lpn);
        self.flushed.remove(&lpn);
    }

    /// A flush has been acknowledged by a drive that ignores it.
    fn pretend_to_flush(&mut self) {
        self.flushed.extend(self.acknowledged.iter().copied());
    }
}

impl Drive {
    /// Effects of power cuts so far, if its power ever fails.
    pub fn power_loss(&self) -> Option<PowerLoss> {
        self.power.as_ref().map(|power| power.tally)
    }

    /// Puts the next cut on the agenda.
    pub(super) fn plan_cut(&mut self) {
        let Some(power) = &mut self.power else { return };
        if let Some(at) = power.cuts.next_after(self.now) {
            self.agenda.add(at, Event::PowerFails);
        }
    }

    /// The power fails.
    pub(super) fn power_fails(&mut self) {
        let Some(mut power) = self.power.take() else { return };
        let before = power.tally;
        power.tally.cuts += 1;
        self.agenda.clear();
        let (off, is_on) = match power.off.take() {
            Some(off) => {
                power.tally.cuts_in_recovery += 1;
                (off, false)
            }
            None => (self.switch_off(&mut power), true),
        };
        let back_at = self.now + off.takes;
        self.agenda.add(back_at, Event::PowerIsBack);
        power.off = Some(off);
        let (after, may_differ) = (power.tally, is_on && !power.is_protected());
        self.power = Some(power);
        self.record(|drive| drive.power_failed(&before, &after, back_at, may_differ));
        self.plan_cut();
    }

    /// Reports a cut, which has changed the tally from `before` to `after`.
    fn power_failed(
        &self,
        before: &PowerLoss,
        after: &PowerLoss,
        back_at: Instant,
        may_differ: bool,
    ) -> PageEvent {
        PageEvent::PowerFailed(Box::new(PowerCut {
            at: self.now,
            back_at,
            buffered_pages_lost: after.buffered_pages_lost.less(before.buffered_pages_lost),
            flushed_pages_lost: after.flushed_pages_lost.less(before.flushed_pages_lost),
            paired_pages_lost: after.paired_pages_lost.less(before.paired_pages_lost),
            torn_pages: after.torn_pages.less(before.torn_pages),
            found: may_differ.then(|| self.found()),
        }))
    }

    /// Findings of a recovery, read from the drive.
    fn found(&self) -> RecoveryFindings {
        let audit = self.ssd.backend().ftl.audit().expect("kept where power may fail");
        let pages = self.ssd.backend().ftl.limits().logical_pages();
        let versions = (0..pages).map(|page| audit.version(Lpn::from_index(page))).collect();
        RecoveryFindings { versions, last_version: self.ssd.scheduler().last_sequence() }
    }

    /// The versions of the host's pages that the flash holds, in no order: as long as it does a cut may bring one back.
    pub fn versions_held(&self) -> impl Iterator<Item = (Lpn, u64)> {
        self.ssd.backend().ftl.audit().into_iter().flat_map(|audit| audit.versions_held())
    }

    /// The last version of a page whose program has begun, be it that the page was trimmed since. Older ones that the
    /// flash does not hold have been there, and are gone.
    pub fn last_begun(&self, lpn: Lpn) -> Option<u64> {
        self.ssd.backend().ftl.audit().as_ref()?.last_begun(lpn)
    }

    /// Lets the power fail at `at`, which is later than now.
    ///
    /// # Errors
    /// If the configuration does not let it be cut on command.
    pub fn cut_power_at(&mut self, at: Instant) -> Result<(), NotOnCommand> {
        match &self.power {
            Some(power) if matches!(power.cuts, CutTimes::OnCommand) => {
                self.agenda.add(at, Event::PowerFails);
                Ok(())
            }
            _ => Err(NotOnCommand),
        }
    }

    /// Takes the commands that a cut at this instant has interrupted, if they are reported.
    pub fn take_interrupted(&mut self) -> Vec<Interrupted> {
        match self.power.as_mut().map(|power| &mut power.interrupted) {
            Some(Interruptions::Reported(commands)) => std::mem::take(commands),
            Some(Interruptions::HandedInAnew) | None => Vec::new(),
        }
    }

    /// Interrupts the commands in the drive. Returns how many it had taken.
    fn interrupt_commands(&mut self, interruptions: &mut Interruptions) -> u64 {
        let Interruptions::Reported(commands) = interruptions else {
            return self.queue.push_out() as u64;
        };
        let now = self.now;
        commands.extend(self.queue.take_all().into_iter().map(|(command, arrived, had_begun)| {
            let mut parts = Parts::default();
            parts.book_wait(Part::HostQueue, now - arrived, Duration::ZERO);
            Interrupted { ended: Ended { command, parts, outcome: Outcome::Done }, had_begun }
        }));
        commands.iter().filter(|command| command.had_begun).count() as u64
    }

    fn switch_off(&mut self, power: &mut Power) -> Off {
        power.tally.interrupted_commands += self.interrupt_commands(&mut power.interrupted);
        power.flushes.clear();
        self.front_end.switch_off(&power.config);
        let buffer = self.lose_buffer(power);
        let saved = buffer.as_ref().map_or(0, |buffer| buffer.pages().count() as u64);
        let name = format!("{}/power/{}", precondition::name(SsdId::default()), power.tally.cuts);
        let cut = self.ssd.lose_power(&power.config, &name, saved, self.now);
        power.tally.torn_pages += cut.torn_pages;
        power.tally.paired_pages_torn += cut.paired_pages_torn;
        power.tally.paired_pages_lost += cut.paired_pages_lost;
        power.tally.cut_erases += cut.cut_erases;
        power.tally.blocks_erased += cut.scan.erased.len() as u64;
        power.tally.durable_pages_lost += cut.lost.len() as u64;
        if let Some(lost) = cut.lost.first()
            && (power.is_protected() || power.config.ssd.power.erase_barrier)
        {
            self.violation.get_or_insert(format!("a cut of power has lost {lost:?}"));
        }
        if self.settings.audit
            && let Err(problem) = self.ssd.backend().ftl.check()
        {
            self.violation.get_or_insert(format!("after a cut of power: {problem}"));
        }
        Off { takes: cut.time.time, pages_read: cut.time.pages_read, buffer }
    }

    /// Takes the write buffer away, and counts what is lost with it. Returns what is saved.
    fn lose_buffer(&mut self, power: &mut Power) -> Option<WriteBuffer> {
        let mut buffer = self.buffer.take()?;
        if power.is_protected() {
            buffer.save();
            return Some(buffer);
        }
        for page in buffer.pages() {
            power.tally.buffered_pages_lost += u64::from(power.acknowledged.contains(&page));
            power.tally.flushed_pages_lost += u64::from(power.flushed.contains(&page));
        }
        power.acknowledged.clear();
        power.flushed.clear();
        None
    }

    /// The power is back, and the mapping found.
    pub(super) fn power_is_back(&mut self) {
        let Some(power) = &mut self.power else { return };
        let Some(Off { takes, pages_read, buffer }) = power.off.take() else { return };
        let tally = &mut power.tally;
        tally.recoveries += 1;
        tally.recovery_time += takes;
        tally.longest_recovery = tally.longest_recovery.max(takes);
        tally.pages_read += pages_read;
        let config = &power.config;
        self.buffer =
            buffer.or_else(|| WriteBuffer::new(&config.ssd.buffer, self.settings.page_size as u32));
        self.ssd.start_up(self.now);
        self.front_end.idle(self.now);
    }

    /// A flush has come.
    pub(super) fn note_flush(&mut self, id: CommandId) {
        let (Some(power), Some(buffer)) = (&mut self.power, &self.buffer) else { return };
        if self.settings.ignores_flushes {
            return;
        }
        let promise = |lpn| {
            let later_than = match buffer.is_dirty(lpn) {
                true => Some(self.ssd.scheduler().last_sequence()),
                false => durable_version(&self.ssd, lpn),
            };
            Promise { lpn, later_than }
        };
        power.flushes.insert(id, buffer.pages().map(promise).collect());
    }

    /// A command has been acknowledged.
    pub(super) fn note_acknowledged(&mut self, id: CommandId, command: &Command) {
        let pages = super::pages::pages_of(self.settings.page_size, command.offset, command.length);
        let (Some(power), Some(_)) = (&mut self.power, &self.buffer) else { return };
        match command.operation {
            Operation::Write => power.acknowledge(pages.map(Lpn)),
            Operation::Flush if self.settings.ignores_flushes => power.pretend_to_flush(),
            Operation::Flush => {
                let promises = power.flushes.remove(&id).unwrap_or_default();
                let is_broken = |promise: &Promise| {
                    let durable = durable_version(&self.ssd, promise.lpn);
                    durable.is_some() && durable <= promise.later_than
                };
                if let Some(Promise { lpn, .. }) =
                    promises.iter().find(|promise| is_broken(promise))
                {
                    let problem = format!("a flush has ended before {lpn:?} was in flash");
                    self.violation.get_or_insert(problem);
                }
            }
            Operation::Read | Operation::Trim => {}
        }
    }
}

/// The last version of `lpn` that is in the flash, if that is kept account of.
fn durable_version(ssd: &Ssd, lpn: Lpn) -> Option<u64> {
    ssd.backend().ftl.audit().as_ref()?.durable_version(lpn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::all_sectors;
    use crate::drive::Serves;
    use crate::ids::RequestId;
    use crate::precondition::Preconditioner;
    use crate::test_config::small_drive;

    /// A drive with a write buffer, filled.
    fn drive() -> Drive {
        let changes = [
            ("audit", "true"),
            ("precondition.fill", "1.0"),
            ("ssd.geometry.page_size", "4KiB"),
            ("ssd.ftl.over_provisioning", "0.7"),
            ("ssd.buffer.capacity", "64KiB"),
            ("ssd.power.protection", "none"),
            ("ssd.power.cuts", "{ type = \"at\", times = [\"1h\"] }"),
        ];
        let config = small_drive(1, 16, &changes);
        let mut device = Preconditioner::new(&config, SsdId(0));
        while !device.is_done() {
            device.advance(100);
        }
        Drive::new(&config, SsdId(0), device)
    }

    #[test]
    fn a_flush_that_ends_before_a_page_is_in_flash_is_a_violation() {
        let mut drive = drive();
        let flush = |drive: &mut Drive, id| {
            let command = Command {
                serves: Serves::Request(RequestId(id)),
                operation: Operation::Flush,
                offset: 0,
                length: 0,
                hint: None,
                late: Duration::ZERO,
            };
            drive.note_flush(CommandId(id));
            drive.note_acknowledged(CommandId(id), &command);
        };
        flush(&mut drive, 0);
        assert_eq!(drive.violation(), None, "the buffer is empty");
        let buffer = drive.buffer.as_mut().expect("it has one");
        assert!(buffer.write(CommandId(1), (Lpn(3), None), all_sectors(4096), Instant::START));
        flush(&mut drive, 2);
        assert_eq!(drive.violation(), Some("a flush has ended before Lpn(3) was in flash"));
    }
}
