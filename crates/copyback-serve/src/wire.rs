//! The numbers of the NBD protocol, and how its messages are put into bytes.
//!
//! The protocol is that of <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>: the fixed newstyle
//! handshake, and simple replies. All numbers are big endian.

/// Magic number of the server's greeting.
pub const GREETING: u64 = 0x4e42_444d_4147_4943;
/// Begins each option.
pub const OPTION: u64 = 0x4948_4156_454f_5054;
/// Begins each answer to an option.
pub const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// Begins each request.
pub const REQUEST: u32 = 0x2560_9513;
/// Begins each answer to a request.
pub const REPLY: u32 = 0x6744_6698;

/// The handshake is the fixed newstyle one.
pub const FIXED_NEWSTYLE: u16 = 1;
/// Zeroes behind an export may be left out.
pub const NO_ZEROES: u16 = 2;

/// Options of the handshake that are known here.
pub mod option {
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const LIST: u32 = 3;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
}

/// Answers to options.
pub mod reply {
    pub const ACK: u32 = 1;
    pub const SERVER: u32 = 2;
    pub const INFO: u32 = 3;
    const ERROR: u32 = 1 << 31;
    pub const UNSUPPORTED: u32 = ERROR + 1;
    pub const INVALID: u32 = ERROR + 3;
    pub const UNKNOWN: u32 = ERROR + 6;
}

/// Kinds of information about an export.
pub mod info {
    pub const EXPORT: u16 = 0;
    pub const BLOCK_SIZE: u16 = 3;
}

/// Capabilities of the server: flags, read, write, flush, force unit access, trim, write zeroes, and several
/// connections that see the same.
pub const TRANSMISSION_FLAGS: u16 = 1 | 4 | 8 | 32 | 64 | 256;

/// Commands.
pub mod command {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const DISCONNECT: u16 = 2;
    pub const FLUSH: u16 = 3;
    pub const TRIM: u16 = 4;
    pub const WRITE_ZEROES: u16 = 6;
}

/// Flags of commands.
pub mod flag {
    pub const FORCE_UNIT_ACCESS: u16 = 1;
    pub const NO_HOLE: u16 = 2;
}

/// Errors that requests are answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// The drive has not done it.
    Io = 5,
    /// Invalid request.
    Invalid = 22,
    /// No space: beyond the end of the export, or no room for the data.
    NoSpace = 28,
}

/// Most bytes of a request.
pub const MOST_BYTES: u32 = 32 << 20;

/// Bytes of a request without its data.
pub const REQUEST_BYTES: usize = 28;

/// A request as it stands on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Flags.
    pub flags: u16,
    /// The command.
    pub command: u16,
    /// The client's number for it.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
}

impl Request {
    /// The request that `bytes` begin with, of which there are [enough](REQUEST_BYTES); `None` if it is none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        (number_32(bytes, 0)? == REQUEST).then_some(())?;
        Some(Self {
            flags: number_16(bytes, 4)?,
            command: number_16(bytes, 6)?,
            cookie: number_64(bytes, 8)?,
            offset: number_64(bytes, 16)?,
            length: number_32(bytes, 24)?,
        })
    }

    /// Bytes of data that follow it.
    pub const fn data_bytes(&self) -> usize {
        if self.command == command::WRITE { self.length as usize } else { 0 }
    }
}

/// Puts the head of an answer to a request.
pub fn put_reply(out: &mut Vec<u8>, error: Option<Errno>, cookie: u64) {
    out.extend(REPLY.to_be_bytes());
    out.extend(error.map_or(0, |error| error as u32).to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// Puts an answer to an option.
pub fn put_option_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(OPTION_REPLY.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}

/// The two bytes at `at` as a number.
pub fn number_16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// The four bytes at `at` as a number.
pub fn number_32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The eight bytes at `at` as a number.
pub fn number_64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
