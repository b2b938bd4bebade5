//! What a machine that was just restored must do before anything else runs: the right time and
//! randomness of its own.

use crate::sys;
use std::fs::File;
use std::io::Result;
use std::os::fd::AsRawFd;

/// A slew moves 0.5 ms a second, so more than this would not end; the clock is stepped then.
const SLEW_NANOS_MAX: i64 = 500_000_000;
/// _IOW('R', 0x03, int[2]) and _IO('R', 0x07).
const RNDADDENTROPY: u64 = 0x4008_5203;
const RNDRESEEDCRNG: u64 = 0x5207;

/// Sets the clock at once, or lets it drift there when a step is not called for.
pub fn set(unix_nanos: i64, step: bool) -> Result<()> {
    let error = unix_nanos.saturating_sub(sys::unix());
    if step || error.saturating_abs() > SLEW_NANOS_MAX {
        let time = libc::timespec {
            tv_sec: unix_nanos.div_euclid(1_000_000_000),
            tv_nsec: unix_nanos.rem_euclid(1_000_000_000),
        };
        // JUSTIFICATION: std cannot set the clock.
        // SAFETY: the timespec is valid for the whole call.
        return sys::check(unsafe { libc::clock_settime(libc::CLOCK_REALTIME, &time) }).map(drop);
    }
    // JUSTIFICATION: as above.
    // SAFETY: timex is plain data for which zero is a valid value, and it is valid for the call.
    unsafe {
        let mut timex: libc::timex = std::mem::zeroed();
        timex.modes = libc::ADJ_OFFSET_SINGLESHOT;
        timex.offset = (error / 1000) as libc::c_long;
        sys::check(libc::adjtimex(&mut timex)).map(drop)
    }
}

#[repr(C)]
struct Pool {
    entropy_bits: i32,
    bytes: i32,
    entropy: [u8; 32],
}

pub struct Randomness(File);

impl Randomness {
    pub fn open() -> Result<Randomness> {
        File::options().read(true).write(true).open("/dev/urandom").map(Randomness)
    }

    /// Adds the host's entropy and makes the kernel's generator use it now.
    pub fn reseed(&self, entropy: &[u8; 32]) -> Result<()> {
        let mut pool = Pool { entropy_bits: 256, bytes: 32, entropy: *entropy };
        sys::ioctl(self.0.as_raw_fd(), RNDADDENTROPY, &mut pool)?;
        sys::ioctl_none(self.0.as_raw_fd(), RNDRESEEDCRNG).map(drop)
    }
}
