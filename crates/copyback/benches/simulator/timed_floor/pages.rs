//! The page map of a drive, and greedy victims.

use copyback_memory::{prefetch, table};

const NONE: u32 = u32::MAX;

/// Shape of a drive's flash.
#[derive(Clone, Copy)]
pub struct Shape {
    pub planes: u32,
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    /// Free blocks below which a plane collects.
    pub least_free: u32,
}

/// Open block of a plane: where the next page goes.
#[derive(Clone, Copy)]
struct Frontier {
    block: u32,
    offset: u32,
}

impl Frontier {
    const CLOSED: Self = Self { block: NONE, offset: 0 };

    fn is_closed(self) -> bool {
        self.block == NONE
    }
}

#[derive(Clone, Copy)]
struct Plane {
    /// Free blocks, a ring: where the first one is, and how many there are.
    first_free: u32,
    free: u32,
    /// Place of the host's next page.
    host: Frontier,
    /// Place of the next page that is moved.
    moves: Frontier,
    /// No block has fewer valid pages.
    least_valid: u32,
}

/// State of a block: its valid pages, and its neighbours in the list of blocks with as many.
#[derive(Clone, Copy)]
struct Block {
    valid: u32,
    next: u32,
    previous: u32,
}

/// Writer of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Host,
    Collection,
}

/// Tables of a drive.
pub struct Pages {
    shape: Shape,
    physical: Vec<u32>,
    logical: Vec<u32>,
    blocks: Vec<Block>,
    planes: Vec<Plane>,
    /// Free blocks of each plane.
    free: Vec<u32>,
    /// First full block of each plane with each number of valid pages.
    heads: Vec<u32>,
    /// Pages moved so far.
    pub moved: u64,
}

impl Pages {
    /// Creates the tables of an erased drive with so many logical pages.
    pub fn new(shape: Shape, logical_pages: u32) -> Self {
        let blocks = shape.planes * shape.blocks_per_plane;
        let plane = Plane {
            first_free: 0,
            free: shape.blocks_per_plane,
            host: Frontier::CLOSED,
            moves: Frontier::CLOSED,
            least_valid: shape.pages_per_block,
        };
        Self {
            shape,
            physical: table(logical_pages as usize, NONE),
            logical: table((blocks * shape.pages_per_block) as usize, NONE),
            blocks: table(blocks as usize, Block { valid: 0, next: NONE, previous: NONE }),
            planes: vec![plane; shape.planes as usize],
            free: (0..blocks).collect(),
            heads: vec![NONE; (shape.planes * (shape.pages_per_block + 1)) as usize],
            moved: 0,
        }
    }

    /// Pages of the logical space.
    pub fn logical_pages(&self) -> u32 {
        self.physical.len() as u32
    }

    /// Pages of the flash.
    pub fn physical_pages(&self) -> usize {
        self.logical.len()
    }

    /// Fetches the entry of the map for a page.
    #[inline]
    pub fn fetch(&self, lpn: u32) {
        prefetch(&self.physical, lpn as usize);
    }

    /// Fetches what an overwrite of a page changes.
    #[inline]
    pub fn fetch_old(&self, lpn: u32) {
        let page = self.physical[lpn as usize];
        prefetch(&self.logical, page as usize);
        prefetch(&self.blocks, (page / self.shape.pages_per_block) as usize);
    }

    /// The plane of a page.
    #[inline]
    pub fn plane(&self, lpn: u32) -> u32 {
        self.physical[lpn as usize] / self.shape.pages_per_block / self.shape.blocks_per_plane
    }

    /// The offset of a page in its block.
    #[inline]
    pub fn offset(&self, lpn: u32) -> u32 {
        self.physical[lpn as usize] % self.shape.pages_per_block
    }

    /// The offset at which the host's next page of a plane goes.
    #[inline]
    pub fn next_offset(&self, plane: u32) -> u32 {
        let host = self.planes[plane as usize].host;
        if host.is_closed() { 0 } else { host.offset }
    }

    /// Whether the host can write to a plane; the last free block is for moves.
    #[inline]
    pub fn has_room(&self, plane: u32) -> bool {
        let plane = &self.planes[plane as usize];
        !plane.host.is_closed() || plane.free > 1
    }

    /// Whether a plane must collect.
    #[inline]
    pub fn is_short(&self, plane: u32) -> bool {
        self.planes[plane as usize].free < self.shape.least_free
    }

