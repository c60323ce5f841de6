//! How the numbers of a drive are made: planes, blocks and pages count from zero over the whole drive, channel by channel,
//! chip by chip, die by die.

use copyback::config::resolved::Drive;
use copyback::config::{AllocationOrder, Ssd, SummaryPage};

#[derive(Debug, Clone)]
pub struct Shape {
    channels: u32,
    ways: u32,
    dies: u32,
    /// Planes of a die that are managed apart.
    pub planes: u32,
    pub blocks: u32,
    /// Pages of a block, those of summaries included.
    pub pages: u32,
    /// Pages of a block that hold data.
    pub data_pages: u32,
}

impl Shape {
    pub fn new(ssd: &Ssd) -> Self {
        let geometry = &ssd.geometry;
        let summary = u32::from(ssd.ftl.summary_page != SummaryPage::None);
        Self {
            channels: geometry.channels,
            ways: geometry.chips_per_channel,
            dies: geometry.dies_per_chip,
            planes: Drive::of(ssd).shape.planes_per_die,
            blocks: geometry.blocks_per_plane,
            pages: geometry.pages_per_block,
            data_pages: geometry.pages_per_block - summary,
        }
    }

    pub const fn all_planes(&self) -> u32 {
        self.channels * self.ways * self.dies * self.planes
    }

    pub const fn all_blocks(&self) -> u32 {
        self.all_planes() * self.blocks
    }

    pub const fn block_of(&self, ppn: u32) -> u32 {
        ppn / self.pages
    }

    pub const fn plane_of(&self, block: u32) -> u32 {
        block / self.blocks
    }

    pub const fn die_of(&self, plane: u32) -> u32 {
        plane / self.planes
    }

    pub fn planes_of_die(&self, die: u32) -> Vec<u32> {
        (die * self.planes..(die + 1) * self.planes).collect()
    }

    pub fn blocks_of(&self, plane: u32) -> Vec<u32> {
        (plane * self.blocks..(plane + 1) * self.blocks).collect()
    }

    /// Where a logical page lies whose address goes round the levels in this order, the first letter fastest.
    pub fn plane_in_order(&self, lpn: u32, order: AllocationOrder) -> u32 {
        self.along(lpn, order.letters())
    }

    /// As [`plane_in_order`](Self::plane_in_order), down to the die.
    pub fn die_in_order(&self, lpn: u32, order: AllocationOrder) -> u32 {
        let letters: String = order.letters().chars().filter(|letter| *letter != 'P').collect();
        self.along(lpn, &letters) / self.planes
    }

    fn along(&self, lpn: u32, letters: &str) -> u32 {
        let (mut rest, mut place) = (lpn, [0; 4]);
        for letter in letters.chars() {
            let (level, count) = match letter {
                'C' => (0, self.channels),
                'W' => (1, self.ways),
                'D' => (2, self.dies),
                _ => (3, self.planes),
            };
            place[level] = rest % count;
            rest /= count;
        }
        let [channel, way, die, plane] = place;
        ((channel * self.ways + way) * self.dies + die) * self.planes + plane
    }
}
