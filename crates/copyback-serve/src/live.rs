//! The simulated drive on the clock: what is asked enters it, and what it has done comes out when the clock says so.

use std::io;
use std::time::{Duration, Instant};

use copyback::Error;
use copyback::config::{Config, Cuts, Protection};
use copyback::embedded::{Ask, Completion, Embedded, PageEvent, PowerCut};
use copyback::outcome::Outcome;
use copyback::units;
use copyback::workload::Operation;

use crate::asks::{Asked, Effect};
use crate::budget::PER_REQUEST;
use crate::client::ClientId;
use crate::clock::Clock;
use crate::data::Data;
use crate::held::Held;
use crate::log::{Log, RowId};
use crate::wire::Errno;

/// A drive that is served.
pub struct Live {
    drive: Embedded,
    clock: Clock,
    held: Held,
    /// When the last request arrived, in simulated nanoseconds.
    last_ns: u64,
    /// Requests that the drive works on; free places hold none.
    under_way: Vec<Option<UnderWay>>,
    free: Vec<usize>,
    /// Bytes of memory that requests under way take.
    taken: usize,
    /// Cuts of power that nobody has taken.
    cuts: Vec<PowerCut>,
    /// Log of requests.
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
    /// Bytes of data that are held for it until it is answered.
    held: usize,
    /// Parts that the drive has not done yet.
    left: usize,
    then_flush: bool,
    /// Worst outcome of the parts that have ended.
    outcome: Outcome,
    /// Whether its client was cut off with the power: nobody waits for an answer, and what it would have changed stays.
    is_orphan: bool,
    /// Error with the data, if there was one.
    trouble: Option<io::Error>,
    /// The last row of the log that is of it.
    row: RowId,
}

/// A request that the drive has done.
#[derive(Debug)]
pub struct Done {
    /// Client that sent the request.
    pub client: ClientId,
    /// The client's number for it.
    pub cookie: u64,
    /// Result for the client.
    pub outcome: Result<(), Errno>,
    /// Range of the data of a read: offset and length, in bytes.
    pub read: Option<(u64, usize)>,
    /// Bytes of data that were held for it.
    pub held: usize,
    /// The row of the log that it ended with.
    pub row: RowId,
    /// When its answer is due.
    pub due: Instant,
    /// Response time, in simulated nanoseconds.
    pub took_ns: u64,
    /// Error with the data, if there was one.
    pub trouble: Option<io::Error>,
}

impl Live {
    /// A drive, with what it holds, on a clock that begins with its first request.
    ///
    /// # Errors
    /// If the drive cannot be followed.
    pub fn new(
        config: &Config,
        mut drive: Embedded,
        clock: Clock,
        data: Data,
        keeps_log: bool,
    ) -> Result<Self, Error> {
        // Of an array it never does.
        let may_fail = config.ssd.power.cuts != Cuts::None;
        if may_fail {
            drive.record_page_events()?;
        }
        let held = match config.ssd.power.protection {
            Protection::None if may_fail => {
                Held::by_version(data, drive.page_size(), drive.last_version())
            }
            Protection::None | Protection::Capacitors => Held::as_answered(data, drive.page_size()),
        };
        Ok(Self {
            drive,
            clock,
            held,
            last_ns: 0,
            under_way: Vec::new(),
            free: Vec::new(),
            taken: 0,
            cuts: Vec::new(),
            log: Log::new(keeps_log),
        })
    }

    /// The drive.
    pub const fn drive(&self) -> &Embedded {
        &self.drive
    }

