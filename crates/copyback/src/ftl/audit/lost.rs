//! Which versions of pages are lost, kept apart from the marks that are checked.

use std::collections::BTreeSet;

use crate::checkpoint::Checkpointed;
use crate::ids::{Lpn, Ppn};

use super::Audit;

/// Versions of logical pages whose data are lost.
#[derive(Debug, Default, Checkpointed)]
pub struct LostVersions(BTreeSet<(Lpn, u64)>);

impl Audit {
    /// What is in `page` is lost.
    pub fn lost_in(&mut self, page: Ppn) {
        match self.contents[page.index()] {
            Some(content) => drop(self.lost.0.insert(content)),
            None => self.fail(format!("{page:?} is lost, but holds nothing")),
        }
    }

    /// Checks that a page of flash is marked as lost, and one in DRAM `is_lost`, if the last version of its logical page is, and
    /// only then.
    pub fn check_lost(
        &self,
        is_marked: impl Fn(Ppn) -> bool,
        is_lost: impl Fn(Lpn) -> bool,
    ) -> Result<(), String> {
        let latest = self.latest.iter().enumerate();
        let in_flash = latest.filter_map(|(index, latest)| {
            let (version, page) = (*latest)?;
            Some((Lpn::from_index(index), version, is_marked(page)))
        });
        let in_dram = self.staged.iter().map(|(lpn, version)| (*lpn, *version, is_lost(*lpn)));
        for (lpn, version, found) in in_flash.chain(in_dram) {
            let expected = self.lost.0.contains(&(lpn, version));
            if found != expected {
                return Err(format!("{lpn:?} is lost: {found}; its last version is: {expected}"));
            }
        }
        Ok(())
    }
}
