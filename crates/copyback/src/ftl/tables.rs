//! The tables of a translation layer, whatever the mapping: where logical pages lie, which blocks are open,
//! free or closed. A mapping decides where a page goes; the tables put it there.

use crate::checkpoint::Checkpointed;
use crate::config::{self, Config};
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn, SsdId};
use crate::nand::Geometry;
use crate::placement::{Class, Classes, HostPage, Old, Origin, Placement};
use crate::rng;
use crate::told::Told;
use crate::victim::supply::{Device, Failed};
use crate::victim::{InGroups, InUnits, Shape, VictimSelector, Victims};

use super::Placed;
use super::allocation::{Allocation, PlaneRule};
use super::audit::Audit;
use super::bad_blocks::{BadBlocks, mark_factory_bad_blocks};
use super::blocks::Blocks;
use super::classes::{ClassTally, Takes};
use super::lines::Lines;
use super::lost_pages::LostPages;
use super::mapping::Mapping;
use super::page_map::PageMap;
use super::slc_cache::SlcCache;
use super::space::{Frontier, Space, Stream};
use super::staged::Staged;
use super::streams::Streams;
use super::wear::WearLeveller;

/// What a translation layer knows, whatever its mapping. Whoever holds the layer may look at it; only the layer
/// and its mapping change it.
#[derive(Debug, Checkpointed)]
pub struct Tables {
    /// Shape of the flash.
    pub geometry: Geometry,
    /// Where writes go.
    pub allocation: Allocation,
    /// Which pages of each block are valid, and how worn it is.
    pub blocks: Blocks,
    /// Free and open blocks.
    pub space: Space,
    pub(super) map: PageMap,
    pub(super) streams: Streams,
    pub(super) victims: VictimSelector,
    pub(super) wear: WearLeveller,
    pub(super) limits: Limits,
    /// What goes wrong in the flash.
    pub bad_blocks: BadBlocks,
    /// Blocks in another cell mode that take the host's pages first, if there are any.
    pub(super) slc: Option<Box<SlcCache>>,
    /// Blocks of all planes that are managed together, if they are.
    pub(super) lines: Option<Box<Lines>>,
    /// Pages in the device's DRAM on their way from one block to another.
    pub staged: Staged,
    /// Pages whose data are lost, if any may be.
    pub(super) lost_pages: Option<Box<LostPages>>,
    /// What is in every page, kept if wanted.
    pub audit: Option<Box<Audit>>,
    /// Whether there is either of these: asked once in the place of both.
    pub(super) follows_moves: bool,
}

/// A page that is moved, and where it lies: worked out once a move.
#[derive(Debug, Clone, Copy)]
pub(super) struct OldPage {
    page: Ppn,
    block: BlockId,
    plane: PlaneId,
    lpn: Lpn,
}

/// Page and block counts that never change.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Limits {
    pub(super) logical_pages: usize,
    /// Translation pages behind those.
    pub(super) translation_pages: usize,
    /// Pages of a block that hold data (all but a summary page).
    pub(super) data_pages: u32,
    /// Invalid pages that a victim has at least, as long as the host can open a block.
    pub(super) least_invalid: u32,
    /// Pages that may be [filled up](super::open_pages) with nothing before a victim is erased.
    pub(super) filled_up: u32,
    /// Whether there are neither lines nor a cache of blocks in another mode: asked once in the place of both.
    pub(super) is_plain: bool,
    /// Whether host writes and moved pages may fill the same block.
    pub(super) mixes: bool,
    /// Whether pages that are moved may go to another class than theirs: there are several.
    pub(super) diverts: bool,
    /// The class of all pages of the host, if there is one.
    pub(super) host_class: Option<Class>,
    /// The class of all writes that dies take, if they fill the same open block of a plane.
    pub(super) only_class: Option<Class>,
    /// That class, if nothing but what a die does changes what room it has for such writes.
    pub(super) class_with_room: Option<Class>,
}

/// A plane that takes a write.
struct Candidate {
    plane: PlaneId,
    /// The page offset there.
    offset: u32,
    /// Where the plane with most of them is preferred.
    free_pages: u32,
}

impl Tables {
    /// Those of an erased device.
    pub(super) fn new(config: &Config, name: &str) -> Self {
        let pages = Geometry::new(&config.ssd).pages();
        Self::with_map(config, name, PageMap::new(Limits::mapped_pages(config), pages))
    }

