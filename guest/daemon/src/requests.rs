//! What each request does.

use crate::cgroup::Group;
use crate::daemon::{Daemon, STREAMS_MAX};
use crate::file_request::FileRequest;
use crate::frame::{self, DATA_MAX};
use crate::pb::{self, reply, request};
use crate::process::{Process, STDIN_MAX};
use crate::stream::{Reading, Stream, Work};
use crate::{disk, sys};
use prost::Message;
use std::collections::VecDeque;

const ID_BYTES_MAX: usize = 128;
const ENV_ENTRIES_MAX: usize = 1024;
const PROCESSES_MAX: usize = 256;
const HOSTNAME_BYTES_MAX: usize = 63;
const FILE_CHILDREN_MAX: usize = 16;
const CHILD_NANOS: i64 = 30_000_000_000;
const DISK_FREEZE_MILLIS_MAX: u32 = 10_000;
const INVALID: &str = "INVALID_ARGUMENT";

impl Daemon {
    pub fn request(&mut self, id: u32, body: request::Body) {
        if self.streams.len() >= STREAMS_MAX {
            return self.fail(id, "LIMIT_EXCEEDED", "too many requests at once");
        }
        use request::Body;
        match body {
            Body::Ping(_) => self.ping(id),
            Body::Bind(bind) => self.bind(id, bind),
            Body::Status(_) => self.status(id),
            Body::Freeze(_) => {
                let quiesced = self.freeze();
                self.reply(id, reply::Body::Frozen(pb::Frozen { quiesced }));
            }
            Body::Thaw(_) => {
                self.thaw();
                self.done(id);
            }
            Body::FreezeFileSystem(freeze) => self.freeze_disk(id, freeze.timeout_millis),
            Body::ThawFileSystem(_) => {
                self.disk_frozen_until = None;
                self.child(id, disk::thaw);
            }
            Body::Sync(_) => drop(self.child(id, disk::sync)),
            Body::PowerOff(_) => self.power_off(id),
            Body::StartProcess(start) => self.start_process(id, start),
            Body::ListProcesses(_) => self.list_processes(id),
            Body::GetProcess(get) => self.get_process(id, get),
            Body::SignalProcess(signal) => self.signal_process(id, &signal),
            Body::AttachOutput(attach) => self.attach(id, attach),
            Body::WriteStdin(write) => self.write_stdin(id, write),
            Body::StatFile(_)
            | Body::ListDirectory(_)
            | Body::ReadFile(_)
            | Body::WriteFile(_)
            | Body::MakeDirectory(_)
            | Body::RemoveFile(_) => self.file(id, &body),
        }
    }

    fn done(&mut self, id: u32) {
        self.reply(id, reply::Body::Done(pb::Done {}));
    }

    fn touched(&mut self) {
        self.last_input = sys::unix();
    }

    fn ping(&mut self, id: u32) {
        let pong = pb::Pong {
            unix_nanos: sys::unix(),
            monotonic_nanos: sys::monotonic(),
            version: env!("CARGO_PKG_VERSION").into(),
        };
        self.reply(id, reply::Body::Pong(pong));
    }

    fn bind(&mut self, id: u32, bind: pb::Bind) {
        let name = bind.hostname;
        let label = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'.';
        if name.len() > HOSTNAME_BYTES_MAX || !name.bytes().all(label) {
            return self.fail(id, INVALID, "a host name has letters, digits, '-' and '.'");
        }
        if bind.max_processes as usize > PROCESSES_MAX || !valid_env(bind.env.keys()) {
            return self.fail(id, INVALID, "too many processes, or a bad environment");
        }
        if !name.is_empty() && self.roots.machine {
            disk::set_hostname(&name);
        }
        self.settings.hostname = name;
        if bind.max_processes > 0 {
            self.settings.max_processes = bind.max_processes as usize;
        }
        if !bind.default_user.is_empty() {
            self.settings.default_user = bind.default_user;
        }
        self.settings.env = bind.env.into_iter().map(|(k, v)| (k, v.into_bytes())).collect();
        self.bound(id, bind.forked);
    }

