//! Earlier versions of pages, as long as a cut of power may bring them back.
//!
//! The [data](crate::data) are what the drive holds now. The flash holds older versions of pages until their blocks
//! are erased, and the write buffer holds newer ones that no cut leaves. So before what a page holds is changed, the
//! content of the version that is in, or on its way to, the flash is put aside here.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use copyback::embedded::RecoveryFindings;
use copyback::ids::Lpn;

use crate::data::Data;

/// Contents that are put aside before those are looked for that cannot come back any more.
const FIRST_SWEEP: usize = 4096;

/// Content of a page; `None`: zeroes.
type Content = Option<Arc<[u8]>>;

/// Contents of pages that may come back.
#[derive(Debug)]
pub struct Versions {
    page_size: u64,
    /// All versions up to this one have the content that was there before the first request.
    first: u64,
    /// Versions up to this one that the flash does not hold never will be there.
    settled: u64,
    pages: BTreeMap<Lpn, Page>,
    /// Contents that are put aside.
    kept: usize,
    sweep_at: usize,
}

/// A page that has been written to or trimmed.
#[derive(Debug)]
struct Page {
    /// The version that is in the flash, or on its way there.
    newest: Newest,
    /// Contents of older versions.
    older: BTreeMap<u64, Content>,
    /// Content of the page if the flash has no version of it.
    without: Content,
}

/// The version of a page that is in the flash, or on its way there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Newest {
    /// The drive holds what this version does.
    Is(u64),
    /// The content of the version was put aside, or there is none: the drive may hold what has no version yet.
    IsAside,
}

impl Versions {
    /// Of a drive on which nothing has been asked for, with pages of this size and versions up to `first`.
    pub const fn new(page_size: u64, first: u64) -> Self {
        let pages = BTreeMap::new();
        Self { page_size, first, settled: first, pages, kept: 0, sweep_at: FIRST_SWEEP }
    }

    /// Puts the content of the newest version of `lpn` aside before it changes.
    ///
    /// # Errors
    /// If the data cannot be read.
    pub fn before_change(&mut self, lpn: Lpn, data: &Data) -> io::Result<()> {
        let (page_size, first) = (self.page_size, self.first);
        let read = || content(lpn, page_size, data);
        match self.pages.get_mut(&lpn) {
            None => {
                let before = read()?;
                let older = BTreeMap::from([(first, before.clone())]);
                self.pages.insert(lpn, Page { newest: Newest::IsAside, older, without: before });
                self.kept += 1;
            }
            Some(page) => {
                if let Newest::Is(version) = page.newest {
                    page.older.insert(version, read()?);
                    page.newest = Newest::IsAside;
                    self.kept += 1;
                }
            }
        }
        Ok(())
    }

    /// Records that the present content of `lpn` is on its way to the flash as this version.
    ///
    /// # Errors
    /// If the data cannot be read.
    pub fn is_written(&mut self, lpn: Lpn, version: u64, data: &Data) -> io::Result<()> {
        self.before_change(lpn, data)?;
        if let Some(page) = self.pages.get_mut(&lpn) {
            page.newest = Newest::Is(version);
        }
        Ok(())
    }

    /// `lpn` holds zeroes, being trimmed; what it held was put aside.
    pub fn is_trimmed(&mut self, lpn: Lpn) {
        if let Some(page) = self.pages.get_mut(&lpn) {
            page.without = None;
        }
    }

    /// The power has failed: lets the drive hold what a recovery finds.
    ///
    /// # Errors
    /// If the data cannot be read or written.
    pub fn recover(&mut self, found: &RecoveryFindings, data: &mut Data) -> io::Result<()> {
        self.settled = found.last_version;
        for (lpn, page) in &mut self.pages {
            let version = found.versions[lpn.index()].map(|version| version.max(self.first));
            if version.is_some_and(|version| page.newest == Newest::Is(version)) {
                continue;
            }
            if let Newest::Is(_) = page.newest {
                // It is torn, or was never begun.
                page.newest = Newest::IsAside;
            }
            let content = match version {
                None => &page.without,
                Some(version) => page.older.get(&version).ok_or_else(|| lost(*lpn, version))?,
            };
            let at = u64::from(lpn.0) * self.page_size;
            match content {
                Some(bytes) => data.write(at, bytes)?,
                None => data.zero(at, self.page_size)?,
            }
        }
        Ok(())
    }

    /// Whether so much is kept that some of it can probably go.
    pub const fn is_to_be_swept(&self) -> bool {
        self.kept >= self.sweep_at
    }

