//! The power of a drive fails: what its flash holds then, and the drive that is made again from that.

use crate::config::{Config, Protection};
use crate::ftl::{Ftl, Image, Lost, Scan};
use crate::ids::DieId;
use crate::nand::{Command, Operation};
use crate::units::Instant;

use super::idle_account::Activity;
use super::recovery_time::RecoveryTime;
use super::{Purpose, Ssd};

/// A cut of power, and what it took to find the mapping again.
#[derive(Debug, Clone)]
pub struct Cut {
    /// Pages that were being programmed, and are torn.
    pub torn_pages: u64,
    /// Blocks that were being erased.
    pub cut_erases: u64,
    /// What the recovery has found.
    pub scan: Scan,
    /// What must not be lost, and is.
    pub lost: Vec<Lost>,
    /// How long the recovery takes.
    pub time: RecoveryTime,
}

impl Ssd {
    /// The power fails. From then on the drive does nothing until it [starts up](Self::start_up); its
    /// mapping is what a recovery finds. `name` is the drive's in the names of random streams from then on;
    /// capacitors save so many pages of its write buffer.
    pub fn lose_power(
        &mut self,
        config: &Config,
        name: &str,
        buffered_pages: u64,
        now: Instant,
    ) -> Cut {
        let is_protected = config.ssd.power.protection == Protection::Capacitors;
        let mut cut_off = CutOff::default();
        let image = match is_protected {
            true => self.finished_image(),
            false => self.torn_image(&mut cut_off),
        };
        let (ftl, scan) = Ftl::recovered(config, name, &image);
        let lost = ftl.lost_since(&self.ftl);
        let time = match is_protected {
            true => RecoveryTime::of_saved(config, &ftl, buffered_pages, &scan),
            false => RecoveryTime::of_scan(config, &ftl, &image, &scan),
        };
        self.stop_all(now);
        self.replace(config, ftl);
        let CutOff { torn_pages, cut_erases } = cut_off;
        Cut { torn_pages, cut_erases, scan, lost, time }
    }

    /// The flash after capacitors have finished what was in it.
    fn finished_image(&self) -> Image {
        let mut image = self.ftl.saved_image();
        let erases = self.in_dies().filter(|operation| operation.command == Command::Erase);
        for page in erases.filter_map(|erase| erase.pages.as_deref()).flatten() {
            image.erase(self.geometry.block_of(*page));
        }
        image
    }

    /// The flash after what was in it has been cut off. A program that had not begun has not changed
    /// anything.
    fn torn_image(&self, cut_off: &mut CutOff) -> Image {
        let mut image = self.ftl.image();
        for operation in self.in_dies() {
            for page in operation.pages.iter().flat_map(|pages| pages.iter().copied()) {
                match operation.command {
                    Command::Read => {}
                    Command::Erase if !operation.has_begun() => {}
                    Command::Erase => {
                        image.erase_in_part(self.geometry.block_of(page));
                        cut_off.cut_erases += 1;
                    }
                    Command::Program | Command::Copyback if !operation.has_begun() => {
                        image.blank(page);
                    }
                    Command::Program | Command::Copyback => {
                        image.tear(page);
                        cut_off.torn_pages += 1;
                    }
                }
            }
        }
        image
    }

    fn in_dies(&self) -> impl Iterator<Item = &Operation<Purpose>> {
        self.dies.iter().flat_map(|die| die.operations())
    }

    /// Books what every die does as ended.
    fn stop_all(&mut self, now: Instant) {
        for die in (0..self.dies.len()).map(DieId::from_index) {
            if self.dies[die.index()].operations().next().is_some() {
                self.tell_cut(die, now);
            }
            self.collection_rests(die, now);
            if self.collections[die.index()].is_some() {
                self.tell_ends(die, now);
            }
            self.die_does(die, Activity::Nothing, now);
            self.die_clocks[die.index()].stop(now);
            if let Some(since) = self.stalled[die.index()].take() {
                self.counters.stalled += now - since;
            }
        }
        self.device_clock.stop();
        self.counters.put_off += self.ftl.merges_put_off();
        self.counters.nv_buffer += self.ftl.nv_buffer_tally();
    }

    /// Makes everything anew around `ftl` but what is measured.
    fn replace(&mut self, config: &Config, ftl: Ftl) {
        let fresh = Self::around(config, ftl, self.submitted);
        let old = std::mem::replace(self, fresh);
        self.counters = old.counters;
        self.die_clocks = old.die_clocks;
        self.plane_clocks = old.plane_clocks;
        self.device_clock = old.device_clock;
        self.idle_account = old.idle_account;
        self.journal = old.journal;
        self.is_off = true;
    }

    /// Whether it is without power, or has not found its mapping again yet.
    pub const fn is_off(&self) -> bool {
        self.is_off
    }

    /// The power is back and the mapping found, or a prepared drive is put to use: its own work begins.
    pub fn start_up(&mut self, now: Instant) {
        self.is_off = false;
        self.ftl.begin_timed();
        self.wake_hungry_dies();
        self.write_back_what_waits(now);
    }

    /// Place of the last page operation that was handed in, in their order.
    pub const fn last_order(&self) -> u64 {
        self.submitted
    }

    /// Notes that what a die has programmed is there, and wakes the dies whose erases have waited for
    /// that.
    #[cold]
    pub(super) fn note_programmed(&mut self, operation: &Operation<Purpose>) {
        if !matches!(operation.command, Command::Program | Command::Copyback) {
            return;
        }
        for page in operation.pages.iter().flat_map(|pages| pages.iter()) {
            if let Some(block) = self.ftl.program_is_over(*page) {
                let plane = self.geometry.plane_of_block(block);
                self.dirty_dies.insert(self.geometry.die_of_plane(plane).index());
            }
        }
    }

    /// Whether the collection of `die` erases next, and programs under way on other dies supersede pages
    /// of what it erases.
    pub(super) fn erase_must_wait(&self, die: DieId) -> bool {
        let Some(collection) = &self.collections[die.index()] else { return false };
        let mut blocks = collection.lanes.next_erased(&self.ftl).into_iter();
        blocks.any(|block| self.ftl.is_superseded_by_programs(block))
    }
}

/// What a cut has torn.
#[derive(Debug, Default)]
struct CutOff {
    torn_pages: u64,
    cut_erases: u64,
}
