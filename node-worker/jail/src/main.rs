//! `space-jail` turns a slot into a jailed VMM.
//!
//! Three processes: the one that node-manager calls waits for the start and answers with the pid;
//! the *parent* is its child, leads a session of its own, drops all privileges, waits for the VMM
//! and writes how it ended; the *VMM* is pid 1 of a new pid namespace. Nothing ties the VMM's life
//! to any of them: no parent-death signal, no shared cgroup, no terminal.
//!
//! All paths come from node-manager (root). What lies under `--live` belongs to node-worker and is
//! not trusted: it is opened without following links and checked before it is bound.

mod args;
mod error;
mod files;
mod jail;
mod mounts;
mod parent;
mod sys;

use error::{Failure, Result};
use std::fs::File;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::process::ExitCode;

/// What the two lower processes may say about a start, and no more.
const STATUS_BYTES_MAX: usize = 4096;

fn main() -> ExitCode {
    match run() {
        Ok(pid) => {
            println!("{pid}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit_code()
        }
    }
}

fn run() -> Result<u32> {
    let args = args::parse(std::env::args_os().skip(1))?;
    sys::close_from(3).map_err(Failure::system("close_range"))?;
    // The VMM's two numbers are taken from the start, so that nothing owned ever has one of them
    // and closes it later.
    for _ in 3..=4 {
        let null = File::open("/dev/null").map_err(Failure::system("/dev/null"))?;
        let _ = null.into_raw_fd();
    }
    let record = files::create_new(&args.record)?;
    let log = files::create_new(&args.log)?;
    files::sync_directory_of(&args.record)?;
    let (status_read, status_write) = sys::pipe().map_err(Failure::system("pipe"))?;
    // SAFETY: this process has one thread, so the child may do anything.
    match unsafe { sys::fork() }.map_err(Failure::system("fork"))? {
        sys::Fork::Child => {
            drop(status_read);
            parent::run(&args, record, log, status_write)
        }
        sys::Fork::Parent(child) => {
            drop(status_write);
            let answer = await_start(status_read);
            if answer.is_err() {
                // The parent process ends by itself after a failed start.
                let _ = sys::wait(child);
            }
            answer
        }
    }
}

/// Reads until every writer is gone: the VMM's copy closes at its exec. "ok PID" comes from the
/// parent before that; anything else is the reason of a failure.
fn await_start(status: OwnedFd) -> Result<u32> {
    let mut text = String::new();
    for line in sys::read_to_end(&status, STATUS_BYTES_MAX)
        .map_err(Failure::system("read of the status pipe"))?
        .split(|b| *b == b'\n')
    {
        let line = String::from_utf8_lossy(line);
        if let Some(failure) = Failure::from_line(&line) {
            return Err(failure);
        }
        if !line.is_empty() {
            text = line.into_owned();
        }
    }
    text.strip_prefix("ok ")
        .and_then(|pid| pid.parse().ok())
        .ok_or_else(|| Failure::failed("the start ended without an answer".to_owned()))
}
