//! Streams: the open block of its plane that a page goes to, as the placement says.

use crate::checkpoint::Checkpointed;
use crate::config::{self, Resolved};
use crate::ids::{BlockId, Lpn, Ppn};
use crate::nand::Geometry;
use crate::placement::supply::BlockState;
use crate::placement::{
    AnyPlacement, ByOrigin, Class, Classes, Drive, Event, Future, HostPage, Life, Old, Origin,
    Placement,
};
use crate::rng;
use crate::workload::Hint;

use super::classes::{ClassTally, Takes};
use super::limits::Limits;
use super::space::Stream;

/// The placement, and the clock that it reads.
#[derive(Debug, Checkpointed)]
pub struct Streams {
    pub(super) placement: AnyPlacement,
    /// Classes of the placement.
    pub(super) classes: Classes,
    /// The class of each origin, if the placement looks at nothing else: then nobody asks it page by page.
    by_origin: Option<ByOrigin>,
    /// Whether the placement learns from where pages lay that are written again.
    pub(super) tells_rewrites: bool,
    /// Pages that the host has written.
    pub(super) clock: u64,
    /// When the host last wrote, if the placement measures in time: in what, whoever tells it knows.
    time: Option<u64>,
    /// Counts of the blocks of each class. Of no class where logical blocks have blocks of their own.
    pub(super) tally: ClassTally,
    /// Blocks that each class holds, open ones included.
    pub(super) held: Vec<u64>,
    /// Bytes of a page.
    pub(super) page_bytes: u64,
    /// Blocks of a plane, where the placement is told of lines.
    lines: Option<usize>,
}

impl Streams {
    /// Creates the streams of an erased device of a checked configuration. `name` is its place in the names of
    /// random streams.
    pub fn new(config: &Resolved, name: &str) -> Self {
        let geometry = Geometry::new(config);
        let lines = config.ssd.gc.has_lines().then_some(geometry.blocks_per_plane as usize);
        let drive = Drive {
            pages: Limits::mapped_pages(config),
            pages_per_block: config.drive.unit.pages as u32,
            planes: if lines.is_some() { 1 } else { geometry.planes() },
            blocks: lines.unwrap_or_else(|| geometry.blocks()),
        };
        let random = rng::stream(config.seed, &format!("{name}/placement"));
        let placement = AnyPlacement::new(config, drive, random);
        let (classes, by_origin) = (placement.classes(), placement.by_origin());
        let counted = if config.ssd.ftl.mapping.is_page_mapping() { classes.count() } else { 0 };
        let (tally, held) = (ClassTally::new(counted), vec![0; counted]);
        let tells_rewrites = placement.needs().rewrites;
        let page_bytes = config.drive.pages.size.0;
        let time = match config.ssd.ftl.placement.clock() {
            config::Clock::Writes => None,
            config::Clock::Time => Some(0),
        };
        Self {
            placement,
            classes,
            by_origin,
            tells_rewrites,
            clock: 0,
            time,
            tally,
            held,
            page_bytes,
            lines,
        }
    }

    /// Counts of the blocks of each class.
    pub const fn tally(&self) -> &ClassTally {
        &self.tally
    }

    /// Pages that the host has written since that is counted.
    pub fn tallied_host_pages(&self) -> u64 {
        self.tally.host_pages(self.clock)
    }

    /// Blocks that each class holds, open ones included.
    pub fn held(&self) -> &[u64] {
        &self.held
    }

    /// Origins of the pages that each class takes.
    pub fn takes(&self) -> Vec<Takes> {
        let classes = (0..self.classes.count()).map(Class::new);
        classes.map(|class| Takes::of(&self.classes, class)).collect()
    }

    /// RAM in which the placement keeps what it knows of pages, in bytes.
    pub fn placement_bytes(&self) -> usize {
        self.placement.bytes()
    }

    /// Whether the placement may look at the placement handles that the host names.
    pub const fn looks_at_handles(&self) -> bool {
        self.placement.looks_at_handles()
    }

