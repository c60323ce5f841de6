//! Commands become page operations.

use std::ops::Range;

use crate::buffer::{Sectors, all_sectors};
use crate::event::Event;
use crate::ids::{CommandId, Lpn, pages_touched, pages_within};
use crate::ssd::{Owner, PageWrite};
use crate::units::Duration;
use crate::workload::Operation;

use super::command::Stage;
use super::{Command, Drive, PageEvent};

/// Place where a page of a command is served.
enum PageSource {
    /// By the flash; the device says when it has ended.
    Flash,
    /// By the buffer, at once.
    Buffer,
    /// By the buffer, when there is room.
    BufferLater,
}

impl Drive {
    /// Splits a command into page operations.
    pub(super) fn dispatch(&mut self, id: CommandId) {
        let operation = self.active(id).command.operation;
        if self.ssd.backend().condition.is_read_only() && self.must_reject(operation) {
            return self.reject(id);
        }
        match operation {
            Operation::Read if self.buffer.is_none() => self.dispatch_to_flash(id),
            Operation::Read => {
                let Command { offset, length, .. } = self.active(id).command;
                self.ssd.read_comes(&pages_of(self.settings.page_size, offset, length));
                self.dispatch_pages(id, Self::read_page);
            }
            Operation::Write => {
                let arrived = self.active(id).arrived();
                self.ssd.write_comes(arrived);
                self.expect_writes(id);
                self.dispatch_pages(id, Self::write_page);
            }
            Operation::Trim => self.trim(id),
            Operation::Flush => self.flush(id),
        }
    }

    /// Brings the entry of the map for the page at `offset` into the cache, without waiting for it.
    #[inline]
    pub fn fetch(&self, offset: u64) {
        let pages = pages_of(self.settings.page_size, offset, 1);
        self.ssd.backend().ftl.prefetch().entry(Lpn(pages.start));
    }

    /// Announces the pages of a write that go straight to the flash.
    #[inline(always)]
    fn expect_writes(&mut self, id: CommandId) {
        if self.buffer.is_none() {
            let Command { offset, length, hint, .. } = self.active(id).command;
            let pages = pages_of(self.settings.page_size, offset, length);
            self.ssd.expect_writes(hint, pages);
        }
    }

    /// Hands in every page of a read whose data can be nowhere but in the flash.
    #[inline]
    fn dispatch_to_flash(&mut self, id: CommandId) {
        let page_size = self.settings.page_size;
        let active = self.active(id);
        let pages = pages_of(page_size, active.command.offset, active.command.length);
        active.pages_left = pages.end - pages.start;
        let late = active.late();
        self.ssd.read_comes(&pages);
        for page in pages {
            self.ssd.read(Owner::Host(id), Lpn(page), late, self.now);
        }
    }

    /// Hands in every page of a command. `hand_in` returns where the page is served.
    fn dispatch_pages(
        &mut self,
        id: CommandId,
        hand_in: impl Fn(&mut Self, CommandId, Lpn, Sectors) -> PageSource,
    ) {
        let page_size = self.settings.page_size;
        let Command { offset, length, .. } = self.active(id).command;
        let pages = pages_of(self.settings.page_size, offset, length);
        self.active(id).pages_left = pages.end - pages.start;
        let mut in_buffer = 0;
        for page in pages {
            let sectors = sectors_of_page(page.into(), page_size, offset, offset + length);
            match hand_in(self, id, Lpn(page), sectors) {
                PageSource::Flash => {}
                PageSource::Buffer => in_buffer += 1,
                PageSource::BufferLater => self.active(id).stage = Stage::Buffered,
            }
        }
        if in_buffer > 0 {
            self.pages_buffered(id, in_buffer);
        }
    }

    fn read_page(&mut self, id: CommandId, lpn: Lpn, sectors: Sectors) -> PageSource {
        if let Some(buffer) = &mut self.buffer
            && buffer.read(lpn, sectors)
        {
            return PageSource::Buffer;
        }
        let late = self.active(id).late();
        self.ssd.read(Owner::Host(id), lpn, late, self.now);
        PageSource::Flash
    }

