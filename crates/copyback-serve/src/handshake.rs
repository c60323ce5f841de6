//! Handshake between a client and the server, NBD's fixed newstyle.

use crate::export::{Export, ExportId, Exports};
use crate::wire::{self, info, option, put_option_reply, reply};

/// Most bytes of an option: the longest name is 4,096.
const MOST_OPTION_BYTES: usize = 64 << 10;

/// Bytes of an option without its data.
const OPTION_BYTES: usize = 16;

/// State of a handshake.
#[derive(Debug, Default)]
pub struct Handshake {
    /// Flags that the client has sent, once it has.
    client: Option<Client>,
}

#[derive(Debug, Clone, Copy)]
struct Client {
    leaves_out_zeroes: bool,
}

/// Result of a step of a handshake.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// More bytes are needed.
    Incomplete,
    /// Number of bytes that were consumed; there may be more.
    Understood(usize),
    /// Number of bytes that were consumed, and the export; requests follow.
    Begin(usize, ExportId),
    /// The client does not want to go on.
    Abort,
    /// Violation of the protocol, or a demand that can't be met and can't be answered.
    Broken(String),
}

impl Handshake {
    /// Writes the server's greeting.
    pub fn greet(out: &mut Vec<u8>) {
        out.extend(wire::GREETING.to_be_bytes());
        out.extend(wire::OPTION.to_be_bytes());
        out.extend((wire::FIXED_NEWSTYLE | wire::NO_ZEROES).to_be_bytes());
    }

    /// Takes what `input` begins with; answers are put into `out`.
    pub fn step(
        &mut self,
        input: &[u8],
        exports: &Exports,
        blocks: BlockSizes,
        out: &mut Vec<u8>,
    ) -> Step {
        match self.client {
            None => self.meet(input),
            Some(client) => option_step(client, input, exports, blocks, out),
        }
    }

    fn meet(&mut self, input: &[u8]) -> Step {
        let Some(flags) = wire::number_32(input, 0) else { return Step::Incomplete };
        let known = u32::from(wire::FIXED_NEWSTYLE | wire::NO_ZEROES);
        if flags & !known != 0 || flags & u32::from(wire::FIXED_NEWSTYLE) == 0 {
            return Step::Broken(format!("does not speak NBD's fixed newstyle ({flags:#x})"));
        }
        let leaves_out_zeroes = flags & u32::from(wire::NO_ZEROES) != 0;
        self.client = Some(Client { leaves_out_zeroes });
        Step::Understood(4)
    }
}

/// Sizes and offsets of requests that the server requires and prefers.
#[derive(Debug, Clone, Copy)]
pub struct BlockSizes {
    /// The page of the drive: what is written in part is read first.
    pub preferred: u32,
}

fn option_step(
    client: Client,
    input: &[u8],
    exports: &Exports,
    blocks: BlockSizes,
    out: &mut Vec<u8>,
) -> Step {
    let Some(magic) = wire::number_64(input, 0) else { return Step::Incomplete };
    if magic != wire::OPTION {
        return Step::Broken("sends what is no option of NBD".to_owned());
    }
    let (Some(option), Some(length)) = (wire::number_32(input, 8), wire::number_32(input, 12))
    else {
        return Step::Incomplete;
    };
    let length = length as usize;
    if length > MOST_OPTION_BYTES {
        return Step::Broken(format!("sends an option of {length} bytes"));
    }
    let used = OPTION_BYTES + length;
    let Some(data) = input.get(OPTION_BYTES..used) else { return Step::Incomplete };
    match option {
        option::EXPORT_NAME => match exports.find(data) {
            Some(id) => {
                put_export(client, exports.get(id), out);
                Step::Begin(used, id)
            }
            None => Step::Broken(no_such_export(data)),
        },
        option::ABORT => {
            put_option_reply(out, option, reply::ACK, &[]);
            Step::Abort
        }
        option::LIST => {
            list(option, data, exports, out);
            Step::Understood(used)
        }
        option::INFO | option::GO => match describe(option, data, exports, blocks, out) {
            Some(id) if option == option::GO => Step::Begin(used, id),
            _ => Step::Understood(used),
        },
        _ => {
            put_option_reply(out, option, reply::UNSUPPORTED, &[]);
            Step::Understood(used)
        }
    }
}

fn no_such_export(name: &[u8]) -> String {
    format!("asks for an export {:?}, which there is not", String::from_utf8_lossy(name))
}

fn put_export(client: Client, export: &Export, out: &mut Vec<u8>) {
    out.extend(export.length.to_be_bytes());
    out.extend(wire::TRANSMISSION_FLAGS.to_be_bytes());
    if !client.leaves_out_zeroes {
        out.extend([0; 124]);
    }
}

