//! An oracle beside the translation layer: what is in every physical page, kept apart from the
//! tables that are checked. Each write carries the order of its submission as its version.

mod image;
mod lost;
mod modes;

use std::collections::BTreeMap;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{BlockId, Lpn, Ppn};
use crate::nand::Geometry;
use crate::placement::HostPage;
use crate::told::Told;

use super::spare::{Role, Spare};

use lost::LostVersions;
use modes::Modes;

/// The contents of the flash, and the last version of every logical page.
#[derive(Debug, Checkpointed)]
pub struct Audit {
    contents: Vec<Option<(Lpn, u64)>>,
    /// The last version of each logical page and where it was put; `None`: never written, or
    /// trimmed.
    latest: Vec<Option<(u64, Ppn)>>,
    /// The page that is being written: its last version is out of date, and the new one has not been told of.
    overwritten: Option<Lpn>,
    /// Versions of the pages in DRAM.
    staged: BTreeMap<Lpn, u64>,
    /// Versions whose data are lost.
    lost: LostVersions,
    /// The next page of each block that may be programmed; `None`: the block is bad.
    next_page: Vec<Option<u32>>,
    /// Place of each of the host's pages, as the translation pages in flash say.
    entries: Vec<Option<Ppn>>,
    /// Whether pages of a block may be left out.
    may_leave_out: bool,
    /// In which cell mode blocks have been programmed, if there are two.
    modes: Option<Modes>,
    /// Kept where power may fail.
    pub spare: Option<Spare>,
    /// Choices since they were last taken, if somebody asks for them.
    told: Option<Vec<Told>>,
    violation: Option<String>,
}

impl Audit {
    /// Whether a checked configuration asks for one, or for what is kept beside it.
    pub fn is_kept(config: &Resolved) -> bool {
        config.audit || config.ssd.power.is_watched()
    }

    /// An erased device of a checked configuration.
    pub fn new(config: &Resolved, geometry: &Geometry) -> Self {
        let mapped_pages = (config.drive.capacity.logical_pages
            + config.drive.capacity.translation_pages) as usize;
        let is_watched = config.ssd.power.is_watched();
        Self {
            contents: vec![None; geometry.pages()],
            latest: vec![None; mapped_pages],
            spare: is_watched.then(|| Spare::new(geometry, mapped_pages)),
            overwritten: None,
            staged: BTreeMap::new(),
            lost: LostVersions::default(),
            next_page: vec![Some(0); geometry.blocks()],
            entries: match config.drive.table {
                Some(_) => vec![None; config.drive.capacity.logical_pages as usize],
                None => Vec::new(),
            },
            may_leave_out: config.ssd.ftl.mapping.has_log_blocks(),
            modes: Modes::new(config, geometry.blocks()),
            told: None,
            violation: None,
        }
    }

    /// A device of which the mapping is known, and how far each block has been `programmed`: each
    /// mapped page holds version 0.
    pub fn of_mapped(
        config: &Resolved,
        geometry: &Geometry,
        mapped: impl Iterator<Item = (Lpn, Ppn)>,
        programmed: impl Iterator<Item = (BlockId, u32)>,
    ) -> Self {
        let mut audit = Self::new(config, geometry);
        for (lpn, page) in mapped {
            audit.contents[page.index()] = Some((lpn, 0));
            audit.latest[lpn.index()] = Some((0, page));
        }
        for (block, pages) in programmed {
            audit.next_page[block.index()] = Some(pages);
        }
        audit
    }

    /// The first violation.
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    #[cold]
    fn fail(&mut self, problem: String) {
        self.violation.get_or_insert(problem);
    }

    /// Tells from now on what is chosen.
    pub fn tell_choices(&mut self) {
        self.told.get_or_insert_default();
    }

