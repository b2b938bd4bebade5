//! System calls that the standard library has not, each behind a safe function that owns its
//! descriptors and turns errno into an error. The only other modules with `unsafe` are those that
//! fork (spawn) and that hold the token (secret).

use std::ffi::{CStr, CString};
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

pub fn check(result: libc::c_int) -> Result<libc::c_int> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

fn check_size(result: isize) -> Result<usize> {
    usize::try_from(result).map_err(|_| Error::last_os_error())
}

/// A path without NUL; what has one names no file.
pub fn c_path(bytes: &[u8]) -> Result<CString> {
    CString::new(bytes).map_err(|_| Error::from_raw_os_error(libc::EINVAL))
}

fn own(fd: libc::c_int) -> Result<OwnedFd> {
    let fd = check(fd)?;
    // JUSTIFICATION: descriptors come from calls that std does not wrap.
    // SAFETY: the kernel just made it for this caller; nobody else holds it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub fn read(fd: RawFd, buffer: &mut [u8]) -> Result<usize> {
    // JUSTIFICATION: non-blocking reads of descriptors that are no std type.
    // SAFETY: the buffer is valid for its length for the whole call.
    check_size(unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) })
}

pub fn write(fd: RawFd, bytes: &[u8]) -> Result<usize> {
    // JUSTIFICATION: as read.
    // SAFETY: the bytes are valid for their length for the whole call.
    check_size(unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) })
}

/// Relative to a directory that was opened at boot, so that nothing mounted later is in the way.
pub fn open_at(directory: RawFd, path: &CStr, flags: libc::c_int, mode: u32) -> Result<OwnedFd> {
    // JUSTIFICATION: std has no openat.
    // SAFETY: the path ends with NUL and lives through the call.
    own(unsafe { libc::openat(directory, path.as_ptr(), flags | libc::O_CLOEXEC, mode) })
}

pub fn mkdir_at(directory: RawFd, path: &CStr, mode: u32) -> Result<()> {
    // JUSTIFICATION: std has no mkdirat.
    // SAFETY: the path ends with NUL and lives through the call.
    check(unsafe { libc::mkdirat(directory, path.as_ptr(), mode) }).map(drop)
}

pub fn unlink_at(directory: RawFd, path: &CStr, flags: libc::c_int) -> Result<()> {
    // JUSTIFICATION: std has no unlinkat.
    // SAFETY: the path ends with NUL and lives through the call.
    check(unsafe { libc::unlinkat(directory, path.as_ptr(), flags) }).map(drop)
}

/// A pipe whose ends are closed on exec. (reading end, writing end)
pub fn pipe(flags: libc::c_int) -> Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // JUSTIFICATION: std's pipe has no non-blocking form.
    // SAFETY: two descriptors are written into an array of two.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), flags | libc::O_CLOEXEC) })?;
    Ok((own(ends[0])?, own(ends[1])?))
}

pub fn set_nonblocking(fd: RawFd, on: bool) -> Result<()> {
    // JUSTIFICATION: std sets this on its own types only.
    // SAFETY: fcntl with integer arguments touches no memory of ours.
    let flags = check(unsafe { libc::fcntl(fd, libc::F_GETFL) })?;
    let flags = if on { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd, libc::F_SETFL, flags) }).map(drop)
}

pub fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: u64, data: &CStr) -> Result<()> {
    // JUSTIFICATION: std has no mount.
    // SAFETY: all strings end with NUL and live through the call.
    check(unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            flags as libc::c_ulong,
            data.as_ptr().cast(),
        )
    })
    .map(drop)
}

/// An ioctl that takes or fills one value.
pub fn ioctl<T>(fd: RawFd, request: u64, value: &mut T) -> Result<libc::c_int> {
    // JUSTIFICATION: std has no ioctl.
    // SAFETY: every caller passes the type that the request names; it lives through the call.
    check(unsafe { libc::ioctl(fd, request as libc::Ioctl, std::ptr::from_mut(value)) })
}

pub fn ioctl_none(fd: RawFd, request: u64) -> Result<libc::c_int> {
    // JUSTIFICATION: std has no ioctl.
    // SAFETY: the request takes no argument.
    check(unsafe { libc::ioctl(fd, request as libc::Ioctl, 0) })
}