    /// The clock.
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Bytes of memory that requests under way take, also those whose clients are gone.
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// Present data of the drive, for reads that it has done.
    pub const fn data(&self) -> &Data {
        self.held.data()
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
        let held = effect.held();
        self.taken += PER_REQUEST + held;
        let request = UnderWay {
            client,
            cookie,
            effect,
            held,
            left: asks.len(),
            then_flush,
            outcome: Outcome::Done,
            is_orphan: false,
            trouble: None,
            row,
        };
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

    /// Cuts the power now.
    ///
    /// # Errors
    /// If no request has come yet, as the clock of the drive stands still until then, or the configuration does not let
    /// the power be cut on command.
    pub fn cut_power(&mut self, now: Instant, done: &mut Vec<Done>) -> Result<(), Error> {
        if self.log.count() == 0 {
            return Err(Error::Input(
                "nothing was asked of the drive yet: its clock begins with the first request"
                    .to_owned(),
            ));
        }
        self.go_on(now, done)?;
        let at = self.arrival(now).max(self.drive.now().as_ns() + 1);
        self.last_ns = at;
        self.drive.cut_power(units::Instant::from_ns(at))?;
        self.take_what_happened(now, done)
    }

    /// Takes the cuts of power since the last call.
    pub fn take_cuts(&mut self) -> Vec<PowerCut> {
        std::mem::take(&mut self.cuts)
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
        self.take_what_happened(now, done)
    }

    /// Lets the drive do all that it was asked for, without waiting for the clock.
    ///
    /// # Errors
    /// If the simulator fails.
    pub fn finish(&mut self, done: &mut Vec<Done>) -> Result<(), Error> {
        while self.drive.outstanding() > 0 {
            let Some(next) = self.drive.next_time() else { return Ok(()) };
            self.drive.advance_to(next)?;
            self.take_what_happened(Instant::now(), done)?;
        }
        Ok(())
    }

    /// Takes what has become of pages, and what has been served, in this order, as the data are to be there: but what was
    /// served before a cut of power was served to clients that were still there.
    fn take_what_happened(&mut self, now: Instant, done: &mut Vec<Done>) -> Result<(), Error> {
        while let Some(event) = self.drive.take_page_event() {
            match event {
                PageEvent::PowerFailed(cut) => {
                    while let Some(completion) = self.drive.take_completed_before(cut.at) {
                        self.take_completed(&completion, now, done)?;
                    }
                    self.power_failed(*cut)?;
                }
                event => self.heed(&event),
            }
        }
        while let Some(completion) = self.drive.take_completed() {
            self.take_completed(&completion, now, done)?;
        }
        self.held.sweep(&self.drive);
        Ok(())
    }

    /// Lets the data follow what has become of a page.
    fn heed(&mut self, event: &PageEvent) {
        let by = match event {
            PageEvent::Buffered { by, .. } => Some(*by),
            PageEvent::Written { by, .. } => *by,
            PageEvent::Trimmed { .. } | PageEvent::PowerFailed(_) => None,
        };
        let request = by.and_then(|row| self.under_way[self.log.of(RowId(row))].as_mut());
        let effect = request.as_ref().filter(|request| !request.is_orphan).map(|by| &by.effect);
        if let Err(error) = self.held.follow(event, effect) {
            match request {
                Some(request) => _ = request.trouble.get_or_insert(error),
                None => self.held.note(error),
            }
        }
    }

    /// The power has failed, and with it that of all clients: whoever reads next reads what the drive finds again.
    fn power_failed(&mut self, mut cut: PowerCut) -> Result<(), Error> {
        if let Some(found) = cut.found.take() {
            let recovered = self.held.recover(&found);
            recovered.map_err(|error| Error::Machine(format!("after a cut of power: {error}")))?;
        }
        for request in self.under_way.iter_mut().flatten() {
            request.is_orphan = true;
        }
        self.cuts.push(cut);
        Ok(())
    }

    fn take_completed(
        &mut self,
        completion: &Completion,
        now: Instant,
        done: &mut Vec<Done>,
    ) -> Result<(), Error> {
        match self.part_done(completion) {
            Some(place) => self.parts_done(place, completion, now, done),
            None => Ok(()),
        }
    }

    /// Books a part; the place of its request, if that was the last one.
    fn part_done(&mut self, completion: &Completion) -> Option<usize> {
        let took = completion.at - completion.arrival;
        let place = self.log.done(RowId(completion.tag), took.as_ns());
        let request = self.under_way[place].as_mut()?;
        request.left -= 1;
        request.outcome.worsen(completion.outcome);
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
        let is_rejected = request.outcome == Outcome::Rejected;
        if !is_rejected
            && !request.is_orphan
            && let Err(error) = self.held.answered(&request.effect)
        {
            request.trouble.get_or_insert(error);
        }
        if request.then_flush && !is_rejected && request.trouble.is_none() {
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
        self.taken -= PER_REQUEST + request.held;
        if !request.is_orphan {
            done.push(self.answer(request, last, now));
        }
        Ok(())
    }

    fn answer(&self, request: UnderWay, last: &Completion, now: Instant) -> Done {
        let UnderWay { client, cookie, effect, held, outcome, trouble, row, .. } = request;
        // What was read for a write in vain does not hinder the write.
        let has_failed = match outcome {
            Outcome::Done => false,
            Outcome::Uncorrectable => matches!(effect, Effect::Read { .. }),
            Outcome::Rejected => true,
        };
        let answer = match &trouble {
            _ if has_failed => Err(Errno::Io),
            None => Ok(()),
            Some(error) if is_full(error) => Err(Errno::NoSpace),
            Some(_) => Err(Errno::Io),
        };
        let read = match effect {
            Effect::Read { offset, length } => Some((offset, length)),
            Effect::Write { .. } | Effect::Zero { .. } | Effect::Trim { .. } | Effect::Flush => {
                None
            }
        };
        let due = self.clock.when(last.at.as_ns()).unwrap_or(now);
        let took_ns = (last.at - last.arrival).as_ns();
        Done { client, cookie, outcome: answer, read, held, row, due, took_ns, trouble }
    }
}
