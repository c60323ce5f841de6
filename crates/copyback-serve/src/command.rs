//! Commands that are given to the server itself, a line each, on a socket of its own.

/// Most bytes of a command.
const MOST_BYTES: usize = 64;

/// The command that an input begins with. Numbers are the bytes that it takes.
#[derive(Debug, PartialEq, Eq)]
pub enum ControlCommand {
    /// Command that is incomplete so far.
    None,
    /// To tell how the drive stands.
    Status(usize),
    /// To cut the power.
    Cut(usize),
    /// Command that does not exist.
    Unknown,
}

/// Looks for a command.
pub fn in_input(input: &[u8]) -> ControlCommand {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
        return if input.len() > MOST_BYTES {
            ControlCommand::Unknown
        } else {
            ControlCommand::None
        };
    };
    match input[..end].trim_ascii() {
        b"status" => ControlCommand::Status(end + 1),
        b"cut" => ControlCommand::Cut(end + 1),
        _ => ControlCommand::Unknown,
    }
}
