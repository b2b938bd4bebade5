//! The daemon as an ordinary process, for tests: the same loop and requests on a unix socket, in a
//! control group of its own. It leaves the machine's clock, random pool and host name alone.

use crate::cgroup::Cgroups;
use crate::daemon::{Daemon, KEY_LISTENER, Setup};
use crate::port::Port;
use crate::spawn::Roots;
use crate::sys::{self, Poll};
use std::fs::{self, File};
use std::io::Result;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::process::ExitCode;

const MEMORY_BYTES: i64 = 512 << 20;

pub fn run(arguments: &[String]) -> ExitCode {
    let [socket_flag, socket, cgroup_flag, cgroup] = arguments else {
        return usage();
    };
    if socket_flag != "--socket" || cgroup_flag != "--cgroup" {
        return usage();
    }
    match set_up(socket, cgroup).and_then(Daemon::new) {
        Ok(mut daemon) => daemon.run(),
        Err(e) => {
            eprintln!("space-daemon: {e}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("space-daemon boots a sandbox as its /init; in tests: --socket PATH --cgroup DIR");
    ExitCode::FAILURE
}

fn set_up(socket: &str, cgroup: &str) -> Result<Setup> {
    // Orphans come here, as they come to PID 1.
    // JUSTIFICATION: std has no process controls.
    // SAFETY: passes integers only.
    sys::check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })?;
    fs::create_dir_all(cgroup)?;
    let mut warnings = Vec::new();
    let directory = OwnedFd::from(File::open(cgroup)?);
    let groups = Cgroups::set_up(directory, MEMORY_BYTES, &mut warnings)?;
    let proc = OwnedFd::from(File::open("/proc")?);
    let roots = Roots { cgroup: groups.root(), proc: proc.as_raw_fd(), machine: false };
    // Open as long as the process runs.
    std::mem::forget(proc);
    let poll = Poll::new()?;
    let port = Port::listener(UnixListener::bind(socket)?, &poll, KEY_LISTENER)?;
    Ok(Setup { poll, port, groups, roots, memory_bytes: MEMORY_BYTES, warnings })
}
