//! Memory that the requests of all clients may take together.

/// Bytes that all clients together may have under way: requests that are not answered, and answers that are not sent.
const MOST_TOGETHER: usize = 512 << 20;

/// Bytes that a request takes besides its data, at most.
pub const PER_REQUEST: usize = 1 << 10;

/// Bytes of a request that enters whatever others have under way, if its client has nothing: so a client that leaves
/// its answers unread stops nobody.
const ALWAYS: usize = PER_REQUEST + (64 << 10);

/// State of the next request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// The head of the request was not read yet.
    Open,
    /// The request waits until there is room; nothing more is read from its client.
    Waiting,
    /// Bytes are set aside for the request: this many.
    Granted(usize),
}

/// Whether a request of `bytes` may enter where its client has `own` bytes under way, and all clients `together`.
pub const fn admits(bytes: usize, own: usize, together: usize) -> bool {
    together.saturating_add(bytes) <= MOST_TOGETHER || (own == 0 && bytes <= ALWAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_byte_is_given_and_no_more() {
        assert!(admits(1 << 20, 1, MOST_TOGETHER - (1 << 20)));
        assert!(!admits(1 << 20, 1, MOST_TOGETHER - (1 << 20) + 1));
    }

    #[test]
    fn a_small_request_of_a_client_that_has_none_enters_always() {
        assert!(admits(ALWAYS, 0, MOST_TOGETHER));
        assert!(!admits(ALWAYS, 1, MOST_TOGETHER));
        assert!(!admits(ALWAYS + 1, 0, MOST_TOGETHER));
    }
}