    fn status(&mut self, id: u32) {
        let (total, free) = disk::space();
        let status = pb::Status {
            ready: true,
            frozen: self.frozen_until.is_some(),
            processes_running: self.running() as u32,
            tasks: self.groups.task_count() as u32,
            cpu_micros: self.groups.cpu_micros(),
            memory_bytes: self.groups.memory_bytes(),
            memory_total_bytes: self.memory_bytes,
            last_input_unix_nanos: self.last_input,
            disk_total_bytes: total,
            disk_free_bytes: free,
            uptime_nanos: sys::monotonic(),
            boot_warnings: self.warnings.clone(),
        };
        self.reply(id, reply::Body::Status(status));
    }

    fn running(&self) -> usize {
        self.processes.values().filter(|process| !process.main_ended).count()
    }

    /// Runs something that may take long in a child; its exit code 0 answers Done.
    fn child(&mut self, id: u32, work: fn() -> bool) -> Option<i32> {
        match disk::in_child(work) {
            Ok(pid) => {
                let deadline = sys::monotonic() + CHILD_NANOS;
                self.streams.insert(id, Stream::new(Work::Child { pid, deadline }));
                Some(pid)
            }
            Err(e) => {
                self.fail(id, "UNAVAILABLE", &e.to_string());
                None
            }
        }
    }

    fn freeze_disk(&mut self, id: u32, timeout_millis: u32) {
        let millis = i64::from(timeout_millis.clamp(1, DISK_FREEZE_MILLIS_MAX));
        self.disk_frozen_until = Some(sys::monotonic() + millis * 1_000_000);
        if let Some(pid) = self.child(id, disk::freeze) {
            self.disk_freezers.insert(pid);
        }
    }

    pub fn thaw_disk(&mut self) {
        if let Err(e) = disk::in_child(disk::thaw) {
            eprintln!("space-daemon: the file system cannot be thawed: {e}");
        }
    }

    fn power_off(&mut self, id: u32) {
        self.done(id);
        self.port.flush();
        if self.roots.machine {
            disk::power_off();
        }
        std::process::exit(0);
    }

    // ------------------------------------------------------------ processes

    fn start_process(&mut self, id: u32, start: pb::StartProcess) {
        self.touched();
        if let Some(process) = self.processes.get(&start.id) {
            if process.status.is_some() {
                self.streams.insert(id, Stream::new(Work::Start { id: start.id }));
            } else {
                let info = process.info(&self.groups);
                self.reply(id, reply::Body::Process(info));
            }
            return;
        }
        if let Some(fault) = fault_of(&start) {
            return self.fail(id, INVALID, fault);
        }
        if self.running() >= self.settings.max_processes {
            let detail = format!("{} processes run already", self.running());
            return self.fail(id, "LIMIT_EXCEEDED", &detail);
        }
        let mut env = self.settings.env.clone();
        env.extend(start.env.clone());
        let user = if start.user.is_empty() {
            self.settings.default_user.clone()
        } else {
            start.user.clone()
        };
        let name = start.id.clone();
        match Process::start(start, env, &user, &mut self.groups, self.roots) {
            Ok(process) => {
                self.processes.insert(name.clone(), process);
                self.streams.insert(id, Stream::new(Work::Start { id: name }));
            }
            Err(e) => self.fail(id, "LIMIT_EXCEEDED", &format!("no process can be made: {e}")),
        }
    }

    /// The process, or a failure on the stream.
    fn known(&mut self, stream: u32, id: &str) -> bool {
        let known = self.processes.contains_key(id);
        if !known {
            self.fail(stream, "PROCESS_NOT_FOUND", "the sandbox has no process of that id");
        }
        known
    }

