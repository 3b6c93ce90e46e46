//! Stack overflows as findings: without a stack for the handler of SIGSEGV the process would be
//! gone, and with it the input that was running.

use libc::{c_int, c_void, siginfo_t};

/// Bytes of the stack the handler runs on.
const STACK: usize = 1 << 20;

/// Gives signal handlers of this thread a stack of their own. libFuzzer, which starts later, keeps
/// the flag that SIGSEGV is to be handled there, and leaves what to do to the handler found.
pub fn report_overflow() {
    let memory: &'static mut [u8] = Vec::leak(vec![0; STACK]);
    // SAFETY: the structures are plain data for which zero is a value, and the memory is never
    // freed.
    unsafe {
        let stack = libc::stack_t {
            ss_sp: memory.as_mut_ptr().cast(),
            ss_flags: 0,
            ss_size: memory.len(),
        };
        libc::sigaltstack(&stack, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = abort as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
    }
}

/// libFuzzer handles SIGABRT as a crash: it writes the input and ends.
extern "C" fn abort(_: c_int, _: *mut siginfo_t, _: *mut c_void) {
    std::process::abort()
}
