//! The drive's queue: commands that have a place in it, and those that wait for one outside.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use crate::admission::Admission;
use crate::checkpoint::Checkpointed;
use crate::gate::Gate;
use crate::ids::{CommandId, Lpn};
use crate::slots::Slots;
use crate::ssd::{Blocked, Blocker, For, Owner, Part, Party, Waited};
use crate::units::Instant;

use super::command::{ActiveCommand, Command, Serves};

/// Commands of a drive.
#[derive(Checkpointed)]
pub(super) struct Queue {
    inside: Slots<ActiveCommand>,
    /// Commands that wait outside, and since when.
    waiting: VecDeque<(Command, Instant)>,
    /// Waits for a queue slot, and what collections added to them.
    admission: Admission<CommandId>,
    /// Commands that have waited outside the flash; kept if somebody asks.
    blocked: Option<Vec<Blocked<Serves, Blocker<Serves>>>>,
    /// The page that has left the buffer last.
    last_destaged: Option<Lpn>,
}

impl Queue {
    /// One that nothing is in. `is_recorded`: whether somebody will ask which commands have waited.
    pub fn new(gate: Gate, is_recorded: bool) -> Self {
        Self {
            inside: Slots::new(),
            waiting: VecDeque::new(),
            admission: Admission::new(gate),
            blocked: is_recorded.then(Vec::new),
            last_destaged: None,
        }
    }

    /// Commands inside and outside.
    pub fn len(&self) -> usize {
        self.inside.len() + self.waiting.len()
    }

    /// Whether no command has a place.
    pub fn is_empty_inside(&self) -> bool {
        self.inside.is_empty()
    }

    /// Whether a command may enter.
    pub const fn has_place(&self) -> bool {
        self.admission.gate().is_open()
    }

    /// Whether commands wait outside.
    pub fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the places inside are followed, so that it is known what a wait for one cost.
    pub const fn is_followed(&self) -> bool {
        self.admission.is_followed()
    }

    /// Follows from now on who has a place.
    pub fn follow(&mut self) {
        let inside = self.inside.iter();
        self.admission
            .follow(inside.map(|(id, active)| (CommandId::from_index(id), active.entered)));
    }

    /// A command waits outside, behind the others.
    pub fn wait(&mut self, command: Command, since: Instant) {
        self.waiting.push_back((command, since));
    }

    /// Takes the command that has waited longest outside.
    pub fn next_waiting(&mut self) -> Option<(Command, Instant)> {
        self.waiting.pop_front()
    }

    /// Gives a command that arrived at `arrived` a place.
    #[inline]
    pub fn enter(&mut self, command: Command, arrived: Instant, now: Instant) -> CommandId {
        let behind = self.blocker(arrived, now);
        let id = CommandId::from_index(self.inside.insert(ActiveCommand::new(command, arrived)));
        let late = self.admission.enter(id, arrived, now);
        if arrived < now {
            let active = &mut self.inside[id.index()];
            active.entered = now;
            active.entered_late = late;
            active.spend_late(Part::HostQueue, late, now);
            let parts = active.parts;
            let wait = Waited { what: For::DriveQueue, since: arrived, until: now, parts };
            self.record_blocked(id, wait, behind);
        }
        id
    }

    /// Command that holds the slot which a command that has waited since it `arrived` might have had, if a
    /// journal is kept.
    fn blocker(&self, arrived: Instant, now: Instant) -> Option<Blocker<Serves>> {
        if self.blocked.is_none() || arrived == now {
            return None;
        }
        let oldest = || self.inside.iter().min_by_key(|(_, other)| other.entered);
        let oldest = || oldest().map(|(id, _)| CommandId::from_index(id));
        let blocker = self.admission.blocker(now).or_else(oldest)?;
        Some(Blocker::Other(self[blocker].command.serves))
    }

    /// Takes the place of a command that ends.
    #[inline]
    pub fn leave(&mut self, id: CommandId, now: Instant) {
        let ActiveCommand { parts, entered, entered_late, .. } = &self.inside[id.index()];
        self.admission.leave(id, (*entered, now), parts.late() - *entered_late);
        self.inside.remove(id.index());
    }

    /// Commands inside wait outside again, before those that did so already. Returns how many they are.
    pub fn push_out(&mut self) -> usize {
        let mut inside: Vec<ActiveCommand> = self.inside.drain().collect();
        inside.sort_by_key(ActiveCommand::arrived);
        self.admission.clear();
        let count = inside.len();
        for active in inside.into_iter().rev() {
            self.waiting.push_front((active.command, active.arrived()));
        }
        count
    }

    /// Takes all commands away, those inside first: each with its time of arrival, and whether it was inside.
    pub fn take_all(&mut self) -> Vec<(Command, Instant, bool)> {
        let inside = self.push_out();
        let is_inside = (0..).map(|place| place < inside);
        let all = self.waiting.drain(..).zip(is_inside);
        all.map(|((command, arrived), is_inside)| (command, arrived, is_inside)).collect()
    }

    /// A command has waited, if at all.
    pub fn record_blocked(
        &mut self,
        command: CommandId,
        wait: Waited,
        behind: Option<Blocker<Serves>>,
    ) {
        let who = self[command].command.serves;
        if let Some(blocked) = &mut self.blocked
            && wait.since < wait.until
        {
            blocked.push(Blocked { who, wait, behind });
        }
    }

    /// A page has left the buffer, behind which commands have waited for it.
    pub const fn destaged(&mut self, lpn: Lpn) {
        self.last_destaged = Some(lpn);
    }

    /// A command has waited for the buffer, if at all: behind the page that has left it last.
    pub fn record_blocked_by_buffer(&mut self, command: CommandId, wait: Waited) {
        let destaged = |lpn| Blocker::Own(Party { owner: Owner::Destage, lpn });
        self.record_blocked(command, wait, self.last_destaged.map(destaged));
    }

    /// Takes the commands that have waited outside the flash since the last call, if that is kept.
    pub fn take_blocked(&mut self) -> impl Iterator<Item = Blocked<Serves, Blocker<Serves>>> {
        self.blocked.iter_mut().flat_map(|blocked| blocked.drain(..))
    }
}

impl Index<CommandId> for Queue {
    type Output = ActiveCommand;

    fn index(&self, id: CommandId) -> &ActiveCommand {
        &self.inside[id.index()]
    }
}

impl IndexMut<CommandId> for Queue {
    fn index_mut(&mut self, id: CommandId) -> &mut ActiveCommand {
        &mut self.inside[id.index()]
    }
}