    fn list_processes(&mut self, id: u32) {
        let mut replies = VecDeque::new();
        let mut batch = pb::ProcessList::default();
        let mut size = 0;
        for process in self.processes.values() {
            let info = process.info(&self.groups);
            size += info.encoded_len() + 8;
            batch.processes.push(info);
            if size >= DATA_MAX {
                size = 0;
                replies.push_back(encoded(std::mem::take(&mut batch)));
            }
        }
        if !batch.processes.is_empty() {
            replies.push_back(encoded(batch));
        }
        self.streams.insert(id, Stream::new(Work::Replies(replies)));
    }

    fn get_process(&mut self, id: u32, get: pb::GetProcess) {
        if self.known(id, &get.id) {
            let wait = get.wait_millis.max(0).saturating_mul(1_000_000);
            let deadline = sys::monotonic().saturating_add(wait);
            let work = Work::Wait { id: get.id, deadline, release: get.release };
            self.streams.insert(id, Stream::new(work));
        }
    }

    fn signal_process(&mut self, id: u32, signal: &pb::SignalProcess) {
        self.touched();
        if !(1..=64).contains(&signal.signal) {
            return self.fail(id, INVALID, "a signal is a number from 1 to 64");
        }
        if !self.known(id, &signal.id) {
            return;
        }
        let process = &self.processes[&signal.id];
        if signal.main_only {
            if !process.main_ended {
                // It may have ended and not been reaped yet.
                let _ = sys::kill(process.pid, signal.signal);
            }
        } else if let Err(e) = self.groups.signal(&process.group, signal.signal)
            && !process.main_ended
        {
            return self.fail(id, "UNAVAILABLE", &e.to_string());
        }
        let info = self.processes[&signal.id].info(&self.groups);
        self.reply(id, reply::Body::Process(info));
    }

    fn attach(&mut self, id: u32, attach: pb::AttachOutput) {
        let index = match attach.stream() {
            pb::OutputStream::Stdout => 0,
            pb::OutputStream::Stderr => 1,
            pb::OutputStream::Unspecified => return self.fail(id, INVALID, "which output?"),
        };
        if !self.known(id, &attach.id) {
            return;
        }
        self.replace_reader(&attach.id, index);
        let Some(process) = self.processes.get_mut(&attach.id) else {
            return;
        };
        let output = &mut process.outputs[index];
        let Some(from) = u64::try_from(attach.offset).ok().filter(|&from| from <= output.end())
        else {
            let detail = format!("the output has {} bytes", output.end());
            return self.fail(id, "RANGE_NOT_SATISFIABLE", &detail);
        };
        let start = output.start_reading(from);
        let until = (!attach.follow).then_some(output.end());
        let reply = reply::Body::OutputStart(pb::OutputStart { offset: start as i64 });
        let payload = pb::Reply { body: Some(reply) }.encode_to_vec();
        let reading = Reading {
            id: attach.id,
            index,
            next: start,
            acknowledged: start,
            until,
            reply_bytes: payload.len() as u64,
        };
        let mut stream = Stream::new(Work::Output(reading));
        stream.window -= payload.len();
        self.streams.insert(id, stream);
        frame::encode(self.port.queue(), id, frame::Kind::Reply, false, &payload);
    }

    /// One reader for each output: two would acknowledge what the other has not stored.
    fn replace_reader(&mut self, process: &str, index: usize) {
        let old = self.streams.iter().find_map(|(&id, stream)| match &stream.work {
            Work::Output(reading) if reading.id == process && reading.index == index => Some(id),
            _ => None,
        });
        if let Some(old) = old {
            self.drop_stream(old);
            self.fail(old, "UNAVAILABLE", "another reader took this output over");
        }
    }

    fn write_stdin(&mut self, id: u32, write: pb::WriteStdin) {
        self.touched();
        if write.data.len() > DATA_MAX {
            return self.fail(id, INVALID, "a piece of standard input has at most 32 KiB");
        }
        let Ok(offset) = u64::try_from(write.offset) else {
            return self.fail(id, INVALID, "the offset is negative");
        };
        if self.known(id, &write.id) {
            let work = Work::Stdin { id: write.id, offset, data: write.data, eof: write.eof };
            self.streams.insert(id, Stream::new(work));
        }
    }

