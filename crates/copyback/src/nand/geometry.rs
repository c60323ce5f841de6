//! Shape of the flash array, and the only place where identifiers are converted.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{BlockId, ChannelId, DieId, PlaneId, Ppn, ProgramId, planes_in};

use super::Divisor;

/// Shape of the flash array. Identifiers run channel by channel, chip by chip, die by die, plane by
/// plane, block by block, page by page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Geometry {
    /// Channels of the device.
    pub channels: u32,
    /// Chips on a channel.
    pub chips_per_channel: u32,
    /// Dies in a chip.
    pub dies_per_chip: u32,
    /// Planes in a die.
    pub planes_per_die: u32,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// User bytes in a page.
    pub page_size: u32,
    /// Number of the chips' planes that are striped into each plane of this shape; with more than one, a page
    /// is one page of each.
    pub striped_planes: u32,
    /// Number of pages that are programmed together; more than one if they are units of mapping, several of
    /// which make a page of the chips.
    pub units_per_program: u32,
    by: Divisors,
}

/// Numbers of a shape that identifiers are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
struct Divisors {
    dies_of_channel: Divisor,
    planes_of_die: Divisor,
    blocks_of_plane: Divisor,
    pages_of_block: Divisor,
    pages_of_program: Divisor,
}

/// A plane by its coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// Channel of the device.
    pub channel: u32,
    /// Chip (way) on the channel.
    pub chip: u32,
    /// Die in the chip.
    pub die: u32,
    /// Plane in the die.
    pub plane: u32,
}

/// Location of a physical page: the plane and offset that multi-plane rules look at.
#[derive(Debug, Clone, Copy)]
pub struct Located {
    /// Plane of the page.
    pub plane: PlaneId,
    /// Page offset in its block.
    pub offset: u32,
}

impl Geometry {
    /// The shape that a checked configuration describes.
    pub fn new(config: &Resolved) -> Self {
        let (geometry, drive) = (&config.ssd.geometry, &config.drive);
        let dies = [geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip];
        let planes = drive.shape.planes_per_die;
        let blocks = [planes, geometry.blocks_per_plane, drive.pages.per_block as u32];
        Self {
            page_size: drive.pages.size.0 as u32,
            striped_planes: drive.shape.striped_planes,
            ..Self::of(dies, blocks, drive.pages.per_program)
        }
    }

    /// The shape of so many channels, chips on each and dies in each, of planes in a die, blocks in a plane and pages
    /// in a block, of which so many are programmed together. Its pages have 4 KiB.
    pub const fn of(dies: [u32; 3], blocks: [u32; 3], units_per_program: u32) -> Self {
        let [channels, chips_per_channel, dies_per_chip] = dies;
        let [planes_per_die, blocks_per_plane, pages_per_block] = blocks;
        Self {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            page_size: 4096,
            striped_planes: 1,
            units_per_program,
            by: Divisors {
                dies_of_channel: Divisor::new(chips_per_channel * dies_per_chip),
                planes_of_die: Divisor::new(planes_per_die),
                blocks_of_plane: Divisor::new(blocks_per_plane),
                pages_of_block: Divisor::new(pages_per_block),
                pages_of_program: Divisor::new(units_per_program),
            },
        }
    }

    /// Dies of the device.
    pub const fn dies(&self) -> usize {
        (self.channels * self.chips_per_channel * self.dies_per_chip) as usize
    }

    /// Planes of the device.
    pub const fn planes(&self) -> usize {
        self.dies() * self.planes_per_die as usize
    }

    /// Erase blocks of the device.
    pub const fn blocks(&self) -> usize {
        self.planes() * self.blocks_per_plane as usize
    }

    /// All erase blocks, in order.
    pub fn all_blocks(
        &self,
    ) -> impl DoubleEndedIterator<Item = BlockId> + ExactSizeIterator + use<> {
        (0..self.blocks()).map(BlockId::from_index)
    }

    /// Physical pages of the device.
    pub const fn pages(&self) -> usize {
        self.blocks() * self.pages_per_block as usize
    }

    /// The plane at `address`.
    pub const fn plane(&self, address: Address) -> PlaneId {
        let chip = address.channel * self.chips_per_channel + address.chip;
        let die = chip * self.dies_per_chip + address.die;
        PlaneId(die * self.planes_per_die + address.plane)
    }

    /// The channel that `die` is on.
    pub const fn channel_of_die(&self, die: DieId) -> ChannelId {
        ChannelId(self.by.dies_of_channel.quotient(die.0))
    }

    /// The die that `plane` is in.
    pub const fn die_of_plane(&self, plane: PlaneId) -> DieId {
        DieId(self.by.planes_of_die.quotient(plane.0))
    }

    /// The position of `plane` in its die.
    #[inline(always)]
    pub const fn plane_in_die(&self, plane: PlaneId) -> u32 {
        self.by.planes_of_die.remainder(plane.0)
    }

    /// The bit of `plane` in the masks of its die.
    #[inline(always)]
    pub const fn bit(&self, plane: PlaneId) -> u32 {
        1 << self.plane_in_die(plane)
    }

    /// The planes of `die` whose bits are set in `mask`.
    pub fn planes_in(&self, mask: u32, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        planes_in(mask, die, self.planes_per_die)
    }

