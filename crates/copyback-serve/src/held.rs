//! Data of the drive: by answers, or by the versions of its pages.
//!
//! Of a drive that loses nothing with its power the data change when a request is answered. Of one that does they
//! change as the simulated drive takes them: then it is known what it holds after a cut.

use std::io;
use std::ops::Range;

use copyback::embedded::{Embedded, PageEvent, RecoveryFindings};
use copyback::ids::Lpn;

use crate::asks::Effect;
use crate::data::Data;
use crate::versions::Versions;

/// Data of a drive, with what a cut of power may bring back.
#[derive(Debug)]
pub struct Held {
    data: Data,
    page_size: u64,
    /// Earlier content of pages, if a cut of power may bring that back.
    versions: Option<Versions>,
    /// Error with data that no request waits for.
    trouble: Option<io::Error>,
}

impl Held {
    /// Data that change with answers.
    pub const fn as_answered(data: Data, page_size: u64) -> Self {
        Self { data, page_size, versions: None, trouble: None }
    }

    /// Data that change with the versions of pages, all of which are up to `first` so far.
    pub const fn by_version(data: Data, page_size: u64, first: u64) -> Self {
        Self { data, page_size, versions: Some(Versions::new(page_size, first)), trouble: None }
    }

    /// Present data.
    pub const fn data(&self) -> &Data {
        &self.data
    }

    /// Records an error with data that no request waits for: it is reported with the next recovery.
    pub fn note(&mut self, error: io::Error) {
        self.trouble.get_or_insert(error);
    }

    /// A request is about to be answered.
    ///
    /// # Errors
    /// If the data cannot be written.
    pub fn answered(&mut self, effect: &Effect) -> io::Result<()> {
        if self.versions.is_some() {
            return Ok(());
        }
        match effect {
            Effect::Write { offset, data } => self.data.write(*offset, data),
            Effect::Zero { offset, length } => self.data.zero(*offset, *length),
            Effect::Trim { offset, length } => {
                let page = self.page_size;
                let (first, last) =
                    (offset.next_multiple_of(page), (offset + length) / page * page);
                self.data.zero(first, last.saturating_sub(first))
            }
            Effect::Read { .. } | Effect::Flush => Ok(()),
        }
    }

    /// Follows an event of a page. `effect` is what the request does that writes to it, if somebody still waits
    /// for that.
    ///
    /// # Errors
    /// If the data cannot be read or written.
    pub fn follow(&mut self, event: &PageEvent, effect: Option<&Effect>) -> io::Result<()> {
        let Some(versions) = &mut self.versions else { return Ok(()) };
        let (PageEvent::Buffered { lpn, .. }
        | PageEvent::Written { lpn, .. }
        | PageEvent::Trimmed { lpn }) = *event
        else {
            return Ok(());
        };
        let page = self.page_size * u64::from(lpn.0)..self.page_size * (u64::from(lpn.0) + 1);
        // What leaves the buffer as it is changes nothing.
        let changed = match event {
            PageEvent::Trimmed { .. } => {
                versions.before_change(lpn, &self.data)?;
                versions.is_trimmed(lpn);
                self.data.zero(page.start, self.page_size)
            }
            _ => match effect {
                Some(effect) => {
                    versions.before_change(lpn, &self.data)?;
                    change(&mut self.data, effect, page)
                }
                None => Ok(()),
            },
        };
        if let PageEvent::Written { version, .. } = event {
            versions.is_written(lpn, *version, &self.data)?;
        }
        changed
    }

    /// The power has failed, and a recovery finds these versions.
    ///
    /// # Errors
    /// If the data cannot be read or written, or could not since the last one.
    pub fn recover(&mut self, found: &RecoveryFindings) -> io::Result<()> {
        match (self.trouble.take(), &mut self.versions) {
            (Some(error), _) => Err(error),
            (None, Some(versions)) => versions.recover(found, &mut self.data),
            (None, None) => Ok(()),
        }
    }

    /// Lets go of what cannot come back, if there may be much of it.
    pub fn sweep(&mut self, drive: &Embedded) {
        if let Some(versions) = &mut self.versions
            && versions.is_to_be_swept()
        {
            versions.sweep(drive.versions_held(), |lpn: Lpn| drive.last_begun(lpn));
        }
    }
}

/// Writes to the `page` what an effect does to it.
fn change(data: &mut Data, effect: &Effect, page: Range<u64>) -> io::Result<()> {
    let part = |offset: u64, length: u64| offset.max(page.start)..(offset + length).min(page.end);
    match effect {
        Effect::Write { offset, data: bytes } => {
            let part = part(*offset, bytes.len() as u64);
            let of_bytes = (part.start - offset) as usize..(part.end - offset) as usize;
            data.write(part.start, &bytes[of_bytes])
        }
        Effect::Zero { offset, length } => {
            let part = part(*offset, *length);
            data.zero(part.start, part.end - part.start)
        }
        Effect::Read { .. } | Effect::Trim { .. } | Effect::Flush => Ok(()),
    }
}
