//! Moves what is ready: pipes into buffers, buffers into frames, round robin over the streams.

use crate::daemon::{Daemon, Watch};
use crate::file_request::FromChild;
use crate::frame::{self, DATA_MAX, Kind};
use crate::output::KEPT_MAX;
use crate::pb::reply;
use crate::port::QUEUED_MAX;
use crate::process::Process;
use crate::stream::Work;
use crate::sys;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;

/// All outputs together; beyond it each process keeps little and waits for its reader sooner.
const OUTPUTS_TOTAL_MAX: usize = 24 << 20;
const OUTPUT_SCARCE_MAX: usize = 64 << 10;
/// Finished processes whose results are kept.
const FINISHED_MAX: usize = 256;

/// What one turn of a stream did.
enum Turn {
    Idle,
    Sent,
    Over,
}

impl Daemon {
    /// Answers whoever waits for something that has happened.
    pub fn settle(&mut self) {
        let now = sys::monotonic();
        let mut ended = Vec::new();
        for process in self.processes.values_mut() {
            let before = process.exited;
            process.settle(now);
            if process.exited && !before {
                process.stdin.fd = None;
                ended.push(process.id.clone());
            }
        }
        self.finished.extend(ended);
        while self.finished.len() > FINISHED_MAX {
            if let Some(id) = self.finished.pop_front() {
                self.forget_process(&id);
            }
        }
        let ids: Vec<u32> = self.streams.keys().copied().collect();
        for id in ids {
            self.settle_stream(id, now);
        }
    }

    fn settle_stream(&mut self, id: u32, now: i64) {
        let Some(stream) = self.streams.get(&id) else {
            return;
        };
        let (process, release) = match &stream.work {
            Work::Start { id } => (id, false),
            Work::Wait { id, release, .. } => (id, *release),
            Work::Stdin { .. } => {
                self.accept_stdin(id);
                return;
            }
            _ => return,
        };
        let done = match (self.processes.get(process), &stream.work) {
            (None, _) => true,
            // A failed start has ended by the time it is told, so the answer is complete.
            (Some(p), Work::Start { .. }) => p.exited || (p.status.is_none() && !p.start_failed()),
            (Some(p), Work::Wait { deadline, .. }) => p.exited || now >= *deadline,
            _ => false,
        };
        if !done {
            return;
        }
        let process = process.clone();
        self.streams.remove(&id);
        let Some(info) = self.processes.get(&process).map(|p| p.info(&self.groups)) else {
            return self.fail(id, "PROCESS_NOT_FOUND", "the process is no more");
        };
        self.reply(id, reply::Body::Process(info));
        if release && self.processes.get(&process).is_some_and(|p| p.exited) {
            self.release(&process);
        }
    }

    fn release(&mut self, id: &str) {
        if let Some(process) = self.processes.get_mut(id) {
            process.released = true;
        }
        self.sweep();
    }

    /// Forgets released processes of which nothing runs any more.
    pub fn sweep(&mut self) {
        let gone: Vec<String> = self
            .processes
            .values()
            .filter(|p| p.released && !self.has_reader(&p.id) && !self.groups.populated(&p.group))
            .map(|p| p.id.clone())
            .collect();
        for id in gone {
            self.finished.retain(|other| *other != id);
            self.forget_process(&id);
        }
    }

    fn has_reader(&self, id: &str) -> bool {
        let reads = |work: &Work| matches!(work, Work::Output(reading) if reading.id == id);
        self.streams.values().any(|stream| reads(&stream.work))
    }

    fn forget_process(&mut self, id: &str) {
        let Some(mut process) = self.processes.remove(id) else {
            return;
        };
        self.stop_watching(&mut process);
        self.groups.remove_process(&process.group);
    }

