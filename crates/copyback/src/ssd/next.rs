//! Next work of a die: collections first, unless they yield, then the host, then what is left over.

use crate::backend::{Backend, Purpose, StepInFlight, ToFill};
use crate::collector::{Collector, Progress};
use crate::event::Agenda;
use crate::ftl::Outdated;
use crate::ids::{DieId, Ppn};
use crate::nand::{Command, Operation};
use crate::scheduler::Next;
use crate::scheduler::when::{Admitted, AtDie, Schedule, Turn};
use crate::shortcut::Undisturbed;
use crate::units::Instant;

use super::Ssd;
use super::stalls::Stalls;

impl Ssd {
    /// Moves the operations of `die` as far as they go, and books those that have ended.
    #[inline]
    pub(super) fn end_what_has_ended(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) {
        loop {
            let (flash, mut describer) = self.flash_and_describer();
            let Some(operation) = flash.next_ended(die, now, agenda, &mut describer) else { break };
            if operation.pages.is_some() {
                self.note_programmed(&operation, now);
            }
            match operation.tag {
                Purpose::Host(group) => {
                    self.backend.has_changed |= operation.command != Command::Read;
                    self.backend.observer.serve_ends(die, now);
                    self.scheduler.finish_host(&mut self.backend, group, &operation, now);
                }
                Purpose::Collection(step) => {
                    self.backend.has_changed = true;
                    if self.collector.finish_step(&mut self.backend, die, step, now) {
                        let moved = Outdated::On(die);
                        self.scheduler.write_back_outdated(&mut self.backend, moved, now);
                    }
                    match step {
                        StepInFlight::Rebuilt => {
                            if let Some(rebuild) = &mut self.scheduler.rebuild {
                                rebuild.note_rebuilt(die);
                            }
                        }
                        StepInFlight::ReadInVain(page) => {
                            self.scheduler.make_up_to_move(&mut self.backend, page, now);
                        }
                        StepInFlight::Read
                        | StepInFlight::Program
                        | StepInFlight::Stage(_)
                        | StepInFlight::Erase
                        | StepInFlight::ProgramStaged
                        | StepInFlight::Parity => {}
                    }
                    if self.backend.condition.is_read_only() || self.backend.ftl.is_lost(die) {
                        let Backend { collecting, observer, .. } = &mut self.backend;
                        self.collector.lay_down(collecting, observer, die, now);
                    }
                }
            }
        }
    }

    /// Gives a die its next work, if it can take any. Returns whether something was started.
    pub(super) fn start_next(&mut self, die: DieId, now: Instant) -> bool {
        if let Some(rule) = self.suspend
            && let Some(more) = self.suspend_or_resume(die, rule, now)
        {
            return more;
        }
        if self.backend.flash.die(die).is_full()
            || self.scheduler.rebuild.is_some() && self.backend.ftl.is_lost(die)
        {
            return false;
        }
        if self.rebuilt_goes_first(die) && self.program_staged(die, now) {
            return true;
        }
        if self.backend.held.is_some() && self.fill_for_an_erase(die, now) {
            return true;
        }
        if self.backend.flash.shortcuts.names_writes {
            self.scheduler.name_next_writes(&mut self.backend, die);
        }
        match self.collector.of(die) {
            Some(collection) if collection.in_flight.is_some() => {
                let (schedule, mut at) = self.at_die(die, now);
                schedule.serve_beside(&mut at)
            }
            Some(_) => self.go_on_collecting(die, now),
            None if self.parity_goes_first(die) => {
                self.backend.has_changed = true;
                Collector::program_parity(&mut self.backend, die, now)
            }
            None if self.collection_is_due(die) => self.collect_or_serve(die, now),
            None => {
                self.start_host_operation(die, Admitted::ALL, now)
                    || (self.backend.ftl.staged().len() > 0 && self.program_staged(die, now))
                    || (self.collector.idle.is_some()
                        && self.collector.use_idle_time(&mut self.backend, die, now)
                        && self.carry_on(die, now))
            }
        }
    }

    /// Whether parity waits for `die`, which goes before all but reads, where these go before writes.
    fn parity_goes_first(&self, die: DieId) -> bool {
        self.backend.ftl.lines().and_then(|lines| lines.parity()?.due.next(die)).is_some()
            && !self.scheduler.queues.reads_go_first(die)
    }

