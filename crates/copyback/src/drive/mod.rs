//! A drive behind its interface: the way of a command through it.
//!
//! ```text
//!            ┌── write: link in ──┐                                 ┌── read: link out ──┐
//!  admitted ─┤                    ├─► controller ─► buffer / flash ─┤                    ├─► ended
//!            └── read, trim, flush┘                                 └── others ──────────┘
//! ```

mod admission;
mod ahead;
mod command;
mod controller;
mod cut_times;
mod endings;
mod front_end;
mod link;
mod page_events;
mod pages;
mod power;
mod queue;
mod reject;
mod throttle;
#[cfg(test)]
mod unanswered;

use crate::buffer::{Placed, WriteBuffer};
use crate::checkpoint::Checkpointed;
use crate::collector::permit::Asked;
use crate::config::{Flush, Resolved};
use crate::event::{Agenda, Event, LinkDirection};
use crate::gate::Gate;
use crate::ids::{CommandId, Lpn, SsdId};
use crate::outcome::Outcome;
use crate::precondition::Preconditioner;
use crate::ssd::{
    Announced, Blocked, Blocker, Finished, For, Owner, Part, Parts, Ssd, Status, Waited,
};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

pub use ahead::{Log, Moment, Visit};
use command::{ActiveCommand, Stage};
pub use command::{Command, Ended, Serves};
use endings::Endings;
use front_end::FrontEnd;
pub use page_events::{PageEvent, PowerCut, RecoveryFindings};
use power::Power;
pub use power::{Interrupted, NotOnCommand, PowerLoss};
use queue::Queue;
pub use reject::Rejected;

/// A drive.
#[derive(Checkpointed)]
pub struct Drive {
    /// The flash and what manages it.
    pub ssd: Ssd,
    buffer: Option<WriteBuffer>,
    front_end: FrontEnd,
    agenda: Agenda,
    queue: Queue,
    settings: Settings,
    now: Instant,
    endings: Endings,
    /// Page operations that have ended at this instant; kept to reuse its memory.
    finished: Vec<Finished>,
    violation: Option<String>,
    /// Kept if it ever fails.
    power: Option<Box<Power>>,
    /// Events of the data of pages, if they are recorded.
    #[checkpoint(skip)]
    page_events: Option<Vec<PageEvent>>,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Settings {
    page_size: u64,
    audit: bool,
    /// Whether flushes are answered at once, whatever the buffer holds.
    ignores_flushes: bool,
}

impl Drive {
    /// The drive `id` of a checked configuration around a prepared device.
    pub fn new(config: &Resolved, id: SsdId, device: Preconditioner) -> Self {
        let page_size = device.ftl.geometry().page_size;
        let first_sequence = device.version();
        let mut ssd = Ssd::new(config, device.ftl, first_sequence);
        if let Some(schedule) = device.schedule {
            ssd.supply_schedule(schedule);
        }
        let mut drive = Self {
            ssd,
            buffer: WriteBuffer::new(&config.ssd.buffer, page_size),
            front_end: FrontEnd::new(config, id),
            agenda: Agenda::default(),
            queue: Queue::new(Gate::of_drive(config), config.metrics.needs_journal()),
            settings: Settings {
                page_size: u64::from(page_size),
                audit: config.audit,
                ignores_flushes: config.ssd.power.flush == Flush::Ignored,
            },
            now: Instant::START,
            endings: Endings::default(),
            finished: Vec::new(),
            violation: None,
            power: Power::new(config),
            page_events: None,
        };
        drive.plan_cut();
        drive
    }

    /// Commands in the drive, and those that wait for a place in its queue.
    pub fn outstanding(&self) -> usize {
        self.queue.len()
    }

    /// Purpose of `command`, which is in the drive.
    pub fn serves(&self, command: CommandId) -> Serves {
        self.queue[command].command.serves
    }