    /// Takes what was chosen since the last call.
    pub fn take_told(&mut self) -> Vec<Told> {
        self.told.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Writes down a choice, if somebody asks for it.
    #[cold]
    pub fn tell(&mut self, told: Told) {
        if let Some(all) = &mut self.told {
            all.push(told);
        }
    }

    /// The host is about to write `lpn`. If the version before is the last page of a block that waits for nothing else (of a lost
    /// die), the block goes before the new version is told of.
    #[cold]
    pub fn overwrites(&mut self, lpn: Lpn) {
        self.overwritten = Some(lpn);
    }

    /// Version `version` of `page` is programmed for the host, `to` this page.
    #[cold]
    pub fn written(&mut self, page: HostPage, version: u64, to: (Ppn, Role), geometry: &Geometry) {
        let lpn = page.lpn;
        self.overwritten = None;
        self.tell(Told::Written { lpn, ppn: to.0, hint: page.hint });
        if self.latest[lpn.index()].is_some_and(|(latest, _)| latest >= version) {
            self.fail(format!("version {version} of {lpn:?} is older than the one before it"));
        }
        self.staged.remove(&lpn);
        self.program(to, (lpn, version), geometry);
    }

    /// The content of `from` is programmed into `to`.
    #[cold]
    pub fn moved(&mut self, from: Ppn, to: (Ppn, Role), geometry: &Geometry) {
        match self.contents[from.index()] {
            Some(content) if self.is_home(content, from) => {
                self.tell(Told::Moved { lpn: content.0, from, to: to.0 });
                self.program(to, content, geometry);
            }
            found => self.fail(format!("{from:?} is moved, but holds {found:?}")),
        }
    }

    /// The content of `from` is taken into DRAM.
    pub fn staged(&mut self, from: Ppn) {
        match self.contents[from.index()] {
            Some(content) if self.is_home(content, from) => {
                self.staged.insert(content.0, content.1);
                self.latest[content.0.index()] = None;
            }
            found => self.fail(format!("{from:?} is taken to DRAM, but holds {found:?}")),
        }
    }

    /// The content of `lpn` is programmed from DRAM, `to` this page.
    pub fn programmed_staged(&mut self, lpn: Lpn, to: (Ppn, Role), geometry: &Geometry) {
        match self.staged.remove(&lpn) {
            Some(version) => self.program(to, (lpn, version), geometry),
            None => self.fail(format!("{lpn:?} is programmed from DRAM, but is not there")),
        }
    }

    /// Whether `page` is where the last version of a logical page is.
    fn is_home(&self, (lpn, version): (Lpn, u64), page: Ppn) -> bool {
        self.latest[lpn.index()] == Some((version, page))
    }

    fn program(&mut self, (page, role): (Ppn, Role), content: (Lpn, u64), geometry: &Geometry) {
        let old = self.latest[content.0.index()].map(|(_, page)| geometry.block_of(page));
        if let Some(spare) = &mut self.spare {
            spare.program(page, geometry.block_of(page), role, old);
        }
        self.advance(page, role == Role::Cache, geometry);
        self.contents[page.index()] = Some(content);
        self.latest[content.0.index()] = Some((content.1, page));
    }

    /// `page` is programmed with nothing in it.
    pub fn skipped(&mut self, page: Ppn, is_in_cache: bool, geometry: &Geometry) {
        self.advance(page, is_in_cache, geometry);
    }

    /// `page` is programmed, as the next one of its block.
    fn advance(&mut self, page: Ppn, is_in_cache: bool, geometry: &Geometry) {
        let block = geometry.block_of(page);
        let offset = geometry.page_offset(page);
        let next = self.next_page[block.index()];
        let in_order =
            next.is_some_and(|next| offset == next || self.may_leave_out && offset > next);
        if !in_order || self.contents[page.index()].is_some() {
            self.fail(format!("{page:?} is programmed out of order or twice"));
        }
        self.next_page[block.index()] = Some(offset + 1);
        let modes = self.modes.as_mut();
        let problem = modes.and_then(|modes| modes.program(block, offset, is_in_cache));
        if let Some(problem) = problem {
            self.fail(problem);
        }
    }

    /// `lpn` is trimmed.
    pub fn trimmed(&mut self, lpn: Lpn) {
        let latest = self.latest[lpn.index()].take().map(|(version, _)| version);
        let last = self.staged.remove(&lpn).or(latest);
        if last.is_some() {
            self.tell(Told::Trimmed { lpn });
        }
        if let (Some(spare), Some(last)) = (&mut self.spare, last) {
            spare.trimmed(lpn, last);
        }
    }

    /// The host reads `lpn` from DRAM.
    pub fn read_staged(&mut self, lpn: Lpn) {
        if !self.staged.contains_key(&lpn) {
            self.fail(format!("{lpn:?} is read from DRAM, but is not there"));
        }
    }

    /// The host reads `lpn` from `page`.
    #[cold]
    pub fn read(&mut self, lpn: Lpn, page: Option<Ppn>) {
        let expected = self.latest[lpn.index()].map(|(version, _)| (lpn, version));
        let found = page.and_then(|page| self.contents[page.index()]);
        if expected != found {
            self.fail(format!("read of {lpn:?} from {page:?}: {found:?} instead of {expected:?}"));
        }
    }

    /// Checks that each logical page lies where its last version is, unless that is in DRAM.
    pub fn check_map(&self, place: impl Fn(Lpn) -> Option<Ppn>) -> Result<(), String> {
        for (index, latest) in self.latest.iter().enumerate() {
            let lpn = Lpn::from_index(index);
            let (expected, found) = (latest.map(|(_, page)| page), place(lpn));
            if found != expected {
                return Err(format!("{lpn:?} is at {found:?}, its last version at {expected:?}"));
            }
        }
        Ok(())
    }

    /// A translation page is written. Of each of its entries: the page, where it lies, and whether that
    /// was known in RAM; the others are copied as they were.
    pub fn entries_written(&mut self, entries: impl Iterator<Item = (Lpn, Option<Ppn>, bool)>) {
        for (lpn, page, is_known) in entries {
            if is_known {
                self.entries[lpn.index()] = page;
            }
            self.entry_loaded(lpn, page);
        }
    }

    /// The entry of `lpn`, which lies at `page`, is read from its translation page.
    pub fn entry_loaded(&mut self, lpn: Lpn, page: Option<Ppn>) {
        if let Err(problem) = self.check_entry(lpn, page) {
            self.fail(problem);
        }
    }

    /// Entries that were in flash before anything was audited.
    pub fn entries_restored(&mut self, entries: impl Iterator<Item = (Lpn, Option<Ppn>)>) {
        entries.for_each(|(lpn, page)| self.entries[lpn.index()] = page);
    }

    /// Checks that translation pages hold these entries.
    pub fn check_entries(
        &self,
        mut entries: impl Iterator<Item = (Lpn, Option<Ppn>)>,
    ) -> Result<(), String> {
        entries.try_for_each(|(lpn, page)| self.check_entry(lpn, page))
    }

    fn check_entry(&self, lpn: Lpn, page: Option<Ppn>) -> Result<(), String> {
        let found = self.entries[lpn.index()];
        if found != page {
            return Err(format!("{lpn:?} lies at {page:?}, its translation page says {found:?}"));
        }
        Ok(())
    }

    /// `block` is erased.
    #[cold]
    pub fn erased(&mut self, block: BlockId, geometry: &Geometry) {
        self.tell(Told::Erased { block });
        for offset in 0..geometry.pages_per_block {
            let page = geometry.page(block, offset);
            if let Some(content) = self.contents[page.index()].take()
                && self.is_home(content, page)
                && self.overwritten != Some(content.0)
            {
                self.fail(format!("{block:?} is erased with the last copy of {content:?}"));
            }
        }
        if self.next_page[block.index()].replace(0).is_none() {
            self.fail(format!("{block:?} is erased, but bad"));
        }
        if let Some(modes) = &mut self.modes {
            modes.erased(block);
        }
        if let Some(spare) = &mut self.spare {
            let first = geometry.page(block, 0);
            spare.erased(
                block,
                first..Ppn::from_index(first.index() + geometry.pages_per_block as usize),
            );
        }
    }

    /// The content of `from` is programmed into `to`, at the same offset of a spare block.
    pub fn copied(&mut self, from: Ppn, to: Ppn) {
        match self.contents[from.index()] {
            Some(content) if self.is_home(content, from) && self.contents[to.index()].is_none() => {
                self.contents[to.index()] = Some(content);
                self.latest[content.0.index()] = Some((content.1, to));
            }
            found => self.fail(format!("{from:?} is copied, but holds {found:?}")),
        }
    }

    /// Records that the content of `block` has been copied to `spare`, up to this page.
    pub fn replaced(&mut self, block: BlockId, spare: BlockId, next_page: u32) {
        if self.next_page[spare.index()].replace(next_page) != Some(0) {
            self.fail(format!("{spare:?} replaces {block:?}, but is not erased"));
        }
        if let Some(modes) = &mut self.modes {
            modes.replaced(block, spare);
        }
    }

    /// `block` is bad.
    pub fn retired(&mut self, block: BlockId) {
        self.next_page[block.index()] = None;
    }

    /// The version of `lpn` that a read gets.
    pub fn version(&self, lpn: Lpn) -> Option<u64> {
        let in_flash = self.latest[lpn.index()].map(|(version, _)| version);
        in_flash.or_else(|| self.staged.get(&lpn).copied())
    }

    /// The versions of logical pages that the flash holds, be they out of date.
    pub fn versions_held(&self) -> impl Iterator<Item = (Lpn, u64)> {
        self.contents.iter().flatten().copied()
    }

    /// The last version of `lpn` whose program has begun, be it that the page was trimmed since.
    pub fn last_begun(&self, lpn: Lpn) -> Option<u64> {
        let forgotten = self.spare.as_ref().and_then(|spare| spare.forgotten(lpn));
        self.version(lpn).max(forgotten)
    }

    /// The last version of `lpn` that is in the flash, if that is kept account of.
    pub fn durable_version(&self, lpn: Lpn) -> Option<u64> {
        self.spare.as_ref()?.durable(lpn)
    }

    /// Whether programs under way supersede pages of `block`, so that a cut may make those count again.
    pub fn is_superseded_by_programs(&self, block: BlockId) -> bool {
        self.spare.as_ref().is_some_and(|spare| spare.is_superseded_by_programs(block))
    }

    /// Programs that are not over and supersede pages of `block`, by the pages that they write.
    pub fn superseding(&self, block: BlockId) -> impl Iterator<Item = Ppn> {
        self.spare.iter().flat_map(move |spare| spare.superseding(block))
    }

    /// Pages whose program is not over.
    pub fn in_flight(&self) -> impl Iterator<Item = Ppn> {
        self.spare.iter().flat_map(|spare| spare.in_flight())
    }

    /// From now on programs take time, and the power may fail.
    pub fn begin(&mut self) {
        let versions = (0..self.latest.len()).map(|lpn| self.version(Lpn::from_index(lpn)));
        let versions: Vec<_> = versions.collect();
        if let Some(spare) = &mut self.spare {
            spare.begin(versions.into_iter());
        }
    }

    /// The program of `page` is over. Returns what [`Spare::programmed`] does.
    pub fn programmed(&mut self, page: Ppn) -> Option<BlockId> {
        let content = self.contents[page.index()]?;
        self.spare.as_mut()?.programmed(page, content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Class;
    use crate::test_config::small_drive;

    fn config(changes: &[(&str, &str)]) -> Resolved {
        small_drive(1, 8, &[&[("ssd.ftl.over_provisioning", "0.5")], changes].concat())
    }

    #[test]
    fn it_is_kept_where_somebody_asks_and_where_power_may_fail() {
        let kept = |changes: &[(&str, &str)]| Audit::is_kept(&config(changes));
        assert!(!kept(&[]), "it would take memory and time");
        assert!(kept(&[("audit", "true")]));
        assert!(kept(&[("ssd.power.cuts", "{ type = \"at\", times = [\"1h\"] }")]));
        assert!(kept(&[("ssd.power.protection", "none")]));
    }

    #[test]
    fn the_first_violation_is_told() {
        let config = config(&[("audit", "true")]);
        let geometry = Geometry::new(&config);
        let mut audit = Audit::new(&config, &geometry);
        let page = HostPage::without_hint(Lpn(3));
        let to = |page| (Ppn::from_index(page), Role::Class(Class::new(0)));
        audit.written(page, 5, to(0), &geometry);
        assert_eq!(audit.violation(), None);
        audit.written(page, 4, to(1), &geometry);
        audit.written(page, 3, to(3), &geometry);
        let told = audit.violation().expect("the newer version would be lost");
        assert!(told.starts_with("version 4 of "), "{told}");
    }
}