    fn stop_watching(&mut self, process: &mut Process) {
        for output in &mut process.outputs {
            if let Some(fd) = output.fd.take() {
                self.unwatch(fd.as_raw_fd(), output.watch);
            }
        }
        if let Some(fd) = process.stdin.fd.take() {
            self.unwatch(fd.as_raw_fd(), process.stdin.watch);
        }
        if let Some(fd) = process.status.take() {
            self.unwatch(fd.as_raw_fd(), process.status_watch);
        }
    }

    // ------------------------------------------------------------ from and to processes

    fn output_limit(&self) -> usize {
        let total: usize =
            self.processes.values().flat_map(|p| &p.outputs).map(|output| output.kept()).sum();
        if total > OUTPUTS_TOTAL_MAX { OUTPUT_SCARCE_MAX } else { KEPT_MAX }
    }

    pub fn read_status(&mut self, id: &str) {
        let Some(process) = self.processes.get_mut(id) else {
            return;
        };
        let Some(fd) = &process.status else { return };
        let (raw, key) = (fd.as_raw_fd(), process.status_watch);
        let mut report = [0; 8];
        match sys::read(raw, &mut report) {
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            result => {
                self.unwatch(raw, key);
                if let Some(process) = self.processes.get_mut(id) {
                    process.started(&report[..result.unwrap_or(0)]);
                }
            }
        }
    }

    pub fn read_output(&mut self, id: &str, index: usize) {
        let limit = self.output_limit();
        let mut buffer = [0; 64 << 10];
        let Some(process) = self.processes.get_mut(id) else {
            return;
        };
        let output = &mut process.outputs[index];
        let Some(fd) = &output.fd else { return };
        let room =
            if output.complete { buffer.len() } else { output.room(limit).min(buffer.len()) };
        if room == 0 {
            return;
        }
        match sys::read(fd.as_raw_fd(), &mut buffer[..room]) {
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // Background children of a process whose output is complete: read and dropped.
            Ok(count) if count > 0 && output.complete => {}
            Ok(count) if count > 0 => output.add(&buffer[..count], limit),
            _ => {
                output.complete = true;
                let key = std::mem::take(&mut output.watch);
                if let Some(fd) = output.fd.take() {
                    self.unwatch(fd.as_raw_fd(), key);
                }
            }
        }
    }

    pub fn flush_stdin(&mut self, id: &str) {
        let Some(process) = self.processes.get_mut(id) else {
            return;
        };
        let stdin = &mut process.stdin;
        let Some(fd) = &stdin.fd else { return };
        let mut closed = false;
        while !stdin.pending.is_empty() && !closed {
            let (front, _) = stdin.pending.as_slices();
            match sys::write(fd.as_raw_fd(), front) {
                Ok(count) => drop(stdin.pending.drain(..count)),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => closed = true,
            }
        }
        if closed || (stdin.eof && stdin.pending.is_empty()) {
            stdin.pending.clear();
            let key = std::mem::take(&mut stdin.watch);
            if let Some(fd) = stdin.fd.take() {
                self.unwatch(fd.as_raw_fd(), key);
            }
        }
    }

    pub fn flush_file(&mut self, stream: u32) {
        let Some(Work::File(file)) = self.work(stream) else {
            return;
        };
        let (before, key) = (file.to_child.as_ref().map(AsRawFd::as_raw_fd), file.to_watch);
        let credit = file.flush();
        if let (Some(fd), None) = (before, &file.to_child) {
            file.to_watch = 0;
            self.watches.remove(&key);
            // The descriptor is closed, so epoll has dropped it; its number is not used here.
            let _ = fd;
        }
        if credit > 0 {
            let payload = (credit as u32).to_le_bytes();
            frame::encode(self.port.queue(), stream, Kind::Credit, false, &payload);
        }
    }

    // ------------------------------------------------------------ to the host

