//! The processes that the host started: one record each, kept until the host releases it or newer
//! results push it out.

use crate::cgroup::{Cgroups, Group};
use crate::output::Output;
use crate::pb;
use crate::spawn::{self, Launch, Roots, Stage, Streams};
use crate::sys;
use std::collections::VecDeque;
use std::io::Result;
use std::os::fd::OwnedFd;

/// After the main process ended, its outputs may still be held open by background children. They
/// are waited for this long; then the outputs count as complete, and what comes later is read and
/// dropped, so that those children neither block nor die of a closed pipe.
pub const GRACE_NANOS: i64 = 250_000_000;
pub const STDIN_MAX: usize = 256 << 10;
const ARGV_SHOWN_MAX: usize = 4096;

#[derive(Default)]
pub struct Stdin {
    pub fd: Option<OwnedFd>,
    pub watch: u64,
    pub pending: VecDeque<u8>,
    /// Offset behind everything accepted.
    pub accepted: u64,
    pub eof: bool,
}

pub struct Process {
    pub id: String,
    pub pid: i32,
    pub group: String,
    /// Open until exec succeeded or failed.
    pub status: Option<OwnedFd>,
    pub status_watch: u64,
    pub stdin: Stdin,
    pub outputs: [Output; 2],
    pub main_ended: bool,
    pub exited: bool,
    pub released: bool,
    pub deadline: Option<i64>,
    pub grace: Option<i64>,
    timed_out: bool,
    failure: Option<(Stage, i32)>,
    info: pb::ProcessInfo,
}

impl Process {
    /// Forks the process; how its exec goes is told by `status`.
    pub fn start(
        request: pb::StartProcess,
        env: std::collections::BTreeMap<String, Vec<u8>>,
        user: &str,
        groups: &mut Cgroups,
        roots: Roots,
    ) -> Result<Process> {
        let name = groups.make_process()?;
        let ends = Ends::new(request.stdin)?;
        let launch = Launch {
            argv: request.argv.clone(),
            command: request.command.clone(),
            env,
            cwd: request.cwd,
            user: user.as_bytes().to_vec(),
            group: Group::Process(name.clone()).path(),
        };
        let pid = match spawn::start(&launch, ends.child, roots) {
            Ok(pid) => pid,
            Err(e) => {
                groups.remove_process(&name);
                return Err(e);
            }
        };
        let deadline = (request.timeout_millis > 0).then(|| {
            sys::monotonic().saturating_add(request.timeout_millis.saturating_mul(1_000_000))
        });
        let (argv, command) = shown(request.argv, request.command);
        let info = pb::ProcessInfo {
            id: request.id.clone(),
            pid,
            state: pb::ProcessState::Running as i32,
            started_unix_nanos: sys::unix(),
            argv,
            command,
            ..Default::default()
        };
        Ok(Process {
            id: request.id,
            pid,
            group: name,
            status: Some(ends.status),
            status_watch: 0,
            stdin: Stdin { fd: ends.stdin, eof: !request.stdin, ..Default::default() },
            outputs: [Output::of(ends.stdout), Output::of(ends.stderr)],
            main_ended: false,
            exited: false,
            released: false,
            deadline,
            grace: None,
            timed_out: false,
            failure: None,
            info,
        })
    }

    /// What the child told before its exec: nothing when that succeeded.
    pub fn started(&mut self, report: &[u8]) {
        self.status = None;
        if let [stage, a, b, c, d] = *report {
            let stage = match stage {
                1 => Stage::Setup,
                2 => Stage::User,
                3 => Stage::Directory,
                _ => Stage::Exec,
            };
            self.failure = Some((stage, i32::from_le_bytes([a, b, c, d])));
        }
    }

    pub fn start_failed(&self) -> bool {
        self.failure.is_some()
    }

    pub fn time_out(&mut self, groups: &Cgroups) {
        self.deadline = None;
        self.timed_out = !self.main_ended;
        // A group that cannot be killed is one that is gone.
        let _ = groups.kill(&self.group);
    }

