//! Children: the workload's processes and the short-lived ones that touch files. Everything that
//! looks at the workload's disk happens after the fork, so a hostile or hanging file system can
//! hold up a child, never the daemon.

use crate::passwd::{self, User};
use crate::sys;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

const DEFAULT_PATH: &[u8] = b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const FILES_SOFT: u64 = 1024;
const FILES_HARD: u64 = 1 << 20;

/// Capabilities that no process of the workload can have, root included: with them it could read
/// the daemon's memory, load code into the kernel, or set the clock. Numbers of capability.h.
const FORBIDDEN_CAPABILITIES: &[(&str, libc::c_ulong)] = &[
    ("SYS_MODULE", 16),
    ("SYS_RAWIO", 17),
    ("SYS_PTRACE", 19),
    ("SYS_BOOT", 22),
    ("SYS_TIME", 25),
    ("MAC_OVERRIDE", 32),
    ("MAC_ADMIN", 33),
    ("PERFMON", 38),
    ("BPF", 39),
    ("CHECKPOINT_RESTORE", 40),
];

/// What a child needs of the daemon: descriptors of directories opened at boot.
#[derive(Clone, Copy)]
pub struct Roots {
    pub cgroup: RawFd,
    pub proc: RawFd,
    /// False in the plain process mode of tests, which keeps the capabilities of the machine.
    pub machine: bool,
}

/// Where starting a process failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    Setup = 1,
    User = 2,
    Directory = 3,
    Exec = 4,
}

pub struct Launch {
    /// Empty when `command` is run by the shell.
    pub argv: Vec<Vec<u8>>,
    pub command: Vec<u8>,
    pub env: BTreeMap<String, Vec<u8>>,
    pub cwd: Vec<u8>,
    pub user: Vec<u8>,
    pub group: String,
}

/// The ends that the process gets.
pub struct Streams {
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    /// Tells what failed; closed by a successful exec.
    pub status: OwnedFd,
}

/// Runs `child` in a forked process that ends with its result.
pub fn fork(child: impl FnOnce() -> i32) -> Result<i32> {
    // JUSTIFICATION: std's Command resolves nothing as the workload's user inside the child.
    // SAFETY: this process has one thread, so the child may do everything the parent may.
    let pid = sys::check(unsafe { libc::fork() })?;
    live(pid, child)
}

/// As [`fork`], in a control group from birth. Moving a process into its group afterwards made the
/// kernel wait for an RCU grace period, which was two thirds of the time of `/bin/true`.
pub fn fork_into(group: &str, roots: Roots, child: impl FnOnce() -> i32) -> Result<i32> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY;
    let directory = sys::open_at(roots.cgroup, &sys::c_path(group.as_bytes())?, flags, 0)?;
    live(sys::fork_into(directory.as_raw_fd())?, child)
}

/// Never comes back in the child.
fn live(pid: i32, child: impl FnOnce() -> i32) -> Result<i32> {
    if pid == 0 {
        let code = child();
        // JUSTIFICATION: std's exit would run what belongs to the parent.
        // SAFETY: ends the child without running the parent's destructors.
        unsafe { libc::_exit(code) };
    }
    Ok(pid)
}

/// Starts a process; its exec reports through `streams.status`.
pub fn start(launch: &Launch, streams: Streams, roots: Roots) -> Result<i32> {
    fork_into(&launch.group, roots, || {
        let status = streams.status.as_raw_fd();
        let (stage, error) = run(launch, &streams, roots);
        let mut report = vec![stage as u8];
        report.extend_from_slice(&error.raw_os_error().unwrap_or(libc::EIO).to_le_bytes());
        // The parent reads an empty report as success; without a reader nobody cares.
        let _ = sys::write(status, &report);
        127
    })
}