pub fn finit_module(fd: RawFd, flags: libc::c_int) -> Result<()> {
    // JUSTIFICATION: no wrapper exists.
    // SAFETY: the parameter string ends with NUL; the kernel checks the module itself.
    let result = unsafe { libc::syscall(libc::SYS_finit_module, fd, c"".as_ptr(), flags) };
    check(result as libc::c_int).map(drop)
}

pub fn kill(pid: i32, signal: i32) -> Result<()> {
    if pid <= 1 {
        return Err(Error::from_raw_os_error(libc::ESRCH));
    }
    // JUSTIFICATION: std signals its own children only, and only by SIGKILL.
    // SAFETY: no memory is touched; the pid is of one process (checked above).
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// The kernel's clone_args, up to the control group (Linux 5.7).
#[repr(C)]
#[derive(Default)]
struct CloneArguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Forks into an open control group; 0 in the child.
pub fn fork_into(group: RawFd) -> Result<i32> {
    let arguments = CloneArguments {
        flags: CLONE_INTO_CGROUP,
        exit_signal: libc::SIGCHLD as u64,
        cgroup: u64::try_from(group).map_err(|_| Error::from_raw_os_error(libc::EBADF))?,
        ..Default::default()
    };
    // JUSTIFICATION: neither std nor libc can fork into a control group.
    // SAFETY: the arguments are valid for their size, and share nothing with the child: it is a
    // fork. This process has one thread, so no lock of the C library is held in the child; what
    // that library knows of the parent's thread id is used by nothing that the child calls.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone3,
            std::ptr::from_ref(&arguments),
            std::mem::size_of::<CloneArguments>(),
        )
    };
    check(pid as libc::c_int)
}

/// One ended child (pid, wait status), orphans included; None when there is none now.
pub fn reap() -> Option<(i32, i32)> {
    let mut status = 0;
    // JUSTIFICATION: PID 1 inherits children that std knows nothing of.
    // SAFETY: the status is a valid integer for the whole call.
    let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
    (pid > 0).then_some((pid, status))
}

pub fn now(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // JUSTIFICATION: std hides the clocks' numbers, which the channel carries.
    // SAFETY: the timespec is valid for the whole call.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

pub fn monotonic() -> i64 {
    now(libc::CLOCK_MONOTONIC)
}

pub fn unix() -> i64 {
    now(libc::CLOCK_REALTIME)
}

/// Blocks SIGCHLD and reads it from a descriptor instead.
pub fn child_signals() -> Result<OwnedFd> {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // JUSTIFICATION: std has no signal handling.
    // SAFETY: sigemptyset fills the set before anything reads it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        check(libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()))?;
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        own(libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))
    }
}

pub struct Poll(OwnedFd);

#[derive(Clone, Copy)]
pub struct Event {
    pub key: u64,
}

impl Poll {
    pub fn new() -> Result<Poll> {
        // JUSTIFICATION: std has no epoll.
        // SAFETY: no memory is passed.
        Ok(Poll(own(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?))
    }

    pub fn add(&self, fd: RawFd, events: i32, key: u64) -> Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, events, key)
    }

    pub fn remove(&self, fd: RawFd) {
        // What is not there need not be removed.
        let _ = self.control(libc::EPOLL_CTL_DEL, fd, 0, 0);
    }

    fn control(&self, what: libc::c_int, fd: RawFd, events: i32, key: u64) -> Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: key };
        // JUSTIFICATION: std has no epoll.
        // SAFETY: the event is valid for the whole call.
        check(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), what, fd, &mut event) }).map(drop)
    }

    pub fn wait(&self, timeout_millis: i32) -> Vec<Event> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        // JUSTIFICATION: std has no epoll.
        // SAFETY: the array is valid for its length; only what was filled is read.
        let count = unsafe {
            libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), 64, timeout_millis)
        };
        let count = usize::try_from(count).unwrap_or(0);
        events[..count].iter().map(|event| Event { key: event.u64 }).collect()
    }
}
