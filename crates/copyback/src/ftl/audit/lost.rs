//! Lost versions of pages, kept apart from the marks that are checked.

use std::collections::BTreeSet;

use crate::checkpoint::Checkpointed;
use crate::ids::{CommandId, Lpn, Ppn};

use super::Audit;

/// Versions of logical pages whose data are lost, and who reads them.
#[derive(Debug, Default, Checkpointed)]
pub struct LostVersions {
    versions: BTreeSet<(Lpn, u64)>,
    /// Pages of commands whose reads are under way, and find what is lost.
    reads: BTreeSet<(CommandId, Lpn)>,
}

impl Audit {
    /// Records that the content of `page` is lost.
    pub fn lost_in(&mut self, page: Ppn) {
        match self.contents[page.index()] {
            Some(content) => drop(self.lost.versions.insert(content)),
            None => self.fail(format!("{page:?} is lost, but holds nothing")),
        }
    }

    /// A `command` reads `lpn` as it is now.
    pub fn read_begins(&mut self, command: CommandId, lpn: Lpn) {
        let is_lost = |version| self.lost.versions.contains(&(lpn, version));
        if self.version(lpn).is_some_and(is_lost) {
            self.lost.reads.insert((command, lpn));
        } else {
            self.lost.reads.remove(&(command, lpn));
        }
    }

    /// The read of `lpn` for a `command` has ended; it `is_unread` if the host was told that nothing is to be had.
    pub fn read_ends(&mut self, command: CommandId, lpn: Lpn, is_unread: bool) {
        if self.lost.reads.remove(&(command, lpn)) && !is_unread {
            self.fail(format!("the read of {lpn:?}, which is lost, has ended as if it were there"));
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
            let expected = self.lost.versions.contains(&(lpn, version));
            if found != expected {
                return Err(format!("{lpn:?} is lost: {found}; its last version is: {expected}"));
            }
        }
        Ok(())
    }
}
