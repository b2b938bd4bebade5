//! The system calls, each behind a safe function.
//!
//! JUSTIFICATION for every `unsafe` block of this file: namespaces, mounts and identities have no
//! safe interface in std. Each block says in SAFETY why its pointers live long enough and its
//! numbers are ours. Errors are errno, read at once.

use std::ffi::{CStr, CString};
use std::io::{Error, Result};
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

#[cfg(target_env = "musl")]
pub type Resource = libc::c_int;
#[cfg(not(target_env = "musl"))]
pub type Resource = libc::__rlimit_resource_t;

/// Attributes of mount_setattr (linux/mount.h).
pub const NOSUID: u64 = 0x2;
pub const NODEV: u64 = 0x4;
pub const NOEXEC: u64 = 0x8;

const RESOLVE_NO_XDEV: u64 = 0x01;
const RESOLVE_NO_SYMLINKS: u64 = 0x04;
const RESOLVE_BENEATH: u64 = 0x08;
const OPEN_TREE_CLONE: libc::c_long = 1;
const OPEN_TREE_CLOEXEC: libc::c_long = libc::O_CLOEXEC as libc::c_long;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_long = 4;
const CLOSE_RANGE_CLOEXEC: libc::c_long = 4;
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

#[repr(C)]
struct OpenHow {
    flags: u64,
    mode: u64,
    resolve: u64,
}

#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    userns_fd: u64,
}

#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

pub enum Fork {
    Child,
    Parent(i32),
}

/// How a process ended.
pub enum End {
    Code(i32),
    Signal(i32),
}

fn check(result: libc::c_int) -> Result<libc::c_int> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn check_long(result: libc::c_long) -> Result<libc::c_long> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn owned(fd: RawFd) -> OwnedFd {
    // SAFETY: every caller passes a descriptor that a successful call has just made for us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// # Safety
/// The process must have one thread only.
pub unsafe fn fork() -> Result<Fork> {
    // SAFETY: the caller promises one thread, so no lock is held in the child.
    match check(unsafe { libc::fork() })? {
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid)),
    }
}

pub fn exit(code: i32) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(code) }
}

pub fn wait(pid: i32) -> Result<End> {
    let mut status = 0;
    loop {
        // SAFETY: status lives for the call.
        match check(unsafe { libc::waitpid(pid, &raw mut status, 0) }) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
            Ok(_) if libc::WIFSIGNALED(status) => return Ok(End::Signal(libc::WTERMSIG(status))),
            Ok(_) => return Ok(End::Code(libc::WEXITSTATUS(status))),
        }
    }
}

pub fn kill(pid: i32) {
    // SAFETY: numbers only; the pid is our unreaped child's.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

pub fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for two descriptors.
    check(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // High numbers, out of the way of the descriptors that the VMM gets.
    let (read, write) = (owned(fds[0]), owned(fds[1]));
    Ok((duplicate_high(&read)?, duplicate_high(&write)?))
}

pub fn read(fd: &OwnedFd, buffer: &mut [u8]) -> Result<usize> {
    loop {
        // SAFETY: the pointer and length are those of the borrowed buffer.
        let n = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
        match usize::try_from(n) {
            Ok(n) => return Ok(n),
            Err(_) => {
                let e = Error::last_os_error();
                if e.kind() != std::io::ErrorKind::Interrupted {
                    return Err(e);
                }
            }
        }
    }
}

/// Until end of file; what is over the bound is read and dropped.
pub fn read_to_end(fd: &OwnedFd, bytes_max: usize) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    let mut buffer = [0_u8; 512];
    loop {
        let n = read(fd, &mut buffer)?;
        if n == 0 {
            return Ok(all);
        }
        let room = n.min(bytes_max - all.len());
        all.extend_from_slice(&buffer[..room]);
    }
}

pub fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the pointer and length are those of the borrowed slice.
        let n = unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        let n = usize::try_from(n).map_err(|_| Error::last_os_error())?;
        bytes = &bytes[n..];
    }
    Ok(())
}

pub fn duplicate_high(fd: &OwnedFd) -> Result<OwnedFd> {
    // SAFETY: numbers only; the result is new and ours.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 64) }).map(owned)
}

/// Makes `target` a copy of `fd` that survives exec.
pub fn place(fd: &OwnedFd, target: RawFd) -> Result<()> {
    // SAFETY: numbers only; the target is one of the fixed numbers that nobody here owns.
    check(unsafe { libc::dup2(fd.as_raw_fd(), target) }).map(drop)
}

