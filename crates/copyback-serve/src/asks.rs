//! Translation of a request of a client into requests to the drive.

use copyback::embedded::Ask;
use copyback::workload::{Hint, Operation};

use crate::client::ClientId;
use crate::export::Export;
use crate::wire::{Errno, Request, command, flag};

/// A request that makes sense.
#[derive(Debug)]
pub struct Asked {
    /// Client that sent the request.
    pub client: ClientId,
    /// The client's number for it.
    pub cookie: u64,
    /// Effect on the data, applied once the drive has done the request.
    pub effect: Effect,
    /// Requests to the drive, submitted all at once.
    pub asks: Vec<Ask>,
    /// Whether a flush follows, before it is answered.
    pub then_flush: bool,
}

/// Effect of a request on the data. Places are those of the drive.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Data are read.
    Read {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: usize,
    },
    /// Data are written.
    Write {
        /// First byte.
        offset: u64,
        /// The data.
        data: Vec<u8>,
    },
    /// Data become zeroes.
    Zero {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
    },
    /// Whole pages of these become zeroes.
    Trim {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
    },
    /// Data stay as they are.
    Flush,
}

impl Effect {
    /// Bytes of data that are held for it.
    pub const fn held(&self) -> usize {
        match self {
            Self::Read { length, .. } => *length,
            Self::Write { data, .. } => data.len(),
            Self::Zero { .. } | Self::Trim { .. } | Self::Flush => 0,
        }
    }
}

/// Properties of a drive that decide how requests are split.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Bytes that are mapped together: a trim forgets only whole pages.
    pub page_size: u64,
    /// Whether what was trimmed stays so when the power fails. If not, zeroes have to be written.
    pub keeps_trims: bool,
}

/// Translates `request`, or says what is wrong with it. `data` are those of a write.
///
/// # Errors
/// What it is to be answered with.
pub fn of(
    client: ClientId,
    request: &Request,
    data: &[u8],
    export: &Export,
    manner: Manner,
) -> Result<Asked, Errno> {
    check(request, export)?;
    let (offset, length) = (export.offset + request.offset, u64::from(request.length));
    let hint = Some(Hint::new(0, export.handle));
    let ask = |operation, offset, length| Ask { operation, offset, length, hint };
    let (effect, asks) = match request.command {
        command::READ => (
            Effect::Read { offset, length: length as usize },
            vec![ask(Operation::Read, offset, length)],
        ),
        command::WRITE => (
            Effect::Write { offset, data: data.to_vec() },
            vec![ask(Operation::Write, offset, length)],
        ),
        command::FLUSH => (Effect::Flush, vec![ask(Operation::Flush, 0, 0)]),
        command::TRIM => {
            (Effect::Trim { offset, length }, vec![ask(Operation::Trim, offset, length)])
        }
        command::WRITE_ZEROES => {
            let may_trim = request.flags & flag::NO_HOLE == 0 && manner.keeps_trims;
            let parts = match may_trim {
                true => zeroing(offset, length, manner.page_size),
                false => vec![(Operation::Write, offset, length)],
            };
            let asks = parts.into_iter().map(|(what, offset, length)| ask(what, offset, length));
            (Effect::Zero { offset, length }, asks.collect())
        }
        _ => return Err(Errno::Invalid),
    };
    let changes = matches!(request.command, command::WRITE | command::TRIM | command::WRITE_ZEROES);
    let then_flush = changes && request.flags & flag::FORCE_UNIT_ACCESS != 0;
    Ok(Asked { client, cookie: request.cookie, effect, asks, then_flush })
}

