//! A placement from outside of this crate. What happens is noted here, and told when it is asked next, so that one that is
//! slow to be called is called once a command or a victim, not once a page. Its answers are kept as long as they hold:
//! a page goes where it would go if the placement were asked at that moment.

mod answers;
mod awaited;
mod pages;

use std::cell::{RefCell, RefMut};
use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};
use crate::ids::Lpn;
use crate::rng::Stream;

use super::supply::{
    BlockState, Device, ExternalPlacement, Failed, Hooks, News, PlacementSupplier, Question,
    Updates,
};
use super::write_times::WriteTimes;
use super::{Class, Classes, Drive, Life, Origin, Placement};

use answers::Answers;
use awaited::{Awaited, What};
use pages::{Page, Pages};

const KEY: &str = "ssd.ftl.placement";

/// A placement from outside.
pub struct External {
    classes: Classes,
    /// Reason why the placement is not called any more, if it has failed.
    failed: OnceLock<Failed>,
    /// Asking changes what is known of answers, and nothing else.
    asked: RefCell<Asked>,
}

/// The placement, and what it is to be told.
#[derive(Debug)]
struct Asked {
    placement: Option<Box<dyn ExternalPlacement>>,
    hooks: Hooks,
    pages: Pages,
    answers: Answers,
    /// Pages that the host is about to write.
    writes: Awaited,
    /// Pages of victims.
    moves: Awaited,
    news: Vec<News>,
    /// Whether some of the news may be why answers do not hold any more.
    are_grave: bool,
    blocks: Vec<BlockState>,
    /// Memory to be restored once the policy is there.
    memory: Option<Vec<u8>>,
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
    pub(super) fn new(classes: Classes, drive: Drive) -> Self {
        Self::of(classes, Asked::new(drive.pages))
    }

    const fn of(classes: Classes, asked: Asked) -> Self {
        Self { classes, failed: OnceLock::new(), asked: RefCell::new(asked) }
    }

    /// Takes the placement that `supplier` makes for `device`, whose blocks are in these states.
    pub(super) fn supply(
        &mut self,
        device: Device,
        blocks: &[BlockState],
        random: Stream,
        supplier: &dyn PlacementSupplier,
    ) -> Result<(), Failed> {
        let placement = supplier.placement(device, blocks, random)?;
        self.asked().install(placement)
    }

    /// Takes a new placement like that of `before`, which was in use until the power failed, for blocks in these
    /// states.
    pub(super) fn begin_anew(&mut self, before: &Self, blocks: &[BlockState]) {
        let before = before.borrow();
        let Some(placement) = &before.placement else { return };
        let begun = placement.anew(blocks).and_then(|placement| self.asked().install(placement));
        if let Err(failed) = begun {
            self.fail(failed);
        }
    }

    pub(super) fn failed(&self) -> Option<&Failed> {
        self.failed.get()
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

    /// Only the first failure counts.
    fn fail(&self, failed: Failed) {
        let _ = self.failed.set(failed);
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
        if self.failed.get().is_none() {
            let updates = asked.class_when_notified(lpn, origin, now);
            let answered = updates.and_then(|known| match known {
                Some(class) => Ok(class),
                None => asked.ask(lpn, origin, now, allowed),
            });
            match answered {
                Ok(class) => return class,
                Err(failed) => self.fail(failed),
            }
        }
        // What stands in for a placement that has failed.
        Class::new(allowed.0)
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
            placement: None,
            hooks: Hooks::ALL,
            pages: Pages::new(pages),
            answers: Answers::new(),
            writes: Awaited::new(What::Write),
            moves: Awaited::new(What::Move),
            news: Vec::new(),
            are_grave: false,
            blocks: Vec::new(),
            memory: None,
            scratch: Scratch::default(),
        }
    }