pub fn close_from(first: RawFd) -> Result<()> {
    close_range(first, 0)
}

pub fn close_at_exec_from(first: RawFd) -> Result<()> {
    close_range(first, CLOSE_RANGE_CLOEXEC)
}

fn close_range(first: RawFd, flags: libc::c_long) -> Result<()> {
    let (first, last) = (libc::c_long::from(first), libc::c_long::from(u32::MAX));
    // SAFETY: numbers only; called before this process owns any descriptor, or with CLOEXEC.
    check_long(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) }).map(drop)
}

/// Points the descriptor at nothing, so that the reader sees its end while the owner lives on.
pub fn close_status(fd: &OwnedFd) {
    if let Ok(null) = std::fs::File::open("/dev/null") {
        // SAFETY: numbers only; the number stays owned, now by another open file.
        unsafe { libc::dup2(null.as_raw_fd(), fd.as_raw_fd()) };
    }
}

pub fn null_standard_streams() -> Result<()> {
    let null = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    let null = OwnedFd::from(null);
    (0..=2).try_for_each(|target| place(&null, target))
}

pub fn new_session() -> Result<()> {
    // SAFETY: no arguments.
    check(unsafe { libc::setsid() }).map(drop)
}

pub fn unshare(flags: libc::c_int) -> Result<()> {
    // SAFETY: numbers only; one thread.
    check(unsafe { libc::unshare(flags) }).map(drop)
}

pub fn set_namespace(fd: BorrowedFd<'_>, kind: libc::c_int) -> Result<()> {
    // SAFETY: numbers only.
    check(unsafe { libc::setns(fd.as_raw_fd(), kind) }).map(drop)
}

pub fn set_hostname(name: &CStr) -> Result<()> {
    // SAFETY: the pointer and length are those of the borrowed string.
    check(unsafe { libc::sethostname(name.as_ptr(), name.to_bytes().len()) }).map(drop)
}

pub fn open_beneath(directory: BorrowedFd<'_>, path: &CStr, flags: libc::c_int) -> Result<OwnedFd> {
    let how = OpenHow {
        flags: (flags | libc::O_CLOEXEC | libc::O_NOFOLLOW) as u64,
        mode: 0,
        resolve: RESOLVE_NO_SYMLINKS
            | RESOLVE_BENEATH
            | if flags & libc::O_PATH != 0 {
                RESOLVE_NO_XDEV
            } else {
                0
            },
    };
    // SAFETY: path and how live for the call; the size is that of the structure.
    let fd = check_long(unsafe {
        libc::syscall(
            libc::SYS_openat2,
            directory.as_raw_fd(),
            path.as_ptr(),
            &raw const how,
            mem::size_of::<OpenHow>(),
        )
    })?;
    Ok(owned(fd as RawFd))
}

pub fn change_directory(fd: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: numbers only.
    check(unsafe { libc::fchdir(fd.as_raw_fd()) }).map(drop)
}

pub fn umask(mask: libc::mode_t) -> libc::mode_t {
    // SAFETY: numbers only; cannot fail.
    unsafe { libc::umask(mask) }
}

/// Sets the ids that count for files and answers the old ones. Leaving 0 also lays the file
/// capabilities down until 0 comes back, so permissions are checked as for that user.
pub fn become_for_files(uid: u32, gid: u32) -> (u32, u32) {
    // SAFETY: numbers only; root may set any. The group first: it needs the capability.
    unsafe {
        let old_gid = libc::setfsgid(gid);
        let old_uid = libc::setfsuid(uid);
        (old_uid as u32, old_gid as u32)
    }
}

pub fn unlink(name: &CStr) -> Result<()> {
    // SAFETY: the string lives for the call.
    check(unsafe { libc::unlink(name.as_ptr()) }).map(drop)
}

/// Binds a listening socket to a name in the current directory.
pub fn listen_unix(name: &CStr) -> Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: numbers only.
    let socket = owned(check(unsafe { libc::socket(libc::AF_UNIX, kind, 0) })?);
    // SAFETY: all zeros is a valid sockaddr_un.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path.iter_mut().zip(name.to_bytes()) {
        *to = *from as libc::c_char;
    }
    let size = mem::size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address lives for the call and is as long as said.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) })?;
    // SAFETY: numbers only.
    check(unsafe { libc::listen(socket.as_raw_fd(), 8) })?;
    Ok(socket)
}

