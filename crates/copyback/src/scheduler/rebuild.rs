//! A lost die (`ssd.faults.lost_die`) is rebuilt: each valid page that was there is made up from the others of its stripe, and
//! programmed on another die. The pages of one line come after those of another, so many at once and at a set rate at most.
//!
//! ```text
//!   page of the lost die ──► others of its stripe are read ──► DRAM ──► another die programs it
//! ```

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::backend::Backend;
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::event::{Agenda, Event};
use crate::ftl::Ftl;
use crate::ids::{DieId, Ppn};
use crate::nand::transfer_time;
use crate::purpose::Owner;
use crate::transaction::{Kind, TransactionId};
use crate::units::{Duration, Instant};

use super::Scheduler;
use super::stripes::Cause;

/// The loss of a die, and what comes of it.
#[derive(Debug, Checkpointed)]
pub struct Rebuild {
    die: DieId,
    at: Instant,
    /// From the begin of a page to that of the next, at least.
    interval: Duration,
    most: usize,
    phase: Phase,
    /// When the next look is on the agenda.
    look: Option<Instant>,
    /// When the next page may begin.
    due: Instant,
    /// Pages of the line whose turn it is.
    pages: VecDeque<Ppn>,
    /// Pages whose stripes are being read.
    reading: SmallVec<[(TransactionId, Ppn); 8]>,
    /// Pages that each die programs.
    programming: Vec<u64>,
    tally: RebuildTally,
}

/// State of a die that may be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Checkpointed)]
pub enum Phase {
    /// Die that works.
    #[default]
    Whole,
    /// Pages of it are still to be rebuilt.
    Degraded,
    /// Lost die whose data are elsewhere.
    Rebuilt,
}

/// Counts of a rebuild.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct RebuildTally {
    /// When the die was lost.
    pub lost_at: Option<Instant>,
    /// When the last page was rebuilt.
    pub ended_at: Option<Instant>,
    /// Pages that were programmed elsewhere, those that are gone with a mark.
    pub rebuilt: u64,
    /// Pages that could not be made up, and are gone.
    pub gone: u64,
    /// Reads of the host that were made up since their die was lost.
    pub degraded_reads: u64,
    /// Pages read to rebuild others.
    pub stripe_reads: u64,
}

/// Report on a die that is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostDieReport {
    /// The die.
    pub die: DieId,
    /// Counts of its rebuild.
    pub tally: RebuildTally,
    /// Lines that were opened without parity since.
    pub unprotected_lines: u64,
}

impl Rebuild {
    /// Creates the rebuild of a checked configuration, if it asks for one.
    pub fn new(config: &Resolved, dies: usize) -> Option<Box<Self>> {
        let lost = config.ssd.faults.lost_die?;
        Some(Box::new(Self {
            die: DieId(lost.die),
            at: Instant::START + lost.at.0,
            interval: transfer_time(config.drive.pages.size.0, lost.rebuild_rate),
            most: lost.rebuild_pages as usize,
            phase: Phase::Whole,
            look: None,
            due: Instant::START,
            pages: VecDeque::new(),
            reading: SmallVec::new(),
            programming: vec![0; dies],
            tally: RebuildTally::default(),
        }))
    }

    /// Whether pages are rebuilt at this time.
    pub const fn is_under_way(&self) -> bool {
        matches!(self.phase, Phase::Degraded)
    }

    /// Whether pages are still to be rebuilt, but nothing goes on that leads to it.
    pub fn stands_still(&self, backend: &Backend) -> bool {
        let are_idle = || backend.flash.dies().iter().all(|die| die.is_idle());
        self.is_under_way() && self.look.is_none() && are_idle()
    }

    /// State of the die: a rebuild that ended after `since` counts as not ended.
    pub fn phase(&self, since: Instant) -> Phase {
        match self.phase {
            Phase::Rebuilt if self.tally.ended_at > Some(since) => Phase::Degraded,
            phase => phase,
        }
    }

    /// The die, and what has become of it.
    pub fn report(&self, ftl: &Ftl) -> LostDieReport {
        let unprotected_lines = ftl.lines().map_or(0, |lines| lines.unprotected());
        LostDieReport { die: self.die, tally: self.tally, unprotected_lines }
    }

    /// A look that was on the agenda. Returns the die if it is lost now.
    pub fn look(&mut self, now: Instant) -> Option<DieId> {
        self.look.take_if(|planned| *planned <= now);
        let is_lost = self.phase == Phase::Whole && self.at <= now;
        is_lost.then_some(self.die)
    }

    /// `die` has begun to program so many pages that were made up.
    pub fn note_rebuilding(&mut self, die: DieId, pages: u64) {
        self.programming[die.index()] = pages;
        self.tally.rebuilt += pages;
    }

    /// Records that the programs of rebuilt pages in `die` have ended.
    pub fn note_rebuilt(&mut self, die: DieId) {
        self.programming[die.index()] = 0;
    }

    /// A read of the host was made up since its die is lost.
    pub(super) const fn note_degraded_read(&mut self) {
        self.tally.degraded_reads += 1;
    }

    /// Pages whose stripes are being read.
    pub(super) fn pages_read(&self) -> usize {
        self.reading.len()
    }

    fn under_way(&self, backend: &Backend) -> usize {
        let programming: u64 = self.programming.iter().sum();
        self.reading.len() + backend.ftl.staged().len() + programming as usize
    }

