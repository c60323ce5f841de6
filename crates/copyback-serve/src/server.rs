//! The loop: bytes of clients in, requests to the drive, answers out when they are due. One thread does it all, so that
//! nothing is between the clock and an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::num::NonZeroU64;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use copyback::Error;
use copyback::config::{Config, Protection};
use copyback::embedded::Embedded;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::asks::{self, Effect, Manner};
use crate::client::{Client, ClientId, Health, Stage};
use crate::clock::{Clock, Slower};
use crate::command;
use crate::data::Data;
use crate::export::Exports;
use crate::handshake::{BlockSizes, Handshake, Step};
use crate::lateness::Lateness;
use crate::listen::Door;
use crate::live::{Done, Live};
use crate::shared::Shared;
use crate::status;
use crate::wire::{self, Errno};

/// Clients at a time; more are turned away.
const MOST_CLIENTS: usize = 512;

/// Rows of the log that are handed over together.
const ROWS: usize = 4096;

/// How often others learn how the drive stands.
const TELLS_EVERY: Duration = Duration::from_millis(200);

/// Bytes that are read at a time.
const AT_ONCE: usize = 256 << 10;

/// What a server is made of.
pub struct Parts {
    /// The drive.
    pub drive: Embedded,
    /// What it holds.
    pub data: Data,
    /// What clients may ask for.
    pub exports: Exports,
    /// How much slower than the host's its clock is.
    pub slower: Slower,
    /// Where clients come in.
    pub door: Door,
    /// Where commands come in, if they do.
    pub control: Option<Door>,
    /// Whether a log is kept.
    pub keeps_log: bool,
}

/// A drive that is served.
pub struct Server {
    live: Live,
    exports: Exports,
    manner: Manner,
    door: Door,
    control: Option<Door>,
    woken: UnixStream,
    shared: Arc<Shared>,
    clients: BTreeMap<ClientId, Client>,
    next_client: u64,
    lateness: Lateness,
    /// Clients of which requests wait to be read until others are answered.
    stalled: BTreeSet<ClientId>,
    /// What a round has done, kept to reuse its memory.
    done: Vec<Done>,
    room: Vec<u8>,
    /// When others last learned how the drive stands.
    told: Instant,
}

/// What the loop waits for.
#[derive(Debug, Default)]
struct Ready {
    door: bool,
    control: bool,
    woken: bool,
    clients: Vec<ClientId>,
    /// Of these, those whose other end is gone.
    hung_up: Vec<ClientId>,
}

impl Server {
    /// Serves nothing yet.
    ///
    /// # Errors
    /// If the system has no pair of sockets left.
    pub fn new(config: &Config, parts: Parts) -> Result<Self, Error> {
        let machine = |error: std::io::Error| Error::Machine(error.to_string());
        let (waker, woken) = UnixStream::pair().map_err(machine)?;
        for end in [&waker, &woken] {
            end.set_nonblocking(true).map_err(machine)?;
        }
        let Parts { mut drive, data, exports, slower, door, control, keeps_log } = parts;
        drive.wait_outside(config);
        let manner = Manner {
            page_size: drive.page_size(),
            keeps_trims: config.ssd.power.protection == Protection::Capacitors,
        };
        Ok(Self {
            live: Live::new(drive, Clock::new(slower), data, keeps_log),
            exports,
            manner,
            door,
            control,
            woken,
            shared: Arc::new(Shared::new(waker)),
            clients: BTreeMap::new(),
            next_client: 0,
            lateness: Lateness::default(),
            stalled: BTreeSet::new(),
            done: Vec::new(),
            room: vec![0; AT_ONCE],
            told: Instant::now(),
        })
    }

    /// What the server leaves for others.
    pub fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Where clients come in, as they name it.
    pub fn uri(&self) -> String {
        self.door.uri()
    }

