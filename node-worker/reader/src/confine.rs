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
    keep_to(MEMORY_BYTES_MAX, CPU_SECONDS_MAX)
}

fn keep_to(memory_bytes: u64, cpu_seconds: u64) -> Result<()> {
    limit(libc::RLIMIT_AS, memory_bytes)?;
    limit(libc::RLIMIT_CPU, cpu_seconds)?;
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

    /// How a child ends that does this once it is confined.
    fn end_of(cpu_seconds: u64, body: impl FnOnce() -> i32) -> libc::c_int {
        // SAFETY: the child runs the body, which makes system calls and allocates, and ends; no
        // other thread of this process holds what it needs for long.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = match keep_to(MEMORY_BYTES_MAX, cpu_seconds) {
                Ok(()) => body(),
                Err(_) => 99,
            };
            // SAFETY: ends the child.
            unsafe { libc::_exit(code) };
        }
        let mut status = 0;
        // SAFETY: the status lives for the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        status
    }

    #[test]
    fn whatever_else_is_tried_ends_the_process() {
        let status = end_of(CPU_SECONDS_MAX, || {
            // SAFETY: a plain system call; the filter ends the process here.
            let _ = unsafe { libc::syscall(libc::SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0) };
            0
        });
        assert!(libc::WIFSIGNALED(status), "it went on: {status}");
        assert_eq!(libc::WTERMSIG(status), libc::SIGSYS);
    }

    /// Maps 16 MiB at a time and writes to them, until there is no more; how many there were.
    fn pieces_of_memory() -> i32 {
        const PIECE: usize = 16 << 20;
        let mut pieces = 0;
        loop {
            // SAFETY: a new anonymous mapping that nobody else uses.
            let piece = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    PIECE,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if piece == libc::MAP_FAILED {
                return pieces;
            }
            // SAFETY: the first byte of what was just mapped.
            unsafe { piece.cast::<u8>().write_volatile(1) };
            pieces += 1;
        }
    }

    #[test]
    fn memory_ends_at_its_limit() {
        let status = end_of(CPU_SECONDS_MAX, pieces_of_memory);
        assert!(libc::WIFEXITED(status), "it was ended: {status}");
        let pieces = libc::WEXITSTATUS(status);
        assert!((32..64).contains(&pieces), "{pieces} pieces of 16 MiB");
    }

    #[test]
    fn an_allocation_beyond_it_ends_the_process() {
        let status = end_of(CPU_SECONDS_MAX, || {
            let huge = vec![1u8; usize::try_from(MEMORY_BYTES_MAX).unwrap_or(usize::MAX)];
            i32::from(huge[huge.len() / 2])
        });
        assert!(libc::WIFSIGNALED(status), "it went on: {status}");
    }

    #[test]
    fn whatever_turns_in_circles_is_ended() {
        let status = end_of(1, || {
            let mut turns = 0u64;
            loop {
                turns = std::hint::black_box(turns.wrapping_add(1));
            }
        });
        assert!(libc::WIFSIGNALED(status), "it went on: {status}");
        let signal = libc::WTERMSIG(status);
        assert!(
            signal == libc::SIGKILL || signal == libc::SIGXCPU,
            "{signal}"
        );
    }
}
