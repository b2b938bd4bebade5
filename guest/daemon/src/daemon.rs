//! The loop: one thread, one epoll. Everything that could take long happens in children.
//!
//! ```text
//! port ─► scanner ─► handshake: old session dropped, clock, entropy, thaw, answer
//!            └─────► parser ─► requests ─► processes, file children, streams ─► port
//! ```

use crate::cgroup::Cgroups;
use crate::clock::{self, Randomness};
use crate::file_request::ABANDONED_NANOS;
use crate::frame::{self, Broken, Frame, Kind, Parser};
use crate::hooks::Hooks;
use crate::pb;
use crate::port::{ANSWERS_MAX, Input, Port};
use crate::process::Process;
use crate::scanner::{Handshake, Piece, Scanner};
use crate::secret::TokenPage;
use crate::spawn::Roots;
use crate::stream::{Stream, Work};
use crate::sys::{self, Poll};
use prost::Message;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io::Result;
use std::os::fd::{AsRawFd, OwnedFd};

const MAGIC: &[u8; 16] = b"SPACE-DAEMON/1\r\n";
pub const KEY_PORT: u64 = 1;
pub const KEY_LISTENER: u64 = 2;
const KEY_SIGNALS: u64 = 3;
const KEY_FIRST: u64 = 16;
pub const STREAMS_MAX: usize = 128;
/// What an event of epoll is about.
#[derive(Clone)]
pub enum Watch {
    Status(String),
    Stdin(String),
    Output(String, usize),
    FromChild(u32),
    ToChild(u32),
}

pub struct Settings {
    pub hostname: String,
    pub max_processes: usize,
    pub env: BTreeMap<String, Vec<u8>>,
    pub default_user: String,
}

pub struct Daemon {
    pub poll: Poll,
    pub port: Port,
    scanner: Scanner,
    parser: Parser,
    token: TokenPage,
    randomness: Option<Randomness>,
    pub open: bool,
    input_paused: bool,
    pub streams: BTreeMap<u32, Stream>,
    pub last_served: u32,
    pub processes: BTreeMap<String, Process>,
    pub finished: VecDeque<String>,
    pub file_children: HashSet<i32>,
    pub abandoned: Vec<(i32, i64)>,
    pub groups: Cgroups,
    pub roots: Roots,
    pub settings: Settings,
    pub frozen_until: Option<i64>,
    pub disk_frozen_until: Option<i64>,
    /// Children that freeze the file system: one that ends after its time was over is undone.
    pub disk_freezers: HashSet<i32>,
    pub hooks: Hooks,
    pub watches: HashMap<u64, Watch>,
    next_key: u64,
    pub last_input: i64,
    signals: OwnedFd,
    pub started: i64,
    pub memory_bytes: i64,
    pub warnings: Vec<String>,
}

/// What boot, or the plain process mode of tests, has made ready.
pub struct Setup {
    pub poll: Poll,
    pub port: Port,
    pub groups: Cgroups,
    pub roots: Roots,
    pub memory_bytes: i64,
    pub warnings: Vec<String>,
}

impl Daemon {
    pub fn new(setup: Setup) -> Result<Daemon> {
        let signals = sys::child_signals()?;
        setup.poll.add(signals.as_raw_fd(), libc::EPOLLIN, KEY_SIGNALS)?;
        // The plain process mode must not touch the clock and pool of the machine that it tests on.
        let randomness = if setup.roots.machine { Some(Randomness::open()?) } else { None };
        Ok(Daemon {
            poll: setup.poll,
            port: setup.port,
            scanner: Scanner::default(),
            parser: Parser::default(),
            token: TokenPage::new()?,
            randomness,
            open: false,
            input_paused: false,
            streams: BTreeMap::new(),
            last_served: 0,
            processes: BTreeMap::new(),
            finished: VecDeque::new(),
            file_children: HashSet::new(),
            abandoned: Vec::new(),
            groups: setup.groups,
            roots: setup.roots,
            settings: Settings {
                hostname: String::new(),
                max_processes: 64,
                env: BTreeMap::new(),
                default_user: String::new(),
            },
            frozen_until: None,
            disk_frozen_until: None,
            disk_freezers: HashSet::new(),
            hooks: Hooks::None,
            watches: HashMap::new(),
            next_key: KEY_FIRST,
            last_input: sys::unix(),
            signals,
            started: sys::monotonic(),
            memory_bytes: setup.memory_bytes,
            warnings: setup.warnings,
        })
    }

    pub fn run(&mut self) -> ! {
        self.read_port();
        loop {
            let timeout = self.timeout_millis();
            for event in self.poll.wait(timeout) {
                self.handle(event.key);
            }
            self.timers();
            self.settle();
            self.pump();
            self.port.flush();
            if self.input_paused && self.port.waiting() < ANSWERS_MAX {
                self.read_port();
                self.settle();
                self.pump();
                self.port.flush();
            }
            self.rewatch();
        }
    }

