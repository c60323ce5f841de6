//! The drive's DRAM write buffer: acknowledges writes when their data are in DRAM, merges writes of
//! one page, serves reads of what it holds, and writes pages to flash when it fills.

mod flushes;
mod watermarks;

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashlink::LinkedHashMap;

use crate::checkpoint::Checkpointed;
use crate::config::{self, Eviction};
use crate::ids::{CommandId, Lpn};
use crate::places::Places;
use crate::roll::Roll;
use crate::ssd::{Finished, Owner, PageWrite, Ssd};
use crate::units::{Duration, Instant};
use crate::workload::Hint;

use flushes::Flushes;
use watermarks::Watermarks;

/// Set of sectors of a page: a bit each.
pub type Sectors = u64;

type PageTable<T> = LinkedHashMap<Lpn, T, FixedState>;

/// A write buffer.
#[derive(Debug, Checkpointed)]
pub struct WriteBuffer {
    /// Time that a command spends in DRAM.
    pub latency: Duration,
    capacity: usize,
    watermarks: Watermarks,
    least_recent_first: bool,
    whole_page: Sectors,
    /// Pages whose newest data are only here, the next to leave first.
    dirty: PageTable<Entry>,
    /// Pages that are being written to flash.
    leaving: PageTable<Leaving>,
    /// Writes that wait for room.
    waiting: VecDeque<Waiting>,
    /// Waits for room, and what collections added to them: the pages on their way to flash, by the order in which
    /// they left.
    places: Places<u64>,
    /// Pages that are not in flash yet, by the order of the first write that is not.
    unwritten: Roll<()>,
    flushes: Flushes,
    written: u64,
}

/// A write of a page that waits for room.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Waiting {
    command: CommandId,
    lpn: Lpn,
    hint: Option<Hint>,
    sectors: Sectors,
    since: Instant,
}

/// A write of a page that has waited for room and has found it.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// The command that it is of.
    pub command: CommandId,
    /// The page.
    pub lpn: Lpn,
    /// Part of the wait that was due to collections.
    pub late: Duration,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Entry {
    sectors: Sectors,
    /// Hint of the host when it wrote the page last.
    hint: Option<Hint>,
    sequence: u64,
    /// Part of the wait for its room that was due to collections.
    late: Duration,
}

/// A page on its way to flash.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Leaving {
    entry: Entry,
    /// When it was handed to the flash.
    since: Instant,
    /// Number of its departure.
    number: u64,
    /// Trimmed on the way: to be forgotten there.
    trimmed: bool,
}

impl Leaving {
    /// Whether it has these sectors of the page, as the host sees it.
    const fn holds(&self, sectors: Sectors) -> bool {
        !self.trimmed && self.entry.sectors & sectors == sectors
    }
}

impl WriteBuffer {
    /// The buffer of a checked configuration, if it has one.
    pub fn new(config: &config::Buffer, page_size: u32) -> Option<Self> {
        let capacity = (config.capacity.0 / u64::from(page_size)) as usize;
        (capacity > 0).then(|| Self {
            latency: config.latency.0,
            capacity,
            watermarks: Watermarks::new(config, capacity),
            least_recent_first: config.eviction == Eviction::Lru,
            whole_page: all_sectors(page_size),
            dirty: LinkedHashMap::default(),
            leaving: LinkedHashMap::default(),
            waiting: VecDeque::new(),
            places: Places::new(capacity),
            unwritten: Roll::default(),
            flushes: Flushes::default(),
            written: 0,
        })
    }

    /// Takes the data of a page. Returns whether they were placed at once; if not, the command is
    /// named by [`make_room`](Self::make_room) later.
    pub fn write(
        &mut self,
        command: CommandId,
        (lpn, hint): (Lpn, Option<Hint>),
        sectors: Sectors,
        now: Instant,
    ) -> bool {
        let must_wait = !self.waiting.is_empty() || !self.has_room_for(lpn);
        if must_wait {
            if self.waiting.is_empty() {
                self.places.follow_crowd();
            }
            self.waiting.push_back(Waiting { command, lpn, hint, sectors, since: now });
            return false;
        }
        self.place((lpn, hint), sectors, Duration::ZERO);
        true
    }

