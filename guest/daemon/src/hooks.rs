//! What the template has run in a fork's child before its workload goes on: programs that make
//! anew what a copy must not share (keys, ids, the seeds of generators).

use crate::daemon::Daemon;
use crate::passwd;
use crate::pb::{self, HooksOutcome, reply};
use crate::spawn::{self, Roots};
use crate::stream::{Stream, Work};
use crate::sys;
use std::io::Result;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DIRECTORY: &str = "/etc/space/on-fork.d";
/// For all of them together; the workload stands still meanwhile.
const HOOKS_NANOS: i64 = 5_000_000_000;
/// More than that in the directory are not run.
const HOOKS_MAX: usize = 64;
const OTHERS_MAY_WRITE: u32 = 0o022;
const ANY_MAY_EXECUTE: u32 = 0o111;

/// The hooks of this machine's life as a fork.
#[derive(Default)]
pub enum Hooks {
    #[default]
    None,
    Running {
        pid: i32,
        deadline: i64,
    },
    Done(HooksOutcome),
}

impl Daemon {
    /// The end of a bind: at once, or when the hooks have run. Then the workload goes on.
    pub fn bound(&mut self, id: u32, forked: bool) {
        if forked && self.roots.machine && matches!(self.hooks, Hooks::None) {
            self.hooks = match start(self.roots) {
                Ok(pid) => Hooks::Running { pid, deadline: sys::monotonic() + HOOKS_NANOS },
                Err(e) => {
                    eprintln!("space-daemon: the hooks of a fork cannot be started: {e}");
                    Hooks::Done(HooksOutcome::NotStarted)
                }
            };
        }
        self.streams.insert(id, Stream::new(Work::Bind));
        if !self.hooks_run() {
            self.answer_binds();
        }
    }

    pub fn hooks_run(&self) -> bool {
        matches!(self.hooks, Hooks::Running { .. })
    }

    /// True when it was the hooks' runner that ended.
    pub fn hooks_ended(&mut self, ended: i32, status: i32) -> bool {
        if !matches!(self.hooks, Hooks::Running { pid, .. } if pid == ended) {
            return false;
        }
        let clean = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        self.finish_hooks(if clean { HooksOutcome::Fine } else { HooksOutcome::Failed });
        true
    }

    pub fn hooks_deadline(&self) -> Option<i64> {
        match self.hooks {
            Hooks::Running { deadline, .. } => Some(deadline),
            _ => None,
        }
    }

    pub fn late_hooks(&mut self, now: i64) {
        if self.hooks_deadline().is_some_and(|end| now >= end) {
            self.finish_hooks(HooksOutcome::TimedOut);
        }
    }

    /// Whatever they left running ends with them.
    fn finish_hooks(&mut self, outcome: HooksOutcome) {
        if let Err(e) = self.groups.kill_hooks() {
            eprintln!("space-daemon: what the hooks started cannot be ended: {e}");
        }
        self.hooks = Hooks::Done(outcome);
        self.answer_binds();
    }

    fn answer_binds(&mut self) {
        self.thaw();
        let hooks = match self.hooks {
            Hooks::Done(outcome) => outcome,
            _ => HooksOutcome::Fine,
        };
        let waiting = self.streams.iter().filter(|(_, stream)| matches!(stream.work, Work::Bind));
        for id in waiting.map(|(&id, _)| id).collect::<Vec<u32>>() {
            self.streams.remove(&id);
            let bound = pb::Bound { boot_nanos: self.started, hooks: hooks.into() };
            self.reply(id, reply::Body::Bound(bound));
        }
    }
}

fn start(roots: Roots) -> Result<i32> {
    spawn::fork_into("hooks", roots, || i32::from(!run_all(roots).unwrap_or(false)))
}

/// False when one failed; the others run all the same. As the machine's root, with no more than the
/// workload's root may do.
fn run_all(roots: Roots) -> Result<bool> {
    let hooks = find(Path::new(DIRECTORY), 0);
    if hooks.is_empty() {
        return Ok(true);
    }
    spawn::detach(roots)?;
    let Some(root) = passwd::resolve(b"") else {
        return Ok(false);
    };
    spawn::become_user(&root, roots.machine)?;
    Ok(hooks.iter().filter(|hook| !run(hook)).count() == 0)
}

fn run(hook: &Path) -> bool {
    Command::new(hook)
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", "/root")
        .env("LANG", "C.UTF-8")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// In the order of their names: executable files that, like the directory, belong to `owner` and
/// that nobody else may write. Others could be the workload's way to become root.
fn find(directory: &Path, owner: u32) -> Vec<PathBuf> {
    let safe = |path: &Path| {
        std::fs::metadata(path)
            .ok()
            .filter(|meta| meta.uid() == owner && meta.mode() & OTHERS_MAY_WRITE == 0)
    };
    let Some(entries) = safe(directory).and_then(|_| std::fs::read_dir(directory).ok()) else {
        return Vec::new();
    };
    let mut hooks: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            safe(path).is_some_and(|meta| meta.is_file() && meta.mode() & ANY_MAY_EXECUTE != 0)
        })
        .take(HOOKS_MAX)
        .collect();
    hooks.sort();
    hooks
}

#[cfg(test)]
#[path = "hooks_test.rs"]
mod tests;
