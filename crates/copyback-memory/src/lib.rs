//! Large tables that are accessed here and there: in huge pages where the system has them, and fetched ahead.
//!
//! Hardly any access to such a table is near the one before it, so that with ordinary pages of 4 KiB each
//! waits for the translation of its address as well. The system is asked for huge pages before
//! memory is used for the first time, which is what maps it; it may decline.
//!
//! All `unsafe` code of the workspace is here: two calls, neither of which can change what memory holds, and the
//! allocator of the Python package.

#![allow(unsafe_code)]

#[cfg(unix)]
mod last_words;

#[cfg(unix)]
pub use last_words::LastWords;

use std::mem::MaybeUninit;

/// Bytes from which on it is worth asking: a huge page of most processors.
const WORTH_ASKING: usize = 2 << 20;

/// A table of `len` times `entry`.
pub fn table<T: Copy>(len: usize, entry: T) -> Vec<T> {
    let mut table = Vec::new();
    reserve(&mut table, len);
    table.resize(len, entry);
    table
}

/// An empty table with room for `len` entries.
pub fn with_capacity<T>(len: usize) -> Vec<T> {
    let mut table = Vec::new();
    reserve(&mut table, len);
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
        ask_for_huge_pages(unused);
    }
}

/// Asks for huge pages for the whole pages inside `unused`.
#[cfg(all(target_os = "linux", not(miri)))]
fn ask_for_huge_pages<T>(unused: &mut [MaybeUninit<T>]) {
    // SAFETY: a plain question about the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let bytes = unused.as_mut_ptr().cast::<libc::c_void>();
    let before = bytes.align_offset(page);
    let Some(inside) = size_of_val(unused).checked_sub(before) else { return };
    // SAFETY: the range lies in `unused`, which is ours, and begins at a page. The advice changes how it is mapped,
    // not what it holds. Whether the system takes it makes no difference to what follows.
    unsafe {
        libc::madvise(bytes.byte_add(before), inside / page * page, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn ask_for_huge_pages<T>(_unused: &mut [MaybeUninit<T>]) {}

/// Brings the entry at `index` into the cache without waiting for it. Does nothing where the processor has no
/// instruction for that, or the table no such entry.
#[inline(always)]
pub fn prefetch<T>(table: &[T], index: usize) {
    let entry = table.as_ptr().wrapping_add(index);
    // SAFETY: a prefetch reads nothing that the program sees and never faults, whatever the address.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        std::arch::x86_64::_mm_prefetch(entry.cast(), std::arch::x86_64::_MM_HINT_T0);
    }
    // SAFETY: as above; the instruction writes no register, no flag and no memory.
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{entry}]",
            entry = in(reg) entry,
            options(nostack, preserves_flags, readonly),
        );
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = entry;
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

    #[test]
    fn any_index_may_be_fetched() {
        let table = [1_u8, 2, 3];
        [0, 2, 3, usize::MAX].into_iter().for_each(|index| prefetch(&table, index));
        prefetch::<u64>(&[], 0);
    }
}