    fn has_room_for(&self, lpn: Lpn) -> bool {
        self.dirty.contains_key(&lpn) || self.dirty.len() + self.leaving.len() < self.capacity
    }

    fn place(&mut self, (lpn, hint): (Lpn, Option<Hint>), sectors: Sectors, late: Duration) {
        self.written += 1;
        let sequence = self.written;
        // What is on its way to flash is still here and completes the page.
        let known = self.leaving.get(&lpn).filter(|leaving| !leaving.trimmed);
        let known = known.map_or(0, |leaving| leaving.entry.sectors);
        match self.dirty.get_mut(&lpn) {
            Some(entry) => {
                // Its sequence number stays: a flush that came after the first of its writes waits for the page.
                entry.sectors |= sectors;
                entry.hint = hint;
                self.touch(lpn);
            }
            None => {
                let entry = Entry { sectors: sectors | known, hint, sequence, late };
                self.unwritten.join(sequence, ());
                self.dirty.insert(lpn, entry);
            }
        }
    }

    fn touch(&mut self, lpn: Lpn) {
        if self.least_recent_first {
            self.dirty.to_back(&lpn);
        }
    }

    /// Whether the buffer holds these sectors of a page.
    pub fn read(&mut self, lpn: Lpn, sectors: Sectors) -> bool {
        let Some(dirty) = self.dirty.get(&lpn) else {
            return self.leaving.get(&lpn).is_some_and(|leaving| leaving.holds(sectors));
        };
        let is_held = dirty.sectors & sectors == sectors;
        if is_held {
            self.touch(lpn);
        }
        is_held
    }

    /// Forgets a page.
    pub fn trim(&mut self, lpn: Lpn) {
        if let Some(entry) = self.dirty.remove(&lpn) {
            self.unwritten.leave(entry.sequence);
        }
        if let Some(leaving) = self.leaving.get_mut(&lpn) {
            leaving.trimmed = true;
        }
    }

    /// Makes everything that has been acknowledged leave. Returns whether nothing has to; if not,
    /// the command is named by [`ended_flushes`](Self::ended_flushes) later.
    pub fn flush(&mut self, command: CommandId) -> bool {
        if self.unwritten.is_empty() {
            return true;
        }
        self.flushes.begin(command, self.written + 1);
        false
    }

    /// Sends pages to flash if the buffer is full enough, a command waits for room, or a flush is
    /// under way. `leaves` is told of each, and of the version that it gets.
    pub fn destage(&mut self, ssd: &mut Ssd, now: Instant, mut leaves: impl FnMut(Lpn, u64)) {
        self.watermarks.look(self.dirty.len());
        while self.wants_to_destage()
            && let Some((lpn, entry)) = self.next_to_leave()
        {
            let number = self.places.join(now);
            if !self.waiting.is_empty() {
                self.places.hold(number, now.before(entry.late), now);
            }
            self.leaving.insert(lpn, Leaving { entry, since: now, number, trimmed: false });
            let Entry { sectors, hint, late, sequence } = entry;
            let whole = sectors == self.whole_page;
            self.flushes.leaves(sequence);
            leaves(lpn, ssd.scheduler().next_sequence());
            ssd.write(PageWrite { owner: Owner::Destage, lpn, hint, whole, late }, now);
        }
        let flush = self.flushes.take_news();
        ssd.buffer_waits(flush, (!self.waiting.is_empty()).then_some(self.leaving.len()));
    }

    fn wants_to_destage(&mut self) -> bool {
        self.watermarks.leaves(self.dirty.len()) || self.is_waited_for()
    }