    /// Those of an erased device, but for this mapping.
    pub(super) fn with_map(config: &Config, name: &str, map: PageMap) -> Self {
        let geometry = Geometry::new(&config.ssd);
        let streams = Streams::new(config, name);
        let limits = Limits::new(config, &streams.classes);
        let groups = streams.placement.groups();
        let blocks = Blocks::new(&geometry);
        let bad_blocks = BadBlocks::new(config, name);
        let is_good = |block| !bad_blocks.is_bad_when_new(block);
        let slc = SlcCache::new(config, &geometry, Limits::mapped_pages(config), is_good);
        let is_static = |block| slc.as_ref().is_some_and(|cache| cache.is_static(block));
        let is_native = |block: &BlockId| is_good(*block) && !is_static(*block);
        let mut tables = Self {
            geometry,
            allocation: Allocation::new(config, &geometry),
            map,
            space: Space::new(config, &geometry, is_native),
            slc,
            lines: Lines::new(config, &geometry, &streams.classes),
            streams,
            victims: victims(config, name, &geometry, (limits, groups)),
            wear: WearLeveller::new(&config.ssd.wear, &geometry, &blocks),
            blocks,
            limits,
            staged: Staged::new(geometry.planes()),
            lost_pages: LostPages::new(config),
            audit: Audit::is_kept(config).then(|| Box::new(Audit::new(config, &geometry))),
            follows_moves: Audit::is_kept(config) || config.ssd.faults.pages_may_be_lost(),
            bad_blocks,
        };
        mark_factory_bad_blocks(&mut tables);
        tables.begin_cache();
        tables
    }

    /// What policies from outside are told about the device.
    pub fn described(&self, id: SsdId) -> Device {
        Device {
            id,
            dies: self.geometry.dies(),
            planes_per_die: self.geometry.planes_per_die,
            blocks_per_plane: self.geometry.blocks_per_plane,
            pages_per_block: self.limits.data_pages,
            logical_pages: self.map.logical_pages(),
        }
    }

    /// Why a victim policy or a placement from outside is no longer asked, if it has failed.
    pub fn policy_failed(&self) -> Option<&Failed> {
        self.victims.failed().or_else(|| self.streams.placement.failed())
    }

    /// Full blocks that the victim policy has refused and will not choose any more, if it does such a thing.
    pub fn lost_victims(&self) -> Option<u64> {
        let lost = |plane| self.victims.lost(plane).map(|lost| lost as u64);
        self.space.planes().map(lost).sum()
    }

    /// Says which plane of `drive` the host can open no block on as its victims are lost, if there is one.
    pub fn out_of_victims(&self, drive: usize) -> Option<String> {
        let plane = self.space.planes().find(|plane| self.is_out_of_victims(*plane))?;
        let (plane, lost) = (plane.0, self.victims.lost(plane)?);
        Some(format!(
            "ssd.gc.victim: \"fifo\" with ineligible = \"drop\" has lost {lost} full blocks of plane {plane} of \
             drive {drive}, and finds no other to collect; allowed: ineligible = \"collect\", a lower \
             precondition.fill or more ssd.ftl.over_provisioning"
        ))
    }

    /// Whether the host can open no block on `plane`, some of whose victims are lost.
    pub fn is_out_of_victims(&self, plane: PlaneId) -> bool {
        !self.space.may_open_for_host(plane)
            && self.victims.lost(plane).is_some_and(|lost| lost > 0)
    }

    /// Whether a plane can run out of victims though it has invalid pages.
    pub fn may_run_out_of_victims(&self) -> bool {
        self.victims.refuses()
    }

    /// What has become of the blocks of each class.
    pub const fn class_tally(&self) -> &ClassTally {
        &self.streams.tally
    }

    /// Pages that the host has written since that is counted.
    pub fn tallied_host_pages(&self) -> u64 {
        self.streams.tally.host_pages(self.streams.clock)
    }

    /// Blocks that each class holds, open ones included.
    pub fn blocks_of_classes(&self) -> &[u64] {
        &self.streams.held
    }

    /// Whose pages each class takes.
    pub fn takes_of_classes(&self) -> Vec<Takes> {
        let classes = &self.streams.classes;
        (0..classes.count()).map(Class::new).map(|class| Takes::of(classes, class)).collect()
    }

    /// RAM in which the placement keeps what it knows of pages, in bytes.
    pub fn placement_bytes(&self) -> usize {
        self.streams.placement.bytes()
    }

    /// Whether the placement may look at the placement handles that the host names.
    pub const fn looks_at_handles(&self) -> bool {
        self.streams.placement.looks_at_handles()
    }

    /// Bytes of a page.
    pub const fn page_bytes(&self) -> u64 {
        self.streams.page_bytes
    }

    /// Pages of a block that hold data.
    pub const fn data_pages_per_block(&self) -> u32 {
        self.limits.data_pages
    }

    /// Pages of the host's address space.
    pub const fn logical_pages(&self) -> usize {
        self.limits.logical_pages
    }

    /// Translation pages of the device.
    pub const fn translation_pages(&self) -> usize {
        self.map.logical_pages() - self.limits.logical_pages
    }

    /// Whether `lpn` is a translation page and not one of the host's.
    pub const fn is_translation_page(&self, lpn: Lpn) -> bool {
        lpn.index() >= self.limits.logical_pages
    }

