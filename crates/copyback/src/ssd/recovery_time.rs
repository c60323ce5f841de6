//! Time that a drive takes to find its mapping again. Dies read at the same time, and those of a channel share
//! it; the channel or die that takes longest decides.

use crate::config::{Resolved, SummaryPage};
use crate::ftl::{Ftl, Image, Scan};
use crate::ids::{BlockId, DieId, Lpn};
use crate::nand::{Geometry, Timing, transfer_time};
use crate::units::Duration;

/// Bytes of a saved entry of the mapping.
const ENTRY: u64 = 4;

/// Duration of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryTime {
    /// Duration of the transfer.
    pub time: Duration,
    /// Pages that are read, if only in part.
    pub pages_read: u64,
}

/// Work of each die in a recovery.
struct Work<'a> {
    geometry: &'a Geometry,
    timing: Timing,
    dies: Vec<DieWork>,
}

#[derive(Debug, Clone, Copy, Default)]
struct DieWork {
    array: Duration,
    bus: Duration,
    erases: Duration,
    pages_read: u64,
}

impl RecoveryTime {
    /// Without protection: the spare areas are read. Of a block that is full only the summary page, if it
    /// has one; of another every page up to the first that is erased. A table in flash is read as a whole on
    /// top, to see what of it must be written anew.
    pub fn of_scan(config: &Resolved, ftl: &Ftl, image: &Image, scan: &Scan) -> Self {
        let (ssd, drive) = (&config.ssd, &config.drive);
        let transfer = |bytes: u64| transfer_time(bytes, ssd.timing.transfer_rate);
        let metadata = transfer(ssd.power.metadata.0 * u64::from(drive.shape.striped_planes));
        let mut work = Work::new(config, ftl.geometry());
        let data_pages = drive.pages.data_per_block as u32;
        let cache_pages = drive.slc.as_ref().map_or(0, |slc| slc.pages_per_block);
        for block in image.blocks() {
            let die = work.geometry.die_of_plane(work.geometry.plane_of_block(block));
            let written = image.written(block);
            if image.is_in_cache(block) {
                for offset in 0..(written + 1).min(cache_pages) {
                    work.read_in_cache(die, offset, metadata);
                }
                continue;
            }
            let last = work.geometry.pages_per_block - 1;
            if let SummaryPage::LastPage { transfer: bytes } = ssd.ftl.summary_page {
                work.read(die, last, transfer(bytes.0));
                if written == data_pages {
                    continue;
                }
            }
            // One page further than is written, to see that it is erased.
            for offset in 0..=written.min(last) {
                work.read(die, offset, metadata);
            }
        }
        let page = work.timing.page_transfer;
        for lpn in ftl.limits().logical_pages()
            ..ftl.limits().logical_pages() + ftl.limits().translation_pages()
        {
            if let Some(found) = ftl.lookup(Lpn::from_index(lpn)) {
                let die = work.geometry.die_of_plane(work.geometry.plane_of(found));
                work.read(die, work.geometry.page_offset(found), page);
            }
        }
        work.total(image, scan)
    }

    /// With capacitors: what they have saved is read back, from all dies alike. These are the mapping, and
    /// the pages of the write buffer and those on their way from one block to another.
    pub fn of_saved(
        config: &Resolved,
        ftl: &Ftl,
        buffered_pages: u64,
        (image, scan): (&Image, &Scan),
    ) -> Self {
        let mut work = Work::new(config, ftl.geometry());
        let entries = (ftl.limits().logical_pages() + ftl.limits().translation_pages()) as u64;
        let table = (entries * ENTRY).div_ceil(u64::from(ftl.geometry().page_size));
        let pages = table + buffered_pages + ftl.staged().len() as u64;
        let units = u64::from(ftl.geometry().units_per_program);
        let together = work.timing.page_transfer * units;
        for number in 0..pages.div_ceil(units) {
            let die = DieId::from_index((number % ftl.geometry().dies() as u64) as usize);
            work.read(die, 0, together);
        }
        work.total(image, scan)
    }
}

impl<'a> Work<'a> {
    fn new(config: &Resolved, geometry: &'a Geometry) -> Self {
        let timing = Timing::new(config);
        Self { geometry, timing, dies: vec![DieWork::default(); geometry.dies()] }
    }

    fn read(&mut self, die: DieId, offset: u32, transfer: Duration) {
        self.read_in(self.timing.read(offset), die, offset, transfer);
    }

    fn read_in_cache(&mut self, die: DieId, offset: u32, transfer: Duration) {
        let array = self.timing.cache.map_or(Duration::ZERO, |cache| cache.read);
        self.read_in(array, die, offset, transfer);
    }

    /// A page is read, in so long a time. An array read of the first of pages that are programmed together brings all of them.
    fn read_in(&mut self, array: Duration, die: DieId, offset: u32, transfer: Duration) {
        let work = &mut self.dies[die.index()];
        if self.geometry.begins_program(offset) {
            work.array += array;
        }
        work.bus += self.timing.command + transfer;
        work.pages_read += 1;
    }

    /// Erase of `block`, in its cell mode.
    fn erase(&self, image: &Image, block: BlockId) -> Duration {
        match self.timing.cache {
            Some(cache) if image.is_in_cache(block) => cache.erase,
            _ => self.timing.erase,
        }
    }

    fn total(mut self, image: &Image, scan: &Scan) -> RecoveryTime {
        for block in &scan.erased {
            let die = self.geometry.die_of_plane(self.geometry.plane_of_block(*block));
            let erase = self.erase(image, *block);
            self.dies[die.index()].erases += erase;
        }
        let mut buses = vec![Duration::ZERO; self.geometry.channels as usize];
        for (die, work) in self.dies.iter().enumerate() {
            buses[self.geometry.channel_of_die(DieId::from_index(die)).index()] += work.bus;
        }
        let slowest = self.dies.iter().map(|work| work.array + work.bus).max();
        let busiest = buses.into_iter().max();
        let erases = self.dies.iter().map(|work| work.erases).max();
        RecoveryTime {
            time: slowest.max(busiest).unwrap_or_default() + erases.unwrap_or_default(),
            pages_read: self.dies.iter().map(|work| work.pages_read).sum(),
        }
    }
}
