//! The jail's file system: the bundle read-only, the VM's files one by one in /vm, few devices.

use crate::args::Args;
use crate::error::{Failure, Result};
use crate::sys;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

const TMPFS_OPTIONS: &CStr = c"size=64k,nr_inodes=32,mode=0755";

/// name, major, minor: what the VMM may open of the machine's devices, besides its TAP.
const DEVICES: [(&CStr, u32, u32); 3] = [
    (c"dev/null", 1, 3),
    (c"dev/zero", 1, 5),
    (c"dev/urandom", 1, 9),
];

const TUN: (u32, u32) = (10, 200);
const KVM: (u32, u32) = (10, 232);

/// What happens here stays here.
pub fn make_private() -> Result<()> {
    sys::mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE, None)
        .map_err(Failure::system("making mounts private"))
}

/// A mount of one opened file that hangs nowhere yet.
pub fn detached_copy(file: &OwnedFd) -> Result<OwnedFd> {
    let tree = sys::open_tree(file).map_err(Failure::system("open_tree"))?;
    sys::restrict_tree(&tree, sys::NOSUID | sys::NODEV | sys::NOEXEC)
        .map_err(Failure::system("mount_setattr of a file"))?;
    Ok(tree)
}

/// Mounts the bundle over itself, so that it can become a root, and fills /vm and /dev. Leaves the
/// new root as the current directory.
pub fn build_root(args: &Args, files: Vec<(&CStr, OwnedFd)>) -> Result<()> {
    let bundle = CString::new(args.bundle.as_os_str().as_bytes())
        .map_err(|_| Failure::failed("--bundle has a NUL".to_owned()))?;
    sys::mount(Some(&bundle), &bundle, None, libc::MS_BIND, None)
        .map_err(Failure::system("binding the bundle"))?;
    std::env::set_current_dir(&args.bundle).map_err(Failure::system("chdir to the bundle"))?;
    fill_vm(files)?;
    fill_dev(args)?;
    let read_only =
        libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV;
    sys::mount(None, c".", None, read_only, None).map_err(Failure::system("the root read-only"))
}

fn fill_vm(files: Vec<(&CStr, OwnedFd)>) -> Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    sys::mount(
        Some(c"vm"),
        c"vm",
        Some(c"tmpfs"),
        flags,
        Some(TMPFS_OPTIONS),
    )
    .map_err(Failure::system("mounting /vm"))?;
    for (name, tree) in files {
        let mut path = b"vm/".to_vec();
        path.extend_from_slice(name.to_bytes());
        let path = CString::new(path).map_err(|_| Failure::failed("a NUL".to_owned()))?;
        sys::make_node(&path, libc::S_IFREG | 0o400, 0, 0).map_err(Failure::system("mknod"))?;
        sys::move_mount(&tree, &path).map_err(Failure::system("move_mount"))?;
    }
    read_only(c"vm", flags)
}

fn fill_dev(args: &Args) -> Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    sys::mount(
        Some(c"dev"),
        c"dev",
        Some(c"tmpfs"),
        flags,
        Some(TMPFS_OPTIONS),
    )
    .map_err(Failure::system("mounting /dev"))?;
    for (path, major, minor) in DEVICES {
        node(path, 0o666, major, minor)?;
    }
    std::fs::create_dir("dev/net").map_err(Failure::system("mkdir /dev/net"))?;
    slot_node(c"dev/net/tun", TUN, args.slot_id)?;
    if args.kvm {
        slot_node(c"dev/kvm", KVM, args.slot_id)?;
    }
    read_only(c"dev", flags)
}

/// A device of this slot's VMM alone, whatever the machine's own node says.
fn slot_node(path: &CStr, (major, minor): (u32, u32), slot_gid: u32) -> Result<()> {
    node(path, 0o660, major, minor)?;
    let owned = std::path::Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()));
    std::os::unix::fs::chown(owned, Some(0), Some(slot_gid))
        .map_err(Failure::system("chown of a device"))
}

fn node(path: &CStr, mode: u32, major: u32, minor: u32) -> Result<()> {
    let old = sys::umask(0);
    let made = sys::make_node(path, libc::S_IFCHR | mode, major, minor);
    sys::umask(old);
    made.map_err(Failure::system("mknod of a device"))
}

/// Device nodes stay usable on a read-only mount; names can no more be made.
fn read_only(path: &CStr, flags: u64) -> Result<()> {
    sys::mount(
        None,
        path,
        None,
        libc::MS_REMOUNT | libc::MS_BIND | libc::MS_RDONLY | flags,
        None,
    )
    .map_err(Failure::system("remounting read-only"))
}

/// The current directory becomes the root and the old root is gone for this namespace.
pub fn enter_root() -> Result<()> {
    sys::pivot_here().map_err(Failure::system("pivot_root"))?;
    sys::detach(c".").map_err(Failure::system("detaching the old root"))?;
    std::env::set_current_dir("/").map_err(Failure::system("chdir /"))
}