pub fn mount(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
    data: Option<&CStr>,
) -> Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: all strings live for the call; null is allowed for the three optional ones.
    check(unsafe {
        libc::mount(
            pointer(source),
            target.as_ptr(),
            pointer(kind),
            flags,
            pointer(data).cast(),
        )
    })
    .map(drop)
}

pub fn detach(target: &CStr) -> Result<()> {
    // SAFETY: the string lives for the call.
    check(unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) }).map(drop)
}

pub fn pivot_here() -> Result<()> {
    let here = c".".as_ptr();
    // SAFETY: static strings.
    check_long(unsafe { libc::syscall(libc::SYS_pivot_root, here, here) }).map(drop)
}

pub fn open_tree(file: &OwnedFd) -> Result<OwnedFd> {
    let flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | libc::c_long::from(libc::AT_EMPTY_PATH);
    // SAFETY: a static string; the result is new and ours.
    let fd = check_long(unsafe {
        libc::syscall(libc::SYS_open_tree, file.as_raw_fd(), c"".as_ptr(), flags)
    })?;
    Ok(owned(fd as RawFd))
}

pub fn restrict_tree(tree: &OwnedFd, set: u64) -> Result<()> {
    let attr = MountAttr {
        set,
        clear: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the structure lives for the call and is as long as said.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            &raw const attr,
            mem::size_of::<MountAttr>(),
        )
    })
    .map(drop)
}

pub fn move_mount(tree: &OwnedFd, target: &CStr) -> Result<()> {
    // SAFETY: the strings live for the call.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    })
    .map(drop)
}

pub fn make_node(path: &CStr, mode: libc::mode_t, major: u32, minor: u32) -> Result<()> {
    let device = libc::makedev(major, minor);
    // SAFETY: the string lives for the call.
    check(unsafe { libc::mknod(path.as_ptr(), mode, device) }).map(drop)
}

pub fn set_limit(resource: Resource, value: u64) -> Result<()> {
    let limit = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: the structure lives for the call.
    check(unsafe { libc::setrlimit(resource, &raw const limit) }).map(drop)
}

/// No capability in any set, no group but the own, no way back.
pub fn drop_privileges(id: u32) -> Result<()> {
    let no = 0 as libc::c_ulong;
    // SAFETY: numbers, a null list of length 0, and two structures that live for the call.
    unsafe {
        for capability in 0..=63 as libc::c_ulong {
            if libc::prctl(libc::PR_CAPBSET_DROP, capability, no, no, no) != 0 {
                break; // the kernel knows no more
            }
        }
        let clear = libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong;
        check(libc::prctl(libc::PR_CAP_AMBIENT, clear, no, no, no))?;
        check(libc::setgroups(0, ptr::null()))?;
        check(libc::setresgid(id, id, id))?;
        check(libc::setresuid(id, id, id))?;
        let header = CapabilityHeader {
            version: CAPABILITY_VERSION_3,
            pid: 0,
        };
        let none = [0_u32; 6];
        check_long(libc::syscall(
            libc::SYS_capset,
            &raw const header,
            none.as_ptr(),
        ))?;
        let yes = 1 as libc::c_ulong;
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, no, no, no))?;
        // The bounding set must be empty: asked once more, for an ignored failure would be fatal.
        if libc::prctl(libc::PR_CAPBSET_READ, no, no, no, no) != 0 {
            return Err(Error::other("the capability bounding set is not empty"));
        }
    }
    Ok(())
}

/// The VMM starts with default actions and nothing blocked (Rust ignores SIGPIPE).
pub fn reset_signals() -> Result<()> {
    // SAFETY: the set lives for the calls; SIG_DFL is a valid action.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        check(libc::sigprocmask(
            libc::SIG_SETMASK,
            &raw const set,
            ptr::null_mut(),
        ))?;
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    Ok(())
}

/// Returns only when it failed. The environment is empty.
pub fn execute(path: &CStr, arguments: &[CString]) -> Error {
    let mut pointers: Vec<*const libc::c_char> = arguments.iter().map(|a| a.as_ptr()).collect();
    pointers.push(ptr::null());
    let environment = [ptr::null::<libc::c_char>()];
    // SAFETY: both arrays end with null and live for the call, as do the strings.
    unsafe { libc::execve(path.as_ptr(), pointers.as_ptr(), environment.as_ptr()) };
    Error::last_os_error()
}
