//! Pages of an operation, noted for those who follow what the flash does.

use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::ids::Ppn;

/// Operations whose pages are noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Checkpointed)]
pub enum Noted {
    /// No operation.
    Nothing,
    /// Programs.
    Programmed,
    /// Programs, reads and erases.
    Everything,
}

/// Pages of the operation which is about to start.
#[derive(Debug, Checkpointed)]
pub struct NotedPages {
    of: Noted,
    pages: SmallVec<[Ppn; 2]>,
}

impl NotedPages {
    /// No page; those of such operations will be noted.
    pub fn new(of: Noted) -> Self {
        Self { of, pages: SmallVec::new() }
    }

    /// Notes that the operation which is about to start programs `page`.
    #[inline]
    pub fn note_target(&mut self, page: Ppn) {
        if self.of >= Noted::Programmed {
            self.pages.push(page);
        }
    }

    /// Notes that the operation which is about to start reads `page`, or erases from it on.
    #[inline]
    pub fn note(&mut self, page: Ppn) {
        if self.of == Noted::Everything {
            self.pages.push(page);
        }
    }

    /// Takes the pages of the operation which starts now, if it has any.
    #[inline]
    pub fn take(&mut self) -> Option<Box<SmallVec<[Ppn; 2]>>> {
        (!self.pages.is_empty()).then(|| Box::new(std::mem::take(&mut self.pages)))
    }
}