    /// Accepts a waiting piece of standard input when there is room; true when it is answered.
    pub fn accept_stdin(&mut self, stream: u32) -> bool {
        let Some(Work::Stdin { id, offset, data, eof }) =
            self.streams.get(&stream).map(|s| &s.work)
        else {
            return true;
        };
        let Some(process) = self.processes.get_mut(id) else {
            self.streams.remove(&stream);
            self.fail(stream, "PROCESS_NOT_FOUND", "the process is no more");
            return true;
        };
        let stdin = &mut process.stdin;
        let closed = stdin.fd.is_none() || stdin.eof;
        let skip = stdin.accepted.saturating_sub(*offset).min(data.len() as u64) as usize;
        if !closed {
            if *offset > stdin.accepted {
                let detail = format!("standard input goes on at {}", stdin.accepted);
                self.streams.remove(&stream);
                self.fail(stream, "RANGE_NOT_SATISFIABLE", &detail);
                return true;
            }
            if stdin.pending.len() + data.len() - skip > STDIN_MAX {
                return false;
            }
            stdin.pending.extend(&data[skip..]);
            stdin.accepted += (data.len() - skip) as u64;
            stdin.eof = *eof;
        }
        let accepted = pb::StdinAccepted { offset: stdin.accepted as i64, closed };
        let id = id.clone();
        self.streams.remove(&stream);
        self.reply(stream, reply::Body::StdinAccepted(accepted));
        self.flush_stdin(&id);
        true
    }

    // ------------------------------------------------------------ files

    fn file(&mut self, id: u32, body: &request::Body) {
        self.touched();
        if self.file_children.len() >= FILE_CHILDREN_MAX {
            return self.fail(id, "LIMIT_EXCEEDED", "too many file requests at once");
        }
        let named = user_of(body);
        let user = if named.is_empty() { &self.settings.default_user } else { named };
        match FileRequest::start(body, user, &Group::Files.path(), self.roots) {
            Ok(file) => {
                self.file_children.insert(file.pid);
                self.streams.insert(id, Stream::new(Work::File(file)));
            }
            Err(e) => self.fail(id, "UNAVAILABLE", &format!("no child can be made: {e}")),
        }
    }
}

fn user_of(body: &request::Body) -> &str {
    let file = match body {
        request::Body::StatFile(r) => &r.file,
        request::Body::ListDirectory(r) => &r.file,
        request::Body::ReadFile(r) => &r.file,
        request::Body::WriteFile(r) => &r.file,
        request::Body::MakeDirectory(r) => &r.file,
        request::Body::RemoveFile(r) => &r.file,
        _ => &None,
    };
    file.as_ref().map_or("", |file| &file.user)
}

fn encoded(batch: pb::ProcessList) -> Vec<u8> {
    pb::Reply { body: Some(reply::Body::Processes(batch)) }.encode_to_vec()
}

fn valid_env<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> bool {
    let few = names.len() <= ENV_ENTRIES_MAX;
    few && names.into_iter().all(|n| !n.is_empty() && !n.contains(['=', '\0']))
}

fn fault_of(start: &pb::StartProcess) -> Option<&'static str> {
    let nul = |bytes: &[u8]| bytes.contains(&0);
    if start.id.is_empty() || start.id.len() > ID_BYTES_MAX {
        return Some("a process id has 1 to 128 bytes");
    }
    if start.argv.is_empty() == start.command.is_empty() {
        return Some("exactly one of argv and command is needed");
    }
    if start.argv.first().is_some_and(Vec::is_empty) {
        return Some("the name of the command is empty");
    }
    if start.argv.iter().any(|a| nul(a)) || nul(&start.command) || nul(&start.cwd) {
        return Some("an argument or the working directory has a NUL in it");
    }
    if !valid_env(start.env.keys()) || start.env.values().any(|value| nul(value)) {
        return Some("a name or value of the environment is bad");
    }
    None
}