    fn write_page(&mut self, id: CommandId, lpn: Lpn, sectors: Sectors) -> PageSource {
        let hint = self.active(id).command.hint;
        match &mut self.buffer {
            Some(buffer) => match buffer.write(id, (lpn, hint), sectors, self.now) {
                true => {
                    self.record(|drive| PageEvent::Buffered { by: drive.serves(id), lpn });
                    PageSource::Buffer
                }
                false => PageSource::BufferLater,
            },
            None => {
                self.record(|drive| {
                    let (by, version) =
                        (Some(drive.serves(id)), drive.ssd.scheduler().next_sequence());
                    PageEvent::Written { by, lpn, version }
                });
                let whole = sectors == all_sectors(self.settings.page_size as u32);
                let late = self.active(id).late();
                let page = PageWrite { owner: Owner::Host(id), lpn, hint, whole, late };
                self.ssd.write(page, self.now);
                PageSource::Flash
            }
        }
    }

    /// Pages of a command have found their place in DRAM.
    pub(super) fn pages_buffered(&mut self, id: CommandId, pages: u32) {
        let active = self.active(id);
        active.pages_left -= pages;
        if active.pages_left == 0 {
            active.stage = Stage::Buffered;
            let latency = self.buffer.as_ref().map_or(Duration::ZERO, |buffer| buffer.latency);
            self.agenda.add(self.now + latency, Event::ControllerDone(id));
        }
    }

    /// Forgets every page that the command covers whole.
    fn trim(&mut self, id: CommandId) {
        let page_size = self.settings.page_size;
        let range = self.active(id).command;
        for lpn in pages_within(range.offset..range.offset + range.length, page_size).map(Lpn) {
            if let Some(buffer) = &mut self.buffer {
                buffer.trim(lpn);
            }
            self.ssd.trim(lpn, self.now);
            self.record(|_| PageEvent::Trimmed { lpn });
        }
        self.use_buffer_room();
        self.end(id);
    }

    /// Without a volatile buffer an acknowledged write is durable already. A drive that lies has nothing to do either.
    fn flush(&mut self, id: CommandId) {
        if self.power.is_some() {
            self.note_flush(id);
        }
        let ignores = self.settings.ignores_flushes;
        let nothing_to_do = self.buffer.as_mut().is_none_or(|buffer| ignores || buffer.flush(id));
        if nothing_to_do {
            self.end(id);
        }
    }
}

/// The numbers of the pages of this size that these bytes touch.
pub(super) fn pages_of(page_size: u64, offset: u64, length: u64) -> Range<u32> {
    pages_touched(offset..offset + length, page_size)
}

/// The sectors of `page` that the bytes from `start` to `end` touch.
fn sectors_of_page(page: u64, page_size: u64, start: u64, end: u64) -> Sectors {
    let first_byte = page * page_size;
    if start <= first_byte && first_byte + page_size <= end {
        return all_sectors(page_size as u32);
    }
    let first = start.saturating_sub(first_byte) / 512;
    let last = (end - first_byte).min(page_size).div_ceil(512);
    let below = |sector: u64| if sector >= 64 { Sectors::MAX } else { (1 << sector) - 1 };
    below(last) & !below(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_of_whole_and_partial_pages() {
        assert_eq!(sectors_of_page(0, 4096, 0, 4096), 0xff);
        assert_eq!(sectors_of_page(1, 4096, 512, 10_000), 0xff);
        assert_eq!(sectors_of_page(0, 4096, 512, 1024), 0b10);
        assert_eq!(sectors_of_page(1, 4096, 0, 4097), 0b1);
        assert_eq!(sectors_of_page(2, 4096, 8192 + 3584, 20_000), 0x80);
        assert_eq!(sectors_of_page(0, 32_768, 32_256, 32_768), 1 << 63);
    }
}