    /// Lets go of what cannot come back: the flash does not hold it any more. `last_begun` is the last version of a page that
    /// was ever begun; later ones are still to come there.
    pub fn sweep(
        &mut self,
        held: impl Iterator<Item = (Lpn, u64)>,
        last_begun: impl Fn(Lpn) -> Option<u64>,
    ) {
        let mut still: BTreeMap<Lpn, Vec<u64>> = BTreeMap::new();
        for (lpn, version) in held {
            if self.pages.contains_key(&lpn) {
                still.entry(lpn).or_default().push(version.max(self.first));
            }
        }
        for (lpn, page) in &mut self.pages {
            let mut held = still.remove(lpn).unwrap_or_default();
            held.sort_unstable();
            let gone_until = last_begun(*lpn).unwrap_or_default().max(self.settled);
            page.older
                .retain(|version, _| *version > gone_until || held.binary_search(version).is_ok());
        }
        self.kept = self.pages.values().map(|page| page.older.len()).sum();
        self.sweep_at = FIRST_SWEEP.max(2 * self.kept);
    }
}

/// Reads the present content of a page.
fn content(lpn: Lpn, page_size: u64, data: &Data) -> io::Result<Content> {
    let mut bytes = Vec::new();
    data.read(u64::from(lpn.0) * page_size, page_size as usize, &mut bytes)?;
    let is_zero = bytes.iter().all(|byte| *byte == 0);
    Ok(if is_zero { None } else { Some(bytes.into()) })
}

fn lost(lpn: Lpn, version: u64) -> io::Error {
    io::Error::other(format!("version {version} of {lpn:?} was not kept: a bug of copyback's"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 512;
    const LPN: Lpn = Lpn(1);

    struct Drive {
        data: Data,
        versions: Versions,
    }

    impl Drive {
        fn new() -> Self {
            Self { data: Data::in_memory(), versions: Versions::new(PAGE, 10) }
        }

        fn put(&mut self, byte: u8) {
            self.versions.before_change(LPN, &self.data).unwrap();
            self.data.write(PAGE, &[byte; PAGE as usize]).unwrap();
        }

        fn write(&mut self, byte: u8, version: u64) {
            self.put(byte);
            self.versions.is_written(LPN, version, &self.data).unwrap();
        }

        fn recover(&mut self, version: Option<u64>) -> u8 {
            let found = RecoveryFindings { versions: Box::new([None, version]), last_version: 100 };
            self.versions.recover(&found, &mut self.data).unwrap();
            self.holds()
        }

        fn holds(&self) -> u8 {
            let mut bytes = Vec::new();
            self.data.read(PAGE, 1, &mut bytes).unwrap();
            bytes[0]
        }
    }

    #[test]
    fn what_is_found_is_what_was_written_then() {
        let mut drive = Drive::new();
        drive.put(1);
        assert_eq!(drive.recover(None), 0, "it was in the buffer only");
        drive.write(2, 11);
        drive.write(3, 12);
        drive.put(4);
        assert_eq!(drive.recover(Some(12)), 3);
        assert_eq!(drive.recover(Some(11)), 2);
        assert_eq!(drive.recover(Some(12)), 3, "it may come back as long as the flash holds it");
        assert_eq!(drive.recover(Some(7)), 0, "what was there before the first request");
        drive.write(5, 13);
        assert_eq!(drive.recover(Some(13)), 5);
    }

    #[test]
    fn a_page_that_leaves_the_buffer_has_what_the_buffer_held() {
        let mut drive = Drive::new();
        drive.put(1);
        drive.versions.is_written(LPN, 11, &drive.data).unwrap();
        drive.put(2);
        drive.put(3);
        assert_eq!(drive.recover(Some(11)), 1);
    }

    #[test]
    fn a_trim_may_come_undone() {
        let mut drive = Drive::new();
        drive.write(1, 11);
        drive.write(2, 12);
        drive.versions.before_change(LPN, &drive.data).unwrap();
        drive.data.zero(PAGE, PAGE).unwrap();
        drive.versions.is_trimmed(LPN);
        assert_eq!(drive.holds(), 0);
        assert_eq!(drive.recover(None), 0);
        assert_eq!(drive.recover(Some(11)), 1);
    }

    #[test]
    fn what_the_flash_does_not_hold_any_more_is_let_go_of() {
        let mut drive = Drive::new();
        drive.versions.settled = 0;
        for (byte, version) in [(1, 11), (2, 12), (3, 13), (4, 14), (5, 15)] {
            drive.write(byte, version);
        }
        // The flash holds 11 and 12, 13 was begun last, and 14 waits.
        drive.versions.sweep([(LPN, 11), (LPN, 13)].into_iter(), |_| Some(13));
        assert_eq!(drive.versions.kept, 3);
        assert_eq!(drive.versions.pages[&LPN].older.keys().collect::<Vec<_>>(), [&11, &13, &14]);
    }
}