    /// Whether commands wait for it: writes for room, or flushes.
    #[inline]
    pub fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty() || !self.flushes.is_empty()
    }

    /// The next page that leaves. One that is being written already stays until that has ended.
    fn next_to_leave(&mut self) -> Option<(Lpn, Entry)> {
        let lpn = *self.dirty.keys().find(|lpn| !self.leaving.contains_key(*lpn))?;
        self.dirty.remove_entry(&lpn)
    }

    /// Whether pages are being written to flash, besides the `held` ones, which wait for others that would fill up a page of it.
    pub fn is_destaging(&self, held: usize) -> bool {
        self.leaving.len() > held
    }

    /// A page has been written to flash.
    pub fn written_to_flash(&mut self, page: &Finished, ssd: &mut Ssd, now: Instant) {
        let lpn = page.lpn;
        if let Some(Leaving { entry, since, number, trimmed }) = self.leaving.remove(&lpn) {
            let late = page.parts.late();
            self.places.leave_crowd(number, now - since, late);
            self.flushes.has_left(entry.sequence, now.before(entry.late + late));
            self.unwritten.leave(entry.sequence);
            if trimmed {
                ssd.trim(lpn, now);
            }
        }
    }

    /// Whether the newest data of a page are here only.
    pub fn holds(&self, lpn: Lpn) -> bool {
        self.dirty.contains_key(&lpn) || self.leaving.contains_key(&lpn)
    }

    /// Whether the newest data of a page are here only, and not on their way to flash.
    pub fn is_dirty(&self, lpn: Lpn) -> bool {
        self.dirty.contains_key(&lpn)
    }

    /// The pages whose newest data are here only.
    pub fn pages(&self) -> impl Iterator<Item = Lpn> {
        let leaving = self.leaving.iter().filter(|(_, leaving)| !leaving.trimmed);
        let leaving = leaving.map(|(lpn, _)| lpn).filter(|lpn| !self.dirty.contains_key(*lpn));
        self.dirty.keys().chain(leaving).copied()
    }

    /// The power has failed, and capacitors save what is here. What was on its way to flash leaves again, and
    /// first; commands that wait will be handed in anew.
    pub fn save(&mut self) {
        self.waiting.clear();
        self.places.clear();
        self.flushes.take_all().for_each(drop);
        self.watermarks.stop();
        for (lpn, leaving) in std::mem::take(&mut self.leaving).into_iter().rev() {
            self.take_back(lpn, leaving);
        }
    }

    /// A page has not been written to flash, as the drive takes no writes any more.
    pub fn stays(&mut self, lpn: Lpn) {
        if let Some(leaving) = self.leaving.remove(&lpn) {
            self.places.drop_out(leaving.number);
            self.take_back(lpn, leaving);
        }
    }

    /// A page that was on its way to flash is here only, unless it is out of date; the next to leave.
    fn take_back(&mut self, lpn: Lpn, Leaving { entry, trimmed, .. }: Leaving) {
        if trimmed || self.dirty.contains_key(&lpn) {
            self.unwritten.leave(entry.sequence);
        } else {
            self.dirty.insert(lpn, entry);
            self.dirty.to_front(&lpn);
        }
    }

    /// Whether everything has been written to flash.
    pub fn is_clean(&self) -> bool {
        self.unwritten.is_empty()
    }

    /// Takes the commands of the pages that wait for room, and the flushes under way.
    pub fn take_waiting(&mut self) -> (Vec<CommandId>, Vec<CommandId>) {
        self.places.forget();
        let writes = self.waiting.drain(..).map(|waiting| waiting.command).collect();
        (writes, self.flushes.take_all().collect())
    }

    /// Places the next waiting write, if there is room now.
    pub fn make_room(&mut self, now: Instant) -> Option<Placed> {
        let Waiting { command, lpn, hint, sectors, since } = *self.waiting.front()?;
        if !self.has_room_for(lpn) {
            return None;
        }
        self.waiting.pop_front();
        let late = match self.dirty.contains_key(&lpn) {
            true => self.places.late(since, now),
            false => self.places.take_first(since, now),
        };
        self.place((lpn, hint), sectors, late);
        if self.waiting.is_empty() {
            self.places.forget();
        }
        Some(Placed { command, lpn, late })
    }

    /// The next flush that has ended: its command, its place among the writes, and how much of its wait was due to
    /// collections.
    pub fn ended_flush(&mut self, now: Instant) -> Option<(CommandId, u64, Duration)> {
        let oldest = self.unwritten.first().map(|(sequence, ())| sequence);
        self.flushes.take_ended(oldest, now)
    }
}

/// The bits of every 512-byte sector of a page.
pub fn all_sectors(page_size: u32) -> Sectors {
    match page_size / 512 {
        64.. => Sectors::MAX,
        sectors => (1 << sectors) - 1,
    }
}
