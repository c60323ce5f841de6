//! A placement from outside of this crate. What happens is noted here, and told when it is asked next, so that one that is
//! slow to be called is called once a command or a victim, not once a page. Its answers are kept as long as they hold:
//! a page goes where it would go if the placement were asked at that moment.

mod answers;
mod awaited;
mod pages;

use std::cell::{RefCell, RefMut};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};
use crate::ids::Lpn;
use crate::outside::{Failed, Kind, Slot, Supply};
use crate::rng::Stream;

use super::supply::{BlockState, ExternalPlacement, Hooks, News, Question, Updates};
use super::write_times::WriteTimes;
use super::{Class, Classes, Drive, Event, Origin, Placement};

use answers::Answers;
use awaited::{Awaited, What};
use pages::{Page, Pages};

/// A placement from outside.
pub struct External {
    classes: Classes,
    random: Stream,
    /// Asking changes what is known of answers, and nothing else.
    asked: RefCell<Asked>,
}

/// The placement, and what it is to be told.
#[derive(Debug, Checkpointed)]
struct Asked {
    slot: Slot<dyn ExternalPlacement>,
    hooks: Hooks,
    pages: Pages,
    answers: Answers,
    /// Pages that the host is about to write.
    writes: Awaited,
    /// Pages of victims.
    moves: Awaited,
    #[checkpoint(skip)]
    news: Vec<News>,
    /// Whether some of the news may be why answers do not hold any more.
    #[checkpoint(skip)]
    are_grave: bool,
    #[checkpoint(skip)]
    blocks: Vec<BlockState>,
    #[checkpoint(skip)]
    scratch: Scratch,
}

/// Kept to reuse their memory.
#[derive(Debug, Default)]
struct Scratch {
    pages: Vec<Lpn>,
    ages: Vec<Option<u64>>,
    answers: Vec<super::supply::Answer>,
}

/// Content of a file about the placement.
#[derive(Serialize, Deserialize)]
struct Remembered {
    times: WriteTimes,
    #[serde(with = "serde_bytes")]
    placement: Vec<u8>,
}

impl External {
    pub(super) fn new(classes: Classes, drive: Drive, random: Stream) -> Self {
        Self { classes, random, asked: RefCell::new(Asked::new(drive.pages)) }
    }

    /// Takes the placement that `supplier` makes.
    pub(super) fn supply(
        &mut self,
        facts: <dyn ExternalPlacement as Kind>::Facts<'_>,
        supplier: &dyn Supply<dyn ExternalPlacement>,
    ) -> Result<(), Failed> {
        let placement = supplier.supply(facts, self.random.clone())?;
        self.asked().install(placement)
    }

    /// Takes a new placement like that of `before`, which was in use until the power failed, for blocks in these
    /// states.
    pub(super) fn begin_anew(&mut self, before: &Self, blocks: &[BlockState]) {
        self.random.clone_from(&before.random);
        let before = before.borrow();
        let Some(placement) = before.slot.policy() else { return };
        let asked = self.asked();
        if let Some(placement) = asked.slot.noted(placement.anew(blocks)) {
            // What fails is recorded.
            let _ = asked.install(placement);
        }
    }

    pub(super) fn failed(&self) -> Option<Failed> {
        self.borrow().slot.failed()
    }

    /// The host is about to write these pages, in this order.
    pub fn expect_writes(&mut self, origin: Origin, pages: impl Iterator<Item = Lpn>) {
        let Asked { writes, pages: kept, .. } = self.asked();
        writes.add(origin, pages, kept);
    }

    /// A collection is about to move these pages, in this order.
    pub fn expect_moves(&mut self, origin: Origin, pages: impl Iterator<Item = Lpn>) {
        let Asked { moves, pages: kept, .. } = self.asked();
        moves.add(origin, pages, kept);
    }

    /// A block is not what it was.
    pub fn block_changed(&mut self, state: BlockState) {
        self.asked().blocks.push(state);
    }

    fn asked(&mut self) -> &mut Asked {
        self.asked.get_mut()
    }