    /// Writes a page of the host to a plane.
    #[inline]
    pub fn write(&mut self, plane: u32, lpn: u32) {
        let old = self.physical[lpn as usize];
        if old != NONE {
            self.invalidate(old);
        }
        self.append(plane, lpn, Writer::Host);
    }

    /// Collects the block of a plane with fewest valid pages. Returns how many of them moved.
    pub fn collect(&mut self, plane: u32) -> u64 {
        let victim = self.victim(plane);
        self.unlink(plane, victim);
        let before = self.moved;
        if self.blocks[victim as usize].valid > 0 {
            let first = victim * self.shape.pages_per_block;
            for page in first..first + self.shape.pages_per_block {
                let lpn = std::mem::replace(&mut self.logical[page as usize], NONE);
                if lpn != NONE {
                    self.append(plane, lpn, Writer::Collection);
                    self.moved += 1;
                }
            }
        }
        self.blocks[victim as usize].valid = 0;
        self.release(plane, victim);
        self.moved - before
    }

    fn victim(&mut self, plane: u32) -> u32 {
        let first = plane * (self.shape.pages_per_block + 1);
        let least = &mut self.planes[plane as usize].least_valid;
        while self.heads[(first + *least) as usize] == NONE {
            *least += 1;
        }
        self.heads[(first + *least) as usize]
    }

    fn release(&mut self, plane: u32, block: u32) {
        let blocks = self.shape.blocks_per_plane;
        let known = &mut self.planes[plane as usize];
        let position = (known.first_free + known.free) % blocks;
        known.free += 1;
        self.free[(plane * blocks + position) as usize] = block;
    }

    fn take_free(&mut self, plane: u32) -> u32 {
        let blocks = self.shape.blocks_per_plane;
        let known = &mut self.planes[plane as usize];
        let block = self.free[(plane * blocks + known.first_free) as usize];
        known.first_free = (known.first_free + 1) % blocks;
        known.free -= 1;
        block
    }

    #[inline]
    fn append(&mut self, plane: u32, lpn: u32, writer: Writer) {
        if self.frontier(plane, writer).is_closed() {
            let block = self.take_free(plane);
            *self.frontier(plane, writer) = Frontier { block, offset: 0 };
        }
        let pages = self.shape.pages_per_block;
        let open = self.frontier(plane, writer);
        let (block, page) = (open.block, open.block * pages + open.offset);
        open.offset += 1;
        let is_full = open.offset == pages;
        if is_full {
            *open = Frontier::CLOSED;
        }
        self.physical[lpn as usize] = page;
        self.logical[page as usize] = lpn;
        self.blocks[block as usize].valid += 1;
        if is_full {
            self.link(plane, block);
        }
    }

    #[inline]
    fn frontier(&mut self, plane: u32, writer: Writer) -> &mut Frontier {
        let plane = &mut self.planes[plane as usize];
        match writer {
            Writer::Host => &mut plane.host,
            Writer::Collection => &mut plane.moves,
        }
    }

    #[inline]
    fn invalidate(&mut self, page: u32) {
        let block = page / self.shape.pages_per_block;
        let plane = block / self.shape.blocks_per_plane;
        self.logical[page as usize] = NONE;
        let Plane { host, moves, .. } = self.planes[plane as usize];
        let is_full = block != host.block && block != moves.block;
        if is_full {
            self.unlink(plane, block);
        }
        self.blocks[block as usize].valid -= 1;
        if is_full {
            self.link(plane, block);
        }
    }

    #[inline]
    fn link(&mut self, plane: u32, block: u32) {
        let valid = self.blocks[block as usize].valid;
        let head = &mut self.heads[(plane * (self.shape.pages_per_block + 1) + valid) as usize];
        let next = std::mem::replace(head, block);
        let known = &mut self.blocks[block as usize];
        (known.next, known.previous) = (next, NONE);
        if next != NONE {
            self.blocks[next as usize].previous = block;
        }
        let least = &mut self.planes[plane as usize].least_valid;
        *least = valid.min(*least);
    }

    #[inline]
    fn unlink(&mut self, plane: u32, block: u32) {
        let Block { valid, next, previous } = self.blocks[block as usize];
        if next != NONE {
            self.blocks[next as usize].previous = previous;
        }
        if previous == NONE {
            let head = plane * (self.shape.pages_per_block + 1) + valid;
            self.heads[head as usize] = next;
        } else {
            self.blocks[previous as usize].next = next;
        }
    }
}