fn run(launch: &Launch, streams: &Streams, roots: Roots) -> (Stage, Error) {
    let at = |stage: Stage| move |e: Error| (stage, e);
    let outcome = (|| {
        detach(roots).map_err(at(Stage::Setup))?;
        for (fd, to) in [(&streams.stdin, 0), (&streams.stdout, 1), (&streams.stderr, 2)] {
            redirect(fd.as_raw_fd(), to).map_err(at(Stage::Setup))?;
        }
        keep_only(streams.status.as_raw_fd());
        limit_files();
        let user = passwd::resolve(&launch.user)
            .ok_or((Stage::User, Error::from_raw_os_error(libc::ENOENT)))?;
        become_user(&user, roots.machine).map_err(at(Stage::User))?;
        enter(&user.home, &launch.cwd).map_err(at(Stage::Directory))?;
        Err((Stage::Exec, exec(launch, &user)))
    })();
    match outcome {
        Err(failed) => failed,
        Ok(never) => never,
    }
}

/// Own session, the workload's priority, and an ordinary chance to be killed for memory.
pub fn detach(roots: Roots) -> Result<()> {
    let adjust = sys::open_at(roots.proc, c"self/oom_score_adj", libc::O_WRONLY, 0)?;
    sys::write(adjust.as_raw_fd(), b"0")?;
    // JUSTIFICATION: std has neither sessions nor signal masks.
    // SAFETY: the set is filled before use; the rest passes integers.
    unsafe {
        libc::setsid();
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        sys::check(libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut()))?;
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::umask(0o022);
    }
    Ok(())
}

fn redirect(fd: RawFd, to: RawFd) -> Result<()> {
    // JUSTIFICATION: std has no dup2.
    // SAFETY: both are descriptors of this process; the old `to` is not used any more. The pipes
    // were made after 0, 1 and 2 were open, so fd differs from `to` and CLOEXEC is cleared.
    sys::check(unsafe { libc::dup2(fd, to) }).map(drop)
}

/// Leaves the child nothing but these two, as standard input and output.
pub fn talk_on(input: RawFd, output: RawFd) -> Result<()> {
    redirect(input, 0)?;
    redirect(output, 1)?;
    close_range(3, libc::c_uint::MAX);
    Ok(())
}

/// Closes all descriptors but the first three and one other.
fn keep_only(fd: RawFd) {
    let fd = fd as libc::c_uint;
    close_range(3, fd.max(3) - 1);
    close_range(fd.max(2) + 1, libc::c_uint::MAX);
}

fn close_range(from: libc::c_uint, to: libc::c_uint) {
    if from <= to {
        // JUSTIFICATION: std cannot close what it does not own.
        // SAFETY: the child leaves by exec or _exit, so no owner of a closed descriptor runs.
        unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) };
    }
}

fn limit_files() {
    let files = libc::rlimit { rlim_cur: FILES_SOFT, rlim_max: FILES_HARD };
    let core = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
    // JUSTIFICATION: std has no limits.
    // SAFETY: both structs are valid for the call. A machine that refuses keeps what it had.
    unsafe {
        libc::setrlimit(libc::RLIMIT_NOFILE, &files);
        libc::setrlimit(libc::RLIMIT_CORE, &core);
    }
}

/// Gives up everything that the user has not: for good, in this child.
pub fn become_user(user: &User, machine: bool) -> Result<()> {
    let groups: Vec<libc::gid_t> = user.groups.clone();
    // JUSTIFICATION: std has no credentials.
    // SAFETY: integers, and an array that is valid for its length. The order is the safe one:
    // bounding set and groups while still root, the uid last.
    unsafe {
        if machine {
            for &(_, capability) in FORBIDDEN_CAPABILITIES {
                // A kernel that does not know one cannot grant it either.
                libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
            }
        }
        sys::check(libc::setgroups(groups.len(), groups.as_ptr()))?;
        sys::check(libc::setresgid(user.gid, user.gid, user.gid))?;
        sys::check(libc::setresuid(user.uid, user.uid, user.uid))?;
    }
    Ok(())
}

/// An absolute directory, or one below the home; a home that does not exist is "/" only when the
/// caller named no directory.
fn enter(home: &[u8], cwd: &[u8]) -> Result<()> {
    let changed = change_directory(home);
    if cwd.is_empty() {
        return changed.or_else(|_| change_directory(b"/"));
    }
    if !cwd.starts_with(b"/") {
        changed?;
    }
    change_directory(cwd)
}

pub fn change_directory(path: &[u8]) -> Result<()> {
    use std::os::unix::ffi::OsStrExt;
    std::env::set_current_dir(std::ffi::OsStr::from_bytes(path))
}

