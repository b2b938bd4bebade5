//! The workload's control groups (v2). Everything is reached from a directory opened at boot: what
//! the workload mounts over /sys/fs/cgroup later is not seen from there.
//!
//! ```text
//! workload/          frozen around every stop; memory.max and pids.max below the machine's
//!   p1/ p2/ ...      one for each process that the host started, with all it forks
//! files/             the children that touch files for the host
//! hooks/             what the template has run in a fork's child while the workload stands still
//! ```

use crate::sys;
use std::ffi::CString;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// What the daemon and the kernel keep for themselves.
const RESERVED_BYTES: i64 = 48 << 20;
const TASKS_MAX: i64 = 4096;
const CONTROL_BYTES_MAX: usize = 64 << 10;

pub struct Cgroups {
    root: OwnedFd,
    next: u64,
}

/// Which group a child of the daemon belongs to.
#[derive(Clone, Debug)]
pub enum Group {
    Process(String),
    Files,
}

impl Group {
    pub fn path(&self) -> String {
        match self {
            Group::Process(name) => format!("workload/{name}"),
            Group::Files => "files".into(),
        }
    }
}

impl Cgroups {
    /// Makes the groups below an open directory of the unified hierarchy. What a missing controller
    /// makes impossible is added to the warnings.
    pub fn set_up(root: OwnedFd, memory_bytes: i64, warnings: &mut Vec<String>) -> Result<Cgroups> {
        let groups = Cgroups { root, next: 1 };
        for control in ["+cpu", "+memory", "+pids"] {
            if let Err(e) = groups.write("cgroup.subtree_control", control) {
                warnings.push(format!("no {control} in the control group: {e}"));
            }
        }
        for name in ["workload", "files", "hooks"] {
            groups.make(name)?;
        }
        for control in ["+memory", "+pids"] {
            let _ = groups.write("workload/cgroup.subtree_control", control);
        }
        let memory = (memory_bytes - RESERVED_BYTES).max(memory_bytes / 2);
        let tasks = (memory_bytes / (256 << 10)).clamp(128, TASKS_MAX);
        for (file, value) in [("workload/memory.max", memory), ("workload/pids.max", tasks)] {
            if let Err(e) = groups.write(file, &value.to_string()) {
                warnings.push(format!("{file} is not set: {e}"));
            }
        }
        Ok(groups)
    }

    pub fn root(&self) -> RawFd {
        self.root.as_raw_fd()
    }

    fn make(&self, path: &str) -> Result<()> {
        match sys::mkdir_at(self.root(), &sys::c_path(path.as_bytes())?, 0o755) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    fn open(&self, path: &str, flags: libc::c_int) -> Result<OwnedFd> {
        sys::open_at(self.root(), &sys::c_path(path.as_bytes())?, flags, 0)
    }

    fn write(&self, path: &str, value: &str) -> Result<()> {
        let file = self.open(path, libc::O_WRONLY)?;
        sys::write(file.as_raw_fd(), value.as_bytes()).map(drop)
    }

    fn read(&self, path: &str) -> Result<String> {
        let file = self.open(path, libc::O_RDONLY)?;
        let mut all = Vec::new();
        let mut piece = [0; 4096];
        while all.len() < CONTROL_BYTES_MAX {
            match sys::read(file.as_raw_fd(), &mut piece)? {
                0 => break,
                n => all.extend_from_slice(&piece[..n]),
            }
        }
        String::from_utf8(all).map_err(|_| Error::from(ErrorKind::InvalidData))
    }

    /// A number behind a key ("usage_usec 12"), or alone when the key is empty.
    fn figure(&self, path: &str, key: &str) -> i64 {
        let text = self.read(path).unwrap_or_default();
        let value = text.lines().find_map(|line| {
            if key.is_empty() { Some(line) } else { line.strip_prefix(key)?.strip_prefix(' ') }
        });
        value.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }

    /// A new group for a process; names are never used twice.
    pub fn make_process(&mut self) -> Result<String> {
        let name = format!("p{}", self.next);
        self.next += 1;
        self.make(&Group::Process(name.clone()).path())?;
        Ok(name)
    }

    /// True when the group is gone or was removed now: nothing runs in it.
    pub fn remove_process(&self, name: &str) -> bool {
        let Ok(path) = CString::new(format!("workload/{name}")) else {
            return true;
        };
        match sys::unlink_at(self.root(), &path, libc::AT_REMOVEDIR) {
            Ok(()) => true,
            Err(e) => e.kind() == ErrorKind::NotFound,
        }
    }

    pub fn tasks(&self, name: &str) -> Vec<i32> {
        let text = self.read(&format!("workload/{name}/cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).filter(|&pid| pid > 1).collect()
    }

    pub fn populated(&self, name: &str) -> bool {
        self.figure(&format!("workload/{name}/cgroup.events"), "populated") == 1
    }

    /// Kills every task of the group at once, also one that forks faster than it is listed.
    pub fn kill(&self, name: &str) -> Result<()> {
        self.write(&format!("workload/{name}/cgroup.kill"), "1")
    }

    pub fn kill_hooks(&self) -> Result<()> {
        self.write("hooks/cgroup.kill", "1")
    }

    /// Signals every task; what is forked meanwhile is found by looking again.
    pub fn signal(&self, name: &str, signal: i32) -> Result<()> {
        if signal == libc::SIGKILL {
            return self.kill(name);
        }
        let mut done: Vec<i32> = Vec::new();
        for _ in 0..4 {
            let fresh: Vec<i32> =
                self.tasks(name).into_iter().filter(|pid| !done.contains(pid)).collect();
            if fresh.is_empty() {
                break;
            }
            for &pid in &fresh {
                // It may have ended since it was listed.
                let _ = sys::kill(pid, signal);
            }
            done.extend(fresh);
        }
        Ok(())
    }

    pub fn oom_kills(&self, name: &str) -> i64 {
        self.figure(&format!("workload/{name}/memory.events"), "oom_kill")
    }

    pub fn cpu_micros(&self) -> i64 {
        self.figure("workload/cpu.stat", "usage_usec")
    }

    pub fn memory_bytes(&self) -> i64 {
        self.figure("workload/memory.current", "")
    }

    pub fn task_count(&self) -> i64 {
        self.figure("workload/pids.current", "")
    }

    pub fn freeze(&self, on: bool) -> Result<()> {
        self.write("workload/cgroup.freeze", if on { "1" } else { "0" })
    }

    pub fn frozen(&self) -> bool {
        self.figure("workload/cgroup.events", "frozen") == 1
    }
}
