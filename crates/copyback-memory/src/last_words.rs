//! An end with a line and a status where memory is used up.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write};

/// Exit status of a run that this machine cannot do, as for bad input.
const STATUS: i32 = 2;

/// The system's allocator, which ends the process where an allocation fails: with a line on standard error and exit
/// status 2, in place of an abort.
///
/// No destructor runs, so that a file that is being written stays behind under its hidden name, as after a kill.
#[derive(Debug)]
pub struct LastWords;

// SAFETY: all memory is the system's, whose promises are passed on; where it has none, nothing returns.
unsafe impl GlobalAlloc for LastWords {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        end(bytes);
    }
    memory
}

/// Ends the process. Nothing here allocates.
#[cold]
fn end(bytes: usize) -> ! {
    let mut line = [0; 160];
    let mut text = Cursor::new(&mut line[..]);
    // What does not fit is cut off.
    let _ = writeln!(
        text,
        "copyback: memory: {bytes} more bytes were asked for and not given; allowed: a smaller device, or more memory"
    );
    let length = text.position() as usize;
    // SAFETY: `line` has that many bytes. `_exit` runs nothing of ours, as whoever asked may hold any lock.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), length as _);
        libc::_exit(STATUS)
    }
}
