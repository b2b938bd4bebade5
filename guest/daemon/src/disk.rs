//! The root file system and the machine as a whole. What may block runs in a child.

use crate::{spawn, sys};
use std::fs::File;
use std::io::Result;
use std::os::fd::AsRawFd;

/// _IOWR('X', 119, int) and _IOWR('X', 120, int).
const FIFREEZE: u64 = 0xc004_5877;
const FITHAW: u64 = 0xc004_5878;

pub fn in_child(work: fn() -> bool) -> Result<i32> {
    spawn::fork(|| i32::from(!work()))
}

fn root_ioctl(request: u64) -> Result<()> {
    let root = File::open("/")?;
    sys::ioctl(root.as_raw_fd(), request, &mut 0i32).map(drop)
}

pub fn freeze() -> bool {
    // Busy means frozen already.
    root_ioctl(FIFREEZE).is_ok_or(libc::EBUSY)
}

pub fn thaw() -> bool {
    // Invalid means that it is not frozen.
    root_ioctl(FITHAW).is_ok_or(libc::EINVAL)
}

trait IsOkOr {
    fn is_ok_or(&self, errno: i32) -> bool;
}

impl IsOkOr for Result<()> {
    fn is_ok_or(&self, errno: i32) -> bool {
        self.as_ref().err().is_none_or(|e| e.raw_os_error() == Some(errno))
    }
}

pub fn sync() -> bool {
    let Ok(root) = File::open("/") else {
        return false;
    };
    // JUSTIFICATION: std has no syncfs.
    // SAFETY: the descriptor is open for the whole call.
    sys::check(unsafe { libc::syncfs(root.as_raw_fd()) }).is_ok()
}

/// (total, free) bytes of the root file system; what PID 1 calls "/" cannot be mounted over.
pub fn space() -> (i64, i64) {
    // JUSTIFICATION: std has no statvfs.
    // SAFETY: zero is a valid value of the struct, which is valid for the whole call.
    unsafe {
        let mut figures: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(c"/".as_ptr(), &mut figures) != 0 {
            return (0, 0);
        }
        let unit = figures.f_frsize as i64;
        (figures.f_blocks as i64 * unit, figures.f_bavail as i64 * unit)
    }
}

pub fn set_hostname(name: &str) {
    // JUSTIFICATION: std has no sethostname.
    // SAFETY: the bytes are valid for their length.
    if unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) } != 0 {
        eprintln!("space-daemon: the host name is not set");
    }
}

pub fn power_off() {
    // JUSTIFICATION: std has neither.
    // SAFETY: no memory is passed; PID 1 ends the machine. A machine without a power switch is
    // reset, which ends the VMM as well (-no-reboot).
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
        libc::reboot(libc::RB_AUTOBOOT);
    }
}
