//! The simulated drive on the clock: what is asked enters it, and what it has done comes out when the clock says so.

use std::io;
use std::time::{Duration, Instant};

use copyback::Error;
use copyback::embedded::{Ask, Completion, Embedded};
use copyback::units;
use copyback::workload::Operation;

use crate::asks::{Asked, Effect};
use crate::client::ClientId;
use crate::clock::Clock;
use crate::data::Data;
use crate::log::{Log, RowId};
use crate::wire::Errno;

/// A drive that is served.
pub struct Live {
    drive: Embedded,
    clock: Clock,
    data: Data,
    page_size: u64,
    /// When the last request arrived, in simulated nanoseconds.
    last_ns: u64,
    /// Requests that the drive works on; free places hold none.
    under_way: Vec<Option<UnderWay>>,
    free: Vec<usize>,
    /// What was asked.
    pub log: Log,
}

/// Whether there is no room for data.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// A request that the drive works on.
#[derive(Debug)]
struct UnderWay {
    client: ClientId,
    cookie: u64,
    effect: Effect,
    /// Parts that the drive has not done yet.
    left: usize,
    then_flush: bool,
    /// Whether the drive has refused a part, being read-only.
    rejected: bool,
    /// The last row of the log that is of it.
    row: RowId,
}

/// A request that the drive has done.
#[derive(Debug)]
pub struct Done {
    /// Who asked.
    pub client: ClientId,
    /// The client's number for it.
    pub cookie: u64,
    /// How it ended.
    pub outcome: Result<(), Errno>,
    /// Where the data of a read lie.
    pub read: Option<(u64, usize)>,
    /// Bytes of data that were held for it.
    pub held: usize,
    /// The row of the log that it ended with.
    pub row: RowId,
    /// When its answer is due.
    pub due: Instant,
    /// How long after its arrival that is, in simulated nanoseconds.
    pub took_ns: u64,
    /// What became of its data, if that went wrong.
    pub trouble: Option<io::Error>,
}

impl Live {
    /// A drive, with what it holds, on a clock that begins with its first request.
    pub fn new(drive: Embedded, clock: Clock, data: Data, keeps_log: bool) -> Self {
        let page_size = drive.page_size();
        Self {
            drive,
            clock,
            data,
            page_size,
            last_ns: 0,
            under_way: Vec::new(),
            free: Vec::new(),
            log: Log::new(keeps_log),
        }
    }

    /// The drive.
    pub const fn drive(&self) -> &Embedded {
        &self.drive
    }

    /// The clock.
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// What the drive holds, for reads that it has done.
    pub const fn data(&self) -> &Data {
        &self.data
    }

    /// A request that was seen at `seen` is asked of the drive. It may have waited `unseen` before.
    ///
    /// # Errors
    /// If the simulator fails.
    pub fn ask(&mut self, asked: Asked, seen: Instant, unseen: Duration) -> Result<(), Error> {
        let at_ns = self.arrival(seen);
        let Asked { client, cookie, effect, asks, then_flush } = asked;
        let place = self.free.pop().unwrap_or_else(|| {
            self.under_way.push(None);
            self.under_way.len() - 1
        });
        let mut row = RowId(0);
        for ask in &asks {
            row = self.hand_in(at_ns, *ask, place, unseen)?;
        }
        let left = asks.len();
        let request = UnderWay { client, cookie, effect, left, then_flush, rejected: false, row };
        self.under_way[place] = Some(request);
        Ok(())
    }

    /// The time of an arrival: after all that has happened, as an instant is over once it was looked at.
    fn arrival(&mut self, seen: Instant) -> u64 {
        let shown = self.clock.begin(seen);
        let first_free = self.drive.now().as_ns() + u64::from(!self.is_at_start());
        self.last_ns = shown.max(self.last_ns).max(first_free);
        self.last_ns
    }

    /// Whether the first instant has not been looked at yet.
    fn is_at_start(&self) -> bool {
        self.drive.now().as_ns() == 0 && self.drive.next_time().is_some_and(|at| at.as_ns() == 0)
    }

    fn hand_in(
        &mut self,
        at_ns: u64,
        ask: Ask,
        place: usize,
        unseen: Duration,
    ) -> Result<RowId, Error> {
        let row = self.log.add(at_ns, ask, place, unseen.as_nanos() as u64);
        self.drive.submit(units::Instant::from_ns(at_ns), row.0, ask)?;
        Ok(row)
    }