    fn borrow(&self) -> RefMut<'_, Asked> {
        self.asked.borrow_mut()
    }

    /// The numbers of the classes that take pages from there, from the first to behind the last.
    fn allowed(&self, origin: Origin) -> (usize, usize) {
        match origin {
            Origin::Host { .. } => ends(self.classes.of_host()),
            Origin::Moved { .. } => ends(self.classes.of_moves()),
        }
    }

    #[cold]
    fn ask(&self, asked: &mut Asked, lpn: Lpn, origin: Origin, now: u64) -> Class {
        let allowed = self.allowed(origin);
        let class = asked.class_when_notified(lpn, origin, now);
        let class = class.or_else(|| asked.ask(lpn, origin, now, allowed));
        // What decides for a placement that has failed.
        class.unwrap_or(Class::new(allowed.0))
    }

    fn wrote(&mut self, lpn: Lpn, origin: Origin, now: u64) {
        let asked = self.asked();
        let page = asked.pages.of_mut(lpn);
        page.known.forget();
        match origin {
            Origin::Host { .. } => {
                let age = page.age(now);
                page.wrote(now);
                page.to_move.end();
                asked.writes.remove(page);
                asked.note(News::Wrote { lpn, age, now });
            }
            Origin::Moved { class: left } => {
                asked.moves.remove(page);
                asked.note(News::Moved { lpn, left });
            }
        }
    }

    fn trimmed(&mut self, lpn: Lpn, now: u64) {
        let asked = self.asked();
        let page = asked.pages.of_mut(lpn);
        let age = page.age(now);
        page.trimmed();
        page.known.forget();
        page.to_move.end();
        asked.note(News::Trimmed { lpn, age, now });
    }
}

fn ends(classes: impl Iterator<Item = Class>) -> (usize, usize) {
    let mut numbers = classes.map(Class::index);
    let first = numbers.next().unwrap_or(0);
    (first, numbers.last().unwrap_or(first) + 1)
}