    /// Bytes of a page.
    pub const fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Time that the placement is given.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.time.unwrap_or(self.clock)
    }

    /// Whether the placement measures in time, and not in pages.
    pub const fn has_time(&self) -> bool {
        self.time.is_some()
    }

    /// The host writes at `time`, counted in whatever the placement measures in if not in pages.
    pub fn host_writes_at(&mut self, time: u64) {
        self.time = self.time.map(|_| time);
    }

    /// Rate at which a valid page of `block` is written, in writes for each page that the host writes to the
    /// drive, if the placement knows.
    pub fn hotness(&self, block: BlockId) -> Option<f64> {
        let hotness = self.placement.hotness(block, self.now())?;
        // Where it is in writes for each unit of time, the mean time that a page takes is the factor.
        let factor = |time: u64| time.max(1) as f64 / self.clock.max(1) as f64;
        Some(self.time.map_or(hotness, |time| hotness * factor(time)))
    }

    /// The open block that a write of a page of the host goes to.
    #[inline(always)]
    pub fn of_host(&self, HostPage { lpn, hint }: HostPage) -> Stream {
        self.of(lpn, Origin::Host { hint })
    }

    /// The open block that `lpn` goes to, which comes from `origin`.
    #[inline(always)]
    pub fn of(&self, lpn: Lpn, origin: Origin) -> Stream {
        Stream::Class(match &self.by_origin {
            Some(classes) => classes.class_of(origin),
            None => self.placement.class_of(lpn, origin, self.now()),
        })
    }

    /// Whether the blocks of a stream take pages of the host.
    #[inline(always)]
    pub fn takes_host(&self, stream: Stream) -> bool {
        matches!(stream, Stream::Class(class) if self.classes.takes_host(class))
    }

    /// The streams of classes that take pages of the host.
    pub fn all_of_host(&self) -> impl Iterator<Item = Stream> + use<> {
        self.classes.of_host().map(Stream::Class)
    }

    /// The streams of all classes.
    pub fn all(&self) -> impl Iterator<Item = Stream> + use<> {
        (0..self.classes.count()).map(|class| Stream::Class(Class::new(class)))
    }

    /// The streams of classes that take pages which are moved.
    pub fn of_moves(&self) -> impl Iterator<Item = Stream> + use<> {
        self.classes.of_moves().map(Stream::Class)
    }

    /// Brings what the placement knows of `lpn` into the cache, without waiting for it.
    #[inline(always)]
    pub fn fetch(&self, lpn: Lpn) {
        if self.by_origin.is_none() {
            self.placement.fetch(lpn);
        }
    }

    /// `lpn`, which came from `origin`, has been moved to `page`.
    #[inline(always)]
    pub fn wrote_moved(&mut self, lpn: Lpn, origin: Origin, page: Ppn, geometry: &Geometry) {
        if self.by_origin.is_none() {
            self.learn(Event::Wrote { lpn, origin });
            self.learn_place(lpn, geometry.block_of(page));
        }
    }

    /// `lpn` lies in `block`, of which the placement was not asked.
    pub fn lies_in(&mut self, lpn: Lpn, block: BlockId) {
        if self.by_origin.is_none() {
            self.learn_place(lpn, block);
        }
    }

    /// The host has written a page, to `to`, which lay in an `old` place, if the placement learns from that.
    #[inline(always)]
    pub fn host_wrote(
        &mut self,
        HostPage { lpn, hint }: HostPage,
        to: Ppn,
        old: Option<Old>,
        geometry: &Geometry,
    ) {
        if self.by_origin.is_none() {
            self.learn(Event::Wrote { lpn, origin: Origin::Host { hint } });
            self.learn_place(lpn, geometry.block_of(to));
            if let Some(old) = old {
                self.learn(Event::Rewrote { lpn, old });
            }
        }
        self.clock += 1;
    }

    /// The placement learns from an event.
    #[inline(always)]
    fn learn(&mut self, event: Event) {
        self.placement.learn(event, self.now());
    }

    /// The placement learns that `lpn` lies in `block` now.
    #[inline(always)]
    fn learn_place(&mut self, lpn: Lpn, block: BlockId) {
        self.learn(Event::LiesIn { lpn, block: self.known_block(block) });
    }

    /// The drive has been prepared, and the run begins. Returns whether the placement is to be told where all pages lie.
    pub fn run_begins(&mut self) -> bool {
        self.tally.reset(self.clock);
        self.learn(Event::RunBegins);
        self.placement.needs().places
    }

    /// The block that the placement knows `block` by: the number of its line, if there are lines.
    fn known_block(&self, block: BlockId) -> BlockId {
        self.lines.map_or(block, |blocks| BlockId::from_index(block.index() % blocks))
    }

    /// The host has trimmed a page.
    pub fn trimmed(&mut self, lpn: Lpn) {
        self.learn(Event::Trimmed(lpn));
    }

    /// The placement is told what the run will do, once it begins.
    pub fn foresee(&mut self, future: Future) {
        self.placement.foresee(future);
    }

    /// The host is about to write these pages, in this order. It only saves time.
    #[inline(always)]
    pub fn expect_writes(&mut self, hint: Option<Hint>, pages: impl Iterator<Item = Lpn>) {
        if let Some(external) = self.placement.external() {
            external.expect_writes(Origin::Host { hint }, pages);
        }
    }

    /// A block of this class has been chosen to be collected, and these pages are valid in it.
    pub fn expect_moves(&mut self, class: Option<Class>, pages: impl Iterator<Item = Lpn>) {
        if let Some(external) = self.placement.external() {
            external.expect_moves(Origin::Moved { class }, pages);
        }
    }

    /// A block has been opened, filled or erased.
    pub fn block_changed(&mut self, state: BlockState) {
        if let Some(external) = self.placement.external() {
            external.block_changed(state);
        }
    }

    /// Whether the placement looks at pages, and not at who writes them alone.
    #[inline(always)]
    pub const fn looks_at_pages(&self) -> bool {
        self.by_origin.is_none()
    }

    /// A block has been opened, of a class if the placement had a say in it.
    pub fn opened(&mut self, class: Option<Class>) {
        if let Some(class) = class {
            self.held[class.index()] += 1;
        }
    }

    /// A block has been erased that was of this class.
    pub fn erased(&mut self, class: Option<Class>) {
        if let Some(class) = class {
            self.held[class.index()] -= 1;
        }
    }

    /// A block has been filled, of a class unless it has no life.
    pub fn sealed(&mut self, block: Option<Life>) {
        if let Some(block) = block {
            self.tally.sealed(block);
            self.learn(Event::Sealed(block));
        }
    }

    /// A block has been chosen to be collected, in which so many `pages` could hold data.
    pub fn chosen(&mut self, block: Option<Life>, pages: u32) {
        if let Some(block) = block {
            self.tally.chosen(block, pages, self.clock);
            self.learn(Event::Chosen(block));
        }
    }

    /// A block has been collected.
    pub fn collected(&mut self, block: Option<Life>) {
        if let Some(block) = block {
            self.learn(Event::Collected(block));
        }
    }
}