/// Refuses what the drive cannot be asked for.
fn check(request: &Request, export: &Export) -> Result<(), Errno> {
    let known = flag::FORCE_UNIT_ACCESS
        | if request.command == command::WRITE_ZEROES { flag::NO_HOLE } else { 0 };
    if request.flags & !known != 0 {
        return Err(Errno::Invalid);
    }
    if request.command == command::FLUSH {
        return match (request.offset, request.length) {
            (0, 0) => Ok(()),
            _ => Err(Errno::Invalid),
        };
    }
    let end = request.offset.checked_add(u64::from(request.length));
    if end.is_none_or(|end| end > export.length) {
        let writes = matches!(request.command, command::WRITE | command::WRITE_ZEROES);
        return Err(if writes { Errno::NoSpace } else { Errno::Invalid });
    }
    if request.length == 0 { Err(Errno::Invalid) } else { Ok(()) }
}

/// Zeroes by trimming whole pages and writing the rest.
fn zeroing(offset: u64, length: u64, page: u64) -> Vec<(Operation, u64, u64)> {
    let end = offset + length;
    let (first, last) = (offset.next_multiple_of(page), end / page * page);
    if first >= last {
        return vec![(Operation::Write, offset, length)];
    }
    let parts = [
        (Operation::Write, offset, first - offset),
        (Operation::Trim, first, last - first),
        (Operation::Write, last, end - last),
    ];
    parts.into_iter().filter(|(.., length)| *length > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORT: Export =
        Export { name: String::new(), offset: 1 << 20, length: 1 << 16, handle: None };
    const MANNER: Manner = Manner { page_size: 4096, keeps_trims: true };

    fn request(command: u16, offset: u64, length: u32) -> Request {
        Request { flags: 0, command, cookie: 9, offset, length }
    }

    fn asks(request: Request) -> Result<Vec<(Operation, u64, u64)>, Errno> {
        let asked = of(ClientId(0), &request, &[], &EXPORT, MANNER)?;
        Ok(asked.asks.iter().map(|ask| (ask.operation, ask.offset, ask.length)).collect())
    }

    #[test]
    fn an_export_begins_where_it_lies() {
        assert_eq!(
            asks(request(command::READ, 512, 512)),
            Ok(vec![(Operation::Read, (1 << 20) + 512, 512)])
        );
    }

    #[test]
    fn beyond_the_end_is_refused_as_the_protocol_says() {
        for (what, error) in [
            (command::READ, Errno::Invalid),
            (command::WRITE, Errno::NoSpace),
            (command::WRITE_ZEROES, Errno::NoSpace),
            (command::TRIM, Errno::Invalid),
        ] {
            assert_eq!(asks(request(what, (1 << 16) - 1, 2)), Err(error), "{what}");
            assert_eq!(asks(request(what, u64::MAX, 2)), Err(error), "{what}");
            assert_eq!(asks(request(what, 0, 0)), Err(Errno::Invalid), "{what}");
        }
        assert_eq!(asks(request(77, 0, 1)), Err(Errno::Invalid));
        assert_eq!(
            asks(Request { flags: 64, ..request(command::READ, 0, 1) }),
            Err(Errno::Invalid)
        );
    }

    #[test]
    fn zeroes_are_trimmed_where_that_lasts() {
        let base = 1 << 20;
        let (trim, write) = (Operation::Trim, Operation::Write);
        assert_eq!(
            asks(request(command::WRITE_ZEROES, 100, 12_288)),
            Ok(vec![
                (write, base + 100, 3996),
                (trim, base + 4096, 8192),
                (write, base + 12_288, 100)
            ])
        );
        assert_eq!(
            asks(request(command::WRITE_ZEROES, 100, 4096)),
            Ok(vec![(write, base + 100, 4096)]),
            "no page is whole"
        );
        let solid = Request { flags: flag::NO_HOLE, ..request(command::WRITE_ZEROES, 0, 8192) };
        assert_eq!(asks(solid), Ok(vec![(write, base, 8192)]));
        let forgetful = Manner { keeps_trims: false, ..MANNER };
        let zeroes = request(command::WRITE_ZEROES, 0, 8192);
        let asked = of(ClientId(0), &zeroes, &[], &EXPORT, forgetful).unwrap();
        assert_eq!(asked.asks[0].operation, write);
    }
}
