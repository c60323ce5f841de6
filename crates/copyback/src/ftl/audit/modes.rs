//! In which cell mode each block has been programmed: none holds pages of two, nor more than its mode has.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::BlockId;

/// The modes of all blocks of a device that has two.
#[derive(Debug, Checkpointed)]
pub struct Modes {
    /// Pages of a block in the mode of the cache.
    cache_pages: u32,
    /// Whether each block that holds something is in that mode.
    in_cache: Vec<Option<bool>>,
}

impl Modes {
    /// Creates the modes of an erased device of a checked configuration, if it has two.
    pub fn new(config: &Resolved, blocks: usize) -> Option<Self> {
        let slc = config.drive.slc.as_ref()?;
        Some(Self { cache_pages: slc.pages_per_block, in_cache: vec![None; blocks] })
    }

    /// The page at `offset` of `block` is programmed in this mode. Returns what is wrong with that, if anything is.
    pub fn program(&mut self, block: BlockId, offset: u32, in_cache: bool) -> Option<String> {
        let known = *self.in_cache[block.index()].get_or_insert(in_cache);
        if known != in_cache {
            return Some(format!("{block:?} is programmed in two cell modes"));
        }
        (in_cache && offset >= self.cache_pages).then(|| {
            format!("page {offset} of {block:?}, beyond what its cell mode has, is programmed")
        })
    }

    /// `block` is erased.
    pub fn erased(&mut self, block: BlockId) {
        self.in_cache[block.index()] = None;
    }

    /// Records that the content of `block` has been copied to `spare`.
    pub fn replaced(&mut self, block: BlockId, spare: BlockId) {
        self.in_cache[spare.index()] = self.in_cache[block.index()].take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_one_mode_until_it_is_erased_and_no_page_beyond_it() {
        let mut modes = Modes { cache_pages: 2, in_cache: vec![None; 3] };
        let [cached, native, spare] = [0, 1, 2].map(BlockId);
        assert_eq!(modes.program(cached, 0, true), None);
        assert!(modes.program(cached, 1, false).is_some());
        assert!(modes.program(cached, 2, true).is_some());
        assert_eq!(modes.program(native, 2, false), None);
        modes.replaced(cached, spare);
        assert!(modes.program(spare, 1, false).is_some());
        modes.erased(spare);
        assert_eq!(modes.program(spare, 3, false), None);
    }
}
