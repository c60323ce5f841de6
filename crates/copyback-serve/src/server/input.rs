//! Input of clients: parses it, and does at once what it asks.

use std::time::{Duration, Instant};

use copyback::Error;

use crate::asks::{self, Manner};
use crate::budget::Admission;
use crate::client::{Client, ClientId, Health, Stage};
use crate::command;
use crate::export::Exports;
use crate::handshake::{BlockSizes, Step};
use crate::wire::{self, Errno};

use super::Server;

impl Server {
    /// Reads what a client says, and does what can be done at once.
    pub(super) fn listen_to(
        &mut self,
        id: ClientId,
        now: Instant,
        unseen: Duration,
    ) -> Result<(), Error> {
        let Some(client) = self.clients.get_mut(&id) else { return Ok(()) };
        let health = if client.is_wanted() { client.receive(&mut self.room) } else { Health::Well };
        let ends = match health {
            Health::Well => self.read(id, now, unseen)?,
            Health::Gone => InputEnd::Gone,
        };
        match ends {
            InputEnd::All => {}
            InputEnd::Gone => self.let_go(id),
            InputEnd::Broken(why) => {
                self.shared.report("broken protocol", || {
                    format!("client {}: {why}; it was cut off", id.0)
                });
                self.let_go(id);
            }
        }
        let Some(client) = self.clients.get_mut(&id) else { return Ok(()) };
        client.forget_used();
        if client.send() == Health::Gone || client.is_through() {
            self.let_go(id);
        }
        Ok(())
    }

    /// A client goes; what it asked for is done all the same, and nobody hears of it.
    pub(super) fn let_go(&mut self, id: ClientId) {
        if let Some(client) = self.clients.remove(&id)
            && client.unanswered > 0
        {
            let unanswered = client.unanswered;
            self.shared.report("broken off", || {
                format!("client {} has broken off with {unanswered} requests unanswered", id.0)
            });
        }
    }

    /// Understands as much as has come of what a client says.
    fn read(&mut self, id: ClientId, now: Instant, unseen: Duration) -> Result<InputEnd, Error> {
        loop {
            let Some(client) = self.clients.get_mut(&id) else { return Ok(InputEnd::Gone) };
            let ends = match client.stage {
                Stage::Meeting(_) => meet(client, &self.exports, self.manner),
                Stage::Asking(_) => match self.read_request(id, now, unseen)? {
                    Some(ends) => ends,
                    None => continue,
                },
                Stage::Commanding => self.read_command(id)?,
            };
            match ends {
                Progress::More => {}
                Progress::Waits => return Ok(InputEnd::All),
                Progress::Ends(ends) => return Ok(ends),
            }
        }
    }

    /// Takes one request of a client; `None` if it was one.
    fn read_request(
        &mut self,
        id: ClientId,
        now: Instant,
        unseen: Duration,
    ) -> Result<Option<Progress>, Error> {
        let Some(client) = self.clients.get_mut(&id) else { return Ok(Some(Progress::Waits)) };
        let Stage::Asking(export) = client.stage else { return Ok(Some(Progress::Waits)) };
        let input = client.input();
        if input.len() < wire::REQUEST_BYTES {
            return Ok(Some(Progress::Waits));
        }
        if !client.has_room() {
            self.stalled.insert(id);
            return Ok(Some(Progress::Waits));
        }
        let Some(request) = wire::Request::parse(input) else {
            return Ok(Some(broken("sends what is no request of NBD".to_owned())));
        };
        if request.command == wire::command::DISCONNECT {
            return Ok(Some(Progress::Ends(InputEnd::Gone)));
        }
        if request.length > wire::MOST_BYTES && request.data_bytes() > 0 {
            let length = request.length;
            return Ok(Some(broken(format!("writes {length} bytes at once"))));
        }
        let is_too_long =
            request.command == wire::command::READ && request.length > wire::MOST_BYTES;
        let reads = request.command == wire::command::READ && !is_too_long;
        let answer = if reads { request.length as usize } else { 0 };
        if !self.admit(id, request.data_bytes() + answer) {
            self.stalled.insert(id);
            return Ok(Some(Progress::Waits));
        }
        let Some(client) = self.clients.get_mut(&id) else { return Ok(Some(Progress::Waits)) };
        let used = wire::REQUEST_BYTES + request.data_bytes();
        let Some(data) = client.input().get(wire::REQUEST_BYTES..used) else {
            return Ok(Some(Progress::Waits));
        };
        let asked = match is_too_long {
            true => Err(Errno::Invalid),
            false => asks::of(id, &request, data, self.exports.get(export), self.manner),
        };
        client.use_up(used);
        client.admission = Admission::Open;
        match asked {
            Ok(asked) => {
                client.unanswered += 1;
                client.held += asked.effect.held();
                self.live.ask(asked, now, unseen)?;
            }
            Err(error) => {
                wire::put_reply(client.output(), Some(error), request.cookie);
                self.shared.report("refused requests", || {
                    let wire::Request { command, offset, length, .. } = request;
                    format!(
                        "client {}: command {command} of {length} bytes from {offset} was refused: {error:?}",
                        id.0
                    )
                });
            }
        }
        Ok(None)
    }

    /// Takes one command to the server.
    fn read_command(&mut self, id: ClientId) -> Result<Progress, Error> {
        let Some(client) = self.clients.get_mut(&id) else { return Ok(Progress::Waits) };
        let (used, answer) = match command::in_input(client.input()) {
            command::ControlCommand::None => return Ok(Progress::Waits),
            command::ControlCommand::Status(used) => {
                self.publish();
                (used, self.shared.status())
            }
            command::ControlCommand::Cut(used) => (used, self.cut_power()?),
            command::ControlCommand::Unknown => {
                return Ok(broken("gives a command that is not known".to_owned()));
            }
        };
        let Some(client) = self.clients.get_mut(&id) else { return Ok(Progress::Waits) };
        client.use_up(used);
        client.output().extend(format!("{answer}\n").as_bytes());
        Ok(Progress::More)
    }

    /// Goes on with clients that had asked for so much that no more was read.
    pub(super) fn go_on_with_stalled(&mut self) -> Result<(), Error> {
        for id in std::mem::take(&mut self.stalled) {
            self.listen_to(id, Instant::now(), Duration::ZERO)?;
        }
        Ok(())
    }
}

/// Progress in parsing a client's input.
enum Progress {
    More,
    Waits,
    Ends(InputEnd),
}

/// Input of a client, parsed.
enum InputEnd {
    All,
    Gone,
    Broken(String),
}

fn broken(why: String) -> Progress {
    Progress::Ends(InputEnd::Broken(why))
}

/// A step of the handshake with a client.
fn meet(client: &mut Client, exports: &Exports, manner: Manner) -> Progress {
    let blocks = BlockSizes { preferred: manner.page_size.clamp(512, 32 << 10) as u32 };
    let (stage, input, output) = client.parts();
    let Stage::Meeting(handshake) = stage else { return Progress::More };
    match handshake.step(input, exports, blocks, output) {
        Step::Incomplete => Progress::Waits,
        Step::Understood(used) => {
            client.use_up(used);
            Progress::More
        }
        Step::Begin(used, export) => {
            client.use_up(used);
            client.stage = Stage::Asking(export);
            Progress::More
        }
        Step::Abort => {
            client.leave();
            Progress::Waits
        }
        Step::Broken(why) => broken(why),
    }
}
