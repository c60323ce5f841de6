//! Operations that may overlap in a die.

use crate::checkpoint::Checkpointed;
use crate::config::{Register, Resolved, Suspend};
use crate::nand::{Command, Die};

/// Operations that may overlap in a die, as its registers, pipelines and commands allow.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Overlap {
    /// Whether operations of the host overlap one another: dies load what comes next beside what they do.
    pub double_register: bool,
    /// Whether those of a collection overlap the host's.
    pub pipelined: bool,
    /// Whether a full die may be given more work: what it does may be suspended.
    takes_more_when_full: bool,
}

impl Overlap {
    /// Of dies of a checked configuration; `pipelined` if operations of collections and of the host overlap.
    pub fn new(config: &Resolved, pipelined: bool) -> Self {
        Self {
            double_register: config.ssd.timing.register == Register::Double,
            pipelined,
            takes_more_when_full: config.ssd.commands.suspend != Suspend::None,
        }
    }

    /// Whether any operations are in a die at once that have begun, none of them suspended.
    #[inline]
    pub const fn any_begun(self) -> bool {
        self.double_register || self.pipelined
    }

    /// Whether nothing else is in a die beside an operation.
    #[inline]
    pub const fn is_none(self) -> bool {
        !self.any_begun() && !self.takes_more_when_full
    }

    /// Whether `die` may be given work now.
    #[inline]
    pub fn may_take_more<T>(self, die: &Die<T>) -> bool {
        !die.is_full() || self.takes_more_when_full
    }

    /// Whether `die` can begin a `command` of the host now.
    #[inline]
    pub fn takes_from_host<T>(self, die: &Die<T>, command: Command) -> bool {
        (self.double_register || die.is_idle()) && die.accepts(command)
    }

    /// Whether `die` can begin any command of the host now: else there is no need to choose one.
    #[inline]
    pub fn takes_any_from_host<T>(self, die: &Die<T>) -> bool {
        match self.double_register {
            true => die.accepts(Command::Read) || die.accepts(Command::Program),
            false => die.is_idle() && die.accepts(Command::Read),
        }
    }
}