    /// Fills the queue of the port, one piece of each stream in turn.
    pub fn pump(&mut self) {
        if !self.open {
            return;
        }
        loop {
            let mut progress = false;
            let later = self.streams.range(self.last_served.saturating_add(1)..);
            let earlier = self.streams.range(..=self.last_served);
            let order: Vec<u32> = later.chain(earlier).map(|(&id, _)| id).collect();
            for id in order {
                if self.port.waiting() >= QUEUED_MAX {
                    self.port.flush();
                    if self.port.waiting() >= QUEUED_MAX {
                        return;
                    }
                }
                match self.turn(id) {
                    Turn::Idle => {}
                    Turn::Sent => {
                        self.last_served = id;
                        progress = true;
                    }
                    Turn::Over => {
                        self.drop_stream(id);
                        progress = true;
                    }
                }
            }
            if !progress {
                return;
            }
        }
    }

    fn turn(&mut self, id: u32) -> Turn {
        match self.streams.get(&id).map(|stream| &stream.work) {
            Some(Work::Output(_)) => self.turn_output(id),
            Some(Work::Replies(_)) => self.turn_replies(id),
            Some(Work::File(_)) => self.turn_file(id),
            _ => Turn::Idle,
        }
    }

    fn turn_output(&mut self, id: u32) -> Turn {
        let Some(stream) = self.streams.get_mut(&id) else {
            return Turn::Idle;
        };
        let window = stream.window;
        let Work::Output(reading) = &mut stream.work else {
            return Turn::Idle;
        };
        let Some(process) = self.processes.get(&reading.id) else {
            self.fail(id, "PROCESS_NOT_FOUND", "the process is no more");
            return Turn::Over;
        };
        let output = &process.outputs[reading.index];
        let end = reading.until.unwrap_or(output.end()).min(output.end());
        let wanted = (end - reading.next.min(end)) as usize;
        let mut data = Vec::new();
        output.copy(reading.next, wanted.min(window).min(DATA_MAX), &mut data);
        reading.next += data.len() as u64;
        let finished = reading.next >= end && (output.complete || reading.until.is_some());
        if data.is_empty() && !finished {
            return Turn::Idle;
        }
        stream.window -= data.len();
        frame::encode(self.port.queue(), id, Kind::Data, finished, &data);
        if finished { Turn::Over } else { Turn::Sent }
    }

    fn turn_replies(&mut self, id: u32) -> Turn {
        let Some(stream) = self.streams.get_mut(&id) else {
            return Turn::Idle;
        };
        let Work::Replies(replies) = &mut stream.work else {
            return Turn::Idle;
        };
        let Some(next) = replies.front() else {
            frame::encode(self.port.queue(), id, Kind::Data, true, &[]);
            return Turn::Over;
        };
        if next.len() > stream.window {
            return Turn::Idle;
        }
        stream.window -= next.len();
        frame::encode(self.port.queue(), id, Kind::Reply, false, next);
        replies.pop_front();
        Turn::Sent
    }

    fn turn_file(&mut self, id: u32) -> Turn {
        let Some(stream) = self.streams.get_mut(&id) else {
            return Turn::Idle;
        };
        let Work::File(file) = &mut stream.work else {
            return Turn::Idle;
        };
        if file.wants_to_read() {
            file.read();
        }
        if file.ready().is_some_and(|length| length > stream.window) {
            return Turn::Idle;
        }
        let Some(message) = file.take() else {
            return Turn::Idle;
        };
        let (kind, end, payload) = match message {
            FromChild::Reply(payload) => (Kind::Reply, false, payload),
            FromChild::LastReply(payload) => (Kind::Reply, true, payload),
            FromChild::Data(payload) => (Kind::Data, false, payload),
            FromChild::End => (Kind::Data, true, Vec::new()),
            FromChild::Failure(payload) if payload.len() <= frame::FAILURE_MAX => {
                (Kind::Failure, true, payload)
            }
            FromChild::Failure(_) | FromChild::Broken => {
                self.fail(id, "UNAVAILABLE", "the file request was interrupted in the sandbox");
                return Turn::Over;
            }
        };
        if matches!(kind, Kind::Reply | Kind::Data) {
            stream.window -= payload.len();
        }
        frame::encode(self.port.queue(), id, kind, end, &payload);
        if end { Turn::Over } else { Turn::Sent }
    }

