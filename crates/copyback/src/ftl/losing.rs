//! Pages are lost, or wait for the others of their stripes.

use crate::ids::Ppn;

use super::{Ftl, Tables};

impl Ftl {
    /// A move reads `page` in vain. Returns whether it is made up from the others of its stripe, for which the move
    /// [waits](super::units::Collected::waits_for_stripe); else it is lost with the move.
    pub fn reads_in_vain_to_move(&mut self, page: Ppn) -> bool {
        let Tables { manager, units, .. } = &mut self.tables;
        let is_made_up = !manager.lost_pages.is_marked(page)
            && units.lines_mut().is_some_and(|lines| lines.wait_for_stripe(manager, page));
        if !is_made_up {
            self.cannot_read_to_move(page);
        }
        is_made_up
    }

    /// A page that waited for its stripe has been made up, or cannot be.
    pub fn stripe_was_read(&mut self, page: Ppn, is_made_up: bool) {
        if !is_made_up {
            self.cannot_read_to_move(page);
        }
        let plane = self.geometry.plane_of(page);
        if let Some(lines) = self.tables.units.lines_mut() {
            lines.collected_mut().page_is_made_up(page, plane);
        }
    }

    /// `page` is lost as it is moved, or copied inside the flash with what could not be read.
    pub fn cannot_read_to_move(&mut self, page: Ppn) {
        if self.is_of_host(page) {
            self.tables.manager.lost_pages.note_unreadable(page);
        }
    }

    /// Marks the content of `page` as lost: it cannot be reconstructed, or is the rest of a page of which the
    /// host has written a part. Returns whether it is lost.
    pub fn lose(&mut self, page: Ppn) -> bool {
        let is_of_host = self.is_of_host(page);
        if is_of_host {
            self.tables.manager.lost_pages.mark(page);
            if let Some(audit) = &mut self.tables.manager.audit {
                audit.lost_in(page);
            }
        }
        is_of_host
    }

    /// Whether `page` holds data of the host: what is in a translation page the drive knows from elsewhere.
    fn is_of_host(&self, page: Ppn) -> bool {
        !self.limits.is_translation_page(self.logical(page))
    }
}
