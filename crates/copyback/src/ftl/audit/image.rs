//! Image of the flash after a power cut, as the oracle knows it; and the oracle again of a flash that is found
//! so.

use crate::config::Resolved;
use crate::ftl::image::{Block, Image, Page, Saved, Stamp};
use crate::ftl::spare::Spare;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::nand::Geometry;

use super::Audit;

impl Audit {
    /// Image of the flash once everything that has been begun is over; `erases` gives the number of erases of a
    /// block.
    pub fn image(&self, geometry: &Geometry, erases: impl Fn(BlockId) -> u32) -> Image {
        let spare = self.spare.as_ref().expect("kept where power may fail");
        let page = |index| self.found_in(Ppn::from_index(index), spare, geometry);
        let block = |index| {
            let id = BlockId::from_index(index);
            Block { role: spare.role(id), erases: erases(id), is_half_erased: false }
        };
        let translation_pages = (self.entries.len()..self.latest.len()).map(Lpn::from_index);
        let versions = translation_pages.filter_map(|lpn| Some((lpn, self.version(lpn)?)));
        Image {
            geometry: *geometry,
            pages: (0..geometry.pages()).map(page).collect(),
            blocks: (0..geometry.blocks()).map(block).collect(),
            programs: spare.programs(),
            entries: self.entries.clone(),
            entry_versions: versions.collect(),
            saved: None,
        }
    }

    fn found_in(&self, page: Ppn, spare: &Spare, geometry: &Geometry) -> Page {
        let is_programmed = self.next_page[geometry.block_of(page).index()]
            .is_some_and(|next| geometry.page_offset(page) < next);
        match self.contents[page.index()] {
            Some((lpn, version)) => {
                Page::Written(Stamp { lpn, version, sequence: spare.sequence(page) })
            }
            // A place that was left out can still be programmed; what a file of a prepared device does not
            // tell has long been out of date.
            None if is_programmed && (!self.may_leave_out || spare.is_torn(page)) => {
                Page::Unreadable
            }
            None => Page::Erased,
        }
    }

    /// Content of RAM that a drive with capacitors saves.
    pub fn saved(&self, plane_of: impl Fn(Lpn) -> Option<PlaneId>) -> Saved {
        let staged = self.staged.iter();
        Saved {
            is_mapped: self.latest.iter().map(Option::is_some).collect(),
            staged: staged
                .filter_map(|(lpn, version)| Some((*lpn, plane_of(*lpn)?, *version)))
                .collect(),
        }
    }

    /// The flash as a recovery has found it, with each logical page where it is `mapped` to; `erased` says
    /// which blocks have been erased since.
    pub fn of_image(
        config: &Resolved,
        image: &Image,
        mapped: impl Iterator<Item = (Lpn, Ppn)>,
        erased: impl Fn(BlockId) -> bool,
    ) -> Self {
        let geometry = &image.geometry;
        let mut audit = Self::new(config, geometry);
        if let Some(spare) = &mut audit.spare {
            spare.go_on(image.programs);
        }
        for block in image.blocks().filter(|block| !erased(*block)) {
            audit.find(block, image);
        }
        for (lpn, page) in mapped {
            let found = audit.contents[page.index()];
            match found {
                Some((written, version)) if written == lpn => {
                    audit.latest[lpn.index()] = Some((version, page));
                }
                _ => audit.fail(format!("{lpn:?} is recovered at {page:?}, which holds {found:?}")),
            }
        }
        let staged = image.saved.iter().flat_map(|saved| &saved.staged);
        audit.staged.extend(staged.map(|(lpn, _, version)| (*lpn, *version)));
        audit.begin();
        audit
    }

    fn find(&mut self, block: BlockId, image: &Image) {
        self.next_page[block.index()] = Some(image.written(block));
        if image.written(block) == 0 {
            return;
        }
        let Some(spare) = &mut self.spare else { return };
        spare.found_block(block, image.blocks[block.index()].role);
        for page in image.pages_of(block) {
            match image.page(page) {
                Page::Erased => {}
                Page::Unreadable => spare.found_torn(page),
                Page::Written(Stamp { lpn, version, sequence }) => {
                    spare.found(page, sequence);
                    self.contents[page.index()] = Some((lpn, version));
                }
            }
        }
    }
}