    /// Where `lpn` lies, if it has been written and not trimmed.
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.physical(lpn)
    }

    /// Whether `lpn` has data: in flash, or staged on their way there.
    pub fn has_data(&self, lpn: Lpn) -> bool {
        self.lookup(lpn).is_some() || self.staged.contains(lpn)
    }

    /// The logical page that the valid page `page` holds.
    pub fn logical(&self, page: Ppn) -> Lpn {
        self.map.logical(page)
    }

    /// Whether `page` holds the current version of a logical page.
    pub fn is_valid(&self, page: Ppn) -> bool {
        let block = self.geometry.block_of(page);
        self.blocks.is_valid(block, self.geometry.page_offset(page))
    }

    /// The first broken invariant that the audit has seen, if any.
    pub fn violation(&self) -> Option<&str> {
        self.audit.as_ref().and_then(|audit| audit.violation())
    }

    /// Free pages of `plane`, those of open blocks included.
    pub fn free_pages(&self, id: PlaneId) -> u32 {
        let plane = &self.space[id];
        let open: u32 = plane.frontiers().map(|frontier| self.room(frontier)).sum();
        self.pages_of_free_blocks(id) + open + self.all_following_pages(id)
    }

    /// Free pages of `plane` but for those of open blocks that the host does not write to.
    pub fn free_pages_for_host(&self, plane: PlaneId) -> u64 {
        let open: u32 = self.streams.all_of_host().map(|stream| self.room_of(stream, plane)).sum();
        u64::from(self.pages_of_free_blocks(plane)) + u64::from(open)
    }

    /// Pages of `plane` that can be written into `stream`: those of free blocks and of its own open block.
    fn free_pages_for(&self, stream: Stream, plane: PlaneId) -> u32 {
        self.pages_of_free_blocks(plane) + self.room_of(stream, plane)
    }

    pub(super) fn pages_of_free_blocks(&self, plane: PlaneId) -> u32 {
        self.space[plane].free_blocks() as u32 * self.limits.data_pages
    }

    /// Pages that are left in the open blocks of `stream`.
    fn room_of(&self, stream: Stream, plane: PlaneId) -> u32 {
        let open = self.space[plane].frontier(stream);
        open.map_or(0, |frontier| self.room(frontier)) + self.following_pages(plane, stream)
    }

    /// Whether `plane`, which is below its threshold, can be collected later: the host can open another
    /// block there, and nothing that is being reclaimed keeps it from writing.
    pub fn can_wait(&self, plane: PlaneId) -> bool {
        self.space.may_open_for_host(plane)
            && self.leaves_room(plane)
            && self.slc.as_ref().is_none_or(|cache| !cache.lets_wait(plane))
    }

    /// Valid pages of `block`.
    pub fn valid_pages(&self, block: BlockId) -> u16 {
        self.blocks.valid_pages(block)
    }

    /// The first valid page of `block` at or after `offset`.
    pub fn next_valid(&self, block: BlockId, offset: u32) -> Option<Ppn> {
        self.blocks.next_valid(block, offset).map(|offset| self.geometry.page(block, offset))
    }

    /// Whether a page that is moved inside `plane` can go to the block that is kept in step: it is
    /// open, or one can be opened and the rest of the victim still has room elsewhere, and what must be left
    /// [beside](Self::room_beside) it.
    pub fn has_aligned_room(&self, plane: PlaneId) -> bool {
        let state = &self.space[plane];
        let needed = |victim| u32::from(self.blocks.valid_pages(victim)) + self.room_beside(victim);
        let needed = state.reclaiming.map_or(0, needed);
        state.frontier(Stream::Aligned).is_some()
            || (state.free_blocks() > 0
                && self.collection_room(plane) >= self.limits.data_pages + needed)
    }

    /// The plane of `die` that takes the write of a page, which has no place of its own, if one has room.
    pub fn next_plane(&self, die: DieId, page: HostPage) -> Option<PlaneId> {
        self.next_place(die, page).map(|(plane, _)| plane)
    }

    /// Whether a plane of `die` takes the write of a page which has no place of its own.
    #[inline]
    pub fn has_place(&self, die: DieId, page: HostPage) -> bool {
        if !self.limits.is_plain {
            return self.looks_for_place(die, page);
        }
        let stream = self.stream_of(page);
        match self.limits.mixes {
            true => self.geometry.planes_of_die(die).any(|plane| self.takes(stream, plane)),
            false => self.space.has_place(die, stream),
        }
    }

    /// Whether a plane of `die` might take a write of the host, if not of `page` which waits for one: true where they go
    /// to different blocks.
    #[inline]
    pub fn may_have_place(&self, die: DieId, page: HostPage) -> bool {
        self.limits.only_class.is_none() || self.has_place(die, page)
    }

    /// Whether `die` has room for any write that may wait for it, and it stays so until an operation begins or ends there.
    /// `None` if other things may change that.
    #[inline]
    pub fn keeps_room(&self, die: DieId) -> Option<bool> {
        let class = self.limits.class_with_room?;
        Some(self.space.has_place(die, Stream::Class(class)))
    }

    /// That plane, and the page offset there.
    pub fn next_place(&self, die: DieId, page: HostPage) -> Option<(PlaneId, u32)> {
        let stream = self.stream_of(page);
        let turn = self.geometry.first_plane(die).0 + self.allocation.turn_of(die);
        let (mut before, mut behind) = (None, None);
        // Two turns in one: the planes from the one whose turn it is on go before the others.
        for plane in self.geometry.planes_of_die(die) {
            let best = if plane.0 < turn { &mut before } else { &mut behind };
            self.consider(plane, stream, best);
        }
        match (behind, before) {
            (Some(one), Some(other)) if self.is_preferred(&other, &one) => Some(other),
            (one, other) => one.or(other),
        }
        .map(|Candidate { plane, offset, .. }| (plane, offset))
    }

    /// Puts `plane` in the place of the `best` so far, if it takes a write into `stream` and is preferred to that.
    #[inline]
    fn consider(&self, plane: PlaneId, stream: Stream, best: &mut Option<Candidate>) {
        let free_pages = match self.allocation.plane_rule() {
            PlaneRule::RoundRobin if best.is_some() => return,
            PlaneRule::RoundRobin => 0,
            PlaneRule::MostFree => self.free_pages_for(stream, plane),
        };
        let Some(offset) = self.host_offset_in(stream, plane) else { return };
        let candidate = Candidate { plane, offset, free_pages };
        if best.as_ref().is_none_or(|best| self.is_preferred(&candidate, best)) {
            *best = Some(candidate);
        }
    }

    /// Whether a write goes to `candidate` though the turn of `best` comes first.
    fn is_preferred(&self, candidate: &Candidate, best: &Candidate) -> bool {
        match self.allocation.plane_rule() {
            PlaneRule::RoundRobin => false,
            PlaneRule::MostFree => candidate.free_pages > best.free_pages,
        }
    }

    /// Brings the table entry that a write of `lpn` will need into the cache, without waiting for it.
    pub fn fetch(&self, lpn: Lpn) {
        self.map.fetch(lpn);
        self.streams.fetch(lpn);
    }

    /// Fetches what a write of `lpn`, whose entry has come, changes of the block that the page is in.
    pub fn fetch_old_page(&self, lpn: Lpn) {
        if let Some(page) = self.map.physical(lpn) {
            let block = self.geometry.block_of(page);
            self.blocks.fetch(block, self.geometry.page_offset(page));
            if self.lines.is_none() {
                self.victims.fetch(block);
            }
        }
    }

    /// Fetches what is known of the valid page at `offset` of `block`, or the next one behind it, which is moved soon.
    #[inline(always)]
    pub fn fetch_move(&self, block: BlockId, offset: u32) {
        if let Some(page) = self.next_valid(block, offset) {
            self.fetch_to_move(page);
        }
    }

    /// Fetches what is known of the valid page `page`, which is moved soon, and of those behind it.
    #[inline(always)]
    pub fn fetch_to_move(&self, page: Ppn) {
        self.map.fetch(self.map.logical(page));
        self.map.fetch_behind(page);
    }

    /// Whether a host write leaves room for what a collection that has yielded must still move, and
    /// takes no page of a block that the host could not have opened.
    #[inline]
    pub(super) fn leaves_room(&self, plane: PlaneId) -> bool {
        self.leaves_room_for(plane, 1)
    }

    /// Whether so many pages may be written to the open blocks that a collection of `plane` needs, too.
    #[inline]
    pub(super) fn leaves_room_for(&self, plane: PlaneId, pages: u32) -> bool {
        !self.limits.mixes || self.leaves_room_for_moves(plane, pages)
    }

    #[inline]
    fn leaves_room_for_moves(&self, plane: PlaneId, pages: u32) -> bool {
        let state = &self.space[plane];
        match state.reclaiming {
            Some(victim) => {
                let guarded = state.lent && state.free_blocks() < self.space.thresholds().hard;
                let left = u32::from(self.blocks.valid_pages(victim));
                !guarded && left + self.room_beside(victim) + pages <= self.collection_room(plane)
            }
            None => true,
        }
    }

    /// Pages of room that must be left beside a collection of `victim`: if it gives no native block back, the next one
    /// needs a whole block.
    pub(super) fn room_beside(&self, victim: BlockId) -> u32 {
        let gives_a_block = !self.slc.as_ref().is_some_and(|cache| cache.is_static(victim));
        if gives_a_block { 0 } else { self.limits.data_pages }
    }

    /// The open block that a write of `page` goes to.
    #[inline(always)]
    pub(super) fn stream_of(&self, page: HostPage) -> Stream {
        match self.is_translation_page(page.lpn) {
            true => Stream::Translation,
            false => self.streams.of_host(page),
        }
    }

    /// The open block that the valid page `from` is moved to.
    #[inline(always)]
    pub(super) fn stream_of_move(&self, from: Ppn) -> Stream {
        let plane = self.geometry.plane_of(from);
        self.stream_for_move(plane, self.logical(from), self.origin_of(from))
    }

    /// The open block of `plane` that `lpn`, which comes from `origin`, is moved to: that of its class or, if that has
    /// none and no block is free, the one with most room.
    #[inline(always)]
    pub(super) fn stream_for_move(&self, plane: PlaneId, lpn: Lpn, origin: Origin) -> Stream {
        let stream = self.streams.of(lpn, origin);
        if self.is_diverted(plane, stream) { self.roomiest(plane) } else { stream }
    }

    /// That block, and notes that a page goes there.
    #[inline(always)]
    pub(super) fn take_stream_for_move(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        origin: Origin,
    ) -> Stream {
        let stream = self.streams.of(lpn, origin);
        if !self.is_diverted(plane, stream) {
            return stream;
        }
        self.streams.tally.diverted += 1;
        self.roomiest(plane)
    }

    /// Whether a page that is moved to `stream` finds no block there, and there are others that take it.
    #[inline(always)]
    fn is_diverted(&self, plane: PlaneId, stream: Stream) -> bool {
        let state = &self.space[plane];
        self.limits.diverts && state.frontier(stream).is_none() && state.free_blocks() == 0
    }

    /// Of the open blocks of `plane` that pages are moved to, that with most room.
    #[cold]
    fn roomiest(&self, plane: PlaneId) -> Stream {
        let room = |stream: &Stream| {
            self.space[plane].frontier(*stream).map_or(0, |frontier| self.room(frontier))
        };
        let roomiest = self.streams.of_moves().max_by_key(room);
        roomiest.expect("a placement has a class for what is moved")
    }

    /// Tells the placement where all pages lie, if it asks.
    pub(super) fn tell_where_pages_lie(&mut self) {
        let Self { streams, map, geometry, .. } = self;
        if streams.placement.asks_where_pages_lie() {
            map.mapped().for_each(|(lpn, page)| streams.lies_in(lpn, geometry.block_of(page)));
        }
    }

    /// Where a page comes from that is moved away from `from`.
    #[inline(always)]
    pub(super) fn origin_of(&self, from: Ppn) -> Origin {
        self.origin_in(self.geometry.block_of(from))
    }

    /// Where a page comes from that is moved out of `block`.
    #[inline(always)]
    fn origin_in(&self, block: BlockId) -> Origin {
        Origin::Moved { class: self.blocks.class(block) }
    }

    /// Notes that the host overwrites what is in `page`. Returns what the placement is told of that place, if it learns from
    /// it. Only for placements that look at pages.
    // Apart, as the usual placement does not.
    #[inline(never)]
    pub(super) fn rewritten(&mut self, page: Ppn) -> Option<Old> {
        self.count_death(page);
        self.streams.tells_rewrites.then(|| self.old_place(page))
    }

    fn old_place(&self, page: Ppn) -> Old {
        let block = self.geometry.block_of(page);
        let full = match &self.lines {
            Some(lines) => lines.life_if_full(block, &self.blocks),
            None => self.blocks.is_closed(block).then(|| self.blocks.life(block)).flatten(),
        };
        Old { class: self.blocks.class(block), full }
    }

    /// Groups are what the placement, which has remembered something, says.
    pub(super) fn set_groups(&mut self) {
        if let VictimSelector::InGroups(in_groups) = &mut self.victims
            && let Some(groups) = self.streams.placement.groups()
        {
            in_groups.set_groups(groups);
        }
    }

    /// Sorts closed blocks again if the placement has changed its groups. Asked where a block is closed or chosen.
    pub(super) fn regroup(&mut self) {
        let Self { victims: VictimSelector::InGroups(groups), streams, blocks, geometry, .. } =
            self
        else {
            return;
        };
        let Some(regrouping) = streams.placement.take_regrouping() else { return };
        let mut full = vec![0; streams.classes.count()];
        let planes: Vec<_> = (0..geometry.planes()).map(PlaneId::from_index).collect();
        for plane in planes {
            let all = groups.take_all(plane, &regrouping, &blocks.at(streams));
            for (block, class) in all {
                if let Some(class) = class {
                    blocks.set_class(block, class);
                    full[class.index()] += 1;
                }
                let (valid, blocks) = (blocks.valid_pages(block), blocks.at(streams));
                groups.put(plane, block, valid, &regrouping.groups, &blocks);
            }
        }
        groups.set_groups(regrouping.groups);
        streams.placement.regrouped(&full);
        streams.held = blocks.of_classes(streams.held.len());
    }

    /// Opens a block for the pages of the host if they are all of one class, which has none, and the host may. One of
    /// several classes gets a block when a page needs it.
    pub(super) fn reopen_for_host(&mut self, plane: PlaneId) {
        if let Some(class) = self.limits.host_class
            && self.space[plane].frontier(Stream::Class(class)).is_none()
        {
            self.reopen(plane, Stream::Class(class));
        }
    }

    /// The offset of the next page in the open block of `plane` for any write of this stream, if it may
    /// be written.
    #[inline]
    pub(super) fn offset_in(&self, stream: Stream, plane: PlaneId) -> Option<u32> {
        if !self.leaves_room(plane) {
            return None;
        }
        match self.space[plane].frontier(stream) {
            Some(frontier) => Some(frontier.next_page),
            None => self.may_open(plane, stream).then_some(0),
        }
    }

    /// Whether the open block of `plane` for any write of this stream has a page that may be written.
    #[inline]
    fn takes(&self, stream: Stream, plane: PlaneId) -> bool {
        let is_open = self.space[plane].frontier(stream).is_some();
        (is_open || self.may_open(plane, stream)) && self.leaves_room(plane)
    }

    /// The valid page `page`, and where it lies.
    #[inline(always)]
    pub(super) fn old_page(&self, page: Ppn) -> OldPage {
        let block = self.geometry.block_of(page);
        let plane = self.geometry.plane_of_block(block);
        OldPage { page, block, plane, lpn: self.logical(page) }
    }

    // Inlined, with what it calls: to enter and leave the small functions of a move took as long as the move.
    #[inline(always)]
    pub(super) fn relocate_to(
        &mut self,
        mapping: &mut impl Mapping,
        stream: Stream,
        old: OldPage,
    ) -> Placed {
        let OldPage { page, block, plane, lpn } = old;
        if self.slc.is_some() {
            self.note_fold(page);
        }
        // The old place is known: not to read the mapping table here saves a cache miss a move.
        self.invalidate_in(mapping, page, (block, plane));
        let lends = self.limits.mixes
            && self.streams.takes_host(stream)
            && self.space[plane].frontier(stream).is_none();
        let placed = self.append(mapping, plane, stream, lpn);
        if lends {
            self.space[plane].lent = true;
        }
        if !self.limits.is_plain {
            self.note_in_stripe(placed.page);
        }
        placed
    }

    /// Moves the valid page `from` inside its plane to the open block that the placement says.
    #[inline(always)]
    pub(super) fn relocate_as_placed(&mut self, mapping: &mut impl Mapping, from: Ppn) -> Placed {
        let old = self.old_page(from);
        let origin = self.origin_in(old.block);
        let stream = self.take_stream_for_move(old.plane, old.lpn, origin);
        let placed = self.relocate_to(mapping, stream, old);
        self.streams.wrote_moved(old.lpn, origin, placed.page, &self.geometry);
        placed
    }

    /// Programs the next page of a stream with `lpn`, whose old page has been invalidated.
    #[inline(always)]
    pub(super) fn append(
        &mut self,
        mapping: &mut impl Mapping,
        plane: PlaneId,
        stream: Stream,
        lpn: Lpn,
    ) -> Placed {
        let place = self.take_next_page(plane, stream);
        let page = self.program(mapping, place, lpn);
        // A spare block may have taken the place of a failing one.
        let closes_block = self.end_page(plane, stream, place, self.geometry.block_of(page));
        Placed { page, closes_block }
    }

    /// The page at `place` has been taken, in `block` of a stream. Returns whether the block is full now.
    #[inline(always)]
    pub(super) fn end_page(
        &mut self,
        plane: PlaneId,
        stream: Stream,
        place: Frontier,
        block: BlockId,
    ) -> bool {
        let closes_block = place.next_page + 1 == self.limits.data_pages;
        if closes_block {
            self.end_stream_block(plane, stream, block);
        }
        closes_block
    }

    /// The open block of a stream is full.
    // Apart, as hardly any page is the last of its block.
    #[inline(never)]
    fn end_stream_block(&mut self, plane: PlaneId, stream: Stream, block: BlockId) {
        *self.space[plane].frontier_mut(stream) = None;
        self.close(plane, block);
        if self.lines.is_none() || !self.goes_on_in_line(plane, stream) {
            self.reopen(plane, stream);
        }
    }

    /// Programs the page at `place`, or the same one of the block that replaces a failing one, with `lpn`.
    #[inline(always)]
    pub(super) fn program(
        &mut self,
        mapping: &mut impl Mapping,
        mut place: Frontier,
        lpn: Lpn,
    ) -> Ppn {
        if self.bad_blocks.are_possible() {
            place.block = self.block_that_takes(mapping, place);
        }
        let page = self.geometry.page(place.block, place.next_page);
        self.map.set(lpn, page);
        self.blocks.program(place.block, place.next_page);
        page
    }

    /// Where the next page of a stream goes. The one after it comes next.
    #[inline(always)]
    pub(super) fn take_next_page(&mut self, plane: PlaneId, stream: Stream) -> Frontier {
        match self.space.take_page(plane, stream) {
            Some(next) => next,
            None => self.begin_stream_block(plane, stream),
        }
    }

    /// Opens a block for a stream that has none. Returns its first page.
    // Apart, as hardly any page is the first of its block.
    #[inline(never)]
    fn begin_stream_block(&mut self, plane: PlaneId, stream: Stream) -> Frontier {
        self.space[plane].lent &= !self.streams.takes_host(stream);
        let next = self.open(plane, stream.class());
        let following = Frontier { next_page: next.next_page + 1, ..next };
        *self.space[plane].frontier_mut(stream) = Some(following);
        self.space.page_written(plane);
        next
    }

    /// Opens a block for the stream whose block has just been filled, before anything is written
    /// to it, so that a collection that this calls for finds a whole empty block.
    pub(super) fn reopen(&mut self, plane: PlaneId, stream: Stream) {
        if self.streams.takes_host(stream) && self.may_open(plane, stream) {
            let frontier = self.open(plane, stream.class());
            self.space[plane].lent = false;
            *self.space[plane].frontier_mut(stream) = Some(frontier);
            self.space.invalid_changed(plane);
        }
    }

    /// Opens a block for the pages of a class, or for what the placement has no say in.
    pub(super) fn open(&mut self, plane: PlaneId, class: Option<Class>) -> Frontier {
        if self.lines.is_some()
            && let Some(class) = class
        {
            return self.open_line(plane, class);
        }
        let block = self.space.take_free(plane);
        let is_below = self.space.opened(plane);
        self.fetch_likely_victim(plane, is_below);
        if let Some(audit) = &mut self.audit {
            audit.tell(Told::Opened { block, class });
        }
        self.blocks.open(block, class, self.streams.clock);
        self.streams.opened(class);
        self.streams.block_changed(self.blocks.state(block));
        self.victims.opened(plane, block);
        if self.slc.is_some() {
            self.look_at_cache(plane);
        }
        Frontier { block, next_page: 0 }
    }

    pub(super) fn close(&mut self, plane: PlaneId, block: BlockId) {
        self.regroup();
        let valid = self.blocks.valid_pages(block);
        self.blocks.seal(block, self.streams.clock);
        self.streams.block_changed(self.blocks.state(block));
        self.space.add_invalid(plane, self.limits.data_pages - u32::from(valid));
        if self.lines.is_some() {
            return self.close_in_line(block);
        }
        self.streams.sealed(self.blocks.life(block));
        self.victims.closed(plane, block, valid, &self.blocks.at(&self.streams));
    }

    #[inline(always)]
    pub(super) fn invalidate(&mut self, mapping: &mut impl Mapping, page: Ppn) {
        let block = self.geometry.block_of(page);
        self.invalidate_in(mapping, page, (block, self.geometry.plane_of_block(block)));
    }

    #[inline(always)]
    fn invalidate_in(
        &mut self,
        mapping: &mut impl Mapping,
        page: Ppn,
        (block, plane): (BlockId, PlaneId),
    ) {
        let valid = self.blocks.invalidate(block, self.geometry.page_offset(page));
        if self.blocks.is_closed(block) {
            self.space.add_invalid(plane, 1);
            match self.lines.is_some() {
                true => self.lost_in_line(block),
                false => self.victims.lost_page(plane, block, valid),
            }
        } else {
            mapping.lost_page(self, page, block, valid);
            if self.lines.is_some() {
                self.lost_in_open_line(page);
            }
        }
    }

    /// Notes that the host overwrites or trims what is in `page`.
    #[inline(always)]
    pub(super) fn dies(&mut self, page: Ppn) {
        if self.streams.looks_at_pages() {
            self.count_death(page);
        }
    }

    // Apart, as only placements that look at pages count.
    #[inline(never)]
    fn count_death(&mut self, page: Ppn) {
        let block = self.geometry.block_of(page);
        let Some(class) = self.blocks.class(block) else { return };
        let written = self.written_at(block, self.geometry.page_offset(page));
        self.streams.tally.died(class, self.streams.clock - written);
    }

    /// About when the page at `offset` of `block` was written: as if the block had been filled evenly.
    fn written_at(&self, block: BlockId, offset: u32) -> u64 {
        let plane = self.geometry.plane_of_block(block);
        let frontier = self.space[plane].frontiers().find(|frontier| frontier.block == block);
        let (until, pages) = match frontier {
            Some(Frontier { next_page, .. }) => (self.streams.clock, next_page),
            None => (self.blocks.sealed_at(block), self.limits.data_pages),
        };
        let opened = self.blocks.opened_at(block);
        // A file may tell of a block that was filled before it was opened.
        opened + until.saturating_sub(opened) * u64::from(offset) / u64::from(pages)
    }

    /// Notes that the free blocks of `plane` have changed. If they are few, fetches what is likely to be collected
    /// next, and its first moves.
    pub(super) fn free_blocks_changed(&mut self, plane: PlaneId) {
        let is_below = self.space.changed(plane);
        self.fetch_likely_victim(plane, is_below);
        if self.slc.is_some() {
            self.look_at_cache(plane);
        }
    }

    fn fetch_likely_victim(&mut self, plane: PlaneId, is_wanted: bool) {
        if is_wanted
            && self.lines.is_none()
            && let Some(victim) = self.victims.likely(plane)
        {
            self.blocks.fetch(victim, 0);
            self.victims.fetch(victim);
            self.map.fetch_logical(self.geometry.page(victim, 0));
        }
    }

    pub(super) fn has_room_for(&self, victim: BlockId, plane: PlaneId) -> bool {
        let pages = u32::from(self.blocks.valid_pages(victim)) + self.limits.filled_up;
        pages + self.room_beside(victim) <= self.collection_room(plane)
    }

    /// Pages that collections can move to without a block that is kept in step, be it of another class than theirs.
    pub(super) fn collection_room(&self, plane: PlaneId) -> u32 {
        let state = &self.space[plane];
        let open = |stream| {
            state.frontier(stream).map_or(0, |frontier| self.room(frontier))
                + self.following_pages(plane, stream)
        };
        let open: u32 = self.streams.of_moves().map(open).sum();
        state.free_blocks() as u32 * self.limits.data_pages + open
    }

    pub(super) fn room(&self, frontier: Frontier) -> u32 {
        self.limits.data_pages - frontier.next_page
    }

    /// Frees `block` of `plane`, which has just been erased, for a buffer of writes that it is `held` for or for all.
    pub(super) fn free(&mut self, plane: PlaneId, block: BlockId, held: bool) {
        self.wear.erased(plane, block, self.blocks.erase_count(block));
        self.streams.block_changed(self.blocks.state(block));
        self.free_erased(plane, block);
        self.space[plane].held += usize::from(held);
        self.refill_spare_blocks(plane);
    }

    /// Checks the tables against one another.
    pub(super) fn check(&self) -> Result<(), String> {
        self.map.check(|page| self.is_valid(page))?;
        if let Some(audit) = &self.audit {
            audit.check_map(|lpn| self.map.physical(lpn))?;
            audit.check_lost(|page| self.is_marked(page), |lpn| self.staged.is_lost(lpn))?;
        }
        self.check_classes()?;
        self.check_cache()?;
        self.check_lines()?;
        self.check_reclaim_units()?;
        self.space.planes().try_for_each(|plane| self.check_plane(plane))
    }

    fn check_classes(&self) -> Result<(), String> {
        let (held, counted) = (self.blocks.of_classes(self.streams.held.len()), &self.streams.held);
        if held != *counted {
            return Err(format!("classes hold {held:?} blocks, but {counted:?} counted"));
        }
        Ok(())
    }

    pub(super) fn check_plane(&self, plane: PlaneId) -> Result<(), String> {
        let mut closed_invalid = 0;
        for block in self.geometry.blocks_of_plane(plane) {
            self.blocks.check(block)?;
            if self.blocks.is_closed(block) && !self.is_parity(block) {
                closed_invalid +=
                    self.limits.data_pages - u32::from(self.blocks.valid_pages(block));
            }
        }
        let counted = self.space[plane].closed_invalid;
        if counted != closed_invalid {
            return Err(format!(
                "{plane:?}: {closed_invalid} invalid pages, but {counted} counted"
            ));
        }
        Ok(())
    }
}