    /// When the drive next needs to be looked at; `None` if it waits for requests.
    pub fn next_look(&self) -> Option<Instant> {
        self.clock.when(self.drive.next_time()?.as_ns())
    }

    /// The clock has come to `now`: the drive does what is due, and what it has done is put into `done`.
    ///
    /// # Errors
    /// If the simulator fails.
    pub fn go_on(&mut self, now: Instant, done: &mut Vec<Done>) -> Result<(), Error> {
        let Some(shown) = self.clock.read(now) else { return Ok(()) };
        let until = shown.max(self.last_ns).max(self.drive.now().as_ns());
        self.drive.advance_to(units::Instant::from_ns(until))?;
        self.take_completed(now, done)
    }

    /// Lets the drive do all that it was asked for, without waiting for the clock.
    ///
    /// # Errors
    /// If the simulator fails.
    pub fn finish(&mut self, done: &mut Vec<Done>) -> Result<(), Error> {
        while self.drive.outstanding() > 0 {
            let Some(next) = self.drive.next_time() else { return Ok(()) };
            self.drive.advance_to(next)?;
            self.take_completed(Instant::now(), done)?;
        }
        Ok(())
    }

    fn take_completed(&mut self, now: Instant, done: &mut Vec<Done>) -> Result<(), Error> {
        while let Some(completion) = self.drive.take_completed() {
            if let Some(place) = self.part_done(&completion) {
                self.parts_done(place, &completion, now, done)?;
            }
        }
        Ok(())
    }

    /// Books a part; the place of its request, if that was the last one.
    fn part_done(&mut self, completion: &Completion) -> Option<usize> {
        let took = completion.at - completion.arrival;
        let place = self.log.done(RowId(completion.tag), took.as_ns());
        let request = self.under_way[place].as_mut()?;
        request.left -= 1;
        request.rejected |= completion.rejected;
        (request.left == 0).then_some(place)
    }

    /// All parts of a request have been done: its data are there, and it is answered unless a flush is to follow.
    fn parts_done(
        &mut self,
        place: usize,
        last: &Completion,
        now: Instant,
        done: &mut Vec<Done>,
    ) -> Result<(), Error> {
        let Some(mut request) = self.under_way[place].take() else { return Ok(()) };
        let trouble = if request.rejected { None } else { self.apply(&request.effect).err() };
        if request.then_flush && !request.rejected && trouble.is_none() {
            request.then_flush = false;
            let flush = Ask { operation: Operation::Flush, offset: 0, length: 0, hint: None };
            let at_ns = self.arrival(now);
            request.row = self.hand_in(at_ns, flush, place, Duration::ZERO)?;
            request.left = 1;
            // Its data are where they belong.
            request.effect = Effect::Flush;
            self.under_way[place] = Some(request);
            return Ok(());
        }
        self.free.push(place);
        done.push(self.answer(request, trouble, last, now));
        Ok(())
    }

    fn answer(
        &self,
        request: UnderWay,
        trouble: Option<io::Error>,
        last: &Completion,
        now: Instant,
    ) -> Done {
        let UnderWay { client, cookie, effect, rejected, row, .. } = request;
        let outcome = match &trouble {
            _ if rejected => Err(Errno::Io),
            None => Ok(()),
            Some(error) if is_full(error) => Err(Errno::NoSpace),
            Some(_) => Err(Errno::Io),
        };
        let (read, held) = match effect {
            Effect::Read { offset, length } => (Some((offset, length)), length),
            Effect::Write { data, .. } => (None, data.len()),
            Effect::Zero { .. } | Effect::Trim { .. } | Effect::Flush => (None, 0),
        };
        let due = self.clock.when(last.at.as_ns()).unwrap_or(now);
        let took_ns = (last.at - last.arrival).as_ns();
        Done { client, cookie, outcome, read, held, row, due, took_ns, trouble }
    }

    fn apply(&mut self, effect: &Effect) -> io::Result<()> {
        match effect {
            Effect::Write { offset, data } => self.data.write(*offset, data),
            Effect::Zero { offset, length } => self.data.zero(*offset, *length),
            Effect::Trim { offset, length } => {
                let page = self.page_size;
                let (first, last) =
                    (offset.next_multiple_of(page), (offset + length) / page * page);
                self.data.zero(first, last.saturating_sub(first))
            }
            Effect::Read { .. } | Effect::Flush => Ok(()),
        }
    }
}