    /// When something happens in the drive next.
    pub fn next_time(&self) -> Option<Instant> {
        self.agenda.next_time()
    }

    /// The keys that say how long it takes until then.
    pub fn waits_for(&self) -> Option<&'static str> {
        self.agenda.next_event().map(Event::key)
    }

    /// Commands that it has not carried out, as it is read-only.
    pub const fn rejected(&self) -> Rejected {
        self.endings.rejected()
    }

    /// Events scheduled so far.
    pub const fn scheduled(&self) -> u64 {
        self.agenda.scheduled()
    }

    /// The first phase of an instant: every state change that falls on it.
    pub fn apply_events(&mut self, now: Instant) {
        self.now = now;
        while let Some(event) = self.agenda.pop_at(now) {
            self.apply(event);
        }
    }

    #[inline]
    fn apply(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::LinkDone(direction) => self.link_done(direction),
            Event::ControllerDone(command) => self.controller_done(command),
            Event::PowerFails => self.power_fails(),
            Event::PowerIsBack => self.power_is_back(),
            Event::ArrayDone(_) | Event::TransferDone(_) => self.ssd.apply(event, now),
            Event::IdleLook | Event::RefreshLook | Event::LostDieLook => self.ssd.apply(event, now),
        }
    }

    /// Ends an instant whose events have been applied, and goes on to the next ones before `until`, as long as nothing
    /// comes of them that anybody outside may hear of: no command ends nor anything that one waits for, and collecting
    /// neither begins nor ends. Returns whether that is so for all of them; if not, the second phase of the
    /// [last](Self::now) is to be gone through.
    // To hand each instant to the host and back would take as long as the instant itself.
    pub fn go_on(&mut self, until: Instant) -> bool {
        let was_collecting = self.ssd.is_collecting();
        while self.ends_instant_alone() && self.ssd.is_collecting() == was_collecting {
            if self.agenda.next_time().is_none_or(|next| next >= until) {
                return true;
            }
            self.apply_next_events(until);
        }
        false
    }

    /// Between two instants, goes [on](Self::go_on) with the next, which comes before `until`.
    pub fn go_on_from_next(&mut self, until: Instant) -> bool {
        let was_collecting = self.ssd.is_collecting();
        self.apply_next_events(until);
        self.ssd.is_collecting() == was_collecting && self.go_on(until)
    }

    /// The last instant that it has come to.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// The second phase of an instant, as long as that concerns nobody outside: returns whether it has ended so, and
    /// no command has.
    #[inline]
    fn ends_instant_alone(&mut self) -> bool {
        while !self.has_ended() {
            if self.has_something_to_book() {
                self.book();
                // What has ended is told before anything else begins or is booked: others may answer to it.
                self.endings.booked();
                if self.has_ended() {
                    return false;
                }
            }
            if !self.start_work() {
                return true;
            }
        }
        false
    }

    /// Applies the events of the next instant before `until`. Instants of one event that concerns only the flash
    /// are passed on the way, as long as no page operation ends and collecting neither begins nor ends. Returns
    /// whether the second phase of the last one has been gone through, too.
    fn apply_next_events(&mut self, until: Instant) -> bool {
        let was_collecting = self.ssd.is_collecting();
        while let Some((next, event)) = self.agenda.pop_before(until) {
            self.now = next;
            let is_alone = self.agenda.next_time() != Some(next);
            if !is_alone || !self.ssd.carry_out(event, next, &mut self.agenda) {
                self.apply(event);
                if self.agenda.next_time() == Some(next) {
                    self.apply_events(next);
                }
                return false;
            }
            if !self.ssd.scheduler().finished.is_empty()
                || self.ssd.is_collecting() != was_collecting
            {
                break;
            }
        }
        true
    }

    /// Hands in a command.
    #[inline]
    pub fn submit(&mut self, command: Command, now: Instant) {
        self.now = now;
        if self.has_room() {
            return self.enter(command, now);
        }
        // A drive that is off lets nobody in, however many places are free.
        if !self.queue.is_followed() && !self.ssd.is_off() {
            self.queue.follow();
        }
        self.queue.wait(command, now);
    }

    /// Whether a read of these bytes would wait behind a collection: what a drive that fails fast
    /// answers at once.
    pub fn is_behind_collection(&self, offset: u64, length: u64) -> bool {
        self.ssd.is_collecting()
            && pages::pages_of(self.settings.page_size, offset, length)
                .any(|page| self.ssd.busy_time(Lpn(page)).is_some())
    }

    /// Time for which a read of these bytes would wait behind a collection, as the drive estimates it: that of the page
    /// which waits for longest. None if no page waits.
    pub fn busy_time(&self, offset: u64, length: u64) -> Option<Duration> {
        let pages = pages::pages_of(self.settings.page_size, offset, length);
        pages.filter_map(|page| self.ssd.busy_time(Lpn(page))).max()
    }

    /// Asks for collections that the device does not need itself, in place of what was asked before.
    pub fn ask_to_collect(&mut self, asked: Asked, now: Instant) {
        self.now = now;
        self.ssd.ask_to_collect(asked);
    }

    /// Asks for none any more. Those that have begun are finished.
    pub fn stop_asking(&mut self, now: Instant) {
        self.now = now;
        self.ssd.stop_asking();
    }

    /// State of the drive `now`, for the controller of an array that asks for it.
    pub fn status(&mut self, now: Instant) -> Status {
        self.now = now;
        self.ssd.status()
    }

    /// Forgets what has been announced.
    pub fn forget_announced(&mut self, now: Instant) {
        self.now = now;
        if let Some(idle) = self.ssd.idle_time() {
            idle.forget_announced();
        }
    }

    /// Announces, behind what was announced before, a command that will arrive at `arrival`.
    pub fn announce(&mut self, arrival: Instant, command: &Command) {
        let pages = pages::pages_of(self.settings.page_size, command.offset, command.length);
        if let Some(idle) = self.ssd.idle_time() {
            idle.announce(Announced {
                arrival,
                first: Lpn(pages.start),
                pages: pages.end - pages.start,
                writes: command.operation == Operation::Write,
            });
        }
    }

    #[inline(always)]
    fn enter(&mut self, command: Command, arrived: Instant) {
        if self.queue.is_empty_inside() {
            self.front_end.busy(self.now);
        }
        let id = self.queue.enter(command, arrived, self.now);
        let Command { operation, length, .. } = command;
        let asks = operation == Operation::Write;
        if !(asks && self.front_end.ask_link(LinkDirection::In, id, length)) {
            self.start_controller(id);
        }
    }

    /// Takes the commands that have waited outside the flash since the last call, if that is kept.
    pub fn take_blocked(&mut self) -> impl Iterator<Item = Blocked<Serves, Blocker<Serves>>> {
        self.queue.take_blocked()
    }

    /// The second phase of an instant, first half: books what has ended, and lets in what waited.
    /// Returns whether commands have ended.
    #[inline]
    pub fn book_finished(&mut self) -> bool {
        let is_booked = self.endings.take_booked();
        if !is_booked && self.has_something_to_book() {
            self.book();
        }
        self.has_ended()
    }

    #[inline]
    fn has_something_to_book(&self) -> bool {
        !self.ssd.scheduler().finished.is_empty()
            || self.buffer.as_ref().is_some_and(WriteBuffer::is_waited_for)
            || (self.queue.is_waited_for() && self.has_room())
    }

    // Apart, so that an instant at which nothing has ended costs next to nothing.
    #[inline(never)]
    fn book(&mut self) {
        self.book_pages();
        if self.buffer.is_some() {
            self.use_buffer_room();
        }
        self.let_in();
    }

    #[inline(always)]
    fn book_pages(&mut self) {
        let mut finished = std::mem::take(&mut self.finished);
        self.ssd.take_finished(&mut finished);
        for page in &finished {
            match page.owner {
                Owner::Host(command) => self.page_finished(command, page),
                Owner::Destage => {
                    if let Some(buffer) = &mut self.buffer {
                        self.queue.destaged(page.lpn);
                        match page.outcome {
                            Outcome::Rejected => buffer.stays(page.lpn),
                            Outcome::Done | Outcome::Uncorrectable => {
                                buffer.written_to_flash(page, &mut self.ssd, self.now);
                            }
                        }
                        if let Some(power) = &mut self.power
                            && !buffer.holds(page.lpn)
                        {
                            power.written_to_flash(page.lpn);
                        }
                    }
                }
                // The device keeps these to itself.
                Owner::Translation | Owner::Rebuild => {}
            }
        }
        self.finished = finished;
    }

    /// Whether a command may enter the drive.
    fn has_room(&self) -> bool {
        self.queue.has_place() && !self.ssd.is_off()
    }

    fn let_in(&mut self) {
        while self.has_room()
            && let Some((command, arrived)) = self.queue.next_waiting()
        {
            self.enter(command, arrived);
        }
    }

    /// The second phase of an instant, second half: everything that is free looks for work. Returns
    /// whether something has ended at once, or is to be rejected as the drive takes no writes from now on.
    #[inline]
    pub fn start_work(&mut self) -> bool {
        let was_read_only = self.ssd.backend().condition.is_read_only();
        if let Some(buffer) = &mut self.buffer
            && !self.ssd.backend().condition.is_read_only()
        {
            let events = &mut self.page_events;
            buffer.destage(&mut self.ssd, self.now, |lpn, version| {
                let leaves = PageEvent::Written { by: None, lpn, version };
                events.iter_mut().for_each(|events| events.push(leaves.clone()));
            });
        }
        // Commands wait outside a drive that is off, too.
        self.ssd.note_commands(self.queue.len() > 0);
        self.ssd.arbitrate(self.now, &mut self.agenda);
        self.start_link();
        !self.ssd.scheduler().finished.is_empty()
            || (self.buffer.is_some()
                && self.ssd.backend().condition.is_read_only()
                && !was_read_only)
    }

    /// Whether commands have ended that nobody has taken yet.
    pub fn has_ended(&self) -> bool {
        !self.endings.queue.is_empty()
    }

    /// Takes the first of the commands that have ended.
    #[inline]
    pub fn take_first_ended(&mut self) -> Option<Ended> {
        self.endings.queue.pop_front()
    }

    /// Number of commands that have ended and were not taken yet.
    pub fn ended(&self) -> usize {
        self.endings.queue.len()
    }

    /// Whether there is work that no command waits for: pages of a buffer on their way to flash.
    pub fn is_destaging(&self) -> bool {
        let Some(buffer) = &self.buffer else { return false };
        match self.ssd.works_on_its_own() || self.power.is_some() {
            // What happens then need not be for pages of the buffer.
            true => {
                buffer.is_destaging(self.ssd.backend().held.as_ref().map_or(0, |held| held.count()))
            }
            false => self.agenda.next_time().is_some(),
        }
    }

    fn active(&mut self, command: CommandId) -> &mut ActiveCommand {
        &mut self.queue[command]
    }

    #[inline]
    fn start_link(&mut self) {
        while let Some(transfer) = self.front_end.grant_link() {
            self.queue[transfer.command].spend(Part::Bus, self.now);
            self.agenda.add(self.now + transfer.time, Event::LinkDone(transfer.direction));
        }
    }

    fn link_done(&mut self, direction: LinkDirection) {
        let Some(command) = self.front_end.release_link(direction) else {
            return;
        };
        let now = self.now;
        self.active(command).spend(Part::Service, now);
        match direction {
            LinkDirection::In => self.start_controller(command),
            LinkDirection::Out => self.end(command),
        }
    }

    #[inline(always)]
    fn start_controller(&mut self, command: CommandId) {
        let Command { operation, length, .. } = self.queue[command].command;
        let takes = self.front_end.takes(operation, length, self.now);
        if takes.is_zero() {
            self.admit(command);
        } else {
            self.agenda.add(self.now + takes, Event::ControllerDone(command));
        }
    }

    /// The controller has finished with a command, or with the DRAM of one in the buffer.
    fn controller_done(&mut self, command: CommandId) {
        let now = self.now;
        let active = self.active(command);
        match active.stage {
            Stage::Begun => {
                active.spend(Part::Service, now);
                self.admit(command);
            }
            Stage::Throttled { late } => {
                self.spend_in_buffer(command, For::Room, late);
                self.dispatch(command);
            }
            Stage::Held => self.let_held_go(),
            Stage::Buffered => {
                active.spend(Part::Buffer, now);
                self.after_pages(command);
            }
        }
    }

    #[inline(always)]
    fn page_finished(&mut self, command: CommandId, page: &Finished) {
        let now = self.now;
        let active = self.active(command);
        active.pages_left -= 1;
        active.outcome.worsen(page.outcome);
        if active.pages_left == 0 {
            active.spend_parts(&page.parts, now);
            self.after_pages(command);
        }
    }

    /// Writes and flushes that the buffer held up go on.
    fn use_buffer_room(&mut self) {
        if self.ssd.backend().condition.is_read_only() {
            self.reject_what_waits_for_the_buffer();
        }
        let now = self.now;
        while let Some(placed) = self.buffer.as_mut().and_then(|b| b.make_room(now)) {
            let Placed { command, lpn, late } = placed;
            self.record(|drive| PageEvent::Buffered { by: drive.serves(command), lpn });
            self.spend_in_buffer(command, For::Room, late);
            self.pages_buffered(command, 1);
        }
        while let Some((command, late)) = self.ended_flush(now) {
            self.spend_in_buffer(command, For::Flush, late);
            self.end(command);
        }
    }

    fn ended_flush(&mut self, now: Instant) -> Option<(CommandId, Duration)> {
        let (command, place, late) = self.buffer.as_mut()?.ended_flush(now)?;
        self.ssd.flush_ended(place);
        Some((command, late))
    }

    /// A command has waited for the buffer, behind the page that has left it last.
    fn spend_in_buffer(&mut self, command: CommandId, what: For, late: Duration) {
        let now = self.now;
        let active = self.active(command);
        let (since, mut parts) = (active.accounted, Parts::default());
        parts.book_wait(Part::Buffer, now - since, late);
        active.spend_parts(&parts, now);
        self.queue.record_blocked_by_buffer(command, Waited { what, since, until: now, parts });
    }

    /// The last page of a command has been served.
    #[inline(always)]
    fn after_pages(&mut self, id: CommandId) {
        let Command { operation, length, .. } = self.active(id).command;
        let asks = operation == Operation::Read;
        if !(asks && self.front_end.ask_link(LinkDirection::Out, id, length)) {
            self.end(id);
        }
    }

    #[inline(always)]
    fn end(&mut self, id: CommandId) {
        let active = &self.queue[id];
        if self.settings.audit {
            let response = active.response(self.now);
            if active.parts.total() != response {
                let problem = format!("the parts of a response of {response:?} differ: {active:?}");
                self.violation.get_or_insert(problem);
            }
        }
        let ActiveCommand { command, parts, outcome, .. } = *active;
        self.endings.add(Ended { command, parts, outcome });
        self.queue.leave(id, self.now);
        if self.queue.is_empty_inside() {
            self.front_end.idle(self.now);
        }
        if self.power.is_some() {
            self.note_acknowledged(id, &command);
        }
    }

    /// The first broken invariant that the audit has seen, if any.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref().or_else(|| self.ssd.violation())
    }
}
