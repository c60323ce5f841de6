//! The spare area of every page, and which programs are not over yet: what a cut of power leaves, and
//! what must not be lost by one. Kept beside the [audit](super::audit), which knows what is in the pages.

use std::collections::{BTreeMap, BTreeSet};

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, Lpn, Ppn};
use crate::nand::Geometry;
use crate::placement::Class;

use super::space::Stream;

/// Role of a block: what it is filled for; stamped into its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Role {
    /// The pages of a class.
    Class(Class),
    /// Translation pages.
    Translation,
    /// Pages that a collection moves in step with other planes.
    Aligned,
    /// Pages that a merge brings together.
    Merge,
    /// A buffer of writes that would have to wait for a merge.
    Buffer,
    /// The host's pages, in the mode of the cache.
    Cache,
}

impl Default for Role {
    fn default() -> Self {
        Self::Class(Class::new(0))
    }
}

impl From<Stream> for Role {
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::Class(class) => Self::Class(class),
            Stream::Translation => Self::Translation,
            Stream::Aligned => Self::Aligned,
        }
    }
}

/// Spare areas, and programs under way.
#[derive(Debug, Checkpointed)]
pub struct Spare {
    /// Place of each page's program in the order of all programs.
    sequences: Vec<u64>,
    programs: u64,
    /// Pages whose program was cut off.
    torn: BTreeSet<Ppn>,
    /// Of each block that holds anything, by its first page.
    roles: Vec<Option<Role>>,
    /// The pages that are being programmed, and the block with the page that each supersedes.
    in_flight: BTreeMap<Ppn, Option<BlockId>>,
    /// Of each block, the programs under way that supersede its pages.
    superseding: Vec<u32>,
    /// The last version of each logical page whose program is over.
    durable: Vec<Option<u64>>,
    /// The last version of logical pages at their trim: whether one up to this comes back is open.
    forgotten: BTreeMap<Lpn, u64>,
    /// Whether programs take time.
    is_timed: bool,
}

impl Spare {
    /// An erased device.
    pub fn new(geometry: &Geometry, logical_pages: usize) -> Self {
        Self {
            sequences: vec![0; geometry.pages()],
            programs: 0,
            torn: BTreeSet::new(),
            roles: vec![None; geometry.blocks()],
            in_flight: BTreeMap::new(),
            superseding: vec![0; geometry.blocks()],
            durable: vec![None; logical_pages],
            forgotten: BTreeMap::new(),
            is_timed: false,
        }
    }

    /// From now on programs take time; each logical page's version of now is durable.
    pub fn begin(&mut self, versions: impl Iterator<Item = Option<u64>>) {
        self.durable = versions.collect();
        self.is_timed = true;
    }

    /// `page` of `block` is being programmed, in place of the page in `old`.
    pub fn program(&mut self, page: Ppn, block: BlockId, role: Role, old: Option<BlockId>) {
        self.programs += 1;
        self.sequences[page.index()] = self.programs;
        self.roles[block.index()].get_or_insert(role);
        if self.is_timed {
            self.in_flight.insert(page, old);
            if let Some(old) = old {
                self.superseding[old.index()] += 1;
            }
        }
    }

    /// The program of `page` is over, which holds this `version` of `lpn`. Returns the block with the
    /// page that it superseded, if no other program supersedes a page there.
    pub fn programmed(&mut self, page: Ppn, (lpn, version): (Lpn, u64)) -> Option<BlockId> {
        let old = self.in_flight.remove(&page)?;
        if self.forgotten.get(&lpn).is_none_or(|last| version > *last) {
            let durable = &mut self.durable[lpn.index()];
            *durable = (*durable).max(Some(version));
        }
        let old = old?;
        let left = &mut self.superseding[old.index()];
        *left -= 1;
        (*left == 0).then_some(old)
    }

    /// `block`, with these pages, has been erased.
    pub fn erased(&mut self, block: BlockId, pages: std::ops::Range<Ppn>) {
        self.roles[block.index()] = None;
        let torn: Vec<_> = self.torn.range(pages).copied().collect();
        torn.iter().for_each(|page| _ = self.torn.remove(page));
    }

    /// Whether programs under way supersede pages of `block`.
    pub fn is_superseded_by_programs(&self, block: BlockId) -> bool {
        self.superseding[block.index()] > 0
    }

    /// The pages whose programs are not over and supersede pages of `block`.
    pub fn superseding(&self, block: BlockId) -> impl Iterator<Item = Ppn> {
        let of_block = self.in_flight.iter().filter(move |(_, old)| **old == Some(block));
        of_block.map(|(page, _)| *page)
    }

    /// The pages whose programs are not over.
    pub fn in_flight(&self) -> impl Iterator<Item = Ppn> {
        self.in_flight.keys().copied()
    }

    /// `lpn` is trimmed; `version` was its last.
    pub fn trimmed(&mut self, lpn: Lpn, version: u64) {
        self.durable[lpn.index()] = None;
        self.forgotten.insert(lpn, version);
    }

    /// The last version of `lpn` when it was trimmed last, if it ever was.
    pub fn forgotten(&self, lpn: Lpn) -> Option<u64> {
        self.forgotten.get(&lpn).copied()
    }

    /// The oldest version of `lpn` that a cut may leave.
    pub fn durable(&self, lpn: Lpn) -> Option<u64> {
        self.durable[lpn.index()]
    }

    /// Role of a block.
    pub fn role(&self, block: BlockId) -> Role {
        self.roles[block.index()].unwrap_or_default()
    }

    /// Place of the program of `page` in the order of all programs.
    pub fn sequence(&self, page: Ppn) -> u64 {
        self.sequences[page.index()]
    }

    /// Programs so far.
    pub const fn programs(&self) -> u64 {
        self.programs
    }

    /// A page that is found after a cut.
    pub fn found(&mut self, page: Ppn, sequence: u64) {
        self.sequences[page.index()] = sequence;
    }

    /// A page that is found after a cut and cannot be read.
    pub fn found_torn(&mut self, page: Ppn) {
        self.torn.insert(page);
    }

    /// Whether the program of `page` was cut off.
    pub fn is_torn(&self, page: Ppn) -> bool {
        self.torn.contains(&page)
    }

    /// A block that is found after a cut.
    pub fn found_block(&mut self, block: BlockId, role: Role) {
        self.roles[block.index()] = Some(role);
    }

    /// Continues after this number of programs that have been begun before.
    pub const fn go_on(&mut self, programs: u64) {
        self.programs = programs;
    }
}
