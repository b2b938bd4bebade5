//! What is left of the process while it parses: reading open files, memory, writing the answer.

use crate::failure::{Failure, Result};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use std::collections::BTreeMap;

/// More than the parser needs for the largest directory that is listed; less than would hurt.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Reading and hashing a whole disk takes less; an image that makes the parser turn in circles ends.
const CPU_SECONDS_MAX: u64 = 300;

const ALLOWED: [libc::c_long; 25] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_fcntl,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// After it any other system call kills the process. It has one thread.
pub fn give_up_everything_else() -> Result<()> {
    limit(libc::RLIMIT_AS, MEMORY_BYTES_MAX)?;
    limit(libc::RLIMIT_CPU, CPU_SECONDS_MAX)?;
    limit(libc::RLIMIT_CORE, 0)?;
    let program = filter().map_err(|e| Failure::Machine(format!("system call filter: {e}")))?;
    // It sets no_new_privs itself.
    seccompiler::apply_filter(&program)
        .map_err(|e| Failure::Machine(format!("system call filter: {e}")))
}

fn filter() -> std::result::Result<BpfProgram, seccompiler::BackendError> {
    let rules: BTreeMap<i64, Vec<_>> = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    SeccompFilter::new(
        rules,
        SeccompAction::KillProcess,
        SeccompAction::Allow,
        TargetArch::x86_64,
    )?
    .try_into()
}

/// The C libraries name the type differently.
#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

fn limit(resource: Resource, value: u64) -> Result<()> {
    let both = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: the structure lives for the call.
    if unsafe { libc::setrlimit(resource, &raw const both) } == 0 {
        Ok(())
    } else {
        let error = std::io::Error::last_os_error();
        Err(Failure::Machine(format!("setrlimit: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_else_is_tried_ends_the_process() {
        // SAFETY: the child makes system calls only, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let confined = give_up_everything_else().is_ok();
            // SAFETY: a plain system call; the filter ends the process here.
            let _ = unsafe { libc::syscall(libc::SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0) };
            // SAFETY: ends the child.
            unsafe { libc::_exit(if confined { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: the status lives for the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFSIGNALED(status), "it went on: {status}");
        assert_eq!(libc::WTERMSIG(status), libc::SIGSYS);
    }
}