impl Asked {
    fn new(pages: usize) -> Self {
        Self {
            slot: Slot::default(),
            hooks: Hooks::ALL,
            pages: Pages::new(pages),
            answers: Answers::new(),
            writes: Awaited::new(What::Write),
            moves: Awaited::new(What::Move),
            news: Vec::new(),
            are_grave: false,
            blocks: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    fn install(&mut self, placement: Box<dyn ExternalPlacement>) -> Result<(), Failed> {
        self.hooks = placement.hooks();
        let hooks = self.hooks;
        self.news.retain(|news| hooks.want(news));
        self.blocks.clear();
        self.slot.install(placement)
    }

    #[inline(always)]
    fn note(&mut self, news: News) {
        if !self.hooks.want(&news) {
            return;
        }
        self.are_grave |= !news.is_of_page();
        self.news.push(news);
        self.answers.something_happened(&mut self.pages);
    }

    #[inline(always)]
    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Option<Class> {
        if self.are_grave { None } else { self.known_class_of(lpn, origin, now) }
    }

    #[inline(always)]
    fn known_class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Option<Class> {
        self.answers.class(&self.pages.of(lpn).known, origin, now)
    }

    /// The class of a page, if that is known once the placement is told of what may change it.
    fn class_when_notified(&mut self, lpn: Lpn, origin: Origin, now: u64) -> Option<Class> {
        if self.are_grave && self.known_class_of(lpn, origin, now).is_some() {
            self.notify();
        }
        self.class_of(lpn, origin, now)
    }

    fn ask(
        &mut self,
        lpn: Lpn,
        origin: Origin,
        now: u64,
        allowed: (usize, usize),
    ) -> Option<Class> {
        let waits = self.may_wait(origin);
        let Self { slot, answers, scratch, news, blocks, pages: kept, writes, moves, .. } = self;
        let Scratch { pages, ages, answers: given } = scratch;
        pages.clear();
        ages.clear();
        given.clear();
        let awaited = match origin {
            Origin::Host { .. } => writes,
            Origin::Moved { .. } => moves,
        };
        let known_until = |page: &Page| answers.until(&page.known, origin, now);
        awaited.take_batch(lpn, origin, now, kept, known_until, pages);
        ages.extend(pages.iter().map(|page| kept.of(*page).age(now)));
        let question = Question { pages, ages, origin, now, allowed };
        let news: &[News] = if waits { &[] } else { news };
        let updates = Updates { news, blocks };
        let have_changed = slot.ask(|placement| placement.ask(updates, &question, given))?;
        if waits {
            self.blocks.clear();
        } else {
            self.was_notified(have_changed);
        }
        let place = self.answers.place_of(origin, &mut self.pages);
        let Scratch { pages, answers: given, .. } = &self.scratch;
        for (page, answer) in pages.iter().zip(given) {
            self.pages.of_mut(*page).known = self.answers.given(place, now, *answer);
        }
        let no_answer = || Failed("ssd.ftl.placement: found no answer".to_owned());
        let first = self.slot.noted(given.first().ok_or_else(no_answer))?;
        Some(Class::new(first.class))
    }

    /// Whether the news may be told later than a question about pages that come from `origin`.
    const fn may_wait(&self, origin: Origin) -> bool {
        matches!(origin, Origin::Moved { .. })
            && !self.hooks.moves_depend_on_pages
            && !self.are_grave
    }

    /// Tells what has happened, before the placement is looked at.
    fn notify(&mut self) {
        let Self { slot, news, blocks, .. } = self;
        if slot.policy().is_some()
            && let Some(have_changed) = slot.ask(|it| it.notify(Updates { news, blocks }))
        {
            self.was_notified(have_changed);
        }
    }

    fn was_notified(&mut self, have_changed: bool) {
        self.news.clear();
        self.blocks.clear();
        self.are_grave = false;
        if have_changed {
            self.answers.forget_all(&mut self.pages);
            self.writes.forget_known();
            self.moves.forget_known();
        }
    }
}

impl Placement for External {
    fn classes(&self) -> Classes {
        self.classes.clone()
    }

    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class {
        let mut asked = self.borrow();
        match asked.class_of(lpn, origin, now) {
            Some(class) => class,
            None => self.ask(&mut asked, lpn, origin, now),
        }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, now: u64) {
        match event {
            Event::Wrote { lpn, origin } => self.wrote(lpn, origin, now),
            Event::Trimmed(lpn) => self.trimmed(lpn, now),
            Event::Sealed(block) => self.asked().note(News::Sealed(block)),
            Event::Chosen(block) => self.asked().note(News::Chosen { block, now }),
            Event::Collected(block) => self.asked().note(News::Collected { block, now }),
            _ => {}
        }
    }

    #[inline(always)]
    fn fetch(&self, lpn: Lpn) {
        if let Ok(asked) = self.asked.try_borrow() {
            asked.pages.fetch(lpn);
        }
    }

    /// Bytes of the times that it is told; the memory of the placement itself is unknown.
    fn bytes(&self) -> usize {
        self.borrow().pages.bytes_of_times()
    }

    fn memory(&self) -> Vec<u8> {
        let mut asked = self.borrow();
        asked.notify();
        let placement = asked.slot.memory();
        super::to_bytes(&Remembered { times: asked.pages.times(), placement })
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        let Ok(Remembered { times, placement }) = postcard::from_bytes(memory) else {
            return false;
        };
        let asked = self.asked();
        let is_sound = times.is_sound(asked.pages.count(), now);
        asked.pages.set_times(&times);
        asked.slot.remember(placement);
        is_sound
    }
}

impl fmt::Debug for External {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("External").field("classes", &self.classes).finish_non_exhaustive()
    }
}

impl Checkpointed for External {
    fn keep(&self, out: &mut Writer<'_>) {
        let mut asked = self.borrow();
        asked.notify();
        self.classes.keep(out);
        self.random.keep(out);
        asked.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let (classes, random) = (Classes::load(from)?, Stream::load(from)?);
        Ok(Self { classes, random, asked: RefCell::new(Asked::load(from)?) })
    }
}
