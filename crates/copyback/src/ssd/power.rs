//! The power of a drive fails: what its flash holds then, and the drive that is made again from that.

use crate::backend::{Backend, Purpose, wake_dies_to_collect};
use crate::config::{Protection, Resolved};
use crate::ftl::{Ftl, Image, Lost, Outdated, Scan};
use crate::ids::{DieId, Lpn};
use crate::nand::{Command, Operation};
use crate::observer::Entry;
use crate::units::Instant;

use super::Ssd;
use super::recovery_time::RecoveryTime;

/// A cut of power, and what it took to find the mapping again.
#[derive(Debug, Clone)]
pub struct Cut {
    /// Pages that were being programmed, and are torn.
    pub torn_pages: u64,
    /// Blocks that were being erased.
    pub cut_erases: u64,
    /// Pages that torn ones took with them, as they share cells.
    pub paired_pages_torn: u64,
    /// Of the host's pages, those of which a durable version was lost so.
    pub paired_pages_lost: u64,
    /// Findings of the recovery.
    pub scan: Scan,
    /// Pages that must not be lost, and are.
    pub lost: Vec<Lost>,
    /// Duration of the recovery.
    pub time: RecoveryTime,
}

impl Ssd {
    /// The power fails. From then on the drive does nothing until it [starts up](Self::start_up); its
    /// mapping is what a recovery finds. `name` is the drive's in the names of random streams from then on;
    /// capacitors save so many pages of its write buffer.
    pub fn lose_power(
        &mut self,
        config: &Resolved,
        name: &str,
        buffered_pages: u64,
        now: Instant,
    ) -> Cut {
        let is_protected = config.ssd.power.protection == Protection::Capacitors;
        let mut cut_off = CutOff::default();
        let image = match is_protected {
            true => finished_image(&self.backend),
            false => torn_image(&self.backend, config.ssd.power.paired_pages, &mut cut_off),
        };
        let (mut ftl, scan) = Ftl::recovered(config, name, &image);
        ftl.begin_anew(&self.backend.ftl);
        let (paired, lost): (Vec<_>, Vec<_>) =
            ftl.lost_since(&self.backend.ftl).into_iter().partition(|lost| cut_off.has_taken(lost));
        let time = match is_protected {
            true => RecoveryTime::of_saved(config, &ftl, buffered_pages, (&image, &scan)),
            false => RecoveryTime::of_scan(config, &ftl, &image, &scan),
        };
        self.stop_all(now);
        self.replace(config, ftl);
        let CutOff { torn_pages, cut_erases, taken } = cut_off;
        Cut {
            torn_pages,
            cut_erases,
            paired_pages_torn: taken.len() as u64,
            paired_pages_lost: paired.len() as u64,
            scan,
            lost,
            time,
        }
    }

    /// Books what every die does as ended.
    fn stop_all(&mut self, now: Instant) {
        let backend = &mut self.backend;
        for die in (0..backend.ftl.geometry().dies()).map(DieId::from_index) {
            if backend.flash.die(die).operations().next().is_some() {
                backend.observer.record(|| Entry::Cut { die, at: now });
            }
            backend.collecting.rest(&mut backend.observer, die, now);
            if self.collector.of(die).is_some() {
                backend.observer.record(|| Entry::Ends { die, at: now });
            }
            backend.observer.stop(die, now);
        }
        let facts = backend.ftl.facts();
        backend.counters.put_off += facts.deferred;
        backend.counters.nv_buffer += facts.buffer.unwrap_or_default();
    }

    /// Makes everything anew around `ftl` but what is measured.
    fn replace(&mut self, config: &Resolved, ftl: Ftl) {
        let fresh = Self::around(config, ftl, self.scheduler.last_sequence());
        let old = std::mem::replace(self, fresh);
        // Whatever is made around a translation layer begins to count there.
        self.backend.ftl.counts_on(&old.backend.ftl);
        if let (Some(ageing), Some(before)) =
            (&mut self.backend.condition.ageing, &old.backend.condition.ageing)
        {
            ageing.goes_on(before, &self.backend.ftl);
        }
        self.backend.counters = old.backend.counters;
        self.backend.collecting.counts_on(&old.backend.collecting);
        self.backend.observer = old.backend.observer;
        self.is_off = true;
    }

    /// Whether it is without power, or has not found its mapping again yet.
    pub const fn is_off(&self) -> bool {
        self.is_off
    }

    /// The power is back and the mapping found, or a prepared drive is put to use: its own work begins.
    pub fn start_up(&mut self, now: Instant) {
        self.is_off = false;
        self.backend.has_changed = true;
        if self.backend.held.is_some() {
            // A drive is prepared in no time, and then flushed.
            self.backend.ftl.fill_up_all();
        }
        if let Some(audit) = self.backend.ftl.audit_mut() {
            audit.begin();
        }
        let Backend { ftl, flash, condition, .. } = &mut self.backend;
        wake_dies_to_collect(flash, ftl, condition.ageing.is_some());
        // What the preparation or a recovery has left out of date.
        self.scheduler.write_back_outdated(&mut self.backend, Outdated::All, now);
    }
}

/// The flash after capacitors have finished what was in it.
fn finished_image(backend: &Backend) -> Image {
    let mut image = backend.ftl.image(true);
    let erases = in_dies(backend).filter(|operation| operation.command == Command::Erase);
    for page in erases.filter_map(|erase| erase.pages.as_deref()).flatten() {
        image.erase(backend.ftl.geometry().block_of(*page));
    }
    image
}

/// The flash after what was in it has been cut off. A program that had not begun has not changed
/// anything: what was transferred for it is lost with the controller's memory.
fn torn_image(backend: &Backend, paired_pages: u32, cut_off: &mut CutOff) -> Image {
    let mut image = backend.ftl.image(false);
    let audit = backend.ftl.audit().into_iter();
    audit.flat_map(|audit| audit.in_flight()).for_each(|page| image.blank(page));
    for operation in in_dies(backend) {
        for page in operation.pages.iter().flat_map(|pages| pages.iter().copied()) {
            match operation.command {
                Command::Read => {}
                Command::Erase if !operation.has_begun() => {}
                Command::Erase => {
                    image.erase_in_part(backend.ftl.geometry().block_of(page));
                    cut_off.cut_erases += 1;
                }
                Command::Program | Command::Copyback => {
                    let Some(program) = backend.ftl.geometry().program_ended_by(page) else {
                        continue;
                    };
                    let pages = backend.ftl.geometry().pages_of_program(program);
                    if !operation.has_begun() {
                        pages.for_each(|page| image.blank(page));
                        continue;
                    }
                    pages.for_each(|page| image.tear(page));
                    cut_off.torn_pages += 1;
                    let taken = image.tear_paired(page, paired_pages);
                    cut_off.taken.extend(taken.iter().map(|stamp| (stamp.lpn, stamp.version)));
                }
            }
        }
    }
    image
}

fn in_dies(backend: &Backend) -> impl Iterator<Item = &Operation<Purpose>> {
    backend.flash.dies().iter().flat_map(|die| die.operations())
}

/// Effects of a cut on operations under way.
#[derive(Debug, Default)]
struct CutOff {
    torn_pages: u64,
    cut_erases: u64,
    /// Pages that were torn with others: logical page and version.
    taken: Vec<(Lpn, u64)>,
}

impl CutOff {
    /// Whether a version was lost with a torn page.
    fn has_taken(&self, lost: &Lost) -> bool {
        self.taken.contains(&(lost.lpn, lost.durable))
    }
}