    fn handle(&mut self, key: u64) {
        match key {
            KEY_PORT => self.read_port(),
            KEY_LISTENER => {
                // The host tries again; a machine without descriptors is past help.
                let _ = self.port.accept(&self.poll, KEY_PORT);
                self.forget_session();
            }
            KEY_SIGNALS => self.reap(),
            _ => self.watched(key),
        }
    }

    fn watched(&mut self, key: u64) {
        let Some(watch) = self.watches.get(&key).cloned() else {
            return;
        };
        match watch {
            Watch::Status(id) => self.read_status(&id),
            Watch::Stdin(id) => self.flush_stdin(&id),
            Watch::Output(id, index) => self.read_output(&id, index),
            Watch::FromChild(stream) => {
                if let Some(Work::File(file)) = self.work(stream) {
                    file.read();
                }
            }
            Watch::ToChild(stream) => self.flush_file(stream),
        }
    }

    pub fn work(&mut self, stream: u32) -> Option<&mut Work> {
        self.streams.get_mut(&stream).map(|stream| &mut stream.work)
    }

    /// A key that was never used, so that a late event finds nothing.
    pub fn watch(&mut self, fd: i32, events: i32, watch: Watch) -> u64 {
        let key = self.next_key;
        self.next_key += 1;
        if self.poll.add(fd, events, key).is_err() {
            return 0;
        }
        self.watches.insert(key, watch);
        key
    }

    pub fn unwatch(&mut self, fd: i32, key: u64) {
        if key != 0 {
            self.poll.remove(fd);
            self.watches.remove(&key);
        }
    }

    // ------------------------------------------------------------ the session

    fn read_port(&mut self) {
        let mut buffer = [0; 32 << 10];
        self.input_paused = false;
        loop {
            if self.port.waiting() >= ANSWERS_MAX {
                self.input_paused = true;
                return;
            }
            match self.port.read(&mut buffer) {
                Input::Bytes(count) => self.received(&buffer[..count]),
                Input::Nothing => return,
                Input::HostGone => return,
            }
        }
    }

    fn received(&mut self, mut input: &[u8]) {
        self.extend_freeze();
        while let Some(piece) = self.scanner.next(self.token.get(), &mut input) {
            match piece {
                Piece::Handshake(handshake) => self.begin_session(&handshake),
                Piece::Bytes(bytes) if self.open => self.frames(bytes),
                Piece::Bytes(_) => {}
            }
        }
    }

    fn frames(&mut self, mut bytes: &[u8]) {
        while self.open {
            match self.parser.next(&mut bytes) {
                Ok(Some(frame)) => {
                    if let Err(Broken(what)) = self.frame(frame) {
                        self.broken(what);
                    }
                }
                Ok(None) => return,
                Err(Broken(what)) => self.broken(what),
            }
        }
    }

    fn broken(&mut self, what: &str) {
        eprintln!("space-daemon: the host broke the protocol: {what}");
        self.forget_session();
    }

    /// Nothing of the session is left but the processes; the next handshake opens another.
    fn forget_session(&mut self) {
        self.open = false;
        self.parser.reset();
        self.port.clear();
        let streams: Vec<u32> = self.streams.keys().copied().collect();
        for stream in streams {
            self.drop_stream(stream);
        }
    }

    /// Clock and randomness come before everything else. Only then the workload goes on: in a machine
    /// that was just started or restored with the bind, which makes it the session's own.
    fn begin_session(&mut self, handshake: &Handshake) {
        self.forget_session();
        if let Some(token) = &handshake.new_token {
            // Not the same start once more: what ran before belonged to another life.
            if token != self.token.get() && !self.hooks_run() {
                self.hooks = Hooks::None;
            }
            self.token.set(token);
        }
        if let Some(randomness) = &self.randomness {
            if let Err(e) = clock::set(handshake.unix_nanos, handshake.step_clock) {
                eprintln!("space-daemon: the clock is not set: {e}");
            }
            if let Err(e) = randomness.reseed(&handshake.entropy) {
                eprintln!("space-daemon: the random pool is not renewed: {e}");
            }
        }
        if !handshake.step_clock && !self.hooks_run() {
            self.thaw();
        }
        let queue = self.port.queue();
        queue.extend_from_slice(MAGIC);
        queue.extend_from_slice(&handshake.nonce);
        self.open = true;
    }

