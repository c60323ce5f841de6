//! A connection: bytes that have come, bytes that are to go, and where in the protocol it is.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use crate::export::ExportId;
use crate::handshake::Handshake;

/// Which client, from the first on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(pub u64);

/// Requests of a client that may be unanswered before no more of them are read.
const MOST_REQUESTS: usize = 4096;

/// Bytes that may wait for a client, or be held for it, before nothing more is read from it.
const MOST_HELD: usize = 128 << 20;

/// A stream of bytes to a client.
#[derive(Debug)]
pub enum Stream {
    /// Over a Unix socket.
    Unix(UnixStream),
    /// Over the network.
    Tcp(TcpStream),
}

impl Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(into),
            Self::Tcp(stream) => stream.read(into),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
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

/// Where in the protocol a client is.
#[derive(Debug)]
pub enum Stage {
    /// It comes to terms with the server.
    Meeting(Handshake),
    /// It asks for things.
    Asking(ExportId),
    /// It gives commands to the server, not to the drive.
    Commanding,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    /// Bytes that have come, from `used` on.
    input: Vec<u8>,
    used: usize,
    /// Bytes that are to go, from `sent` on.
    output: Vec<u8>,
    sent: usize,
    /// Where in the protocol it is.
    pub stage: Stage,
    /// Requests that are not answered yet.
    pub unanswered: usize,
    /// Bytes of data of these.
    pub held: usize,
    /// Whether nothing more is read: it goes once all that is to go has gone.
    is_leaving: bool,
}

/// What has become of a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Health {
    /// It goes on.
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
            output: Vec::new(),
            sent: 0,
            stage,
            unanswered: 0,
            held: 0,
            is_leaving: false,
        }
    }

    /// Whether it is time to read more from it.
    pub fn is_wanted(&self) -> bool {
        let waits = self.output.len() - self.sent + self.held;
        !self.is_leaving && self.unanswered < MOST_REQUESTS && waits < MOST_HELD
    }

    /// Whether bytes wait to go to it.
    pub const fn has_output(&self) -> bool {
        self.sent < self.output.len()
    }

    /// Reads nothing more; the connection ends once what is to go has gone.
    pub const fn leave(&mut self) {
        self.is_leaving = true;
    }

    /// Whether nothing is left to be done for it.
    pub const fn is_through(&self) -> bool {
        self.is_leaving && !self.has_output()
    }

    /// Reads what has come, by way of `room`.
    pub fn receive(&mut self, room: &mut [u8]) -> Health {
        self.input.drain(..self.used);
        self.used = 0;
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

    /// What has come and was not used yet.
    pub fn input(&self) -> &[u8] {
        &self.input[self.used..]
    }

    /// The first bytes of the input have been used.
    pub const fn use_up(&mut self, bytes: usize) {
        self.used += bytes;
    }

    /// The parts that a step of the handshake needs: where it is, what came, and where answers go.
    pub fn parts(&mut self) -> (&mut Stage, &[u8], &mut Vec<u8>) {
        (&mut self.stage, &self.input[self.used..], &mut self.output)
    }

    /// Where answers go.
    pub const fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Sends what is to go, as far as it will.
    pub fn send(&mut self) -> Health {
        while self.has_output() {
            match self.stream.write(&self.output[self.sent..]) {
                Ok(0) => return Health::Gone,
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_passing(&error) => return Health::Well,
                Err(_) => return Health::Gone,
            }
        }
        self.output.clear();
        self.sent = 0;
        Health::Well
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
