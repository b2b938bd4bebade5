//! The VMM's parent: unprivileged, outside the VM's cgroup, in nobody's way. It keeps the first
//! bytes that the VMM writes to stderr and records how the VMM ended.

use crate::args::Args;
use crate::error::{Failure, Result};
use crate::{jail, sys};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};

/// What is kept of the VMM's stderr; the rest is read and dropped, so it never blocks.
const LOG_BYTES_MAX: usize = 16 << 10;

/// Never returns: this process ends after the VMM.
pub fn run(args: &Args, record: File, log: File, status: OwnedFd) -> ! {
    let code = match start(args, record, log, &status) {
        Ok(()) => 0,
        Err(failure) => {
            let _ = sys::write_all(status.as_fd(), format!("{failure}\n").as_bytes());
            1
        }
    };
    drop(status);
    sys::exit(code)
}

fn start(args: &Args, mut record: File, log: File, status: &OwnedFd) -> Result<()> {
    sys::new_session().map_err(Failure::system("setsid"))?;
    std::env::set_current_dir("/").map_err(Failure::system("chdir"))?;
    sys::null_standard_streams().map_err(Failure::system("/dev/null"))?;
    let (log_read, log_write) = sys::pipe().map_err(Failure::system("pipe"))?;
    sys::unshare(libc::CLONE_NEWPID).map_err(Failure::system("unshare of the pid namespace"))?;
    // SAFETY: this process has one thread, so the child may do anything.
    let pid = match unsafe { sys::fork() }.map_err(Failure::system("fork"))? {
        sys::Fork::Child => {
            drop((record, log, log_read));
            let failure = jail::enter_and_execute(args, log_write);
            let _ = sys::write_all(status.as_fd(), format!("{failure}\n").as_bytes());
            sys::exit(127)
        }
        sys::Fork::Parent(pid) => pid,
    };
    drop(log_write);
    let answer = record
        .write_all(format!("vm {}\npid {pid}\n", args.label).as_bytes())
        .and_then(|()| record.sync_data())
        .map_err(Failure::system("the exit record"))
        .and_then(|()| drop_privileges(args));
    if let Err(failure) = answer {
        // Without a record and an unprivileged parent there must be no VMM.
        sys::kill(pid);
        let _ = sys::wait(pid);
        return Err(failure);
    }
    let _ = sys::write_all(status.as_fd(), format!("ok {pid}\n").as_bytes());
    sys::close_status(status);
    outlive(pid, record, log, log_read);
    Ok(())
}

fn drop_privileges(args: &Args) -> Result<()> {
    jail::limit(libc::RLIMIT_CORE, 0)?;
    sys::drop_privileges(args.slot_id).map_err(Failure::system("dropping privileges"))
}

/// Until the VMM is gone; nothing here may fail loudly, for nobody listens any more.
fn outlive(pid: i32, mut record: File, mut log: File, log_read: OwnedFd) {
    let mut kept = 0;
    let mut buffer = [0_u8; 4096];
    while let Ok(n) = sys::read(&log_read, &mut buffer) {
        if n == 0 {
            break;
        }
        let room = n.min(LOG_BYTES_MAX - kept);
        if room > 0 && log.write_all(&buffer[..room]).is_ok() {
            kept += room;
        }
    }
    let end = match sys::wait(pid) {
        Ok(sys::End::Code(code)) => format!("code {code}\n"),
        Ok(sys::End::Signal(signal)) => format!("signal {signal}\n"),
        Err(e) => format!("lost {e}\n"),
    };
    let _ = record
        .write_all(end.as_bytes())
        .and_then(|()| record.sync_all());
}