/// The victim policy of a checked configuration, with no block to choose from.
fn victims(
    config: &Config,
    name: &str,
    geometry: &Geometry,
    (limits, groups): (Limits, Option<Vec<usize>>),
) -> VictimSelector {
    // A merge may be worth it though it moves as many pages as a group has.
    let group =
        config.ssd.ftl.mapping.blocks_per_group().map(|blocks| blocks * limits.data_pages + 1);
    let shape = match config.ssd.has_lines() {
        true => Shape {
            planes: 1,
            blocks: geometry.blocks_per_plane as usize,
            pages_per_block: config.ssd.pages_per_unit() as u16,
        },
        false => Shape {
            planes: geometry.planes(),
            blocks: geometry.blocks(),
            pages_per_block: group.unwrap_or(limits.data_pages) as u16,
        },
    };
    let of_shape = |shape: Shape, name: String| {
        VictimSelector::new(&config.ssd.gc.victim, shape, rng::stream(config.seed, &name))
    };
    let policy = |name: String| of_shape(shape, name);
    let size = config.ssd.reclaim_unit() as usize;
    if size > 1 {
        let classes = config.ssd.ftl.placement.classes() as usize;
        let of_units = |shape| of_shape(shape, format!("{name}/gc/victim"));
        return VictimSelector::InUnits(Box::new(InUnits::new(size, classes, shape, of_units)));
    }
    match groups.filter(|_| config.ssd.ftl.mapping.is_page_mapping()) {
        Some(groups) => VictimSelector::InGroups(Box::new(InGroups::new(groups, shape, |group| {
            policy(format!("{name}/gc/victim/{group}"))
        }))),
        None => policy(format!("{name}/gc/victim")),
    }
}

impl Limits {
    /// Pages that have an entry in the mapping.
    pub(super) fn mapped_pages(config: &Config) -> usize {
        (config.logical_pages() + config.ssd.translation_pages()) as usize
    }

    pub(super) fn new(config: &Config, classes: &Classes) -> Self {
        let host_class = classes.of_host().next().filter(|_| classes.of_host().len() == 1);
        let mixes = classes.mix();
        let has_places = matches!(config.ssd.ftl.allocation, config::Allocation::Order(_));
        let only_class = host_class.filter(|_| config.ssd.translation_pages() == 0);
        Self {
            logical_pages: config.logical_pages() as usize,
            translation_pages: config.ssd.translation_pages() as usize,
            data_pages: config.ssd.data_pages_per_block() as u32,
            least_invalid: config.ssd.least_invalid_pages(),
            filled_up: config.ssd.pages_filled_up_per_victim(),
            is_plain: !config.ssd.has_slc_cache() && !config.ssd.has_lines(),
            mixes,
            diverts: classes.of_moves().len() > 1,
            host_class,
            only_class,
            class_with_room: only_class
                .filter(|_| !mixes && !has_places)
                .filter(|_| !config.ssd.has_slc_cache() && !config.ssd.has_lines()),
        }
    }
}
