//! Front end of a drive: the host link and the controller, which commands pass before and after their pages.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::event::LinkDirection;
use crate::ids::{CommandId, SsdId};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

use super::controller::Controller;
use super::link::{Link, LinkTransfer};
use super::throttle::Throttle;

/// Host link and controller of a drive.
#[derive(Debug, Checkpointed)]
pub(super) struct FrontEnd {
    link: Option<Link>,
    /// Kept if not all commands are alike to it.
    controller: Option<Box<Controller>>,
    /// Controller time of every command.
    overhead: Duration,
}

impl FrontEnd {
    /// The front end of a drive of a checked configuration.
    pub fn new(config: &Resolved, id: SsdId) -> Self {
        Self {
            link: Link::new(&config.host),
            controller: Controller::new(config, id),
            overhead: config.host.command_overhead.0,
        }
    }

    /// Queues the data of a command for the link, if there is one. Returns whether there is.
    #[inline]
    pub fn ask_link(&mut self, way: LinkDirection, command: CommandId, bytes: u64) -> bool {
        let Some(link) = &mut self.link else { return false };
        link.ask(way, command, bytes);
        true
    }

    /// Starts the next transfer over the link, if data wait and it is free for them.
    #[inline]
    pub fn grant_link(&mut self) -> Option<LinkTransfer> {
        self.link.as_mut().filter(|link| link.is_asked())?.grant()
    }

    /// Ends the transfer over the link in this direction, and returns whose it was.
    pub fn release_link(&mut self, way: LinkDirection) -> Option<CommandId> {
        self.link.as_mut()?.release(way)
    }

    /// Controller time of a command that it begins with now.
    #[inline]
    pub fn takes(&mut self, operation: Operation, bytes: u64, now: Instant) -> Duration {
        let controller = self.controller.as_mut();
        let beyond = controller.map(|controller| controller.takes(operation, bytes, now));
        self.overhead + beyond.unwrap_or(Duration::ZERO)
    }

    /// Admission of writes to the buffer, if they are throttled.
    #[inline]
    pub fn throttle(&mut self) -> Option<&mut Throttle> {
        self.controller.as_mut()?.throttle.as_mut()
    }

    /// The first command comes into a drive without any.
    #[inline]
    pub fn busy(&mut self, now: Instant) {
        if let Some(controller) = &mut self.controller {
            controller.busy(now);
        }
    }

    /// The last command has left the drive, or it has just been switched on.
    #[inline]
    pub fn idle(&mut self, now: Instant) {
        if let Some(controller) = &mut self.controller {
            controller.idle(now);
        }
    }

    /// Forgets what is on the link and who waits to enter, as the power has failed.
    pub fn switch_off(&mut self, config: &Resolved) {
        self.link = Link::new(&config.host);
        if let Some(throttle) = self.throttle() {
            throttle.switch_off();
        }
    }
}
