//! The lines against the blocks that they are of.

use crate::ftl::space::Stream;

use super::{LineId, LinesOn};

impl LinesOn<'_> {
    /// Checks what is known of lines against their blocks.
    pub(in crate::ftl) fn check(&self) -> Result<(), String> {
        let lines = self.lines;
        (0..lines.blocks).try_for_each(|line| self.check_line(line))?;
        let full = (0..lines.blocks).filter(|line| lines.is_full(*line));
        let invalid: u64 = full.map(|line| lines.invalid_of(lines.lines[line].valid)).sum();
        if invalid != lines.invalid {
            return Err(format!("{invalid} invalid pages in lines, but {} counted", lines.invalid));
        }
        self.check_made_up()?;
        self.check_planes()
    }

    fn check_line(&self, line: LineId) -> Result<(), String> {
        let lines = self.lines;
        let blocks = || lines.blocks_of(line).map(|(_, block)| block);
        let is_full = |(plane, block): &(_, _)| self.is_full_block(*plane, *block);
        let full = lines.blocks_of(line).filter(is_full).count();
        let free = blocks().filter(|block| self.manager.blocks.is_free(*block)).count();
        let counted = lines.lines[line];
        if full != counted.full_blocks as usize {
            return Err(format!("line {line}: {full} full blocks, but {counted:?}"));
        }
        let is_collected = lines.collected.is(line);
        if (is_collected && full > 0) || (!is_collected && free > 0 && free < lines.planes) {
            return Err(format!("line {line}: {free} free blocks and {full} full ones"));
        }
        let valid: u32 =
            blocks().map(|block| u32::from(self.manager.blocks.valid_pages(block))).sum();
        if lines.is_full(line) && valid != counted.valid {
            return Err(format!("line {line}: {valid} valid pages, but {counted:?}"));
        }
        let left = lines.collected.left();
        if is_collected && valid != left {
            return Err(format!("line {line}: {valid} valid pages, but {left} are left"));
        }
        if is_collected { Ok(()) } else { self.check_parity(line) }
    }

    /// All planes have the same free lines, and the other open blocks of a plane follow its open one of their class.
    fn check_planes(&self) -> Result<(), String> {
        let line_of = |block| self.lines.line_of(block);
        let free = |plane| self.manager.space[plane].free.in_order().into_iter().map(line_of);
        let first: Vec<_> = free(super::ALL_PLANES).collect();
        for plane in self.manager.space.planes() {
            if !free(plane).eq(first.iter().copied()) {
                return Err(format!("{plane:?} has other free lines than the first plane"));
            }
            for (class, block) in self.manager.space.following().of_plane(plane) {
                let is_open = self.manager.space[plane].frontier(Stream::Class(class)).is_some();
                if !is_open
                    || !self.manager.blocks.is_open(block)
                    || self.manager.blocks.class(block) != Some(class)
                {
                    return Err(format!("{block:?} follows no open block of {class:?}"));
                }
            }
        }
        Ok(())
    }
}