fn exec(launch: &Launch, user: &User) -> Error {
    let shell: Vec<Vec<u8>> = vec![b"/bin/sh".to_vec(), b"-c".to_vec(), launch.command.clone()];
    let argv = if launch.argv.is_empty() { &shell } else { &launch.argv };
    let env = environment(&launch.env, user);
    let path = launch.env.get("PATH").map_or(DEFAULT_PATH, Vec::as_slice);
    let mut result = Error::from_raw_os_error(libc::ENOENT);
    for candidate in candidates(&argv[0], path) {
        let error = exec_file(&candidate, argv, &env);
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) => {}
            Some(libc::EACCES) => result = error,
            _ => return error,
        }
    }
    result
}

fn candidates(name: &[u8], path: &[u8]) -> Vec<Vec<u8>> {
    if name.contains(&b'/') || name.is_empty() {
        return vec![name.to_vec()];
    }
    path.split(|&b| b == b':')
        .map(|directory| [if directory.is_empty() { b"." } else { directory }, b"/", name].concat())
        .collect()
}

fn exec_file(file: &[u8], argv: &[Vec<u8>], env: &[Vec<u8>]) -> Error {
    let error = exec_raw(file, argv, env);
    if error.raw_os_error() != Some(libc::ENOEXEC) {
        return error;
    }
    // A script without "#!": as execvp does.
    let mut script = vec![b"/bin/sh".to_vec(), file.to_vec()];
    script.extend_from_slice(&argv[1..]);
    exec_raw(b"/bin/sh", &script, env)
}

fn exec_raw(file: &[u8], argv: &[Vec<u8>], env: &[Vec<u8>]) -> Error {
    let strings = |list: &[Vec<u8>]| -> Result<Vec<CString>> {
        list.iter().map(|bytes| sys::c_path(bytes)).collect()
    };
    let (Ok(file), Ok(argv), Ok(env)) = (sys::c_path(file), strings(argv), strings(env)) else {
        return Error::from_raw_os_error(libc::EINVAL);
    };
    let pointers = |list: &[CString]| -> Vec<*const libc::c_char> {
        list.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
    };
    // JUSTIFICATION: std's exec searches PATH and passes the daemon's environment.
    // SAFETY: both arrays end with NULL; they and their strings live until the call returns.
    unsafe { libc::execve(file.as_ptr(), pointers(&argv).as_ptr(), pointers(&env).as_ptr()) };
    Error::last_os_error()
}

/// The installation's root, which node-worker puts there when the start snapshot is made.
const TRUSTED_ROOT: &str = "/usr/local/share/ca-certificates/space-root.crt";
const TRUST_STORE: &[u8] = b"/etc/ssl/certs/ca-certificates.crt";

/// Tells programs with a store of their own where the system's is, or what to add to theirs.
static TRUST: [(&str, &[u8]); 3] = [
    ("NODE_EXTRA_CA_CERTS", TRUSTED_ROOT.as_bytes()),
    ("REQUESTS_CA_BUNDLE", TRUST_STORE),
    ("SSL_CERT_FILE", TRUST_STORE),
];

fn trust() -> &'static [(&'static str, &'static [u8])] {
    if std::path::Path::new(TRUSTED_ROOT).exists() { &TRUST } else { &[] }
}

fn environment(given: &BTreeMap<String, Vec<u8>>, user: &User) -> Vec<Vec<u8>> {
    let defaults: [(&str, &[u8]); 6] = [
        ("HOME", &user.home),
        ("USER", &user.name),
        ("LOGNAME", &user.name),
        ("SHELL", &user.shell),
        ("PATH", DEFAULT_PATH),
        ("LANG", b"C.UTF-8"),
    ];
    let entry = |name: &str, value: &[u8]| [name.as_bytes(), b"=", value].concat();
    let mut all: Vec<Vec<u8>> = defaults
        .iter()
        .chain(trust())
        .filter(|(name, _)| !given.contains_key(*name))
        .map(|(name, value)| entry(name, value))
        .collect();
    all.extend(given.iter().map(|(name, value)| entry(name, value)));
    all
}