    /// The next page of the line whose turn it is that is still valid.
    fn next_of_line(&mut self, backend: &Backend) -> Option<Ppn> {
        std::iter::from_fn(|| self.pages.pop_front()).find(|page| backend.ftl.is_valid(*page))
    }

    fn plan_look(&mut self, next: Instant, agenda: &mut Agenda) {
        if self.look.is_none_or(|planned| next < planned) {
            self.look = Some(next);
            agenda.add(next, Event::LostDieLook);
        }
    }
}

impl Scheduler {
    /// `die` is lost: what waits for it is made up, as far as it can be.
    pub fn lose_die(&mut self, backend: &mut Backend, die: DieId, now: Instant) {
        if let Some(rebuild) = &mut self.rebuild {
            (rebuild.phase, rebuild.due) = (Phase::Degraded, now);
            rebuild.tally.lost_at = Some(now);
        }
        for plane in backend.ftl.geometry().planes_of_die(die) {
            let waiting: Vec<_> = std::iter::from_fn(|| self.queues.pop_read(plane)).collect();
            for id in waiting {
                self.queues.transactions.get_mut(id).end_wait(&mut backend.observer, now);
                match self.queues.transactions.get(id).kind {
                    Kind::OfStripe => self.finish_part(backend, id, true, now),
                    Kind::Read | Kind::ReadToUpdate | Kind::Write => {
                        self.enqueue_read(backend, id, now);
                    }
                }
            }
        }
    }

    /// Begins to rebuild pages, as many as may be under way. Plans the loss, and the next look. Returns whether any has
    /// been begun.
    pub fn rebuild(&mut self, backend: &mut Backend, now: Instant, agenda: &mut Agenda) -> bool {
        let Some(rebuild) = &mut self.rebuild else { return false };
        match rebuild.phase {
            Phase::Whole => {
                rebuild.plan_look(rebuild.at.max(now), agenda);
                return false;
            }
            Phase::Rebuilt => return false,
            Phase::Degraded => {}
        }
        let given = backend.ftl.give_rebuilt_to_others();
        given.iter().for_each(|die| backend.flash.wake(*die));
        let mut has_begun = !given.is_empty();
        while let Some(page) = self.next_to_rebuild(backend, now) {
            self.begin_to_rebuild(backend, page, now);
            has_begun = true;
        }
        let Some(rebuild) = &mut self.rebuild else { return has_begun };
        if backend.ftl.lines().is_none_or(|lines| lines.left_of_lost() == 0)
            && rebuild.under_way(backend) == 0
        {
            rebuild.phase = Phase::Rebuilt;
            rebuild.tally.ended_at = Some(now);
        } else if rebuild.due > now && rebuild.under_way(backend) < rebuild.most {
            rebuild.plan_look(rebuild.due, agenda);
        }
        has_begun
    }

    /// The page that is rebuilt next, if one may begin.
    fn next_to_rebuild(&mut self, backend: &Backend, now: Instant) -> Option<Ppn> {
        let rebuild = self.rebuild.as_mut()?;
        if rebuild.due > now || rebuild.under_way(backend) >= rebuild.most {
            return None;
        }
        rebuild.next_of_line(backend).or_else(|| {
            let reading = |page: &Ppn| rebuild.reading.iter().any(|(_, other)| other == page);
            let lines = backend.ftl.lines();
            let mut pages = lines.map(|lines| lines.lost_pages_of_next_line()).unwrap_or_default();
            pages.retain(|page| !reading(page));
            rebuild.pages = pages.into();
            rebuild.next_of_line(backend)
        })
    }

    fn begin_to_rebuild(&mut self, backend: &mut Backend, page: Ppn, now: Instant) {
        let lpn = backend.ftl.logical(page);
        let id = self.admit(Owner::Rebuild, lpn, Kind::Read, Duration::ZERO);
        let others = backend.ftl.others_of_stripe(page);
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.reading.push((id, page));
            rebuild.due = now + rebuild.interval;
            rebuild.tally.stripe_reads += others.as_ref().map_or(0, |others| others.len() as u64);
        }
        match others {
            // All that is needed is in DRAM.
            Some(others) if others.is_empty() => self.stripe_was_read(backend, id, true),
            Some(others) => self.make_up(backend, id, Cause::Rebuild, &others, now),
            None => self.stripe_was_read(backend, id, false),
        }
    }

    /// Records that a read for rebuilding a page, of which `id` is part, has ended or failed.
    pub(super) fn stripe_was_read(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        is_made_up: bool,
    ) {
        self.queues.transactions.remove(id);
        let Some(rebuild) = &mut self.rebuild else { return };
        let Some(place) = rebuild.reading.iter().position(|(other, _)| *other == id) else {
            return;
        };
        let (_, page) = rebuild.reading.remove(place);
        if !backend.ftl.is_valid(page) {
            return;
        }
        if !is_made_up && backend.ftl.lose(page) {
            rebuild.tally.gone += 1;
        }
        let plane = backend.ftl.lines().and_then(|lines| lines.plane_for_rebuilt());
        let plane = plane.expect("other dies are left");
        backend.ftl.stage(page, plane);
        backend.flash.wake(backend.ftl.geometry().die_of_plane(plane));
    }
}
