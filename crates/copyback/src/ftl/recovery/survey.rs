//! Survey of the spare areas by a recovery: where the newest version of each logical page lies, and which
//! blocks hold nothing but copies.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::ftl::image::{Image, Stamp};
use crate::ftl::spare::Role;
use crate::ids::{BlockId, Lpn, Ppn};

/// The newest pages of a flash that has lost its power.
#[derive(Debug)]
pub struct Survey<'a> {
    pub image: &'a Image,
    newest: Vec<Option<(Stamp, Ppn)>>,
    /// Blocks that the recovery erases.
    erased: Vec<bool>,
}

impl<'a> Survey<'a> {
    /// Reads every spare area. Of the versions of a logical page the one that was programmed last counts.
    pub fn new(image: &'a Image, logical_pages: usize) -> Self {
        let erased = image.blocks().map(|block| image.is_half_erased(block)).collect();
        let mut survey = Self { image, newest: vec![None; logical_pages], erased };
        for block in image.blocks() {
            for (page, stamp) in image.stamps(block) {
                survey.see(page, stamp);
            }
        }
        survey
    }

    fn see(&mut self, page: Ppn, stamp: Stamp) {
        let is_mapped = |saved: &Vec<bool>| saved[stamp.lpn.index()];
        if self.image.saved.as_ref().is_some_and(|saved| !is_mapped(&saved.is_mapped)) {
            return;
        }
        let newest = &mut self.newest[stamp.lpn.index()];
        if newest.is_none_or(|(known, _)| known.sequence < stamp.sequence) {
            *newest = Some((stamp, page));
        }
    }

    /// Role that `block` was filled for.
    pub fn role(&self, block: BlockId) -> Role {
        self.image.blocks[block.index()].role
    }

    /// Whether the recovery erases `block`.
    pub fn is_erased(&self, block: BlockId) -> bool {
        self.erased[block.index()]
    }

    /// Blocks that the recovery erases.
    pub fn erased_blocks(&self) -> impl Iterator<Item = BlockId> {
        self.image.blocks().filter(|block| self.is_erased(*block))
    }

    /// Pages of `block` up to the last that has been programmed, unless it is erased.
    pub fn written(&self, block: BlockId) -> u32 {
        if self.is_erased(block) { 0 } else { self.image.written(block) }
    }

    /// The logical pages whose newest version lies in `block`, and where.
    pub fn newest_in(&self, block: BlockId) -> impl Iterator<Item = (Lpn, Ppn)> {
        let stamps = self.image.stamps(block);
        stamps
            .filter(|(page, stamp)| self.place_of(stamp.lpn) == Some(*page))
            .map(|(page, stamp)| (stamp.lpn, page))
    }

    /// Place of the newest version of `lpn`.
    pub fn place_of(&self, lpn: Lpn) -> Option<Ppn> {
        self.newest[lpn.index()].map(|(_, page)| page)
    }

    /// Every logical page that is found, and where its newest version lies.
    pub fn found(&self) -> impl Iterator<Item = (Lpn, Ppn)> {
        let entry = |(index, newest): (usize, &Option<(Stamp, Ppn)>)| {
            Some((Lpn::from_index(index), (*newest)?.1))
        };
        self.newest.iter().enumerate().filter_map(entry)
    }

    /// The place of the last program in `block` in the order of all programs.
    pub fn last_program(&self, block: BlockId) -> u64 {
        self.image.stamps(block).map(|(_, stamp)| stamp.sequence).max().unwrap_or(0)
    }

    /// The sequence number of the first program of `block`.
    pub fn first_program(&self, block: BlockId) -> u64 {
        self.image.stamps(block).map(|(_, stamp)| stamp.sequence).min().unwrap_or(0)
    }

    /// The recovery erases `block`, in which nothing is newest.
    pub fn erase(&mut self, block: BlockId) {
        debug_assert!(self.newest_in(block).next().is_none(), "{block:?} holds what is newest");
        self.erased[block.index()] = true;
    }

    /// Erases the blocks with `written` pages that are asked for and in which nothing is newest.
    pub fn erase_outdated(&mut self, is_asked_for: impl Fn(u32) -> bool) {
        for block in self.image.blocks() {
            let written = self.written(block);
            if written > 0 && is_asked_for(written) && self.newest_in(block).next().is_none() {
                self.erase(block);
            }
        }
    }

    /// Erases every block with newest pages of which each has a copy of the same version elsewhere: what
    /// was brought together there is still where it came from. The block that was begun last goes first.
    pub fn erase_copies(&mut self) {
        let copies = self.copies();
        let newest = copies.keys().filter_map(|lpn| self.place_of(*lpn));
        let blocks: BTreeSet<BlockId> =
            newest.map(|page| self.image.geometry.block_of(page)).collect();
        let mut candidates: Vec<_> = blocks.into_iter().collect();
        candidates.sort_by_key(|block| Reverse(self.first_program(*block)));
        for block in candidates {
            if let Some(elsewhere) = self.copies_of(block, &copies) {
                elsewhere.into_iter().for_each(|(page, stamp)| {
                    self.newest[stamp.lpn.index()] = Some((stamp, page));
                });
                self.erase(block);
            }
        }
    }

    /// Pages that hold the newest version of a logical page, though another was programmed later.
    fn copies(&self) -> Copies {
        let mut copies = Copies::new();
        for (page, stamp) in self.image.blocks().flat_map(|block| self.image.stamps(block)) {
            let newest = self.newest[stamp.lpn.index()];
            if newest.is_some_and(|(known, at)| known.version == stamp.version && at != page) {
                copies.entry(stamp.lpn).or_default().push((page, stamp));
            }
        }
        copies
    }

    /// For each newest page of `block` the last copy of the same version in another block; `None` if one
    /// has none.
    fn copies_of(&self, block: BlockId, copies: &Copies) -> Option<Vec<(Ppn, Stamp)>> {
        self.newest_in(block)
            .map(|(lpn, _)| {
                let others = copies.get(&lpn)?.iter().filter(|(page, _)| {
                    let other = self.image.geometry.block_of(*page);
                    other != block && !self.is_erased(other)
                });
                others.max_by_key(|(_, stamp)| stamp.sequence).copied()
            })
            .collect()
    }
}

/// Pages by the logical page that they hold.
type Copies = BTreeMap<Lpn, Vec<(Ppn, Stamp)>>;
