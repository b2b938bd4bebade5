//! From the kernel's first instruction in user space to a machine that serves. The daemon is /init
//! of the initramfs and stays PID 1; it trusts no file of the workload's disk.
//!
//! modules → /proc /sys /dev → /dev/vda grown and mounted → root switched → cgroups, tmpfs, network
//! → port. What is not vital and fails is a warning in the daemon's status; what is vital panics,
//! which ends the machine.

use crate::cgroup::Cgroups;
use crate::daemon::{Daemon, KEY_PORT, Setup};
use crate::port::Port;
use crate::spawn::Roots;
use crate::sys::{self, Poll};
use crate::{net, protect};
use std::ffi::CStr;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::time::Duration;

const PORT_NAME: &str = "space.0";
const DISK: &str = "/dev/vda";
const DEVICE_NANOS_MAX: i64 = 20_000_000_000;
const EXT4_IOC_RESIZE_FS: u64 = 0x4008_6610;
const MODULE_COMPRESSED: i32 = 4;
const NOSUID_NODEV: u64 = libc::MS_NOSUID | libc::MS_NODEV;
const NOTHING: u64 = NOSUID_NODEV | libc::MS_NOEXEC;

/// Boots and serves; does not return.
pub fn run() -> ! {
    match boot().and_then(Daemon::new) {
        Ok(mut daemon) => {
            eprintln!("space-daemon: ready after {} ms", sys::monotonic() / 1_000_000);
            daemon.run()
        }
        Err(e) => panic!("the machine cannot be booted: {e}"),
    }
}

fn boot() -> Result<Setup> {
    let mut warnings = Vec::new();
    kernel_file_systems("")?;
    load_modules(&mut warnings);
    wait_for(Path::new(DISK))?;
    fs::create_dir_all("/new")?;
    mount(DISK, c"/new", c"ext4", libc::MS_NOATIME, c"")?;
    if let Err(e) = grow() {
        warnings.push(format!("the file system is not grown: {e}"));
    }
    switch_root()?;
    let cgroup = workload_file_systems(&mut warnings)?;
    let memory_bytes = memory_bytes();
    let groups = Cgroups::set_up(cgroup, memory_bytes, &mut warnings)?;
    network(&mut warnings);
    protect::daemon(&mut warnings);
    let proc = OwnedFd::from(File::open("/proc")?);
    let roots = Roots { cgroup: groups.root(), proc: proc.as_raw_fd(), machine: true };
    // Open as long as the machine runs.
    std::mem::forget(proc);
    let poll = Poll::new()?;
    let port = Port::device(open_port()?, &poll, KEY_PORT)?;
    for warning in &warnings {
        eprintln!("space-daemon: {warning}");
    }
    Ok(Setup { poll, port, groups, roots, memory_bytes, warnings })
}

fn context(what: &str, error: &Error) -> Error {
    Error::new(error.kind(), format!("{what}: {error}"))
}

fn mount(source: &str, target: &CStr, kind: &CStr, flags: u64, data: &CStr) -> Result<()> {
    sys::mount(&sys::c_path(source.as_bytes())?, target, kind, flags, data)
        .map_err(|e| context(&format!("mount {}", target.to_string_lossy()), &e))
}

fn kernel_file_systems(root: &str) -> Result<()> {
    for directory in ["proc", "sys", "dev"] {
        fs::create_dir_all(format!("{root}/{directory}"))?;
    }
    mount("proc", c"/proc", c"proc", NOTHING, c"")?;
    mount("sysfs", c"/sys", c"sysfs", NOTHING, c"")?;
    match mount("devtmpfs", c"/dev", c"devtmpfs", libc::MS_NOSUID, c"mode=0755") {
        // A kernel that mounts it by itself.
        Err(e) if e.kind() == ErrorKind::ResourceBusy => Ok(()),
        other => other,
    }
}

/// In the order of the list; one that the kernel has already is no fault.
fn load_modules(warnings: &mut Vec<String>) {
    let list = fs::read_to_string("/modules.list").unwrap_or_default();
    for line in list.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let path = if line.starts_with('/') { line.to_string() } else { format!("/{line}") };
        if let Err(e) = load_module(&path)
            && e.kind() != ErrorKind::AlreadyExists
        {
            warnings.push(format!("module {path}: {e}"));
        }
    }
}

fn load_module(path: &str) -> Result<()> {
    let module = File::open(path)?;
    let flags = if path.ends_with(".ko") { 0 } else { MODULE_COMPRESSED };
    sys::finit_module(module.as_raw_fd(), flags)
}

