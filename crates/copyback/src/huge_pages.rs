//! Large tables that are accessed here and there, in huge pages where the system has them.
//!
//! Hardly any access to such a table is near the one before it, so that with ordinary pages of 4 KiB each
//! waits for the translation of its address as well. The system is asked for huge pages before
//! memory is used for the first time, which is what maps it; it may decline.

use kevy_madvise::advise_hugepage;

/// Bytes from which on it is worth asking: a huge page of most processors.
const WORTH_ASKING: usize = 2 << 20;

/// A table of `len` times `entry`.
pub fn table<T: Copy>(len: usize, entry: T) -> Vec<T> {
    let mut table = Vec::new();
    reserve(&mut table, len);
    table.resize(len, entry);
    table
}

/// Appends entries to a table whose length is not known from the start.
pub fn extend<T>(table: &mut Vec<T>, entries: impl ExactSizeIterator<Item = T>) {
    if table.capacity() - table.len() < entries.len() {
        reserve(table, entries.len());
    }
    table.extend(entries);
}

fn reserve<T>(table: &mut Vec<T>, more: usize) {
    table.reserve(more);
    let unused = table.spare_capacity_mut();
    if size_of_val(unused) >= WORTH_ASKING {
        advise_hugepage(unused.as_ptr().cast(), size_of_val(unused));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_hold_what_they_are_made_of() {
        // Several huge pages.
        let mut all = table(3 << 20, 7_u32);
        assert_eq!((all.len(), all.iter().all(|entry| *entry == 7)), (3 << 20, true));
        for round in 0..5_000_u32 {
            extend(&mut all, [round; 1024].into_iter());
        }
        assert_eq!(all.len(), (3 << 20) + 5_000 * 1024);
        let appended = all[3 << 20..].iter().enumerate();
        assert!(appended.into_iter().all(|(index, entry)| *entry == index as u32 / 1024));
        assert!(table(0, 0_u8).is_empty());
    }
}