    /// Serves until it is told to end. The log is whole then, also if the simulator fails.
    ///
    /// # Errors
    /// If the simulator or the system fails.
    pub fn run(&mut self) -> Result<(), Error> {
        // Else the system may wake us up to 50 us late. Where it cannot be told, it shows in the lateness.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        self.tell();
        let served = self.serve();
        let finished = served.and_then(|()| self.live.finish(&mut self.done));
        self.done.clear();
        self.live.log.settle();
        self.shared.add_rows(self.live.log.take());
        self.clients.clear();
        self.tell();
        finished
    }

    fn serve(&mut self) -> Result<(), Error> {
        let mut looked = Instant::now();
        while !self.shared.is_to_end() {
            let before = Instant::now();
            let ready = self.wait(before)?;
            let now = Instant::now();
            // What waited for us may have come since the last look.
            let waited_for_us =
                now - before < Duration::from_micros(20) && !ready.clients.is_empty();
            let unseen = if waited_for_us { before - looked } else { Duration::ZERO };
            looked = now;
            self.round(&ready, now, unseen)?;
        }
        Ok(())
    }

    /// Waits until a client says something, or the drive needs to be looked at.
    fn wait(&self, now: Instant) -> Result<Ready, Error> {
        let next = self.live.next_look();
        let tells = self.told + TELLS_EVERY;
        let until = next.map_or(tells, |next| next.min(tells));
        let left = until.saturating_duration_since(now);
        let timeout =
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        let mut watched =
            vec![PollFd::new(&self.door, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
        watched.extend(self.control.iter().map(|door| PollFd::new(door, PollFlags::IN)));
        let first = watched.len();
        for client in self.clients.values() {
            let mut wanted = PollFlags::empty();
            wanted.set(PollFlags::IN, client.is_wanted());
            wanted.set(PollFlags::OUT, client.has_output());
            watched.push(PollFd::from_borrowed_fd(client.as_fd(), wanted));
        }
        match poll(&mut watched, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Error::Machine(format!("poll: {error}"))),
        }
        let is_ready = |watched: &PollFd<'_>| !watched.revents().is_empty();
        let hung_up = |watched: &PollFd<'_>| watched.revents().contains(PollFlags::HUP);
        let clients = || self.clients.keys().zip(&watched[first..]);
        Ok(Ready {
            door: is_ready(&watched[0]),
            woken: is_ready(&watched[1]),
            control: first > 2 && is_ready(&watched[2]),
            clients: clients().filter(|(_, fd)| is_ready(fd)).map(|(id, _)| *id).collect(),
            hung_up: clients().filter(|(_, fd)| hung_up(fd)).map(|(id, _)| *id).collect(),
        })
    }

    fn round(&mut self, ready: &Ready, now: Instant, unseen: Duration) -> Result<(), Error> {
        if ready.woken {
            let _ = self.woken.read(&mut self.room);
        }
        for id in &ready.clients {
            self.listen_to(*id, now, unseen)?;
        }
        for id in &ready.hung_up {
            self.let_go(*id);
        }
        self.live.go_on(Instant::now(), &mut self.done)?;
        self.answer();
        self.go_on_with_stalled()?;
        if ready.door || ready.control {
            self.let_in(ready);
        }
        self.live.log.settle();
        if self.live.log.waiting() >= ROWS {
            self.shared.add_rows(self.live.log.take());
        }
        if now - self.told > TELLS_EVERY {
            self.shared.add_rows(self.live.log.take());
            self.tell();
        }
        Ok(())
    }

    fn tell(&mut self) {
        self.told = Instant::now();
        let status = status::of(&self.live, &self.lateness, self.clients.len(), &self.shared);
        self.shared.set_status(status);
    }

    fn let_in(&mut self, ready: &Ready) {
        if ready.door {
            self.let_in_through(Entrance::Drive);
        }
        if ready.control {
            self.let_in_through(Entrance::Control);
        }
    }

    fn let_in_through(&mut self, entrance: Entrance) {
        let door = match entrance {
            Entrance::Drive => Some(&self.door),
            Entrance::Control => self.control.as_ref(),
        };
        let Some(door) = door else { return };
        let accepted = match door.accept() {
            Ok(Some(stream)) => stream,
            Ok(None) => return,
            Err(error) => {
                return self
                    .shared
                    .tell("not accepted", || format!("a client was not let in: {error}"));
            }
        };
        if self.clients.len() >= MOST_CLIENTS {
            return self.shared.tell("too many clients", || {
                format!("a client was turned away: there are {MOST_CLIENTS} already")
            });
        }
        let stage = match entrance {
            Entrance::Drive => Stage::Meeting(Handshake::default()),
            Entrance::Control => Stage::Commanding,
        };
        let mut client = Client::new(accepted, stage);
        if let Entrance::Drive = entrance {
            Handshake::greet(client.output());
        }
        if client.send() == Health::Well {
            self.clients.insert(ClientId(self.next_client), client);
            self.next_client += 1;
        }
    }

    /// Reads what a client says, and does what can be done at once.
    fn listen_to(&mut self, id: ClientId, now: Instant, unseen: Duration) -> Result<(), Error> {
        let Some(client) = self.clients.get_mut(&id) else { return Ok(()) };
        let health = if client.is_wanted() { client.receive(&mut self.room) } else { Health::Well };
        let heard = match health {
            Health::Well => self.hear(id, now, unseen)?,
            Health::Gone => Heard::Gone,
        };
        match heard {
            Heard::All => {}
            Heard::Gone => self.let_go(id),
            Heard::Broken(why) => {
                self.shared
                    .tell("broken protocol", || format!("client {}: {why}; it was cut off", id.0));
                self.let_go(id);
            }
        }
        let Some(client) = self.clients.get_mut(&id) else { return Ok(()) };
        if client.send() == Health::Gone || client.is_through() {
            self.let_go(id);
        }
        Ok(())
    }

    /// A client goes; what it asked for is done all the same, and nobody hears of it.
    fn let_go(&mut self, id: ClientId) {
        if let Some(client) = self.clients.remove(&id)
            && client.unanswered > 0
        {
            let unanswered = client.unanswered;
            self.shared.tell("broken off", || {
                format!("client {} has broken off with {unanswered} requests unanswered", id.0)
            });
        }
    }

    /// Understands as much as has come of what a client says.
    fn hear(&mut self, id: ClientId, now: Instant, unseen: Duration) -> Result<Heard, Error> {
        loop {
            let Some(client) = self.clients.get_mut(&id) else { return Ok(Heard::Gone) };
            let heard = match client.stage {
                Stage::Meeting(_) => meet(client, &self.exports, self.manner),
                Stage::Asking(_) => match self.hear_request(id, now, unseen)? {
                    Some(heard) => heard,
                    None => continue,
                },
                Stage::Commanding => self.hear_command(id),
            };
            match heard {
                Progress::More => {}
                Progress::Waits => return Ok(Heard::All),
                Progress::Ends(heard) => return Ok(heard),
            }
        }
    }

    /// Takes one request of a client; `None` if it was one.
    fn hear_request(
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
        if !client.is_wanted() {
            self.stalled.insert(id);
            return Ok(Some(Progress::Waits));
        }
        let Some(request) = wire::Request::parse(input) else {
            return Ok(Some(broken("sends what is no request of NBD".to_owned())));
        };
        if request.command == wire::command::DISCONNECT {
            return Ok(Some(Progress::Ends(Heard::Gone)));
        }
        if request.length > wire::MOST_BYTES && request.data_bytes() > 0 {
            let length = request.length;
            return Ok(Some(broken(format!("writes {length} bytes at once"))));
        }
        let used = wire::REQUEST_BYTES + request.data_bytes();
        let Some(data) = input.get(wire::REQUEST_BYTES..used) else {
            return Ok(Some(Progress::Waits));
        };
        let is_too_long =
            request.command == wire::command::READ && request.length > wire::MOST_BYTES;
        let asked = match is_too_long {
            true => Err(Errno::Invalid),
            false => asks::of(id, &request, data, self.exports.get(export), self.manner),
        };
        client.use_up(used);
        match asked {
            Ok(asked) => {
                client.unanswered += 1;
                client.held += match &asked.effect {
                    Effect::Read { length, .. } => *length,
                    Effect::Write { data, .. } => data.len(),
                    Effect::Zero { .. } | Effect::Trim { .. } | Effect::Flush => 0,
                };
                self.live.ask(asked, now, unseen)?;
            }
            Err(error) => {
                wire::put_reply(client.output(), Some(error), request.cookie);
                self.shared.tell("refused requests", || {
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
    fn hear_command(&mut self, id: ClientId) -> Progress {
        self.tell();
        let Some(client) = self.clients.get_mut(&id) else { return Progress::Waits };
        match command::in_input(client.input()) {
            command::Found::None => Progress::Waits,
            command::Found::Status(used) => {
                client.use_up(used);
                let mut line = self.shared.status().to_string();
                line.push('\n');
                client.output().extend(line.as_bytes());
                Progress::More
            }
            command::Found::Unknown => broken("gives a command that is not known".to_owned()),
        }
    }

    /// Answers what the drive has done.
    fn answer(&mut self) {
        let mut done = std::mem::take(&mut self.done);
        for done in &done {
            self.put_answer(done);
        }
        for done in &done {
            let Some(client) = self.clients.get_mut(&done.client) else { continue };
            if client.has_output() && client.send() == Health::Gone {
                self.let_go(done.client);
            }
        }
        let now = Instant::now();
        for done in done.drain(..) {
            if self.clients.contains_key(&done.client) {
                self.note_answered(&done, now);
            }
        }
        self.done = done;
    }

    /// Goes on with clients that had asked for so much that no more was read.
    fn go_on_with_stalled(&mut self) -> Result<(), Error> {
        for id in std::mem::take(&mut self.stalled) {
            self.listen_to(id, Instant::now(), Duration::ZERO)?;
        }
        Ok(())
    }

    fn put_answer(&mut self, done: &Done) {
        if let Some(trouble) = &done.trouble {
            let told = crate::data::words(trouble);
            let place = self.live.data().place();
            self.shared.tell("data not written", || format!("{place}: {told}"));
        }
        let Some(client) = self.clients.get_mut(&done.client) else { return };
        client.unanswered -= 1;
        client.held -= done.held;
        let out = client.output();
        let start = out.len();
        wire::put_reply(out, done.outcome.err(), done.cookie);
        let Some((offset, length)) = done.read.filter(|_| done.outcome.is_ok()) else { return };
        if let Err(error) = self.live.data().read(offset, length, out) {
            out.truncate(start);
            wire::put_reply(out, Some(Errno::Io), done.cookie);
            let place = self.live.data().place();
            let told = crate::data::words(&error);
            self.shared.tell("data not read", || format!("{place}: {told}"));
        }
    }

    fn note_answered(&mut self, done: &Done, now: Instant) {
        let late = now.saturating_duration_since(done.due);
        let clock = self.live.clock();
        let late_ns = clock.in_drive_ns(late);
        let meant = Duration::from_secs_f64(done.took_ns as f64 * 1e-9 * clock.slower());
        self.lateness.note(meant, late);
        self.live.log.seen(done.row, done.took_ns + late_ns);
    }
}

/// Through which door a client comes.
#[derive(Debug, Clone, Copy)]
enum Entrance {
    Drive,
    Control,
}

/// How far what a client said has been understood.
enum Progress {
    More,
    Waits,
    Ends(Heard),
}

/// What a client has said.
enum Heard {
    All,
    Gone,
    Broken(String),
}

fn broken(why: String) -> Progress {
    Progress::Ends(Heard::Broken(why))
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