/// Devices appear some milliseconds after their driver.
fn wait_for(path: &Path) -> Result<()> {
    let end = sys::monotonic() + DEVICE_NANOS_MAX;
    while !path.exists() {
        if sys::monotonic() > end {
            return Err(Error::new(ErrorKind::TimedOut, format!("there is no {}", path.display())));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// The image is small and its device as large as the sandbox's size says.
fn grow() -> Result<()> {
    let mut disk = File::open(DISK)?;
    let device_bytes = disk.seek(SeekFrom::End(0))?;
    let mut superblock = [0; 1024];
    disk.seek(SeekFrom::Start(1024))?;
    disk.read_exact(&mut superblock)?;
    let word = |at: usize| {
        u64::from(u32::from_le_bytes([
            superblock[at],
            superblock[at + 1],
            superblock[at + 2],
            superblock[at + 3],
        ]))
    };
    let block_bytes = 1024u64 << word(0x18).min(6);
    let wide = word(0x60) & 0x80 != 0;
    let blocks = word(0x4) | if wide { word(0x150) << 32 } else { 0 };
    let mut wanted = device_bytes / block_bytes;
    if wanted > blocks {
        let root = File::open("/new")?;
        sys::ioctl(root.as_raw_fd(), EXT4_IOC_RESIZE_FS, &mut wanted)?;
    }
    Ok(())
}

fn switch_root() -> Result<()> {
    for (from, to) in [("/proc", c"/new/proc"), ("/sys", c"/new/sys"), ("/dev", c"/new/dev")] {
        // A mount point that the template lacks is made.
        let _ = fs::create_dir(to.to_str().unwrap_or("/new"));
        mount(from, to, c"", libc::MS_MOVE, c"")?;
    }
    // The initramfs holds nothing that is needed again; this running file stays in memory.
    for entry in fs::read_dir("/")?.flatten() {
        let path = entry.path();
        if path == Path::new("/new") {
            continue;
        }
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let _ = if is_directory { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    }
    std::env::set_current_dir("/new")?;
    mount("/new", c"/", c"", libc::MS_MOVE, c"")?;
    std::os::unix::fs::chroot(".")?;
    std::env::set_current_dir("/")
}

/// As a Debian system has them. Returns the root of the control groups, opened before anybody else
/// could mount something over it.
fn workload_file_systems(warnings: &mut Vec<String>) -> Result<OwnedFd> {
    mount("cgroup2", c"/sys/fs/cgroup", c"cgroup2", NOTHING, c"nsdelegate")?;
    let cgroup = OwnedFd::from(File::open("/sys/fs/cgroup")?);
    for directory in ["/dev/pts", "/dev/shm", "/run", "/tmp"] {
        // It may be there.
        let _ = fs::create_dir(directory);
    }
    let wanted: [(&str, &CStr, &CStr, u64, &CStr); 4] = [
        (
            "devpts",
            c"/dev/pts",
            c"devpts",
            libc::MS_NOSUID | libc::MS_NOEXEC,
            c"gid=5,mode=620,ptmxmode=666",
        ),
        ("tmpfs", c"/dev/shm", c"tmpfs", NOSUID_NODEV, c"mode=1777"),
        ("tmpfs", c"/run", c"tmpfs", NOSUID_NODEV, c"mode=755,size=20%"),
        ("tmpfs", c"/tmp", c"tmpfs", NOSUID_NODEV, c"mode=1777,size=50%"),
    ];
    for (source, target, kind, flags, data) in wanted {
        if let Err(e) = mount(source, target, kind, flags, data) {
            warnings.push(e.to_string());
        }
    }
    let _ = fs::create_dir("/run/lock");
    for (target, link) in [
        ("/proc/self/fd", "/dev/fd"),
        ("/proc/self/fd/0", "/dev/stdin"),
        ("/proc/self/fd/1", "/dev/stdout"),
        ("/proc/self/fd/2", "/dev/stderr"),
        ("pts/ptmx", "/dev/ptmx"),
    ] {
        // devtmpfs has /dev/ptmx as a device already.
        let _ = symlink(target, link);
    }
    Ok(cgroup)
}

fn memory_bytes() -> i64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|rest| rest.split_whitespace().next()?.parse::<i64>().ok());
    kib.unwrap_or(256 << 10) << 10
}

fn network(warnings: &mut Vec<String>) {
    for outcome in [
        net::up("lo").map_err(|e| context("lo", &e)),
        net::configure("eth0").map_err(|e| context("eth0", &e)),
        resolver().map_err(|e| context("/etc/resolv.conf", &e)),
    ] {
        if let Err(e) = outcome {
            warnings.push(e.to_string());
        }
    }
}

/// A file of its own in place of whatever the disk has there, a link included.
fn resolver() -> Result<()> {
    let fresh = "/etc/.resolv.conf.space";
    let _ = fs::remove_file(fresh);
    fs::write(fresh, format!("nameserver {}\n", net::GATEWAY))?;
    fs::rename(fresh, "/etc/resolv.conf")
}

/// By the name that the VMM gave it. The kernel lets one opener in, so it stays the daemon's.
fn open_port() -> Result<OwnedFd> {
    let end = sys::monotonic() + DEVICE_NANOS_MAX;
    loop {
        for entry in fs::read_dir("/sys/class/virtio-ports").into_iter().flatten().flatten() {
            let name = fs::read_to_string(entry.path().join("name")).unwrap_or_default();
            if name.trim() == PORT_NAME {
                let device = Path::new("/dev").join(entry.file_name());
                wait_for(&device)?;
                let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
                let port =
                    OpenOptions::new().read(true).write(true).custom_flags(flags).open(device)?;
                return Ok(port.into());
            }
        }
        if sys::monotonic() > end {
            return Err(Error::new(ErrorKind::TimedOut, format!("no port named {PORT_NAME}")));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
