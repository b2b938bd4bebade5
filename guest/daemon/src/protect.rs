//! The daemon answers while the workload burns all CPU and memory.

use std::fs;
use std::io::Error;

/// Low among the real-time priorities: above every process of the workload, below the kernel's.
const PRIORITY: libc::c_int = 1;
/// From the kernel's sched.h: children start at the ordinary priority.
const SCHED_RESET_ON_FORK: libc::c_int = 0x4000_0000;

/// Its memory is not locked: code in the initramfs cannot be evicted, and there is no swap.
pub fn daemon(warnings: &mut Vec<String>) {
    // The kernel's sched_param is this number alone; musl's has more.
    let parameters = PRIORITY;
    // JUSTIFICATION: std has no scheduling and no process controls.
    // SAFETY: the parameters are valid for the call; the rest passes integers.
    let scheduled = unsafe {
        // Nobody without the capability that the workload cannot have reads this memory.
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_RR | SCHED_RESET_ON_FORK,
            std::ptr::from_ref(&parameters),
        )
    };
    if scheduled != 0 {
        warnings.push(format!("no real-time priority: {}", Error::last_os_error()));
    }
    if let Err(e) = fs::write("/proc/self/oom_score_adj", "-1000") {
        warnings.push(format!("oom_score_adj: {e}"));
    }
}
