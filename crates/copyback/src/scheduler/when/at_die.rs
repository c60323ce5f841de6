//! A die at the moment at which a scheme says whose turn it is.

use super::supply::Outlook;
use crate::backend::Backend;
use crate::collector::lanes::Step;
use crate::collector::{Collection, Collector};
use crate::ids::{DieId, Ppn};
use crate::nand::Command;
use crate::placement::HostPage;
use crate::scheduler::{Next, Scheduler};
use crate::units::Instant;

use super::{Admitted, Point, Situation, Turn};

/// A die that could take work, and all that concerns it.
#[derive(Debug)]
pub struct AtDie<'a> {
    /// Die that is meant.
    pub die: DieId,
    /// When.
    pub now: Instant,
    /// Scheduler of the host's operations.
    pub scheduler: &'a mut Scheduler,
    /// Collector of the drive.
    pub collector: &'a mut Collector,
    /// The flash, and where pages lie.
    pub backend: &'a mut Backend,
}

impl AtDie<'_> {
    /// The point at which the collection [stands](Collection::point); one that is due stands between moves.
    pub fn point(&self) -> Point {
        self.collector.of(self.die).map_or(Point::BetweenMoves, Collection::point)
    }

    /// Situation of the die.
    pub fn situation(&self) -> Situation {
        Situation {
            collecting: true,
            below_hard: self.is_below_hard(),
            write_finds_no_block: self.write_finds_no_block(|_| true),
        }
    }

    /// Whether a plane of the die that is short of space has fewer free blocks than the hard threshold.
    pub fn is_below_hard(&self) -> bool {
        self.backend.ftl.has_plane_below_hard_threshold(self.die)
    }

    /// Whether a write that `counts` waits that no plane can take.
    pub fn write_finds_no_block(&self, counts: impl Fn(HostPage) -> bool) -> bool {
        self.scheduler.queues.write_finds_no_block(&self.backend.ftl, self.die, counts)
    }

    /// More than every scheme wants to know.
    pub fn outlook(&self) -> Outlook {
        let (die, ftl) = (self.die, &self.backend.ftl);
        let planes = ftl.geometry().planes_of_die(die);
        let free_blocks = planes.map(|plane| ftl.space().free_blocks(plane)).min().unwrap_or(0);
        let lanes = self.collector.of(die).into_iter().flat_map(|c| c.lanes.lanes.iter());
        let left = lanes.map(|lane| u32::from(ftl.blocks().valid_pages(lane.job.victim())));
        Outlook {
            now: self.now,
            waiting_reads: self.scheduler.queues.reads_waiting(die) as u32,
            waiting_writes: self.scheduler.queues.writes_waiting(die) as u32,
            free_blocks: free_blocks as u32,
            pages_left: left.sum(),
        }
    }

    /// Whether requests of the host wait.
    pub fn host_waits(&self) -> bool {
        self.scheduler.queues.host_waits(self.backend, self.die)
    }

    /// The operation of the host that is next among those admitted.
    pub fn next_host_operation(&self, admitted: Admitted) -> Option<Next> {
        self.scheduler.queues.next_host_operation(self.backend, self.die, admitted)
    }

    /// Whether no operation of the host but `next` waits among those admitted.
    pub fn waits_alone(&self, next: Next, admitted: Admitted) -> bool {
        let command = next.command();
        self.scheduler.queues.one_waits(self.die, command)
            && self.next_host_operation(admitted.except(command)).is_none()
    }

    /// The turn of `next`, or of the collection if the die cannot take that.
    pub fn turn_of(&self, next: Option<Next>) -> Turn {
        match next {
            Some(next) if self.backend.flash.takes_from_host(self.die, next.command()) => {
                Turn::Serve(next)
            }
            _ => self.turn_of_collection(),
        }
    }

    /// The turn of the collection, if the die is idle.
    pub fn turn_of_collection(&self) -> Turn {
        if self.backend.flash.die(self.die).is_idle() { Turn::Collect } else { Turn::Wait }
    }

    /// Whether an operation of the host can begin in the die while a `command` of the collection is there, as the channel
    /// carries data of one of them: a page that is moved with copyback stays in the register when it has been read.
    pub fn can_be_followed(&self, command: Command) -> bool {
        let stays = command == Command::Read && self.collector.moves_by_copyback();
        !stays && !self.backend.flash.timing.page_transfer.is_zero()
    }

    /// The host has been served in the middle of the collection.
    pub fn yield_to_host(&mut self) {
        let Backend { collecting, observer, counters, .. } = &mut *self.backend;
        collecting.yield_to_host(observer, counters, self.die, self.now);
    }

    /// Pages that the collection reads or has read, and has not begun to program.
    pub fn carried(&self) -> impl Iterator<Item = Ppn> + '_ {
        let collection = self.collector.of(self.die).into_iter();
        collection
            .flat_map(|collection| collection.lanes.lanes.iter())
            .filter_map(|lane| lane.carried)
    }

    /// Command of the collection's next step, unless it erases or ends.
    pub fn next_step_of_move(&mut self) -> Option<Command> {
        let collection = self.collector.of_mut(self.die)?;
        match collection.lanes.next_step(&self.backend.ftl)? {
            Step::Read(_) => Some(Command::Read),
            Step::Program(_) => Some(Command::Program),
            Step::Erase(_) => None,
        }
    }
}
