//! Queues of chunks by how often they are written, from which chunks expire that are not written for long: the lists
//! of AutoStream's multiple queues. The clock counts writes of chunks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use copyback_memory::table;

use crate::checkpoint::Checkpointed;

use super::chunks::Levels;

/// Queues of chunks; there are none if nothing expires.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Queues {
    chunks: Vec<Option<Chunk>>,
    /// Each queue, by the turns at which chunks joined it.
    queues: Vec<BTreeMap<u64, u32>>,
    clock: u64,
    /// Times that a chunk has joined a queue.
    turns: u64,
    /// Time that a chunk is kept in its queue: the time between the last two writes of the hottest, as it
    /// became that.
    lifetime: u64,
    hottest: Option<u32>,
    /// Writes of the hottest.
    most: u32,
}

/// State of a chunk.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Checkpointed)]
struct Chunk {
    writes: u32,
    queue: usize,
    last: u64,
    expires: u64,
    turn: u64,
}

impl Queues {
    /// Creates this number of empty queues for this number of chunks.
    pub fn new(chunks: usize, queues: usize) -> Self {
        let (chunks, queues) = (table(chunks, None), vec![BTreeMap::new(); queues]);
        Self { chunks, queues, clock: 0, turns: 0, lifetime: 0, hottest: None, most: 0 }
    }

    /// Writes that count for `chunk`.
    pub fn writes(&self, chunk: usize) -> u32 {
        self.chunks[chunk].map_or(0, |chunk| chunk.writes)
    }

    /// A write of `chunk`: it goes to the end of the queue of its count.
    pub fn promote(&mut self, chunk: usize, levels: &Levels) {
        self.clock += 1;
        let before = self.chunks[chunk];
        let writes = self.writes(chunk).saturating_add(1);
        if writes > self.most {
            self.lifetime = self.clock - before.map_or(0, |before| before.last);
            (self.hottest, self.most) = (Some(chunk as u32), writes);
        }
        if let Some(before) = before
            && let Some(queue) = self.queues.get_mut(before.queue)
        {
            queue.remove(&before.turn);
        }
        self.join(chunk as u32, writes, levels.of(writes).index(), self.clock);
    }

    fn join(&mut self, chunk: u32, writes: u32, queue: usize, last: u64) {
        let (expires, turn) = (self.clock + self.lifetime, self.turns);
        self.turns += 1;
        self.chunks[chunk as usize] = Some(Chunk { writes, queue, last, expires, turn });
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.insert(turn, chunk);
        }
    }

    /// The first of each queue goes to the end of the one below if it has expired, with as few writes as are counted
    /// there.
    pub fn demote(&mut self, levels: &Levels) {
        for queue in 0..self.queues.len() {
            let Some((_, &first)) = self.queues[queue].first_key_value() else { continue };
            let Some(chunk) = self.chunks[first as usize] else { continue };
            if chunk.expires >= self.clock {
                continue;
            }
            self.queues[queue].pop_first();
            let below = queue.saturating_sub(1);
            let writes = if queue > 0 { levels.least(below) } else { chunk.writes };
            self.join(first, writes, below, chunk.last);
            if self.hottest == Some(first) {
                let next = self.queues[queue].first_key_value().map_or(first, |(_, next)| *next);
                (self.hottest, self.most) = (Some(next), self.writes(next as usize));
            }
        }
    }

    /// Bytes in RAM of what is known of chunks.
    pub const fn bytes(&self) -> usize {
        size_of_val(self.chunks.as_slice())
    }

    /// Whether these can be queues like `new`, at `now`.
    pub fn is_sound(&self, new: &Self, levels: &Levels, now: u64) -> bool {
        let is_queued = |chunk: &Chunk, number: usize| {
            self.queues
                .get(chunk.queue)
                .is_none_or(|queue| queue.get(&chunk.turn) == Some(&(number as u32)))
        };
        let is_known = |chunk: &Chunk, number: usize| {
            (1..=now).contains(&u64::from(chunk.writes))
                && chunk.queue == levels.of(chunk.writes).index()
                && chunk.last <= self.clock
                && chunk.expires <= now.saturating_mul(2)
                && chunk.turn < self.turns
                && is_queued(chunk, number)
        };
        let known = || {
            self.chunks
                .iter()
                .enumerate()
                .filter_map(|(number, chunk)| Some((number, chunk.as_ref()?)))
        };
        let queued: usize = self.queues.iter().map(BTreeMap::len).sum();
        (self.chunks.len(), self.queues.len()) == (new.chunks.len(), new.queues.len())
            && self.clock <= now
            && self.lifetime <= now
            && self.turns <= now.saturating_mul(1 + self.queues.len() as u64)
            && known().all(|(number, chunk)| is_known(chunk, number))
            && (self.queues.is_empty() || queued == known().count())
            && self.hottest.is_none_or(|hottest| (hottest as usize) < self.chunks.len())
    }
}