fn list(option: u32, data: &[u8], exports: &Exports, out: &mut Vec<u8>) {
    if !data.is_empty() {
        return put_option_reply(out, option, reply::INVALID, &[]);
    }
    for name in exports.names() {
        let mut listed = (name.len() as u32).to_be_bytes().to_vec();
        listed.extend(name.as_bytes());
        put_option_reply(out, option, reply::SERVER, &listed);
    }
    put_option_reply(out, option, reply::ACK, &[]);
}

/// Tells what an export is. Returns which it is, if there is one of that name.
fn describe(
    option: u32,
    data: &[u8],
    exports: &Exports,
    blocks: BlockSizes,
    out: &mut Vec<u8>,
) -> Option<ExportId> {
    let Some(name) = name_in(data) else {
        put_option_reply(out, option, reply::INVALID, &[]);
        return None;
    };
    let Some(id) = exports.find(name) else {
        put_option_reply(out, option, reply::UNKNOWN, no_such_export(name).as_bytes());
        return None;
    };
    let mut data = info::EXPORT.to_be_bytes().to_vec();
    data.extend(exports.get(id).length.to_be_bytes());
    data.extend(wire::TRANSMISSION_FLAGS.to_be_bytes());
    put_option_reply(out, option, reply::INFO, &data);
    let mut data = info::BLOCK_SIZE.to_be_bytes().to_vec();
    for size in [1, blocks.preferred, wire::MOST_BYTES] {
        data.extend(size.to_be_bytes());
    }
    put_option_reply(out, option, reply::INFO, &data);
    put_option_reply(out, option, reply::ACK, &[]);
    Some(id)
}

/// The name in the data of an option, behind which the client lists what it wants to know.
fn name_in(data: &[u8]) -> Option<&[u8]> {
    let length = wire::number_32(data, 0)? as usize;
    let end = length.checked_add(4)?;
    let asked = wire::number_16(data, end)? as usize;
    (data.len() == end + 2 + 2 * asked).then(|| &data[4..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exports() -> Exports {
        Exports::new(Vec::new(), 1 << 20).unwrap()
    }

    fn option(number: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = wire::OPTION.to_be_bytes().to_vec();
        bytes.extend(number.to_be_bytes());
        bytes.extend((data.len() as u32).to_be_bytes());
        bytes.extend(data);
        bytes
    }

    fn met() -> Handshake {
        let mut handshake = Handshake::default();
        let mut out = Vec::new();
        let blocks = BlockSizes { preferred: 4096 };
        assert_eq!(
            handshake.step(&[0, 0, 0, 3], &exports(), blocks, &mut out),
            Step::Understood(4)
        );
        handshake
    }

    fn step(handshake: &mut Handshake, input: &[u8]) -> (Step, Vec<u8>) {
        let mut out = Vec::new();
        let blocks = BlockSizes { preferred: 4096 };
        (handshake.step(input, &exports(), blocks, &mut out), out)
    }

    #[test]
    fn every_part_of_an_option_is_waited_for() {
        let whole = option(option::GO, &[0, 0, 0, 0, 0, 0]);
        let mut handshake = met();
        for length in 0..whole.len() {
            assert_eq!(step(&mut handshake, &whole[..length]).0, Step::Incomplete, "{length}");
        }
        let (begun, out) = step(&mut handshake, &whole);
        assert_eq!(begun, Step::Begin(whole.len(), ExportId(0)));
        // Three answers: the export, its block sizes, and that this is all.
        assert_eq!(out.len(), 3 * 20 + 12 + 14);
    }

    #[test]
    fn rubbish_is_told_from_options() {
        assert!(matches!(step(&mut met(), &[7; 16]).0, Step::Broken(_)));
        assert!(matches!(step(&mut Handshake::default(), b"GET ").0, Step::Broken(_)));
        let mut endless = option(option::GO, &[]);
        endless[12..16].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(matches!(step(&mut met(), &endless).0, Step::Broken(_)));
    }

    #[test]
    fn names_that_lie_about_their_length_are_refused() {
        for data in [&[0, 0, 0, 9, 1][..], &[255, 255, 255, 255], &[0, 0, 0, 0, 0, 9], &[]] {
            let (understood, out) = step(&mut met(), &option(option::INFO, data));
            assert!(matches!(understood, Step::Understood(_)));
            assert_eq!(wire::number_32(&out, 12), Some(reply::INVALID), "{data:?}");
        }
        let (_, out) = step(&mut met(), &option(option::GO, &[0, 0, 0, 1, b'x', 0, 0]));
        assert_eq!(wire::number_32(&out, 12), Some(reply::UNKNOWN));
    }
}
