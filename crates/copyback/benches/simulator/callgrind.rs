//! Tells callgrind when to look at instructions (a client request, valgrind's `valgrind.h`): until then a program runs
//! many times as fast.

/// `VG_USERREQ__START_INSTRUMENTATION`, of the tool whose letters are `CT`.
#[cfg(target_arch = "x86_64")]
const START_INSTRUMENTATION: u64 = 0x4354_0004;

/// Callgrind looks at instructions from now on. Without it, and on other processors, this does nothing.
#[cfg_attr(target_arch = "x86_64", allow(unsafe_code))]
pub fn start() {
    #[cfg(target_arch = "x86_64")]
    {
        let request = [START_INSTRUMENTATION, 0, 0, 0, 0, 0];
        // SAFETY: the rotations add up to two whole turns and the exchange is of a register with itself: nothing changes but
        // `rdx`, the answer. Valgrind knows the sequence and only reads `request`.
        unsafe {
            std::arch::asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") &raw const request,
                inout("rdx") 0_u64 => _,
                options(nostack),
            );
        }
    }
}
