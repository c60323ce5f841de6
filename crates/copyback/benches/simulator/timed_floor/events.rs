//! Events that are ahead: at most one for each source of a fixed number of them.

/// Bits of a key that say which source an event is of.
const SOURCE_BITS: u32 = 12;

/// An event that is ahead.
#[derive(Clone, Copy)]
pub struct Event {
    /// Instant, in nanoseconds.
    pub at: u64,
    /// Source that the event is of.
    pub source: usize,
}

/// Winner tree over the sources: a leaf has the time of a source's event, a node the earlier one of its two children.
pub struct Events {
    keys: Vec<u64>,
    leaves: usize,
}

impl Events {
    /// Creates the tree of so many sources, none of which has an event.
    pub fn new(sources: usize) -> Self {
        assert!(sources <= 1 << SOURCE_BITS, "a key holds no more sources");
        let leaves = sources.next_power_of_two();
        Self { keys: vec![u64::MAX; 2 * leaves], leaves }
    }

    /// Sets when the event of `source` happens.
    #[inline]
    pub fn set(&mut self, source: usize, at: u64) {
        self.put(source, at << SOURCE_BITS | source as u64);
    }

    /// Takes the event of `source` back.
    #[inline]
    pub fn clear(&mut self, source: usize) {
        self.put(source, u64::MAX);
    }

    /// The earliest event. There is one while requests are under way.
    #[inline]
    pub fn first(&self) -> Event {
        let key = self.keys[1];
        Event { at: key >> SOURCE_BITS, source: (key & ((1 << SOURCE_BITS) - 1)) as usize }
    }

    #[inline]
    fn put(&mut self, source: usize, key: u64) {
        let (mut node, mut key) = (self.leaves + source, key);
        self.keys[node] = key;
        while node > 1 {
            key = key.min(self.keys[node ^ 1]);
            node /= 2;
            if self.keys[node] == key {
                break;
            }
            self.keys[node] = key;
        }
    }
}
