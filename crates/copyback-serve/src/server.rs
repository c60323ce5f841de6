//! The loop: bytes of clients in, requests to the drive, answers out when they are due. One thread does it all, so that
//! nothing is between the clock and an answer.

mod admit;
mod answer;
mod entrance;
mod input;
mod power;

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

use crate::asks::Manner;
use crate::client::{Client, ClientId};
use crate::clock::{Clock, Slower};
use crate::data::Data;
use crate::export::Exports;
use crate::lateness::Lateness;
use crate::listen::Door;
use crate::live::{Done, Live};
use crate::shared::Shared;
use crate::status;
use crate::watch::Watch;

/// Rows of the log that are handed over together.
const ROWS: usize = 4096;

/// Interval between two reports of the drive's state to other threads.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(200);

/// Bytes that are read at a time.
const AT_ONCE: usize = 256 << 10;

/// Parts that a server is made of.
pub struct Parts {
    /// The drive.
    pub drive: Embedded,
    /// Data of the drive.
    pub data: Data,
    /// Exports that clients may ask for.
    pub exports: Exports,
    /// Slowdown of the drive's clock against the host's.
    pub slower: Slower,
    /// Socket that clients connect to.
    pub door: Door,
    /// Socket for commands, if there is one.
    pub control: Option<Door>,
    /// Whether a log is kept.
    pub keeps_log: bool,
    /// Whether somebody looks at the drive while it is served.
    pub is_watched: bool,
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
    /// Kept if somebody looks.
    watch: Option<Watch>,
    /// Clients of which requests wait to be read until others are answered.
    stalled: BTreeSet<ClientId>,
    /// Requests that a round has finished, kept to reuse the memory.
    done: Vec<Done>,
    room: Vec<u8>,
    /// When others last learned how the drive stands.
    published: Instant,
}

/// Events that the loop has to handle.
#[derive(Debug, Default)]
struct Ready {
    door: bool,
    control: bool,
    woken: bool,
    clients: Vec<ClientId>,
    /// Clients of these whose connection is closed at the other end.
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
        let Parts { mut drive, data, exports, slower, door, control, keeps_log, is_watched } =
            parts;
        drive.wait_outside(config);
        let manner = Manner {
            page_size: drive.page_size(),
            keeps_trims: config.ssd.power.protection == Protection::Capacitors,
        };
        Ok(Self {
            live: Live::new(config, drive, Clock::new(slower), data, keeps_log)?,
            exports,
            manner,
            door,
            control,
            woken,
            shared: Arc::new(Shared::new(waker)),
            clients: BTreeMap::new(),
            next_client: 0,
            lateness: Lateness::default(),
            watch: is_watched.then(Watch::default),
            stalled: BTreeSet::new(),
            done: Vec::new(),
            room: vec![0; AT_ONCE],
            published: Instant::now(),
        })
    }

    /// State that the server shares with other threads.
    pub fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Address that clients connect to.
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
        self.publish();
        let served = self.serve();
        let finished = served.and_then(|()| self.live.finish(&mut self.done));
        self.done.clear();
        self.follow_cuts();
        self.live.log.settle();
        self.shared.add_rows(self.live.log.take());
        self.clients.clear();
        self.publish();
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
        let publishes = self.published + PUBLISH_INTERVAL;
        let until = next.map_or(publishes, |next| next.min(publishes));
        let left = until.saturating_duration_since(now);
        let timeout =
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        let mut polled =
            vec![PollFd::new(&self.door, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
        polled.extend(self.control.iter().map(|door| PollFd::new(door, PollFlags::IN)));
        let first = polled.len();
        for client in self.clients.values() {
            let mut wanted = PollFlags::empty();
            wanted.set(PollFlags::IN, client.is_wanted());
            wanted.set(PollFlags::OUT, client.has_output());
            polled.push(PollFd::from_borrowed_fd(client.as_fd(), wanted));
        }
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Error::Machine(format!("poll: {error}"))),
        }
        let is_ready = |polled: &PollFd<'_>| !polled.revents().is_empty();
        let hung_up = |polled: &PollFd<'_>| polled.revents().contains(PollFlags::HUP);
        let clients = || self.clients.keys().zip(&polled[first..]);
        Ok(Ready {
            door: is_ready(&polled[0]),
            woken: is_ready(&polled[1]),
            control: first > 2 && is_ready(&polled[2]),
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
        self.follow_cuts();
        self.go_on_with_stalled()?;
        if ready.door || ready.control {
            self.let_in(ready);
        }
        self.live.log.settle();
        if self.live.log.waiting() >= ROWS {
            self.shared.add_rows(self.live.log.take());
        }
        if now - self.published > PUBLISH_INTERVAL {
            self.shared.add_rows(self.live.log.take());
            self.publish();
        }
        Ok(())
    }

    fn publish(&mut self) {
        self.published = Instant::now();
        let status = status::of(&self.live, &self.lateness, self.clients.len(), &self.shared);
        self.shared.set_status(status);
        let row = self.watch.as_mut().and_then(|watch| watch.row(self.live.drive()));
        row.into_iter().for_each(|row| self.shared.add_watched(row));
    }
}