    // ------------------------------------------------------------ what to wait for

    /// Watches exactly the pipes that have something to give or to take: a full buffer must not
    /// make the loop spin.
    pub fn rewatch(&mut self) {
        self.relieve_memory();
        let limit = self.output_limit();
        let ids: Vec<String> = self.processes.keys().cloned().collect();
        for id in ids {
            self.rewatch_process(&id, limit);
        }
        let streams: Vec<u32> = self.streams.keys().copied().collect();
        for id in streams {
            self.rewatch_file(id);
        }
    }

    /// Results of finished processes that nobody fetched make way first.
    fn relieve_memory(&mut self) {
        if self.output_limit() == KEPT_MAX {
            return;
        }
        let finished: Vec<String> = self.finished.iter().cloned().collect();
        for id in finished {
            if let Some(process) = self.processes.get_mut(&id) {
                for output in &mut process.outputs {
                    output.acknowledge(u64::MAX);
                    output.shrink();
                }
            }
            if self.output_limit() == KEPT_MAX {
                return;
            }
        }
    }

    fn rewatch_process(&mut self, id: &str, limit: usize) {
        let Some(process) = self.processes.get(id) else {
            return;
        };
        let mut wanted = Vec::new();
        for (index, output) in process.outputs.iter().enumerate() {
            if let Some(fd) = &output.fd {
                let want = output.complete || output.room(limit) > 0;
                let watch = Watch::Output(id.into(), index);
                wanted.push((fd.as_raw_fd(), output.watch, want, libc::EPOLLIN, watch));
            }
        }
        if let Some(fd) = &process.stdin.fd {
            let want = !process.stdin.pending.is_empty();
            let watch = Watch::Stdin(id.into());
            wanted.push((fd.as_raw_fd(), process.stdin.watch, want, libc::EPOLLOUT, watch));
        }
        if let Some(fd) = &process.status {
            let watch = Watch::Status(id.into());
            wanted.push((fd.as_raw_fd(), process.status_watch, true, libc::EPOLLIN, watch));
        }
        for (fd, key, want, events, watch) in wanted {
            let Some(new) = self.adjust(fd, key, want, events, watch.clone()) else {
                continue;
            };
            let Some(process) = self.processes.get_mut(id) else {
                return;
            };
            match watch {
                Watch::Output(_, index) => process.outputs[index].watch = new,
                Watch::Stdin(_) => process.stdin.watch = new,
                _ => process.status_watch = new,
            }
        }
    }

    /// The new key when something changed.
    fn adjust(&mut self, fd: i32, key: u64, want: bool, events: i32, watch: Watch) -> Option<u64> {
        match (want, key != 0) {
            (true, false) => Some(self.watch(fd, events, watch)),
            (false, true) => {
                self.unwatch(fd, key);
                Some(0)
            }
            _ => None,
        }
    }

    fn rewatch_file(&mut self, id: u32) {
        let Some(Work::File(file)) = self.work(id) else {
            return;
        };
        let from = (file.from_child.as_raw_fd(), file.from_watch, file.wants_to_read());
        let to =
            file.to_child.as_ref().map(|fd| (fd.as_raw_fd(), file.to_watch, file.wants_to_write()));
        if let Some(new) = self.adjust(from.0, from.1, from.2, libc::EPOLLIN, Watch::FromChild(id))
            && let Some(Work::File(file)) = self.work(id)
        {
            file.from_watch = new;
        }
        if let Some((fd, key, want)) = to
            && let Some(new) = self.adjust(fd, key, want, libc::EPOLLOUT, Watch::ToChild(id))
            && let Some(Work::File(file)) = self.work(id)
        {
            file.to_watch = new;
        }
    }
}
