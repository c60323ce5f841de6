//! Sockets that clients connect to.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::client::Stream;
use crate::data::words;

/// An address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A port of the network.
    Tcp(SocketAddr),
}

/// A socket that clients connect to. That of a Unix socket is removed when it is dropped.
#[derive(Debug)]
pub enum Door {
    /// A Unix socket.
    Unix(UnixListener, PathBuf),
    /// A port of the network.
    Tcp(TcpListener),
}

impl Door {
    /// Listens.
    ///
    /// # Errors
    /// If something is there already, or the system refuses.
    pub fn open(address: &Address) -> Result<Self, String> {
        match address {
            Address::Unix(path) => {
                let message = |problem: &str| format!("{}: {problem}", path.display());
                make_room(path).map_err(|problem| message(&problem))?;
                let listener = UnixListener::bind(path).map_err(|error| message(&words(&error)))?;
                listener.set_nonblocking(true).map_err(|error| message(&words(&error)))?;
                Ok(Self::Unix(listener, path.clone()))
            }
            Address::Tcp(address) => {
                let message = |error: io::Error| format!("tcp:{address}: {}", words(&error));
                let listener = TcpListener::bind(address).map_err(message)?;
                listener.set_nonblocking(true).map_err(message)?;
                Ok(Self::Tcp(listener))
            }
        }
    }

    /// The next client that wants in, if there is one.
    ///
    /// # Errors
    /// If the system has no room for one more.
    pub fn accept(&self) -> io::Result<Option<Stream>> {
        let accepted = match self {
            Self::Unix(listener, _) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(true)?;
                Ok(Stream::Unix(stream))
            }),
            Self::Tcp(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(true)?;
                // Answers are small, and due now.
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }),
        };
        match accepted {
            Ok(stream) => Ok(Some(stream)),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionAborted) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Address that it listens on, as clients name it.
    pub fn uri(&self) -> String {
        match self {
            Self::Unix(_, path) => format!("nbd+unix:///?socket={}", path.display()),
            Self::Tcp(listener) => {
                listener.local_addr().map_or_else(|_| String::new(), |at| format!("nbd://{at}"))
            }
        }
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(listener, _) => listener.as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // It may be gone already.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes a socket that nobody listens on any more, as a server leaves that was killed.
fn make_room(path: &Path) -> Result<(), String> {
    let Ok(found) = path.symlink_metadata() else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err("exists and is no socket; allowed: a name that is free".to_owned());
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(|error| words(&error))
        }
        _ => Err("somebody listens there already; allowed: a name that is free".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_left_alone_unless_it_is_a_dead_socket() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("drive.sock");
        let address = Address::Unix(path.clone());
        let first = Door::open(&address).unwrap();
        let message = Door::open(&address).unwrap_err();
        assert!(message.ends_with("somebody listens there already; allowed: a name that is free"));
        drop(first);
        assert!(!path.exists());
        // The socket of a server that was killed stays.
        drop(UnixListener::bind(&path).unwrap());
        drop(Door::open(&address).unwrap());
        std::fs::write(&path, "mine").unwrap();
        let message = Door::open(&address).unwrap_err();
        assert!(message.contains("exists and is no socket"), "{message}");
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    }
}
