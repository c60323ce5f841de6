//! Cuts of power of an array with copies or parity: its controller forgets what it was doing, and begins anew what it was
//! asked for.

use std::collections::BTreeSet;

use crate::drive::{Interrupted, Serves};
use crate::ids::{SsdId, TaskId};

use super::Array;

impl Array {
    /// Plans everything again that a cut at this instant has interrupted, if there was one.
    pub(super) fn notice_cut(&mut self) {
        let Some(consistency) = &mut self.upkeep.consistency else { return };
        let cuts = self.drives[0].power_loss().map_or(0, |loss| loss.cuts);
        if !consistency.note_cuts(cuts) {
            return;
        }
        let drives = self.drives.iter_mut().enumerate();
        let interrupted: Vec<(SsdId, Interrupted)> = drives
            .flat_map(|(index, drive)| {
                let commands = drive.take_interrupted().into_iter();
                commands.map(move |command| (SsdId::from_index(index), command))
            })
            .collect();
        let begun = interrupted.iter().filter(|(_, command)| command.had_begun);
        let begun: BTreeSet<_> = begun.map(|(_, command)| task_of(command)).collect();
        let tasks = self.work.tasks.iter().map(|(index, task)| (TaskId::from_index(index), task));
        let half_done: Vec<_> = tasks
            .filter(|(id, task)| task.has_begun() || begun.contains(id))
            .filter_map(|(_, task)| task.bytes_under_way(&self.layout))
            .collect();
        consistency.cut(&half_done, (&self.layout, &self.members.missing), self.clock.now);
        for (drive, command) in interrupted {
            self.work.tasks[task_of(&command).index()].is_outdated = true;
            self.book_piece(drive, &command.ended);
        }
    }
}

fn task_of(command: &Interrupted) -> TaskId {
    let Serves::Task(id) = command.ended.command.serves else {
        unreachable!("where power fails, requests to copies and parities go by tasks")
    };
    id
}