    /// The plane and the offset of `page`.
    #[inline(always)]
    pub const fn locate(&self, page: Ppn) -> Located {
        Located { plane: self.plane_of(page), offset: self.page_offset(page) }
    }

    /// The first plane of `die`; its planes follow one another.
    pub const fn first_plane(&self, die: DieId) -> PlaneId {
        PlaneId(die.0 * self.planes_per_die)
    }

    /// The planes of `die`.
    pub fn planes_of_die(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = die.0 * self.planes_per_die;
        (first..first + self.planes_per_die).map(PlaneId)
    }

    /// The plane that `block` is in.
    pub const fn plane_of_block(&self, block: BlockId) -> PlaneId {
        PlaneId(self.by.blocks_of_plane.quotient(block.0))
    }

    /// The blocks of `plane`.
    pub fn blocks_of_plane(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + use<> {
        let first = plane.0 * self.blocks_per_plane;
        (first..first + self.blocks_per_plane).map(BlockId)
    }

    /// The position of `block` in its plane.
    pub const fn block_in_plane(&self, block: BlockId) -> u32 {
        self.by.blocks_of_plane.remainder(block.0)
    }

    /// The block that `page` is in.
    pub const fn block_of(&self, page: Ppn) -> BlockId {
        BlockId(self.by.pages_of_block.quotient(page.index() as u32))
    }

    /// The position of `page` in its block.
    pub const fn page_offset(&self, page: Ppn) -> u32 {
        self.by.pages_of_block.remainder(page.index() as u32)
    }

    /// The plane that `page` is in.
    #[inline(always)]
    pub const fn plane_of(&self, page: Ppn) -> PlaneId {
        self.plane_of_block(self.block_of(page))
    }

    /// Pages that a page counts as: one of each striped plane, or one if it is a unit of mapping.
    pub const fn counted_pages(&self) -> u32 {
        if self.units_per_program > 1 { 1 } else { self.striped_planes }
    }

    /// Whether the page at `offset` of its block is the last of those that are programmed together.
    #[inline]
    pub const fn ends_program(&self, offset: u32) -> bool {
        // Where pages are mapped whole, nothing is to be divided.
        self.units_per_program == 1 || self.by.pages_of_program.remainder(offset + 1) == 0
    }

    /// Whether the page at `offset` of its block is the first of those that are programmed together.
    pub const fn begins_program(&self, offset: u32) -> bool {
        self.by.pages_of_program.remainder(offset) == 0
    }

    /// The program that writes `page`.
    pub const fn program_of(&self, page: Ppn) -> ProgramId {
        ProgramId(self.by.pages_of_program.quotient(page.index() as u32))
    }

    /// The pages that `program` writes.
    pub fn pages_of_program(&self, program: ProgramId) -> impl Iterator<Item = Ppn> + use<> {
        let first = program.index() * self.units_per_program as usize;
        (first..first + self.units_per_program as usize).map(Ppn::from_index)
    }

    /// The plane that `program` writes to.
    pub const fn plane_of_program(&self, program: ProgramId) -> PlaneId {
        self.plane_of(Ppn::from_index(program.index() * self.units_per_program as usize))
    }

    /// The program whose last page `page` is, if it is the last of one.
    pub fn program_ended_by(&self, page: Ppn) -> Option<ProgramId> {
        self.ends_program(self.page_offset(page)).then(|| self.program_of(page))
    }

    /// The die that `program` is done in.
    pub const fn die_of_program(&self, program: ProgramId) -> DieId {
        let first = Ppn::from_index(program.index() * self.units_per_program as usize);
        self.die_of_plane(self.plane_of(first))
    }

    /// The programs of `die`, which follow one another.
    pub const fn programs_of_die(&self, die: DieId) -> std::ops::Range<ProgramId> {
        let of_plane = self.blocks_per_plane * (self.pages_per_block / self.units_per_program);
        let of_die = self.planes_per_die * of_plane;
        ProgramId(die.0 * of_die)..ProgramId((die.0 + 1) * of_die)
    }

    /// The page at `offset` of `block`.
    pub const fn page(&self, block: BlockId, offset: u32) -> Ppn {
        Ppn::from_index((block.0 * self.pages_per_block + offset) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Geometry = Geometry::of([2, 3, 2], [4, 5, 7], 1);

    #[test]
    fn every_page_converts_to_its_place_and_back() {
        let mut index = 0;
        for channel in 0..2 {
            for chip in 0..3 {
                for die in 0..2 {
                    for plane in 0..4 {
                        let id = SHAPE.plane(Address { channel, chip, die, plane });
                        let die_id = SHAPE.die_of_plane(id);
                        assert_eq!(SHAPE.channel_of_die(die_id), ChannelId(channel));
                        for block in SHAPE.blocks_of_plane(id) {
                            for offset in 0..7 {
                                let page = SHAPE.page(block, offset);
                                assert_eq!(page.index(), index);
                                assert_eq!(SHAPE.block_of(page), block);
                                assert_eq!(SHAPE.page_offset(page), offset);
                                assert_eq!(SHAPE.plane_of(page), id);
                                index += 1;
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(index, SHAPE.pages());
    }
}