    fn frame(&mut self, frame: Frame) -> std::result::Result<(), Broken> {
        let id = frame.stream;
        match frame.kind {
            Kind::Request if id == 0 || self.streams.contains_key(&id) => {
                Err(Broken("a stream was opened twice"))
            }
            Kind::Request => {
                match pb::Request::decode(&frame.payload[..]) {
                    Ok(pb::Request { body: Some(body) }) => self.request(id, body),
                    Ok(_) => self.fail(id, "NOT_AVAILABLE", "the daemon has no such request"),
                    Err(_) => self.fail(id, "INVALID_ARGUMENT", "the request cannot be read"),
                }
                Ok(())
            }
            Kind::Data => self.data(id, &frame.payload, frame.end),
            Kind::Credit => self.credit(id, &frame.payload),
            Kind::Cancel => {
                self.drop_stream(id);
                Ok(())
            }
            Kind::Reply | Kind::Failure => Err(Broken("a frame of the guest's")),
        }
    }

    fn data(&mut self, id: u32, data: &[u8], end: bool) -> std::result::Result<(), Broken> {
        let taken = match self.work(id) {
            // A stream that is over already: what was under way is dropped.
            None => return Ok(()),
            Some(Work::File(file)) => file.push(data, end),
            Some(_) => false,
        };
        if !taken {
            return Err(Broken("data that its stream does not take"));
        }
        self.flush_file(id);
        Ok(())
    }

    fn credit(&mut self, id: u32, payload: &[u8]) -> std::result::Result<(), Broken> {
        let Ok(bytes) = payload.try_into().map(u32::from_le_bytes) else {
            return Err(Broken("a credit without a number"));
        };
        let Some(stream) = self.streams.get_mut(&id) else {
            return Ok(());
        };
        if !stream.credit(bytes as usize) {
            return Err(Broken("more credit than was used"));
        }
        if let Work::Output(reading) = &mut stream.work {
            let reply = reading.reply_bytes.min(u64::from(bytes));
            reading.reply_bytes -= reply;
            reading.acknowledged += u64::from(bytes) - reply;
            if let Some(process) = self.processes.get_mut(&reading.id) {
                process.outputs[reading.index].acknowledge(reading.acknowledged);
            }
        }
        Ok(())
    }

    pub fn drop_stream(&mut self, id: u32) {
        let Some(stream) = self.streams.remove(&id) else {
            return;
        };
        match stream.work {
            Work::File(file) => {
                self.unwatch(file.from_child.as_raw_fd(), file.from_watch);
                if let Some(fd) = &file.to_child {
                    self.unwatch(fd.as_raw_fd(), file.to_watch);
                }
                // Its pipes close here, so that it ends and cleans up by itself.
                self.abandoned.push((file.pid, sys::monotonic() + ABANDONED_NANOS));
            }
            Work::Child { pid, deadline } => self.abandoned.push((pid, deadline)),
            // A released process was kept for this reader.
            Work::Output(_) => self.sweep(),
            _ => {}
        }
    }

    pub fn reply(&mut self, id: u32, body: pb::reply::Body) {
        let payload = pb::Reply { body: Some(body) }.encode_to_vec();
        if payload.len() > frame::REPLY_MAX {
            return self.fail(id, "LIMIT_EXCEEDED", "the answer is too long");
        }
        frame::encode(self.port.queue(), id, Kind::Reply, true, &payload);
    }

    pub fn fail(&mut self, id: u32, code: &str, detail: &str) {
        let detail: String = detail.chars().take(256).collect();
        let payload = pb::Failure { code: code.into(), detail }.encode_to_vec();
        frame::encode(self.port.queue(), id, Kind::Failure, true, &payload);
    }

    // ------------------------------------------------------------ children

    fn reap(&mut self) {
        let mut drain = [0; 1024];
        while sys::read(self.signals.as_raw_fd(), &mut drain).is_ok_and(|count| count > 0) {}
        while let Some((pid, status)) = sys::reap() {
            self.ended(pid, status);
        }
        self.sweep();
    }

    fn ended(&mut self, pid: i32, status: i32) {
        self.abandoned.retain(|&(other, _)| other != pid);
        if self.hooks_ended(pid, status) {
            return;
        }
        if self.file_children.remove(&pid) {
            return;
        }
        if self.disk_freezers.remove(&pid) && self.disk_frozen_until.is_none() {
            self.thaw_disk();
        }
        let helper = self.streams.iter().find_map(|(&id, stream)| match stream.work {
            Work::Child { pid: other, .. } if other == pid => Some(id),
            _ => None,
        });
        if let Some(id) = helper {
            self.streams.remove(&id);
            if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
                self.reply(id, pb::reply::Body::Done(pb::Done {}));
            } else {
                self.fail(id, "UNAVAILABLE", "the guest's file system refused");
            }
            return;
        }
        let process = self.processes.values().find(|p| p.pid == pid && !p.main_ended);
        if let Some(id) = process.map(|process| process.id.clone()) {
            self.read_status(&id);
            if let Some(process) = self.processes.get_mut(&id) {
                process.main_ended(status, &self.groups);
            }
        }
    }
}
