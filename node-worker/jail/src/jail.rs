//! From root in the machine's namespaces to the VMM in its own: the order is the security.

use crate::args::Args;
use crate::error::{Failure, Kind, Result};
use crate::{files, mounts, sys};
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

/// The bundle's loader starts QEMU, not the kernel: the kernel puts a program far from everything
/// that it maps later, the loader beside it. QEMU's translated code then reaches QEMU's functions by
/// a near call, and guests need about an eighth less CPU (docs/benchmarks.md).
const LOADER: &CStr = c"/lib64/ld-linux-x86-64.so.2";
const EXECUTABLE: &CStr = c"/usr/bin/qemu-system-x86_64";

/// Descriptors that QEMU's command line names.
const QMP_FD: i32 = 3;
const AGENT_FD: i32 = 4;

/// Files that the VMM has open at once: sockets, disk, memory, event descriptors.
const OPEN_FILES_MAX: u64 = 256;

/// The device state, on top of the largest other file.
const FILE_BYTES_SPARE: u64 = 64 << 20;

/// Returns only when it failed.
pub fn enter_and_execute(args: &Args, log: OwnedFd) -> Failure {
    match prepare(args, &log) {
        Ok(()) => {
            let error = sys::execute(LOADER, &loader_line(&args.command));
            Failure::new(
                Kind::NoBundle,
                format!("exec of the bundle's QEMU: {error}"),
            )
        }
        Err(failure) => failure,
    }
}

/// Own options would be the loader's: everything of the VMM's stands behind its path.
fn loader_line(vmm: &[CString]) -> Vec<CString> {
    let mut line = vec![CString::from(LOADER), CString::from(EXECUTABLE)];
    line.extend_from_slice(vmm);
    line
}

fn prepare(args: &Args, log: &OwnedFd) -> Result<()> {
    join_cgroups(args)?;
    let netns = File::open(&args.netns)
        .map_err(|e| Failure::failed(format!("{}: {e}", args.netns.display())))?;
    sys::set_namespace(netns.as_fd(), libc::CLONE_NEWNET).map_err(Failure::system("setns"))?;
    drop(netns);
    sys::unshare(
        libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP,
    )
    .map_err(Failure::system("unshare"))?;
    sys::set_hostname(c"vm").map_err(Failure::system("sethostname"))?;
    mounts::make_private()?;

    let live = files::open_live(args)?;
    let mut largest = args.memory_bytes;
    let mut trees = Vec::new();
    for name in files::VM_FILES {
        let (fd, size) = files::open_vm_file(args, live.as_fd(), name)?;
        largest = largest.max(size);
        trees.push((name, mounts::detached_copy(&fd)?));
    }
    let (qmp, agent) = files::bind_sockets(args, live.as_fd())?;
    drop(live);

    check_bundle(args)?;
    mounts::build_root(args, trees)?;
    mounts::enter_root()?;

    limit(libc::RLIMIT_NOFILE, OPEN_FILES_MAX)?;
    limit(libc::RLIMIT_CORE, 0)?;
    limit(libc::RLIMIT_FSIZE, largest.saturating_add(FILE_BYTES_SPARE))?;
    place_descriptors(log, &qmp, &agent)?;
    sys::drop_privileges(args.slot_id).map_err(Failure::system("dropping privileges"))?;
    sys::reset_signals().map_err(Failure::system("signals"))
}

/// The VMM alone joins; its parent stays outside, so that it survives the cgroup's kill and OOM.
fn join_cgroups(args: &Args) -> Result<()> {
    for cgroup in &args.cgroups {
        let procs = cgroup.join("cgroup.procs");
        fs::write(&procs, "0").map_err(|e| Failure::failed(format!("{}: {e}", procs.display())))?;
    }
    Ok(())
}

/// Whoever can write the bundle decides what every VMM executes.
fn check_bundle(args: &Args) -> Result<()> {
    let meta = fs::symlink_metadata(&args.bundle)
        .map_err(|e| Failure::new(Kind::NoBundle, format!("{}: {e}", args.bundle.display())))?;
    if !meta.is_dir() || meta.uid() != 0 || meta.mode() & 0o022 != 0 {
        let detail = format!(
            "{} must be a directory that root alone writes",
            args.bundle.display()
        );
        return Err(Failure::new(Kind::NoBundle, detail));
    }
    Ok(())
}

pub fn limit(resource: sys::Resource, value: u64) -> Result<()> {
    sys::set_limit(resource, value).map_err(Failure::system("setrlimit"))
}

/// stdin stays /dev/null, stdout and stderr go to the parent, 3 and 4 are the sockets; everything
/// else closes at exec.
fn place_descriptors(log: &OwnedFd, qmp: &OwnedFd, agent: &OwnedFd) -> Result<()> {
    let place = || {
        // Out of the way first: a source may have the number of another's target.
        let sources = [sys::duplicate_high(log)?, sys::duplicate_high(qmp)?];
        let agent = sys::duplicate_high(agent)?;
        sys::place(&sources[0], 1)?;
        sys::place(&sources[0], 2)?;
        sys::place(&sources[1], QMP_FD)?;
        sys::place(&agent, AGENT_FD)?;
        sys::close_at_exec_from(AGENT_FD + 1)
    };
    place().map_err(Failure::system("placing descriptors"))
}
