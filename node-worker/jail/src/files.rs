//! node-worker's files: opened without following links, checked, and the sockets made among them.

use crate::args::Args;
use crate::error::{Failure, Kind, Result};
use crate::sys;
use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// What the VMM sees in /vm, and nothing more.
pub const VM_FILES: [&CStr; 4] = [c"disk", c"ram", c"device", c"console"];

const QMP_SOCKET: &CStr = c"qmp.sock";
const AGENT_SOCKET: &CStr = c"agent.sock";

/// A file of root's that must not exist yet.
pub fn create_new(path: &Path) -> Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|e| Failure::failed(format!("{}: {e}", path.display())))
}

/// The name of a new file lasts from here on.
pub fn sync_directory_of(path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    File::open(parent)
        .and_then(|d| d.sync_all())
        .map_err(|e| Failure::failed(format!("{}: {e}", parent.display())))
}

/// The VM's directory. The way from `base` down is node-worker's, so no link of it is followed.
pub fn open_live(args: &Args) -> Result<OwnedFd> {
    let base = File::open(&args.base)
        .map_err(|e| Failure::failed(format!("{}: {e}", args.base.display())))?;
    let live = CString::new(args.live.as_os_str().as_bytes())
        .map_err(|_| Failure::failed("--live has a NUL".to_owned()))?;
    sys::open_beneath(base.as_fd(), &live, libc::O_DIRECTORY | libc::O_RDONLY)
        .map_err(Failure::bad_files(&args.live.to_string_lossy()))
}

/// One file of the VM, as a path descriptor. Only a plain file of node-worker's in the slot's
/// group, with one name, is let in: a hard link or a link may be another sandbox's file.
pub fn open_vm_file(args: &Args, live: BorrowedFd<'_>, name: &CStr) -> Result<(OwnedFd, u64)> {
    let text = name.to_string_lossy();
    let fd = sys::open_beneath(live, name, libc::O_PATH).map_err(Failure::bad_files(&text))?;
    let file = File::from(fd);
    let meta = file.metadata().map_err(Failure::bad_files(&text))?;
    let bad = |why: &str| Err(Failure::new(Kind::BadFiles, format!("{text}: {why}")));
    if !meta.file_type().is_file() {
        return bad("it is no plain file");
    }
    if meta.uid() != args.worker_uid || meta.gid() != args.slot_id {
        return bad("it must belong to node-worker and the slot's group");
    }
    if meta.nlink() != 1 {
        return bad("it has more than one name");
    }
    if meta.mode() & 0o7117 != 0 {
        return bad("its mode must be 0660 at most");
    }
    let size = meta.len();
    Ok((file.into(), size))
}

/// Binds the QMP and the agent socket in the VM's directory, as node-worker would: they are its
/// own, 0600, and the directory's permissions count. The VMM only inherits them.
pub fn bind_sockets(args: &Args, live: BorrowedFd<'_>) -> Result<(OwnedFd, OwnedFd)> {
    sys::change_directory(live).map_err(Failure::bad_files("live"))?;
    let before = sys::become_for_files(args.worker_uid, args.worker_gid);
    let old_mask = sys::umask(0o177);
    let sockets = bind_socket(QMP_SOCKET)
        .and_then(|qmp| bind_socket(AGENT_SOCKET).map(|agent| (qmp, agent)))
        .map_err(Failure::bad_files("sockets in live"));
    sys::umask(old_mask);
    sys::become_for_files(before.0, before.1);
    sockets
}

fn bind_socket(name: &CStr) -> io::Result<OwnedFd> {
    match sys::unlink(name) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    sys::listen_unix(name)
}