    /// Whether pages of a lost die may wait for `die` to program them, which go behind parity and before the rest.
    fn rebuilt_goes_first(&self, die: DieId) -> bool {
        self.scheduler.rebuild.as_ref().is_some_and(|rebuild| rebuild.is_under_way())
            && self.backend.ftl.staged().len() > 0
            && self.collector.of(die).is_none()
            && self.backend.ftl.lines().and_then(|lines| lines.parity()?.due.next(die)).is_none()
            && !self.scheduler.queues.reads_go_first(die)
    }

    /// Whether a plane of `die` that is short of space, or asked for, is to be collected before
    /// anything else.
    #[inline(always)]
    fn collection_is_due(&self, die: DieId) -> bool {
        self.collector
            .is_due(&self.backend, die, || self.scheduler.queues.host_waits(&self.backend, die))
    }

    /// A collection is due: begins it, unless the schedule lets the host go first or there is nothing
    /// to gain.
    fn collect_or_serve(&mut self, die: DieId, now: Instant) -> bool {
        if self.schedule.yields || self.collector.gives_way(die) {
            let admitted = match self.collector.gives_way(die) {
                true => Admitted::ALL,
                false => {
                    let (schedule, at) = self.at_die(die, now);
                    schedule.scheme.admitted(&at)
                }
            };
            if self.start_host_operation(die, admitted, now) {
                return true;
            }
        }
        if !self.backend.flash.die(die).is_idle() {
            return false;
        }
        if self.begin_collection(die, now) {
            self.scheduler.wake_for_waiting_writes(&mut self.backend);
            return true;
        }
        if !self.collection_is_due(die) {
            // It has taken no time, or an asked plane has nothing to give: look anew.
            return true;
        }
        self.start_host_operation(die, Admitted::ALL, now)
    }

    /// Begins to collect an idle die. Returns whether the die has work now.
    fn begin_collection(&mut self, die: DieId, now: Instant) -> bool {
        let Self { backend, collector, schedule, scheduler, .. } = self;
        let first = backend.ftl.geometry().first_plane(die);
        let choose = |candidates| schedule.plane_to_collect(die, first, candidates);
        if collector.begin(backend, die, choose, now) {
            backend.has_changed = true;
            let (schedule, at) = self.at_die(die, now);
            schedule.collection_begins(&at);
            let more = self.carry_on(die, now);
            if self.backend.ftl.lines().is_some() {
                self.scheduler.send_around(&mut self.backend, die, now);
            }
            return more;
        }
        if collector.takes_no_time() {
            backend.has_changed = true;
            backend.condition.has_replaced();
            scheduler.write_back_outdated(backend, Outdated::On(die), now);
        }
        false
    }

    /// Carries out the next step of the die's collection, or ends it. Returns whether the die may have further
    /// work to start now.
    fn carry_on(&mut self, die: DieId, now: Instant) -> bool {
        let progress = self.collector.go_on(&mut self.backend, die, now);
        self.backend.has_changed |= progress != Progress::Waits;
        match progress {
            Progress::Begun(parts) => self.schedule.step_begins(die, parts),
            Progress::Continued(parts) => self.schedule.step_goes_on(die, parts),
            Progress::Ended | Progress::Waits => {}
        }
        self.scheduler.note_replaced(&mut self.backend, die, now);
        progress != Progress::Waits
    }

    /// Serves the host if the schedule lets it go first, else carries the collection on. Returns
    /// whether the die may have further work to start now.
    fn go_on_collecting(&mut self, die: DieId, now: Instant) -> bool {
        if self.collector.is_put_off(&self.backend, die, || self.collection_is_due(die), now) {
            self.at_die(die, now).1.yield_to_host();
            self.collector.put_off(die);
            return self.start_host_operation(die, Admitted::ALL, now);
        }
        if self.scheduler.queues.undisturbed(&self.backend, die) != Undisturbed::Never {
            return false;
        }
        let (schedule, mut at) = self.at_die(die, now);
        match schedule.turn(&mut at) {
            Turn::Served => true,
            Turn::Serve(next) => {
                self.start(die, Some(next), now);
                self.at_die(die, now).1.yield_to_host();
                true
            }
            Turn::Overlap => self.carry_on(die, now),
            Turn::Wait => false,
            Turn::Collect => {
                let is_interrupted = self.backend.collecting.is_interrupted(die);
                let more = self.carry_on(die, now);
                if is_interrupted {
                    self.scheduler.wake_for_waiting_writes(&mut self.backend);
                }
                more
            }
        }
    }

