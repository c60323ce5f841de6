//! A connection: bytes that have come, bytes that are to go, and where in the protocol it is.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use crate::budget::Admission;
use crate::export::ExportId;
use crate::handshake::Handshake;
use crate::output::Output;

/// Identifier of a client, counted from the first one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(pub u64);

/// Requests of a client that may be unanswered before no more of them are read.
const MOST_REQUESTS: usize = 4096;

/// Bytes that may wait for a client, or be held for it, before nothing more is read from it.
const MOST_HELD: usize = 128 << 20;

/// Bytes of a buffer that are kept for the next use.
const KEPT: usize = 1 << 20;

/// A stream of bytes to a client.
#[derive(Debug)]
pub enum Stream {
    /// Over a Unix socket.
    Unix(UnixStream),
    /// Over the network.
    Tcp(TcpStream),
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(into),
            Self::Tcp(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

/// Stage of the protocol that a client is in.
#[derive(Debug)]
pub enum Stage {
    /// Handshake: client and server negotiate.
    Meeting(Handshake),
    /// Transmission: the client sends requests.
    Asking(ExportId),
    /// Control connection: commands go to the server, not to the drive.
    Commanding,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    /// Bytes that have come, from `used` on.
    input: Vec<u8>,
    used: usize,
    output: Output,
    /// Stage of the protocol.
    pub stage: Stage,
    /// Requests that are not answered yet.
    pub unanswered: usize,
    /// Bytes of data of these.
    pub held: usize,
    /// State of its next request.
    pub admission: Admission,
    /// Whether nothing more is read: it goes once all that is to go has gone.
    is_leaving: bool,
}

/// State of a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Health {
    /// Open connection.
    Well,
    /// The other end is gone.
    Gone,
}

impl Client {
    /// A new one.
    pub const fn new(stream: Stream, stage: Stage) -> Self {
        Self {
            stream,
            input: Vec::new(),
            used: 0,
            output: Output::new(),
            stage,
            unanswered: 0,
            held: 0,
            admission: Admission::Open,
            is_leaving: false,
        }
    }

    /// Whether it is time to read more from it.
    pub fn is_wanted(&self) -> bool {
        self.has_room() && self.admission != Admission::Waiting
    }

    /// Whether it may ask for more, as far as its own requests go.
    pub fn has_room(&self) -> bool {
        let waits = self.output.held() + self.held;
        !self.is_leaving && self.unanswered < MOST_REQUESTS && waits < MOST_HELD
    }

    /// Bytes that its answers take, and that are set aside for the request that it sends.
    pub fn set_aside(&self) -> usize {
        let granted = match self.admission {
            Admission::Granted(bytes) => bytes,
            Admission::Open | Admission::Waiting => 0,
        };
        self.output.held() + granted
    }

    /// Whether bytes wait to go to it.
    pub fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Reads nothing more; the connection ends once what is to go has gone.
    pub const fn leave(&mut self) {
        self.is_leaving = true;
    }

    /// Whether nothing is left to be done for it.
    pub fn is_through(&self) -> bool {
        self.is_leaving && !self.has_output()
    }

    /// Reads what has come, by way of `room`.
    pub fn receive(&mut self, room: &mut [u8]) -> Health {
        match self.stream.read(room) {
            Ok(0) => Health::Gone,
            Ok(read) => {
                self.input.extend_from_slice(&room[..read]);
                Health::Well
            }
            Err(error) if is_passing(&error) => Health::Well,
            Err(_) => Health::Gone,
        }
    }

    /// Bytes that were received and not parsed yet.
    pub fn input(&self) -> &[u8] {
        &self.input[self.used..]
    }

    /// Lets go of the input that has been used.
    pub fn forget_used(&mut self) {
        self.input.drain(..self.used);
        self.used = 0;
        if self.input.len() < KEPT {
            self.input.shrink_to(KEPT);
        }
    }

    /// The first bytes of the input have been used.
    pub const fn use_up(&mut self, bytes: usize) {
        self.used += bytes;
    }

    /// The parts that a step of the handshake needs: where it is, what came, and where answers go.
    pub fn parts(&mut self) -> (&mut Stage, &[u8], &mut Vec<u8>) {
        (&mut self.stage, &self.input[self.used..], self.output.end())
    }

    /// Buffer for answers.
    pub fn output(&mut self) -> &mut Vec<u8> {
        self.output.end()
    }

    /// Sends what is to go, as far as it will.
    pub fn send(&mut self) -> Health {
        match self.output.send(&mut self.stream) {
            Ok(()) => Health::Well,
            Err(_) => Health::Gone,
        }
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
