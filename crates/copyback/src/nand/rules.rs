//! The rules of multi-plane commands, as data.
//!
//! ONFI and JEDEC let planes of one die work together when each addresses its own plane with the
//! same operation at the same page offset; the block may differ.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::PlaneId;

use super::Command;

/// Rules for joining operations into one multi-plane command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct MultiPlaneRules {
    /// A command joins planes of one group: neighbours, this many.
    group: u32,
}

impl MultiPlaneRules {
    /// The rules that a checked configuration describes.
    pub fn new(config: &Resolved) -> Self {
        let shape = &config.drive.shape;
        Self { group: shape.planes_per_command / shape.striped_planes }
    }

    /// The planes that a command can join with `plane`, itself included.
    pub fn group_of(&self, plane: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = plane.0 - plane.0 % self.group;
        (first..first + self.group).map(PlaneId)
    }

    /// Whether any commands of this kind may be joined.
    pub const fn joins(&self, command: Command) -> bool {
        self.group > 1 && !matches!(command, Command::Copyback)
    }

    /// Whether `other` may run in the same command as `lead`; both name a plane of the same die
    /// and the page offset in its block, which must agree but for erases.
    pub fn may_join(&self, command: Command, lead: (PlaneId, u32), other: (PlaneId, u32)) -> bool {
        self.joins(command)
            && lead.0 != other.0
            && (command == Command::Erase || lead.1 == other.1)
            && lead.0.0 / self.group == other.0.0 / self.group
    }
}

#[cfg(test)]
mod tests {
    use crate::test_config;

    use super::*;

    const ALL: MultiPlaneRules = MultiPlaneRules { group: 2 };

    #[test]
    fn the_page_offset_must_agree_except_for_erases() {
        let lead = (PlaneId(0), 3);
        for command in [Command::Read, Command::Program] {
            assert!(ALL.may_join(command, lead, (PlaneId(1), 3)));
            assert!(!ALL.may_join(command, lead, (PlaneId(1), 4)));
            assert!(!ALL.may_join(command, lead, (PlaneId(0), 3)));
        }
        assert!(ALL.may_join(Command::Erase, lead, (PlaneId(1), 4)));
        assert!(!ALL.may_join(Command::Copyback, lead, (PlaneId(1), 3)));
        assert!(!ALL.may_join(Command::Read, lead, (PlaneId(2), 3)), "of another group");
    }

    #[test]
    fn chips_without_multi_plane_commands_join_nothing() {
        let config = test_config::changed(&[("ssd.commands.multi_plane", "false")]);
        let none = MultiPlaneRules::new(&config);
        assert!(!none.may_join(Command::Read, (PlaneId(0), 3), (PlaneId(1), 3)));
    }
}