    /// The main process was reaped.
    pub fn main_ended(&mut self, wait_status: i32, groups: &Cgroups) {
        self.main_ended = true;
        self.deadline = None;
        self.grace = Some(sys::monotonic() + GRACE_NANOS);
        self.info.ended_unix_nanos = sys::unix();
        let signal = if libc::WIFSIGNALED(wait_status) { libc::WTERMSIG(wait_status) } else { 0 };
        let code = if signal != 0 { 128 + signal } else { libc::WEXITSTATUS(wait_status) };
        let out_of_memory = code == 128 + libc::SIGKILL && groups.oom_kills(&self.group) > 0;
        self.info.signal = signal;
        self.info.exit_code = code;
        let (reason, detail) = if let Some((stage, errno)) = self.failure {
            self.describe(stage, errno)
        } else if self.timed_out {
            (pb::ExitReason::TimedOut, "the time-out of the process was over".into())
        } else if out_of_memory {
            (pb::ExitReason::OutOfMemory, "the sandbox had no memory left".into())
        } else if signal != 0 {
            (pb::ExitReason::Signaled, String::new())
        } else {
            (pb::ExitReason::Exited, String::new())
        };
        self.info.reason = reason as i32;
        self.info.detail = detail;
    }

    fn describe(&mut self, stage: Stage, errno: i32) -> (pb::ExitReason, String) {
        let cause = std::io::Error::from_raw_os_error(errno);
        let missing = matches!(errno, libc::ENOENT | libc::ENOTDIR);
        self.info.exit_code = if missing { 127 } else { 126 };
        match stage {
            Stage::Exec if missing => (pb::ExitReason::NotFound, "there is no such command".into()),
            Stage::Exec => (pb::ExitReason::StartFailed, format!("exec: {cause}")),
            Stage::Directory => {
                (pb::ExitReason::StartFailed, format!("the working directory: {cause}"))
            }
            Stage::User if missing => {
                (pb::ExitReason::StartFailed, "the sandbox has no such user".into())
            }
            Stage::User => (pb::ExitReason::StartFailed, format!("the user: {cause}")),
            Stage::Setup => (pb::ExitReason::StartFailed, format!("set-up: {cause}")),
        }
    }

    /// Ended once the main process has and both outputs are complete.
    pub fn settle(&mut self, now: i64) {
        if self.exited || !self.main_ended || self.status.is_some() {
            return;
        }
        if self.grace.is_some_and(|end| now >= end) {
            self.outputs.iter_mut().for_each(|output| output.complete = true);
        }
        if self.outputs.iter().all(|output| output.complete) {
            self.exited = true;
            self.grace = None;
            self.info.state = pb::ProcessState::Exited as i32;
        }
    }

    pub fn info(&self, groups: &Cgroups) -> pb::ProcessInfo {
        let mut info = self.info.clone();
        info.stdout_bytes = self.outputs[0].end() as i64;
        info.stderr_bytes = self.outputs[1].end() as i64;
        info.stdin_bytes = self.stdin.accepted as i64;
        if self.main_ended {
            info.tasks = groups.tasks(&self.group).len() as u32;
        }
        info
    }
}

fn shown(argv: Vec<Vec<u8>>, mut command: Vec<u8>) -> (Vec<Vec<u8>>, Vec<u8>) {
    command.truncate(ARGV_SHOWN_MAX);
    let mut left = ARGV_SHOWN_MAX;
    let mut cut = Vec::new();
    for mut argument in argv {
        if left == 0 {
            break;
        }
        argument.truncate(left);
        // Empty arguments count too, or a list of them would have no end.
        left -= argument.len().max(1);
        cut.push(argument);
    }
    (cut, command)
}

/// The pipes of one process: the daemon's ends do not block, the child's do.
struct Ends {
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
    status: OwnedFd,
    child: Streams,
}

impl Ends {
    fn new(with_stdin: bool) -> Result<Ends> {
        use std::os::fd::AsRawFd;
        let (stdin_read, stdin_write) = sys::pipe(0)?;
        let (stdout, stdout_write) = sys::pipe(0)?;
        let (stderr, stderr_write) = sys::pipe(0)?;
        let (status, status_write) = sys::pipe(0)?;
        for fd in [&stdin_write, &stdout, &stderr, &status] {
            sys::set_nonblocking(fd.as_raw_fd(), true)?;
        }
        Ok(Ends {
            stdin: with_stdin.then_some(stdin_write),
            stdout,
            stderr,
            status,
            child: Streams {
                stdin: stdin_read,
                stdout: stdout_write,
                stderr: stderr_write,
                status: status_write,
            },
        })
    }
}