    /// The schedule, and what it looks at to say whose turn it is on `die`.
    #[inline]
    const fn at_die(&mut self, die: DieId, now: Instant) -> (&mut Schedule, AtDie<'_>) {
        let Self { backend, scheduler, collector, schedule, .. } = self;
        (schedule, AtDie { die, now, scheduler, collector, backend })
    }

    /// Starts the host operation that is next among those admitted, if the die can take it.
    #[inline(always)]
    fn start_host_operation(&mut self, die: DieId, admitted: Admitted, now: Instant) -> bool {
        self.scheduler.queues.host_waits(&self.backend, die)
            && self.backend.flash.takes_any_from_host(die)
            && self.start_waiting_operation(die, admitted, now)
    }

    // Apart, as often nothing waits or the die is busy.
    #[inline(never)]
    fn start_waiting_operation(&mut self, die: DieId, admitted: Admitted, now: Instant) -> bool {
        let next = self.scheduler.queues.next_host_operation(&self.backend, die, admitted);
        self.start(die, next, now)
    }

    /// Starts `next` if the die can take it.
    #[inline(always)]
    fn start(&mut self, die: DieId, next: Option<Next>, now: Instant) -> bool {
        let Some(next) = next else { return false };
        let command = next.command();
        let written_before = self.backend.counters.host_programs;
        let has_started = self.backend.flash.takes_from_host(die, command)
            && self.scheduler.start(&mut self.backend, next, now);
        if has_started {
            self.backend.has_changed |= command != Command::Read;
            let (schedule, mut at) = self.at_die(die, now);
            schedule.host_begins(&mut at, next, written_before);
            self.collector.host_begins(die);
        }
        has_started
    }

    fn program_staged(&mut self, die: DieId, now: Instant) -> bool {
        let pages = Collector::program_staged(&mut self.backend, die, now);
        self.backend.has_changed |= pages > 0;
        self.scheduler.note_replaced(&mut self.backend, die, now);
        if pages > 0
            && let Some(rebuild) = &mut self.scheduler.rebuild
        {
            rebuild.note_rebuilding(die, pages);
        }
        pages > 0
    }

    /// Notes which dies stall that are passed before it is the turn of `next`, or at the end.
    #[inline]
    pub(super) fn note_passed(&mut self, next: Option<DieId>, now: Instant) {
        if self.backend.flash.passes_any() {
            self.note_those_passed(next, now);
        }
    }

    #[inline(never)]
    fn note_those_passed(&mut self, next: Option<DieId>, now: Instant) {
        while let Some(die) = self.backend.flash.next_passed(next) {
            let Backend { ftl, observer, .. } = &mut self.backend;
            Stalls::note(ftl, observer, &self.scheduler.queues, die, now);
        }
    }

    /// Fills up a page of `die` that an erase waits for. It is the collection's own work, so that no schedule is asked.
    #[cold]
    fn fill_for_an_erase(&mut self, die: DieId, now: Instant) -> bool {
        let asked =
            self.backend.held.as_ref().and_then(|held| held.next_asked(&self.backend.ftl, die));
        let Some(ToFill { program, .. }) = asked else { return false };
        self.start(die, Some(Next::Fill(program)), now)
    }

    /// Notes that what a die has programmed is there, and wakes the dies whose erases have waited for that. Ends the writes
    /// that have.
    #[cold]
    fn note_programmed(&mut self, operation: &Operation<Purpose>, now: Instant) {
        if !matches!(operation.command, Command::Program | Command::Copyback) {
            return;
        }
        for page in operation.pages.iter().flat_map(|pages| pages.iter().copied()) {
            match self.backend.held.is_some() {
                false => programs_are_over(&mut self.backend, [page]),
                true => {
                    let Some(program) = self.backend.ftl.geometry().program_ended_by(page) else {
                        continue;
                    };
                    let pages = self.backend.ftl.geometry().pages_of_program(program);
                    programs_are_over(&mut self.backend, pages);
                    self.scheduler.end_held(&mut self.backend, program, now);
                }
            }
        }
    }
}

/// Notes that these pages are programmed.
fn programs_are_over(backend: &mut Backend, pages: impl IntoIterator<Item = Ppn>) {
    for page in pages {
        let superseded = backend.ftl.audit_mut().and_then(|audit| audit.programmed(page));
        if let Some(block) = superseded {
            let plane = backend.ftl.geometry().plane_of_block(block);
            backend.flash.wake(backend.ftl.geometry().die_of_plane(plane));
        }
    }
}