    fn install(&mut self, mut placement: Box<dyn ExternalPlacement>) -> Result<(), Failed> {
        self.hooks = placement.hooks();
        let hooks = self.hooks;
        self.news.retain(|news| hooks.want(news));
        self.blocks.clear();
        if let Some(memory) = self.memory.take() {
            placement.remember(&memory)?;
        }
        self.placement = Some(placement);
        Ok(())
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
    fn class_when_notified(
        &mut self,
        lpn: Lpn,
        origin: Origin,
        now: u64,
    ) -> Result<Option<Class>, Failed> {
        if self.are_grave && self.known_class_of(lpn, origin, now).is_some() {
            self.notify()?;
        }
        Ok(self.class_of(lpn, origin, now))
    }

    fn ask(
        &mut self,
        lpn: Lpn,
        origin: Origin,
        now: u64,
        allowed: (usize, usize),
    ) -> Result<Class, Failed> {
        let waits = self.may_wait(origin);
        let Self { placement, answers, scratch, news, blocks, pages: kept, writes, moves, .. } =
            self;
        let placement = placement.as_mut().ok_or_else(|| Failed::not_supplied(KEY))?;
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
        let have_changed = placement.ask(Updates { news, blocks }, &question, given)?;
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
        let first = given.first().ok_or_else(|| Failed(format!("{KEY}: found no answer")))?;
        Ok(Class::new(first.class))
    }

    /// Whether the news may be told later than a question about pages that come from `origin`.
    const fn may_wait(&self, origin: Origin) -> bool {
        matches!(origin, Origin::Moved { .. })
            && !self.hooks.moves_depend_on_pages
            && !self.are_grave
    }

    /// Tells what has happened, before the placement is looked at.
    fn notify(&mut self) -> Result<(), Failed> {
        let Self { placement: Some(placement), news, blocks, .. } = self else { return Ok(()) };
        let have_changed = placement.notify(Updates { news, blocks })?;
        self.was_notified(have_changed);
        Ok(())
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

    fn memory(&mut self) -> Result<Vec<u8>, Failed> {
        self.notify()?;
        match (&mut self.placement, &self.memory) {
            (Some(placement), _) => placement.memory(),
            (None, memory) => Ok(memory.clone().unwrap_or_default()),
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

    fn sealed(&mut self, block: Life) {
        self.asked().note(News::Sealed(block));
    }

    fn chosen(&mut self, block: Life, now: u64) {
        self.asked().note(News::Chosen { block, now });
    }

    fn collected(&mut self, block: Life, now: u64) {
        self.asked().note(News::Collected { block, now });
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
        let placement = asked.memory().unwrap_or_else(|failed| {
            self.fail(failed);
            Vec::new()
        });
        super::to_bytes(&Remembered { times: asked.pages.times(), placement })
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        let Ok(Remembered { times, placement }) = postcard::from_bytes(memory) else {
            return false;
        };
        let asked = self.asked();
        let is_sound = times.is_sound(asked.pages.count(), now);
        asked.pages.set_times(&times);
        asked.memory = Some(placement);
        is_sound
    }
}

impl fmt::Debug for External {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("External").field("classes", &self.classes).finish_non_exhaustive()
    }
}

/// Saves the memory alone: the caller that resumes a run supplies the placement again.
impl Checkpointed for External {
    fn keep(&self, out: &mut Writer<'_>) {
        let mut asked = self.borrow();
        let memory = asked.memory().unwrap_or_else(|failed| {
            out.fail(&failed);
            Vec::new()
        });
        self.classes.keep(out);
        memory.keep(out);
        asked.pages.keep(out);
        asked.answers.keep(out);
        asked.writes.keep(out);
        asked.moves.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let classes = Classes::load(from)?;
        let memory = Some(Vec::load(from)?);
        let (pages, answers) = (Pages::load(from)?, Answers::load(from)?);
        let (writes, moves) = (Awaited::load(from)?, Awaited::load(from)?);
        let asked = Asked { pages, answers, writes, moves, memory, ..Asked::new(0) };
        Ok(Self::of(classes, asked))
    }
}
