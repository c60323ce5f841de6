//! Requests that are under way, and queues of them.

use std::ops::{Index, IndexMut};

/// Most requests that are under way.
const MOST: usize = 256;

/// A request by its place in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Id(u16);

/// No request: the end of a chain.
pub const NOBODY: Id = Id(u16::MAX);

/// Kind of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
}

/// Nanoseconds that a request has spent, by cause.
#[derive(Clone, Copy, Default)]
pub struct Parts {
    /// Being served.
    pub service: u64,
    /// Waiting for collections.
    pub collections: u64,
    /// Waiting for other requests at the die.
    pub die: u64,
    /// Waiting for the channel or the link.
    pub channel: u64,
}

/// A request of one page.
#[derive(Clone, Copy)]
pub struct Request {
    pub arrived: u64,
    /// Instant at which its present wait began.
    pub waits_since: u64,
    /// Nanoseconds that its die had spent on collections when it began to wait.
    pub collected_before: u64,
    pub parts: Parts,
    pub lpn: u32,
    /// The next one of its chain.
    pub next: Id,
    pub kind: Kind,
    /// Whether it reads its page first, as it covers a part of it.
    pub reads_first: bool,
    /// Position of its plane in the die.
    pub plane: u8,
}

const UNUSED: Request = Request {
    arrived: 0,
    waits_since: 0,
    collected_before: 0,
    parts: Parts { service: 0, collections: 0, die: 0, channel: 0 },
    lpn: 0,
    next: NOBODY,
    kind: Kind::Read,
    reads_first: false,
    plane: 0,
};

/// Every request that may be under way.
pub struct Requests(Box<[Request; MOST]>);

impl Requests {
    pub fn new() -> Self {
        Self(Box::new([UNUSED; MOST]))
    }

    /// The first so many.
    pub fn ids(count: u16) -> impl Iterator<Item = Id> {
        assert!(usize::from(count) <= MOST, "the table holds no more requests");
        (0..count).map(Id)
    }

    /// Does `what` with each request of the chain that `first` begins.
    #[inline]
    pub fn each(&mut self, first: Id, mut what: impl FnMut(&mut Request)) {
        let mut id = first;
        while id != NOBODY {
            let request = &mut self[id];
            what(request);
            id = request.next;
        }
    }
}

impl Index<Id> for Requests {
    type Output = Request;

    #[inline(always)]
    fn index(&self, id: Id) -> &Request {
        &self.0[usize::from(id.0) % MOST]
    }
}

impl IndexMut<Id> for Requests {
    #[inline(always)]
    fn index_mut(&mut self, id: Id) -> &mut Request {
        &mut self.0[usize::from(id.0) % MOST]
    }
}

/// Requests in the order in which they came.
#[derive(Clone, Copy)]
pub struct Queue {
    pub first: Id,
    last: Id,
}

impl Queue {
    pub const EMPTY: Self = Self { first: NOBODY, last: NOBODY };

    pub fn is_empty(self) -> bool {
        self.first == NOBODY
    }

    #[inline]
    pub fn push(&mut self, requests: &mut Requests, id: Id) {
        requests[id].next = NOBODY;
        if self.is_empty() {
            self.first = id;
        } else {
            requests[self.last].next = id;
        }
        self.last = id;
    }

    /// Takes the first request, which is there.
    #[inline]
    pub fn pop(&mut self, requests: &mut Requests) -> Id {
        let id = self.first;
        self.first = std::mem::replace(&mut requests[id].next, NOBODY);
        id
    }

    /// Takes the first request, which is there, and for each other plane the first one if `joins` says that it is
    /// read at once with it. Returns how many are chained behind the first.
    #[inline]
    pub fn pop_across_planes(
        &mut self,
        requests: &mut Requests,
        joins: impl Fn(&Request) -> bool,
    ) -> (Id, u64) {
        let first = self.pop(requests);
        let (mut chained, mut count) = (first, 1);
        let mut seen = 1_u64 << requests[first].plane;
        let (mut before, mut id) = (NOBODY, self.first);
        while id != NOBODY {
            let Request { next, plane, .. } = requests[id];
            let is_first_of_plane = seen & (1 << plane) == 0;
            seen |= 1 << plane;
            if is_first_of_plane && joins(&requests[id]) {
                self.unlink(requests, before, id);
                requests[chained].next = id;
                requests[id].next = NOBODY;
                (chained, count) = (id, count + 1);
            } else {
                before = id;
            }
            id = next;
        }
        (first, count)
    }

    fn unlink(&mut self, requests: &mut Requests, before: Id, id: Id) {
        let next = requests[id].next;
        match before {
            NOBODY => self.first = next,
            before => requests[before].next = next,
        }
        if self.last == id {
            self.last = before;
        }
    }
}
